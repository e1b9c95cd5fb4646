/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_openshmem.c - skua bench openshmem: the calls of OpenSHMEM on libskua-shmem against Open
 * MPI's, on one or several numbers of PEs, each a process of this host.
 *
 * A series is LIBRARY-PES; `limit' is memcpy() to the same memory.  Operations between two PEs are
 * measured in jobs of two, so that no other process shares their cores.
 */
#include <string.h>

#include "base/seconds.h"
#include "bench.h"

#define START   64 /* processes of the start-up measurement */
#define ROWS    16 /* largest number of sizes in a table    */
#define START_S 2  /* seconds that the start may take       */

static const char *const libraries[] = {"skua", "openmpi"};

#define LIBRARIES (sizeof libraries / sizeof *libraries)

/* What is measured at several sizes. */
static const struct {
    const char *metric, *title, *what;
} kinds[] = {
    {"put_us", "Put, microseconds", "put"},
    {"put_quiet_us", "Put and quiet, microseconds", "put + quiet"},
    {"get_us", "Get, microseconds", "get"},
    {"put_gbs", "Non-blocking puts, 64 in flight, GB/s", "puts in flight"},
    {"get_gbs", "Non-blocking gets, 64 in flight, GB/s", "gets in flight"},
    {"signal_us", "Put with signal, one way, microseconds", "put with signal"},
    {"broadcast_us", "Broadcast, roots in turn, microseconds", "broadcast"},
    {"sum_us", "Sum of doubles to all, microseconds", "reduction"},
    {"alltoall_us", "Alltoall of a block to each PE, microseconds", "alltoall"},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* What is measured at one size. */
static const struct {
    const char *metric, *what;
    size_t      bytes;
} singles[] = {
    {"fetch_add_us", "fetch-add", 8}, {"add_us", "add", 8},
    {"swap_us", "swap", 8},           {"compare_swap_us", "compare-swap", 8},
    {"fetch_us", "fetch", 8},         {"set_us", "set", 8},
    {"wait_us", "wait_until", 8},     {"iput_us", "iput", 8192},
    {"barrier_us", "barrier_all", 0}, {"alloc_us", "allocation", 65536},
};

#define SINGLES (sizeof singles / sizeof *singles)

static double bench_openshmem_get(const struct results *r, const char *library, int pes,
                                  size_t bytes, const char *metric)
{
    return results_get_series(r, bytes, metric, "%s-%d", library, pes);
}

/* ---- running ------------------------------------------------------------------ */

static void bench_openshmem_run_pes(struct results *results, int pes)
{
    char              series[48];
    struct bench_peer peer = {"oshrun", "peer-openshmem-calls", series, NULL};

    bench_run_job(results, "-n %d --pin=%s @bench-openshmem skua-%d", pes,
                  pes > results->host->cores ? "none" : "auto", pes);
    snprintf(series, sizeof series, "openmpi-%d", pes);
    bench_run_peer(results, &peer, pes);
}

/* Measures a job of START processes from the call of the launcher to its end. */
static void bench_openshmem_run_start(struct results *results)
{
    char          path[PROGRAM_PATH_BYTES], n[16];
    char         *argv[] = {(char *)results->host->skuarun,
                            "-n",
                            n,
                            "-t",
                            "1",
                            "--pin=none",
                            path,
                            "skua",
                            "start",
                            NULL};
    struct result result = {.bench = "openshmem", .metric = "start_s"};
    double        start  = ski_seconds(CLOCK_MONOTONIC);

    if (!program_find("bench-openshmem", path))
        return;
    snprintf(n, sizeof n, "%d", START);
    snprintf(result.series, sizeof result.series, "skua-%d", START);
    if (program_run(argv, false, NULL, NULL) != 0)
        return;
    result.value = ski_seconds(CLOCK_MONOTONIC) - start;
    results_add(results, &result);
}

static void bench_openshmem_run(struct results *results)
{
    for (const int *pes = results->host->pes; *pes; pes++) {
        bench_stepf(results, "OpenSHMEM, %d PEs", *pes);
        bench_openshmem_run_pes(results, *pes);
    }
    bench_step(results, "the start of 64 processes");
    bench_openshmem_run_start(results);
}

/* ---- tables -------------------------------------------------------------------- */

/* Writes the sizes at which Skua has a result of @p metric.  Returns their number. */
static size_t bench_openshmem_sizes(const struct results *r, int pes, const char *metric,
                                    size_t sizes[ROWS])
{
    size_t count = 0;
    char   series[48];

    snprintf(series, sizeof series, "skua-%d", pes);
    for (size_t i = 0; i < r->count && count < ROWS; i++)
        if (strcmp(r->list[i].series, series) == 0 && strcmp(r->list[i].metric, metric) == 0)
            sizes[count++] = r->list[i].bytes;
    return count;
}

/* Returns how much better Open MPI is: more than 1 where Skua is behind; 0: not measured. */
static double bench_openshmem_ratio(const struct results *r, int pes, size_t bytes,
                                    const char *metric)
{
    double mine   = bench_openshmem_get(r, "skua", pes, bytes, metric);
    double theirs = bench_openshmem_get(r, "openmpi", pes, bytes, metric);

    return strstr(metric, "_gbs") ? bench_ratio(theirs, mine) : bench_ratio(mine, theirs);
}

static void bench_openshmem_print_head(const char *title, const char *first)
{
    printf("\n%s\n%-14s%12s%12s%12s%12s\n", title, first, "limit", "skua", "openmpi", "ratio");
}

static void bench_openshmem_print_row(const struct results *r, const char *name, int pes,
                                      size_t bytes, const char *metric)
{
    printf("%-14s", name);
    bench_print_value(results_get(r, "limit", bytes, metric), 12);
    for (size_t i = 0; i < LIBRARIES; i++)
        bench_print_value(bench_openshmem_get(r, libraries[i], pes, bytes, metric), 12);
    bench_print_value(bench_openshmem_ratio(r, pes, bytes, metric), 12);
    printf("\n");
}

static void bench_openshmem_print_kind(const struct results *r, int pes, size_t k)
{
    size_t sizes[ROWS], count = bench_openshmem_sizes(r, pes, kinds[k].metric, sizes);
    char   bytes[24];

    if (count == 0)
        return;
    bench_openshmem_print_head(kinds[k].title, "bytes");
    for (size_t i = 0; i < count; i++) {
        snprintf(bytes, sizeof bytes, "%zu", sizes[i]);
        bench_openshmem_print_row(r, bytes, pes, sizes[i], kinds[k].metric);
    }
}

static void bench_openshmem_print_tables(const struct results *r, int pes)
{
    printf("\n%d PEs within a host, each a process\n", pes);
    bench_openshmem_print_head("Single values, microseconds", "");
    for (size_t i = 0; i < SINGLES; i++)
        if (bench_openshmem_get(r, "skua", pes, singles[i].bytes, singles[i].metric) > 0)
            bench_openshmem_print_row(r, singles[i].what, pes, singles[i].bytes, singles[i].metric);
    for (size_t k = 0; k < KINDS; k++)
        bench_openshmem_print_kind(r, pes, k);
}

/* ---- goals ----------------------------------------------------------------------- */

/* Prints the largest ratio to Open MPI over all sizes, and its size. */
static void bench_openshmem_print_worst(const struct results *r, int pes, size_t k)
{
    const char        *metric = kinds[k].metric;
    size_t             sizes[ROWS], count = bench_openshmem_sizes(r, pes, metric, sizes);
    char               series[2][48];
    struct bench_worst worst;

    for (size_t i = 0; i < LIBRARIES; i++)
        snprintf(series[i], sizeof series[i], "%s-%d", libraries[i], pes);
    worst = bench_find_worst(r, series[0], metric, series[1], metric, sizes, count);
    if (count > 0)
        bench_print_goalf(worst.ratio, "<=", 1, "%s / Open MPI, worst: %zu B", kinds[k].what,
                          worst.bytes);
}

static void bench_openshmem_print_goals(const struct results *r, int pes)
{
    char text[96];

    snprintf(text, sizeof text, "Goals, %d PEs", pes);
    bench_print_goals_head(text);
    for (size_t k = 0; k < KINDS; k++)
        bench_openshmem_print_worst(r, pes, k);
    for (size_t i = 0; i < SINGLES; i++) {
        if (bench_openshmem_get(r, "skua", pes, singles[i].bytes, singles[i].metric) == 0)
            continue;
        bench_print_goalf(bench_openshmem_ratio(r, pes, singles[i].bytes, singles[i].metric),
                          "<=", 1, "%s / Open MPI", singles[i].what);
    }
    if (pes == 2)
        bench_print_goal("put of 8 bytes / memcpy",
                         bench_ratio(bench_openshmem_get(r, "skua", pes, 8, "put_us"),
                                     results_get(r, "limit", 8, "put_us")),
                         "<=", 3);
}

static void bench_openshmem_print(const struct results *r)
{
    for (const int *pes = r->host->pes; *pes; pes++)
        bench_openshmem_print_tables(r, *pes);
    for (const int *pes = r->host->pes; *pes; pes++)
        bench_openshmem_print_goals(r, *pes);
    bench_print_goals_head("Goals, start");
    bench_print_goal("64 processes start, allocate, pass a barrier, end: seconds",
                     bench_openshmem_get(r, "skua", START, 0, "start_s"), "<", START_S);
}

/* ---- plots ------------------------------------------------------------------------- */

static void bench_openshmem_draw(struct plot_curve *curve, const struct results *r,
                                 const char *series, const char *name, const char *colour,
                                 const char *metric)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->list[i].series, series) == 0 && strcmp(r->list[i].metric, metric) == 0)
            plot_curve_add(curve, (double)r->list[i].bytes, r->list[i].value);
    curve->name   = name;
    curve->colour = colour;
    curve->dash   = "";
}

/* One picture for each kind, on the first number of PEs. */
static void bench_openshmem_plot(const struct results *r, FILE *to)
{
    static struct plot_curve curve[KINDS][1 + LIBRARIES];
    static struct plot       plots[KINDS];
    char                     series[48];
    int                      pes   = r->host->pes[0];
    size_t                   count = 0, sizes[ROWS];

    for (size_t k = 0; k < KINDS; k++) {
        struct plot_curve *one = curve[count];

        if (bench_openshmem_sizes(r, pes, kinds[k].metric, sizes) == 0)
            continue;
        snprintf(series, sizeof series, "skua-%d", pes);
        bench_openshmem_draw(&one[0], r, series, "skua", "#d62728", kinds[k].metric);
        snprintf(series, sizeof series, "openmpi-%d", pes);
        bench_openshmem_draw(&one[1], r, series, "openmpi", "#2ca02c", kinds[k].metric);
        bench_openshmem_draw(&one[2], r, "limit", "memcpy", "#444444", kinds[k].metric);
        one[2].dash    = "5 4";
        plots[count++] = (struct plot){kinds[k].title, "bytes",
                                       strstr(kinds[k].metric, "_gbs") ? "GB/s" : "microseconds",
                                       one, one[2].points > 0 ? 3 : 2};
    }
    plot_write_all(plots, count, to);
}

const struct bench bench_openshmem = {.name        = "openshmem",
                                      .run         = bench_openshmem_run,
                                      .print       = bench_openshmem_print,
                                      .plot        = bench_openshmem_plot,
                                      .several_pes = true};
