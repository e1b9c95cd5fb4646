/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fmm.c - skua bench fmm: the fast multipole method with puts and notifications, with and
 * without overlap, against MPI with messages and with MPI_Put, which run the same kernels. */
#include <string.h>

#include "scaling.h"

#define ERROR "1e-4" /* of the energy */
#define LARGE 1000000

static const int sizes[]   = {20000, LARGE}; /* particles */
static const int numbers[] = {1, 2, 16};     /* of PEs */

#define SIZES   (sizeof sizes / sizeof *sizes)
#define NUMBERS (sizeof numbers / sizeof *numbers)

/* ---- running ------------------------------------------------------------- */

/* The arguments of a run: small problems are solved more often.  Many PEs, which are soon done,
 * solve the large one three times, since the work is divided by the speeds of earlier solves. */
static void bench_fmm_arguments(char arguments[96], int particles, int pes)
{
    snprintf(arguments, 96, "--particles=%d --error=" ERROR " --check=100 --repeat=%d", particles,
             particles < LARGE ? 5
             : pes > 2         ? 3
                               : 1);
}

static void bench_fmm_run_skua(struct results *results, const struct bench_host *host, int pes,
                               int particles, const char *options, const char *series)
{
    char where[96], arguments[160], rule[96];

    bench_fmm_arguments(rule, particles, pes);
    snprintf(where, sizeof where, "-n %d%s", pes, options);
    snprintf(arguments, sizeof arguments, "%s --series=%s%s", rule, series,
             strstr(series, "-wait") ? " --no-overlap" : "");
    bench_run_app(results, host, "fmm", where, arguments);
}

static void bench_fmm_run_mpi(struct results *results, const struct bench_host *host, int pes,
                              int particles, const char *mpi, const char *variant)
{
    char              program[48], series[48], argument[128], rule[96];
    struct bench_peer peer = {mpi, program, series, argument};

    bench_fmm_arguments(rule, particles, pes);
    snprintf(program, sizeof program, "peer-%s-fmm", mpi);
    snprintf(series, sizeof series, "%s-%s", mpi, variant);
    snprintf(argument, sizeof argument, "%s %s", variant, rule);
    bench_run_peer(results, host, &peer, pes);
}

/* Runs each variant on a number of PEs. */
static void bench_fmm_run_all(struct results *results, const struct bench_host *host, int pes,
                              int particles)
{
    char threads[32];

    snprintf(threads, sizeof threads, " -t %d", pes);
    bench_fmm_run_skua(results, host, pes, particles, "", "skua");
    bench_fmm_run_mpi(results, host, pes, particles, "openmpi", "messages");
    bench_fmm_run_mpi(results, host, pes, particles, "mpich", "messages");
    if (pes == 1)
        return;
    bench_fmm_run_skua(results, host, pes, particles, threads, "skua-threads");
    bench_fmm_run_mpi(results, host, pes, particles, "openmpi", "puts");
    bench_fmm_run_mpi(results, host, pes, particles, "mpich", "puts");
}

/* With and without overlap, inside a host and over TCP. */
static void bench_fmm_run_overlap(struct results *results, const struct bench_host *host,
                                  int particles)
{
    static const char tcp[] = " --set=shared_memory=0 --set=driver=tcp";

    bench_fmm_run_skua(results, host, 2, particles, "", "skua-wait");
    bench_fmm_run_skua(results, host, 2, particles, tcp, "tcp");
    bench_fmm_run_skua(results, host, 2, particles, tcp, "tcp-wait");
}

static void bench_fmm_run(struct results *results, const struct bench_host *host, int round,
                          int rounds)
{
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < NUMBERS; k++) {
            char what[48];

            if (numbers[k] > 2 && numbers[k] > host->cores)
                continue; /* not measured where PEs share cores */
            snprintf(what, sizeof what, "%d particles, %d PEs", sizes[i], numbers[k]);
            bench_step(round, rounds, what);
            bench_fmm_run_all(results, host, numbers[k], sizes[i]);
            if (numbers[k] == 2)
                bench_fmm_run_overlap(results, host, sizes[i]);
        }
}

/* ---- tables -------------------------------------------------------------- */

/* Returns a time in seconds. */
static double bench_fmm_value(const struct results *r, const char *series, int particles,
                              const char *what, int pes)
{
    char metric[32];

    snprintf(metric, sizeof metric, "%s-%dpe", what, pes);
    return results_get(r, series, (size_t)particles, metric);
}

static double bench_fmm_best_mpi(const struct results *r, int particles, int pes)
{
    static const char *const series[] = {"openmpi-messages", "openmpi-puts", "mpich-messages",
                                         "mpich-puts"};
    double                   best     = 0;

    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        double x = bench_fmm_value(r, series[i], particles, "step", pes);

        best = best == 0 || (x > 0 && x < best) ? x : best;
    }
    return best;
}

/* Prints the time of each phase of a solve and of the whole. */
static void bench_fmm_print_phases(const struct results *r, const char *what, const char *series,
                                   int particles, int pes)
{
    static const char *const phases[] = {"tree", "up", "near", "far", "down", "wait", "step"};

    if (bench_fmm_value(r, series, particles, "step", pes) == 0)
        return;
    printf("%9d%4d  %-26s", particles, pes, what);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        bench_print_value(1e3 * bench_fmm_value(r, series, particles, phases[i], pes), 9);
    printf("\n");
}

