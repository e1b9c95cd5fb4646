/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_collectives.c - skua bench collectives: collectives against MPI, on one or several numbers
 * of PEs.
 *
 * Within a host each PE is a process.  Where there are enough cores, each process is bound to one:
 * the PEs of Skua to the CPUs of `pin` auto, the processes of the MPIs to the first cores.  Over
 * TCP the processes share no memory and each library is configured to use loopback only.  A series
 * is LIBRARY-PES, or LIBRARY-tcp-PES.
 *
 * The time of an operation differs more between two runs of a program, which may run on faster or
 * slower CPUs of a machine, than within one: a hypervisor may put two virtual CPUs on one core for
 * a while, where small operations take half the time.  So the programs of all libraries run several
 * times in each round, for a short time, one after the other and in both orders.  A value is that
 * of the best batch of a run, in the median of all runs; goals print the ratio of the best runs as
 * well.  The median of a few runs says little about a ratio that is close to its goal: where there
 * is one, or one that misses its goal, the last round has further runs of all rows, since the rows
 * before a row change it, and the closer the ratio, the more of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "network.h"

static const size_t sizes[] = {8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};

#define SIZES (sizeof sizes / sizeof *sizes)

static const char *const libraries[] = {"skua", "openmpi", "mpich"};

#define LIBRARIES (sizeof libraries / sizeof *libraries)
#define PASSES    3 /* runs of each library in a round */

/* The runs of each library in all rounds, at most, while a ratio is as close to its goal as this,
 * or misses it.  On a busy machine, runs of one program differ by 5 to 15 %. */
static const struct {
    double ratio;
    int    runs;
} further[] = {{0.9, 9}, {0.95, 15}, {0.98, 21}};

#define FURTHER (sizeof further / sizeof *further)

