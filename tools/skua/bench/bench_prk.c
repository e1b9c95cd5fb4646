/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_prk.c - skua bench prk: five of the Parallel Research Kernels with puts and with messages
 * of Skua, against two-sided and one-sided MPI.
 *
 * Within a host each PE is a process.  Over TCP the processes share no memory and each library is
 * configured to use loopback only.  A series is LIBRARY[-tcp]-PES-VARIANT.
 */
#include <string.h>

#include "bench.h"
#include "network.h"

static const struct prk_metric {
    const char *metric, *title;
} prk_metrics[] = {
    {"p2p_us", "p2p: pipelined wavefront"},    {"stencil_us", "stencil: star of radius 2"},
    {"transpose_us", "transpose of a matrix"}, {"random_us", "random: XOR into a table"},
    {"reduce_us", "reduce: sum of vectors"},
};

#define PRK_METRICS (sizeof prk_metrics / sizeof *prk_metrics)

static const char *const prk_libraries[] = {"skua", "openmpi", "mpich"};

/* The columns of a table, those of Skua first. */
static const struct prk_column {
    const char *library, *variant, *head;
    const char *colour;
} prk_columns[] = {
    {"skua", "put", "put", "#d62728"},         {"skua", "message", "message", "#ff7f0e"},
    {"openmpi", "send", "openmpi", "#2ca02c"}, {"openmpi", "rma", "openmpi rma", "#98df8a"},
    {"mpich", "send", "mpich", "#8c564b"},     {"mpich", "rma", "mpich rma", "#c49c94"},
};

#define PRK_COLUMNS (sizeof prk_columns / sizeof *prk_columns)
#define PRK_OWN     2 /* columns of Skua */

/* ---- running ------------------------------------------------------------------ */

static void bench_prk_run_library(struct results *results, const char *library,
                                  const struct bench_setup *setup)
{
    char series[40];

    bench_setup_series(series, sizeof series, library, setup);
    if (strcmp(library, "skua") == 0)
        bench_run_job(results, "-n %d --set=driver=tcp @bench-prk %s", setup->pes, series);
    else
        bench_run_mpi(results, library, "prk", series, NULL, setup->pes);
}

static void bench_prk_run_setup(struct results *results, const struct bench_setup *setup)
{
    network_use_tcp(setup->tcp ? "lo" : NULL); /* which includes SKUA_SHARED_MEMORY=0 */
    for (size_t i = 0; i < sizeof prk_libraries / sizeof *prk_libraries; i++) {
        bench_stepf(results, "%s, %d PEs%s", prk_libraries[i], setup->pes,
                    setup->tcp ? ", over TCP" : "");
        bench_prk_run_library(results, prk_libraries[i], setup);
    }
    network_use_tcp(NULL);
}

static void bench_prk_run(struct results *results)
{
    for (const int *pes = results->host->pes; *pes; pes++)
        for (int tcp = 0; tcp < 2; tcp++)
            bench_prk_run_setup(results, &(struct bench_setup){tcp, *pes});
}

/* ---- tables and goals ------------------------------------------------------------ */

static double bench_prk_get(const struct results *r, const struct prk_column *column,
                            const struct bench_setup *setup, const char *metric)
{
    char series[40], name[48];

    bench_setup_series(series, sizeof series, column->library, setup);
    snprintf(name, sizeof name, "%s-%s", series, column->variant);
    return results_get(r, name, 0, metric);
}

static void bench_prk_print_table(const struct results *r, const struct bench_setup *setup)
{
    char title[64];

    snprintf(title, sizeof title, "%d PEs %s, us", setup->pes,
             setup->tcp ? "over TCP" : "within a host");
    printf("\n%-28s", title);
    for (size_t c = 0; c < PRK_COLUMNS; c++)
        printf("%12s", prk_columns[c].head);
    printf("\n");
    for (size_t k = 0; k < PRK_METRICS; k++) {
        printf("%-28s", prk_metrics[k].title);
        for (size_t c = 0; c < PRK_COLUMNS; c++)
            bench_print_value(bench_prk_get(r, &prk_columns[c], setup, prk_metrics[k].metric), 12);
        printf("\n");
    }
}

/* Returns the better of the two MPIs: puts are compared with the one-sided variant, messages with
 * the two-sided one. */
static double bench_prk_peer(const struct results *r, const struct bench_setup *setup,
                             const char *variant, const char *metric)
{
    double best = 0;

    for (size_t c = PRK_OWN; c < PRK_COLUMNS; c++)
        if (strcmp(prk_columns[c].variant, variant) == 0)
            best = bench_shorter(best, bench_prk_get(r, &prk_columns[c], setup, metric));
    return best;
}

static void bench_prk_print_goals(const struct results *r, const struct bench_setup *setup)
{
    static const char *const against[PRK_OWN] = {"rma", "send"};
    char                     text[96];

    snprintf(text, sizeof text, "Goals, %d PEs %s: Skua / the faster MPI", setup->pes,
             setup->tcp ? "over TCP" : "within a host");
    bench_print_goals_head(text);
    for (size_t k = 0; k < PRK_METRICS; k++)
        for (size_t c = 0; c < PRK_OWN; c++) {
            const char *metric = prk_metrics[k].metric;

            bench_print_goalf(bench_ratio(bench_prk_get(r, &prk_columns[c], setup, metric),
                                          bench_prk_peer(r, setup, against[c], metric)),
                              "<=", 1, "%s, %s / MPI %s", prk_metrics[k].title, prk_columns[c].head,
                              against[c]);
        }
    bench_print_goalf(bench_ratio(bench_prk_get(r, &prk_columns[0], setup, "p2p_us"),
                                  bench_prk_peer(r, setup, "send", "p2p_us")),
                      "<=", 1, "%s, put / MPI send", prk_metrics[0].title);
}

static void bench_prk_print(const struct results *r)
{
    bench_setup_each(r, bench_prk_print_table);
    bench_setup_each(r, bench_prk_print_goals);
}

/* ---- plots ------------------------------------------------------------------------- */

static void bench_prk_draw(struct plot_curve *curve, const struct results *r,
                           const struct prk_column *column, bool tcp, const char *metric)
{
    curve->name   = column->head;
    curve->colour = column->colour;
    curve->dash   = "";
    for (const int *pes = r->host->pes; *pes; pes++)
        plot_curve_add(curve, *pes,
                       bench_prk_get(r, column, &(struct bench_setup){tcp, *pes}, metric));
}

static void bench_prk_plot(const struct results *r, FILE *to)
{
    static struct plot_curve curve[2 * PRK_METRICS][PRK_COLUMNS];
    static char              title[2 * PRK_METRICS][64];
    static struct plot       plots[2 * PRK_METRICS];

    for (size_t p = 0; p < 2 * PRK_METRICS; p++) {
        bool tcp = p % 2;

        for (size_t c = 0; c < PRK_COLUMNS; c++)
            bench_prk_draw(&curve[p][c], r, &prk_columns[c], tcp, prk_metrics[p / 2].metric);
        snprintf(title[p], sizeof title[p], "%s, %s", prk_metrics[p / 2].title,
                 tcp ? "over TCP" : "within a host");
        plots[p] = (struct plot){title[p], "PEs", "microseconds", curve[p], PRK_COLUMNS};
    }
    plot_write_all(plots, 2 * PRK_METRICS, to);
}

const struct bench bench_prk = {.name        = "prk",
                                .run         = bench_prk_run,
                                .print       = bench_prk_print,
                                .plot        = bench_prk_plot,
                                .several_pes = true};