static void bench_fmm_print_table(const struct results *r)
{
    static const struct {
        const char *what, *series;
    } rows[] = {{"skua, processes", "skua"},
                {"skua, waiting first", "skua-wait"},
                {"skua, threads", "skua-threads"},
                {"skua, TCP", "tcp"},
                {"skua, TCP, waiting first", "tcp-wait"},
                {"Open MPI, messages", "openmpi-messages"},
                {"Open MPI, puts", "openmpi-puts"},
                {"MPICH, messages", "mpich-messages"},
                {"MPICH, puts", "mpich-puts"}};

    printf("Fast multipole method, uniform charges, error " ERROR
           ": milliseconds of a solve, mean of PEs\n%9s%4s  %-26s%9s%9s%9s%9s%9s%9s%9s\n",
           "particles", "PEs", "", "tree", "up", "near", "far", "down", "wait", "total");
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < NUMBERS; k++)
            for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
                bench_fmm_print_phases(r, rows[row].what, rows[row].series, sizes[i], numbers[k]);
    printf("particles per second of one PE: %.0f\n",
           bench_ratio(LARGE, bench_fmm_value(r, "skua", LARGE, "step", 1)));
}

static void bench_fmm_print_goals(const struct results *r, int particles, int pes)
{
    char   what[64];
    double time = bench_fmm_value(r, "skua", particles, "step", pes);

    snprintf(what, sizeof what, "%d particles, %d PEs: time / best MPI", particles, pes);
    bench_print_goal(what, bench_ratio(time, bench_fmm_best_mpi(r, particles, pes)), "<=", 1);
    if (pes == 1 || particles < LARGE)
        return;
    snprintf(what, sizeof what, "%d particles, %d PEs: efficiency", particles, pes);
    bench_print_goal(what,
                     bench_ratio(bench_fmm_value(r, "skua", particles, "step", 1), pes * time),
                     ">=", pes > 2 ? 0.8 : 0.9);
}

static void bench_fmm_print(const struct results *r)
{
    bench_fmm_print_table(r);
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < NUMBERS; k++)
            bench_fmm_print_goals(r, sizes[i], numbers[k]);
    for (size_t i = 0; i < SIZES; i++) {
        char what[64];

        snprintf(what, sizeof what, "%d particles, TCP: time with / without overlap", sizes[i]);
        bench_print_goal(what,
                         bench_ratio(bench_fmm_value(r, "tcp", sizes[i], "step", 2),
                                     bench_fmm_value(r, "tcp-wait", sizes[i], "step", 2)),
                         "<=", 1);
    }
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_fmm_draw(struct plot_curve *curve, const struct results *r, const char *series)
{
    for (size_t i = 0; i < NUMBERS; i++)
        plot_curve_add(curve, numbers[i], bench_fmm_value(r, series, LARGE, "step", numbers[i]));
}

static void bench_fmm_plot(const struct results *r, FILE *to)
{
    struct plot_curve curve[] = {
        {.name = "skua", .colour = "#d62728", .dash = ""},
        {.name = "Open MPI, messages", .colour = "#7f7f7f", .dash = "4 3"},
        {.name = "MPICH, messages", .colour = "#8c564b", .dash = "4 3"},
    };
    struct plot picture = {"Fast multipole method, 10^6 particles", "PEs", "s per solve", curve, 3};

    bench_fmm_draw(&curve[0], r, "skua");
    bench_fmm_draw(&curve[1], r, "openmpi-messages");
    bench_fmm_draw(&curve[2], r, "mpich-messages");
    plot_write(&picture, to);
}

const struct bench bench_fmm = {
    .name = "fmm", .run = bench_fmm_run, .print = bench_fmm_print, .plot = bench_fmm_plot};

/* ---- any number of PEs ----------------------------------------------------- */

static void bench_fmm_scale(const struct scaling *scaling, struct results *results,
                            const struct bench_host *host, int pes)
{
    bench_fmm_run_all(results, host, pes, scaling_grow_count(scaling, pes));
}

static size_t bench_fmm_bytes_on(const struct scaling *scaling, int pes)
{
    return (size_t)scaling_grow_count(scaling, pes);
}

const struct scaling scaling_fmm = {.name     = "fmm",
                                    .problem  = "Fast multipole method, ",
                                    .after    = " particles, error " ERROR,
                                    .size     = {LARGE, 1000, 2000000, 0},
                                    .unit     = "seconds per solve",
                                    .factor   = 1,
                                    .curve    = {{"skua", "skua"},
                                                 {"skua-threads", "skua, threads"},
                                                 {"openmpi-messages", "Open MPI, messages"},
                                                 {"openmpi-puts", "Open MPI, puts"},
                                                 {"mpich-messages", "MPICH, messages"},
                                                 {"mpich-puts", "MPICH, puts"}},
                                    .run      = bench_fmm_scale,
                                    .bytes_on = bench_fmm_bytes_on};
