/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.c - see neighbours.h. */
#include "neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "scaling.h"

#define NEIGHBOURS_WORDS  24 /* of a command line         */
#define NEIGHBOURS_CURVES 10 /* of a plot: rows, at most  */

/* ---- running ------------------------------------------------------------- */

void neighbours_run(const struct neighbours *bench, struct results *results, const char *arguments,
                    const char *peer, int pes)
{
    bench_run_job(results, "-n %d @%s --series=skua %s", pes, bench->app, arguments);
    scaling_run_mpis(results, bench->app, peer, pes);
}

void neighbours_run_threads(const struct neighbours *bench, struct results *results,
                            const char *arguments, int pes)
{
    bench_run_job(results, "-n %d -t %d @%s --series=skua-threads %s", pes, pes, bench->app,
                  arguments);
}

/* Runs the application at both ends of a network. */
static void neighbours_run_app_tcp(const struct neighbours *bench, struct results *results,
                                   const struct network *network, const char *arguments)
{
    char        path[PROGRAM_PATH_BYTES], words[192];
    const char *argv[NEIGHBOURS_WORDS] = {path, "--series=skua-tcp"};

    if (!program_find(bench->app, path))
        return;
    snprintf(words, sizeof words, "%s", arguments);
    program_add_words(argv, 2, words);
    network_run_driver(network, results, "tcp", argv);
}

void neighbours_run_tcp(const struct neighbours *bench, struct results *results,
                        const char *arguments, const char *peer)
{
    struct network network;

    if (!network_open(&network, results->host))
        return;
    network_run_exchange(&network, results, bench->app);
    neighbours_run_app_tcp(bench, results, &network, arguments);
    for (size_t i = 0; i < BENCH_MPIS; i++) {
        char name[64], path[PROGRAM_PATH_BYTES], series[32];

        snprintf(name, sizeof name, "peer-%s-%s", bench_mpis[i], bench->app);
        snprintf(series, sizeof series, "%s-tcp", bench_mpis[i]);
        if (program_find(name, path))
            network_run_both(&network, results, bench_mpis[i],
                             (const char *const[]){path, series, peer, NULL});
    }
    network_close(&network);
}

/* ---- values -------------------------------------------------------------- */

/* Returns the value of a row, or 0; @p path is "" or "-tcp". */
static double neighbours_value(const struct results *results, const struct neighbours_row *row,
                               const char *path, const struct neighbours_column *column, int pes)
{
    char series[48], metric[32];

    snprintf(series, sizeof series, "%s%s-%s", row->library, path, row->protocol);
    snprintf(metric, sizeof metric, "%s-%dpe", column->metric, pes);
    return 1e6 * results_get(results, series, column->bytes, metric);
}

/* Returns the least value of all MPI rows. */
static double neighbours_best_mpi(const struct neighbours *bench, const struct results *results,
                                  const char *path, const struct neighbours_column *column, int pes)
{
    double best = 0;

    for (const struct neighbours_row *row = bench->row; row->library; row++)
        if (strcmp(row->library, "skua") != 0)
            best = bench_shorter(best, neighbours_value(results, row, path, column, pes));
    return best;
}

/* ---- tables -------------------------------------------------------------- */

static const struct neighbours_column *neighbours_columns(const struct neighbours *bench, int pes)
{
    return pes == NEIGHBOURS_PES && bench->wide ? bench->wide : bench->column;
}

static void neighbours_print_table(const struct neighbours *bench, const struct results *results,
                                   const char *where, const char *path, int pes)
{
    const struct neighbours_column *columns = neighbours_columns(bench, pes);

    printf("%s, %s, %d PEs: microseconds\n%-26s", bench->what, where, pes, "");
    for (const struct neighbours_column *c = columns; c->title; c++)
        printf("%11s", c->title);
    printf("\n");
    for (const struct neighbours_row *row = bench->row; row->library; row++) {
        printf("%-26s", row->name);
        for (const struct neighbours_column *c = columns; c->title; c++)
            bench_print_value(neighbours_value(results, row, path, c, pes), 11);
        printf("\n");
    }
    printf("\n");
}

void neighbours_print_phases(const struct neighbours *bench, const struct results *results,
                             const char *const phases[], size_t bytes)
{
    for (const struct neighbours_row *row = bench->row; row->library; row++) {
        double total = 0;

        printf("%-26s", row->name);
        for (const char *const *phase = phases; *phase; phase++) {
            struct neighbours_column column = {*phase, *phase, bytes, 0};
            double                   value  = neighbours_value(results, row, "", &column, 2);

            total += value;
            bench_print_value(value, 11);
        }
        bench_print_value(total, 11);
        printf("\n");
    }
}