static const struct {
    const char *metric, *title, *what, *mpi;
} kinds[] = {
    {"allreduce_us", "Allreduce, sum of doubles, microseconds", "allreduce", "MPI_Allreduce"},
    {"reduce_us", "Reduce, sum of doubles, roots in turn, microseconds", "reduce", "MPI_Reduce"},
    {"broadcast_us", "Broadcast, roots in turn, microseconds", "broadcast", "MPI_Bcast"},
    {"scan_us", "Scan, sum of doubles, microseconds", "scan", "MPI_Scan"},
    {"gather_us", "Gather of a block from each PE, roots in turn, microseconds", "gather",
     "MPI_Gather"},
    {"scatter_us", "Scatter of a block to each PE, roots in turn, microseconds", "scatter",
     "MPI_Scatter"},
    {"allgather_us", "Allgather of a block from each PE, microseconds", "allgather",
     "MPI_Allgather"},
    {"alltoall_us", "Alltoall of a block to each PE, microseconds", "alltoall", "MPI_Alltoall"},
    {"exscan_us", "Exscan, sum of doubles, microseconds", "exscan", "MPI_Exscan"},
    {"minloc_us", "Allreduce, minimum of doubles and its location, microseconds", "minloc",
     "MPI_Allreduce"},
    {"allgatherv_us", "Allgatherv, blocks of half and one and a half times the size, microseconds",
     "allgatherv", "MPI_Allgatherv"},
    {"alltoallv_us", "Alltoallv, blocks of half and one and a half times the size, microseconds",
     "alltoallv", "MPI_Alltoallv"},
    {"team_barrier_us", "Barrier of a team, half of the PEs, microseconds", "team barrier",
     "MPI_Barrier"},
    {"team_allreduce_us", "Allreduce in a team, half of the PEs, microseconds", "team allreduce",
     "MPI_Allreduce"},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- ratios --------------------------------------------------------------------- */

static double bench_collectives_get(const struct results *r, const char *library,
                                    const struct bench_setup *setup, size_t bytes,
                                    const char *metric)
{
    char series[48];

    bench_setup_series(series, sizeof series, library, setup);
    return results_get(r, series, bytes, metric);
}

/* Returns the ratio of @p metric of Skua to @p metric_mpi of an MPI, or 0. */
static double bench_collectives_ratio(const struct results *r, const char *mpi,
                                      const struct bench_setup *setup, size_t bytes,
                                      const char *metric, const char *metric_mpi)
{
    return bench_ratio(bench_collectives_get(r, "skua", setup, bytes, metric),
                       bench_collectives_get(r, mpi, setup, bytes, metric_mpi));
}

/* Returns the largest ratio of a collective to an MPI over all sizes, and its size. */
static struct bench_worst bench_collectives_worst(const struct results *r, const char *mpi,
                                                  const struct bench_setup *setup, size_t k)
{
    char series[2][48];

    bench_setup_series(series[0], sizeof series[0], "skua", setup);
    bench_setup_series(series[1], sizeof series[1], mpi, setup);
    return bench_find_worst(r, series[0], kinds[k].metric, series[1], kinds[k].metric, sizes,
                            SIZES);
}

/* Returns the largest ratio of all goals. */
static double bench_collectives_closest(const struct results *r, const struct bench_setup *setup)
{
    double most = 0;

    for (size_t i = 1; i < LIBRARIES; i++) {
        const char *mpi = libraries[i];

        for (size_t k = 0; k < KINDS; k++)
            most = fmax(most, bench_collectives_worst(r, mpi, setup, k).ratio);
        most = fmax(most, bench_collectives_ratio(r, mpi, setup, 0, "barrier_us", "barrier_us"));
        most = fmax(most, bench_collectives_ratio(r, mpi, setup, 0, "sync_us", "barrier_us"));
    }
    return most;
}

/* Returns how many runs each library is to have if the largest ratio is @p ratio. */
static int bench_collectives_runs(double ratio)
{
    int runs = 0;

    for (size_t i = 0; i < FURTHER && ratio >= further[i].ratio; i++)
        runs = further[i].runs;
    return runs;
}

/* ---- running ------------------------------------------------------------------ */

static void bench_collectives_run_skua(struct results *results, int pes, const char *series)
{
    char *options = bench_bound_options(results->host, pes, 1);

    bench_run_job(results, "%s --set=driver=tcp @bench-collectives %s", options, series);
    free(options);
}

static void bench_collectives_run_library(struct results *results, const struct bench_setup *setup,
                                          const char *library)
{
    char series[48];

    bench_setup_series(series, sizeof series, library, setup);
    if (strcmp(library, "skua") == 0)
        bench_collectives_run_skua(results, setup->pes, series);
    else
        bench_run_mpi(results, library, "collectives", series, NULL, setup->pes);
}

/* Runs each library once. */
static void bench_collectives_run_pass(struct results *results, const struct bench_setup *setup,
                                       int pass)
{
    for (size_t i = 0; i < LIBRARIES; i++) {
        const char *library = libraries[pass % 2 ? LIBRARIES - 1 - i : i];

        bench_stepf(results, "%s, %d PEs%s", library, setup->pes, setup->tcp ? ", over TCP" : "");
        bench_collectives_run_library(results, setup, library);
    }
}

static void bench_collectives_run_setup(struct results *results, const struct bench_setup *setup)
{
    int pass = 0, before = (results->host->rounds - 1) * PASSES;

    network_use_tcp(setup->tcp ? "lo" : NULL); /* which includes SKUA_SHARED_MEMORY=0 */
    for (; pass < PASSES; pass++)
        bench_collectives_run_pass(results, setup, pass);
    for (; results->host->round == results->host->rounds &&
           before + pass < bench_collectives_runs(bench_collectives_closest(results, setup));
         pass++)
        bench_collectives_run_pass(results, setup, pass);
    network_use_tcp(NULL);
}

static void bench_collectives_run(struct results *results)
{
    for (const int *pes = results->host->pes; *pes; pes++)
        for (int tcp = 0; tcp < 2; tcp++) {
            struct bench_setup setup = {tcp, *pes};

            bench_collectives_run_setup(results, &setup);
        }
}

/* ---- tables -------------------------------------------------------------------- */

/* Returns whether a library has a value for this row of a table. */
static bool bench_collectives_measured(const struct results *r, const struct bench_setup *setup,
                                       size_t bytes, const char *metric)
{
    for (size_t i = 0; i < LIBRARIES; i++)
        if (bench_collectives_get(r, libraries[i], setup, bytes, metric) > 0)
            return true;
    return false;
}

static void bench_collectives_print_row(const struct results *r, const char *name,
                                        const struct bench_setup *setup, size_t bytes,
                                        const char *metric)
{
    double mine = bench_collectives_get(r, "skua", setup, bytes, metric);

    printf("%10s", name);
    for (size_t i = 0; i < LIBRARIES; i++)
        bench_print_value(bench_collectives_get(r, libraries[i], setup, bytes, metric), 12);
    for (size_t i = 1; i < LIBRARIES; i++)
        bench_print_value(
            bench_ratio(mine, bench_collectives_get(r, libraries[i], setup, bytes, metric)), 12);
    printf("\n");
}

static void bench_collectives_print_head(const char *title, const char *first)
{
    printf("\n%s\n%10s", title, first);
    for (size_t i = 0; i < LIBRARIES; i++)
        printf("%12s", libraries[i]);
    for (size_t i = 1; i < LIBRARIES; i++)
        printf("%4s%8s", "/", libraries[i]);
    printf("\n");
}

static void bench_collectives_print_kind(const struct results *r, const struct bench_setup *setup,
                                         size_t k)
{
    bench_collectives_print_head(kinds[k].title, "bytes");
    for (size_t i = 0; i < SIZES; i++) {
        char bytes[24];

        if (!bench_collectives_measured(r, setup, sizes[i], kinds[k].metric))
            continue;
        snprintf(bytes, sizeof bytes, "%zu", sizes[i]);
        bench_collectives_print_row(r, bytes, setup, sizes[i], kinds[k].metric);
    }
}

/* Prints where the processes of each library ran. */
static void bench_collectives_print_cpus(const struct bench_host *host, int pes)
{
    char *list = bench_cpus(host, pes, 1);

    if (list)
        printf("The PEs of Skua are bound to the CPUs %s, the processes of the MPIs to the first "
               "cores, one each\n",
               list);
    else
        printf("More PEs than cores: the processes of the MPIs are not bound\n");
    free(list);
}

static void bench_collectives_print_tables(const struct results *r, const struct bench_setup *setup)
{
    printf(setup->tcp ? "\n%d PEs over TCP, processes that share no memory\n"
                      : "\n%d PEs within a host, each a process\n",
           setup->pes);
    bench_collectives_print_cpus(r->host, setup->pes);
    printf("A value is the median of all runs of a library, in its best batch\n");
    bench_collectives_print_head("Sync and barrier, microseconds", "");
    bench_collectives_print_row(r, "sync", setup, 0, "sync_us");
    bench_collectives_print_row(r, "barrier", setup, 0, "barrier_us");
    for (size_t k = 0; k < KINDS; k++)
        bench_collectives_print_kind(r, setup, k);
}

/* ---- goals ----------------------------------------------------------------------- */

/* Returns the ratio of the best runs of @p metric of Skua and @p metric_mpi of an MPI. */
static double bench_collectives_best(const struct results *r, const char *mpi,
                                     const struct bench_setup *setup, size_t bytes,
                                     const char *metric, const char *metric_mpi)
{
    char series[2][48];

    bench_setup_series(series[0], sizeof series[0], "skua", setup);
    bench_setup_series(series[1], sizeof series[1], mpi, setup);
    return bench_ratio(results_get_best(r, series[0], bytes, metric),
                       results_get_best(r, series[1], bytes, metric_mpi));
}

/* Prints the largest ratio to an MPI over all sizes, and its size; in parentheses, the ratio of the
 * best runs of that size. */
static void bench_collectives_print_worst(const struct results *r, const struct bench_setup *setup,
                                          size_t k, const char *mpi)
{
    const char        *metric = kinds[k].metric;
    struct bench_worst worst  = bench_collectives_worst(r, mpi, setup, k);

    if (worst.ratio == 0) {
        bench_print_goalf(0, "<=", 1, "%s / %s of %s", kinds[k].what, kinds[k].mpi, mpi);
        return;
    }
    bench_print_goalf(worst.ratio, "<=", 1, "%s / %s of %s, worst: %zu B (%.2f)", kinds[k].what,
                      kinds[k].mpi, mpi, worst.bytes,
                      bench_collectives_best(r, mpi, setup, worst.bytes, metric, metric));
}

/* Prints the ratio of an operation without data to the barrier of an MPI; in parentheses, the ratio
 * of the best runs. */
static void bench_collectives_print_barrier(const struct results     *r,
                                            const struct bench_setup *setup, const char *what,
                                            const char *metric, const char *mpi)
{
    bench_print_goalf(bench_collectives_ratio(r, mpi, setup, 0, metric, "barrier_us"), "<=", 1,
                      "%s / MPI_Barrier of %s (%.2f)", what, mpi,
                      bench_collectives_best(r, mpi, setup, 0, metric, "barrier_us"));
}

static void bench_collectives_print_goals(const struct results *r, const struct bench_setup *setup)
{
    char title[64];

    snprintf(title, sizeof title, "Goals, %d PEs %s, medians (best runs)", setup->pes,
             setup->tcp ? "over TCP" : "within a host");
    bench_print_goals_head(title);
    for (size_t i = 1; i < LIBRARIES; i++) {
        for (size_t k = 0; k < KINDS; k++)
            bench_collectives_print_worst(r, setup, k, libraries[i]);
        bench_collectives_print_barrier(r, setup, "barrier", "barrier_us", libraries[i]);
        bench_collectives_print_barrier(r, setup, "sync", "sync_us", libraries[i]);
    }
}

static void bench_collectives_print(const struct results *r)
{
    bench_setup_each(r, bench_collectives_print_tables);
    bench_setup_each(r, bench_collectives_print_goals);
}

/* ---- plots ------------------------------------------------------------------------- */

#define CURVES (2 * LIBRARIES)

static const char *const colours[LIBRARIES] = {"#d62728", "#2ca02c", "#8c564b"};

/* Curves over bytes on the last number of PEs (bytes 0), or over the numbers of PEs. */
static const struct {
    const char *title, *metric;
    size_t      bytes;
} pictures[] = {
    {"Allreduce", "allreduce_us", 0},
    {"Reduce", "reduce_us", 0},
    {"Broadcast", "broadcast_us", 0},
    {"Allgather", "allgather_us", 0},
    {"Alltoall", "alltoall_us", 0},
    {"Allreduce of 8 bytes", "allreduce_us", 8},
    {"Allreduce of 1 MB", "allreduce_us", 1048576},
    {"Broadcast of 64 bytes", "broadcast_us", 64},
    {"Broadcast of 1 MB", "broadcast_us", 1048576},
};

#define PICTURES (sizeof pictures / sizeof *pictures)

static size_t bench_collectives_pes_count(const struct bench_host *host)
{
    size_t count = 0;

    while (host->pes[count])
        count++;
    return count;
}

static void bench_collectives_draw(struct plot_curve *curve, const struct results *r, size_t p,
                                   const char *library, bool tcp)
{
    size_t             count = bench_collectives_pes_count(r->host);
    struct bench_setup setup = {tcp, r->host->pes[count - 1]};

    for (size_t i = 0; !pictures[p].bytes && i < SIZES; i++)
        plot_curve_add(curve, (double)sizes[i],
                       bench_collectives_get(r, library, &setup, sizes[i], pictures[p].metric));
    for (size_t i = 0; pictures[p].bytes && i < count; i++) {
        setup.pes = r->host->pes[i];
        plot_curve_add(
            curve, setup.pes,
            bench_collectives_get(r, library, &setup, pictures[p].bytes, pictures[p].metric));
    }
}

static void bench_collectives_plot(const struct results *r, FILE *to)
{
    static const char *const names[] = {"skua-tcp", "openmpi-tcp", "mpich-tcp"};
    static struct plot_curve curve[PICTURES][CURVES];
    static struct plot       plots[PICTURES];
    size_t                   count = 0;

    for (size_t p = 0; p < PICTURES; p++) {
        if (pictures[p].bytes && bench_collectives_pes_count(r->host) < 2)
            continue;
        for (size_t c = 0; c < CURVES; c++) {
            struct plot_curve *one = &curve[p][c];

            one->name   = c < LIBRARIES ? libraries[c] : names[c - LIBRARIES];
            one->colour = colours[c % LIBRARIES];
            one->dash   = c < LIBRARIES ? "" : "5 4";
            bench_collectives_draw(one, r, p, libraries[c % LIBRARIES], c >= LIBRARIES);
        }
        plots[count++] = (struct plot){pictures[p].title, pictures[p].bytes ? "PEs" : "bytes",
                                       "microseconds", curve[p], CURVES};
    }
    plot_write_all(plots, count, to);
}

const struct bench bench_collectives = {.name        = "collectives",
                                        .run         = bench_collectives_run,
                                        .print       = bench_collectives_print,
                                        .plot        = bench_collectives_plot,
                                        .median      = true,
                                        .several_pes = true};