/* ---- goals --------------------------------------------------------------- */

/* Prints the largest ratio that any protocol over sockets can reach: that of an MPI to exchanges by
 * bare sockets, in microseconds. */
static void neighbours_print_limit(const struct neighbours *bench, const struct results *results,
                                   const char *mpi, double time)
{
    double limit = 1e6 * results_get(results, "limit-tcp", NETWORK_EXCHANGE_BYTES, "exchange-2pe");
    char   what[80];

    snprintf(what, sizeof what, "%s two-sided / %d exchange%s by bare sockets, %.1f us", mpi,
             bench->exchanges, bench->exchanges == 1 ? "" : "s", bench->exchanges * limit);
    if (limit > 0 && time > 0)
        printf("%-62s%8.2f  a limit\n", what, time / (bench->exchanges * limit));
}

static void neighbours_print_goal(const struct neighbours *bench, const struct results *results,
                                  const char *protocol, const char *path,
                                  const struct neighbours_column *column, int pes)
{
    struct neighbours_row row  = {"skua", protocol, NULL};
    double                mine = neighbours_value(results, &row, path, column, pes);

    bench_print_goalf(bench_ratio(neighbours_best_mpi(bench, results, path, column, pes), mine),
                      ">=", 1, "better MPI / %s, %s", protocol, column->title);
}

static void neighbours_print_goals(const struct neighbours *bench, const struct results *results,
                                   const char *title, const char *path, int pes)
{
    const struct neighbours_column *small = neighbours_columns(bench, pes);
    struct neighbours_row           fast  = {"skua", bench->small, NULL};
    double                          mine  = neighbours_value(results, &fast, path, small, pes);

    bench_print_goals_head(title);
    for (const struct neighbours_column *c = small; c->title; c++)
        for (size_t i = 0; i < sizeof bench->fast / sizeof *bench->fast; i++)
            neighbours_print_goal(bench, results, bench->fast[i], path, c, pes);
    for (size_t i = 0; i < BENCH_MPIS; i++) {
        struct neighbours_row send = {bench_mpis[i], "send", NULL};

        bench_print_goalf(bench_ratio(neighbours_value(results, &send, path, small, pes), mine),
                          ">=", bench->goal, "%s two-sided / %s, %s", bench_mpis[i], bench->small,
                          small->title);
        if (path[0])
            neighbours_print_limit(bench, results, bench_mpis[i],
                                   neighbours_value(results, &send, path, small, pes));
    }
}

void neighbours_print(const struct neighbours *bench, const struct results *results,
                      void (*print_paper)(const struct results *))
{
    neighbours_print_table(bench, results, "inside a host", "", 2);
    neighbours_print_table(bench, results, "over TCP", "-tcp", 2);
    if (results->host->cores >= NEIGHBOURS_PES)
        neighbours_print_table(bench, results, "inside a host", "", NEIGHBOURS_PES);
    print_paper(results);
    neighbours_print_goals(bench, results, "Goals, inside a host", "", 2);
    neighbours_print_goals(bench, results, "Goals, over TCP", "-tcp", 2);
    neighbours_print_goals(bench, results, "Goals, 16 PEs (on a host of 16 cores)", "",
                           NEIGHBOURS_PES);
}

/* ---- plot ---------------------------------------------------------------- */

void neighbours_plot(const struct neighbours *bench, const struct results *results, FILE *to)
{
    static const char *const colours[NEIGHBOURS_CURVES] = {
        "#1f77b4", "#9467bd", "#ff7f0e", "#d62728", "#7f7f7f",
        "#bcbd22", "#8c564b", "#e377c2", "#17becf", "#98df8a"};
    static struct plot_curve curve[2][NEIGHBOURS_CURVES];
    struct plot plots[2] = {{"Inside a host, 2 PEs", "size", "microseconds", curve[0], 0},
                            {"Over TCP, 2 PEs", "size", "microseconds", curve[1], 0}};

    for (int p = 0; p < 2; p++)
        for (const struct neighbours_row *row = bench->row;
             row->library && plots[p].curves < NEIGHBOURS_CURVES; row++) {
            struct plot_curve *one = &curve[p][plots[p].curves];

            one->name   = row->name;
            one->colour = colours[plots[p].curves++];
            one->dash   = strcmp(row->library, "skua") == 0 ? "" : "4 3";
            for (const struct neighbours_column *c = bench->column; c->title; c++)
                plot_curve_add(one, c->x, neighbours_value(results, row, p ? "-tcp" : "", c, 2));
        }
    plot_write_all(plots, 2, to);
}
