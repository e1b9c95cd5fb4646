/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_onesided.c - skua bench onesided: one-sided communication against memcpy, MPI, OpenSHMEM
 * and ARMCI-MPI.
 *
 * All programs print the metrics of bench/bench_onesided.h.  The series `limit' is measured without
 * a library: memcpy for put and get, daxpy for accumulate, plain loops for strided, vector and
 * indexed data, a memcpy and a flag for notification; flag_us is the flag alone, one way.
 */
#include <math.h>
#include <string.h>

#include "bench.h"

#define ROWS  32 /* largest number of sizes in a table */
#define WIDTH 14 /* of a column                        */

static const struct bench_peer peers[] = {
    {"oshrun", "peer-openshmem-onesided", "openshmem", NULL},
    {"openmpi", "peer-openmpi-onesided", "openmpi-lock", "lock"},
    {"openmpi", "peer-openmpi-onesided", "openmpi-pscw", "pscw"},
    {"openmpi", "peer-openmpi-onesided", "openmpi-fence", "fence"},
    {"mpich", "peer-mpich-onesided", "mpich-lock", "lock"},
    {"mpich", "peer-mpich-onesided", "mpich-pscw", "pscw"},
    {"mpich", "peer-mpich-onesided", "mpich-fence", "fence"},
    {"openmpi", "peer-armci-mpi-onesided", "armci-mpi", NULL},
};

#define PEERS (sizeof peers / sizeof *peers)

static const char *const ours[] = {"limit", "skua", "limit-threads", "skua-threads"};

#define OURS    (sizeof ours / sizeof *ours)
#define COLUMNS (OURS + PEERS)

static const char *bench_onesided_column(size_t c)
{
    return c < OURS ? ours[c] : peers[c - OURS].series;
}

/* ---- running ------------------------------------------------------------- */

static void bench_onesided_run(struct results *results)
{
    bench_step(results, "Skua, two processes");
    bench_run_job(results, "-n 2 -t 1 --pin=auto @bench-onesided");
    bench_step(results, "Skua, two threads");
    bench_run_job(results, "-n 2 -t 2 --pin=auto @bench-onesided");
    for (size_t i = 0; i < PEERS; i++) {
        bench_step(results, peers[i].series);
        bench_run_peer(results, &peers[i], 2);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Writes the sizes at which @p metric was measured, in ascending order.  Returns their number. */
static size_t bench_onesided_sizes_of(const struct results *r, const char *metric,
                                      size_t sizes[ROWS])
{
    size_t count = 0;

    for (size_t i = 0; i < r->count && count < ROWS; i++) {
        size_t at = 0, bytes = r->list[i].bytes;
        if (strcmp(r->list[i].metric, metric) != 0)
            continue;
        while (at < count && sizes[at] < bytes)
            at++;
        if (at < count && sizes[at] == bytes)
            continue;
        memmove(sizes + at + 1, sizes + at, (count - at) * sizeof *sizes);
        sizes[at] = bytes;
        count++;
    }
    return count;
}

/* Returns whether a series has a result of @p metric, or any result if that is NULL. */
static bool bench_onesided_has_series(const struct results *r, const char *series,
                                      const char *metric)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->list[i].series, series) == 0 &&
            (!metric || strcmp(r->list[i].metric, metric) == 0))
            return true;
    return false;
}

/* A table has a column for each series that has a result of @p shown. */
static void bench_onesided_print_head(const struct results *r, const char *title, const char *rows,
                                      const char *shown)
{
    printf("\n%s\n%-12s", title, rows);
    for (size_t c = 0; c < COLUMNS; c++)
        if (bench_onesided_has_series(r, bench_onesided_column(c), shown))
            printf("%*s", WIDTH, bench_onesided_column(c));
    printf("\n");
}

static void bench_onesided_print_row(const struct results *r, const char *label, const char *metric,
                                     size_t bytes, const char *shown)
{
    printf("%-12s", label);
    for (size_t c = 0; c < COLUMNS; c++)
        if (bench_onesided_has_series(r, bench_onesided_column(c), shown))
            bench_print_value(results_get(r, bench_onesided_column(c), bytes, metric), WIDTH);
    printf("\n");
}

/* Prints a table that has a row for each size; those of patches are sizes of squares. */
static void bench_onesided_print_sizes(const struct results *r, const char *title,
                                       const char *metric)
{
    size_t sizes[ROWS], count = bench_onesided_sizes_of(r, metric, sizes);
    bool   patch = strncmp(metric, "patch_", 6) == 0;
    char   label[32];

    bench_onesided_print_head(r, title, patch ? "patch" : "bytes", metric);
    for (size_t i = 0; i < count; i++) {
        long side = lround(sqrt((double)sizes[i] / sizeof(double)));

        if (patch)
            snprintf(label, sizeof label, "%ld x %ld", side, side);
        else
            snprintf(label, sizeof label, "%zu", sizes[i]);
        bench_onesided_print_row(r, label, metric, sizes[i], metric);
    }
}

static void bench_onesided_print_singles(const struct results *r)
{
    static const struct {
        const char *label, *metric;
        size_t      bytes;
    } rows[] = {
        {"fetch-add", "fetchadd_us", 8},
        {"flag", "flag_us", 8},
        {"call", "call_us", 8},
        {"barrier", "barrier_us", 0},
        {"allocation", "alloc_us", 65536},
        {"column", "strided_put_us", 8192},
        {"vector", "vector_put_us", 8192},
        {"indexed", "indexed_put_us", 8192},
        {"busy: put", "busy_put_us", 8},
        {"  64 KB", "busy_put_us", 65536},
        {"busy: get", "busy_get_us", 8},
        {"  64 KB", "busy_get_us", 65536},
        {"busy: acc", "busy_acc_us", 8},
        {"  64 KB", "busy_acc_us", 65536},
        {"busy: f-add", "busy_fetchadd_us", 8},
    };

    bench_onesided_print_head(
        r,
        "Single values, microseconds: column, vector and indexed have 1024 segments of\n"
        "8 bytes; busy: the target computes for 50 ms",
        "", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        bench_onesided_print_row(r, rows[i].label, rows[i].metric, rows[i].bytes, NULL);
}

/* ---- goals --------------------------------------------------------------- */

static double bench_onesided_get(const struct results *r, const char *series, const char *suffix,
                                 const char *metric, size_t bytes)
{
    return results_get_series(r, bytes, metric, "%s%s", series, suffix);
}

/* Returns the ratio of Skua to the limit in @p metric. */
static double bench_onesided_to_limit(const struct results *r, const char *suffix,
                                      const char *metric, size_t bytes)
{
    return bench_ratio(bench_onesided_get(r, "skua", suffix, metric, bytes),
                       bench_onesided_get(r, "limit", suffix, metric, bytes));
}

/* Returns how much better the limit is from 64 KB on, at the worst size. */
static double bench_onesided_large_to_limit(const struct results *r, const char *suffix,
                                            const char *metric)
{
    size_t sizes[ROWS], count = bench_onesided_sizes_of(r, metric, sizes), small = 0;
    char   series[2][32];

    snprintf(series[0], sizeof series[0], "skua%s", suffix);
    snprintf(series[1], sizeof series[1], "limit%s", suffix);
    while (small < count && sizes[small] < 65536)
        small++;
    return bench_find_worst(r, series[0], metric, series[1], metric, sizes + small, count - small)
        .ratio;
}

/* Returns the worst ratio of @p metric, which notifies the target, to memcpy and flag, over three
 * sizes. */
static double bench_onesided_notify_to_limit(const struct results *r, const char *suffix,
                                             const char *metric)
{
    static const size_t sizes[] = {8, 4096, 65536};
    char                series[2][32];

    snprintf(series[0], sizeof series[0], "skua%s", suffix);
    snprintf(series[1], sizeof series[1], "limit%s", suffix);
    return bench_find_worst(r, series[0], metric, series[1], "notify_us", sizes, 3).ratio;
}

static void bench_onesided_print_against_peers(const struct results *r, const char *suffix,
                                               const char *what, const char *metric)
{
    size_t             sizes[ROWS], count = bench_onesided_sizes_of(r, metric, sizes);
    struct bench_worst worst = {0, 0};
    const char        *peer  = "none";
    char               skua[32];

    snprintf(skua, sizeof skua, "skua%s", suffix);
    for (size_t p = 0; p < PEERS; p++) {
        struct bench_worst one =
            bench_find_worst(r, skua, metric, peers[p].series, metric, sizes, count);

        if (one.ratio > worst.ratio) {
            worst = one;
            peer  = peers[p].series;
        }
    }
    bench_print_goalf(worst.ratio, "<=", 1, "%s / peers, worst: %s, %zu B", what, peer,
                      worst.bytes);
}

/* Returns the worst ratio of the time with a computing target to the time with an idle one. */
static double bench_onesided_busy_to_idle(const struct results *r, const char *suffix)
{
    static const char *const metrics[] = {"put_us", "get_us", "acc_us", "fetchadd_us"};
    double                   worst     = 0;
    char                     busy[32];

    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        for (size_t bytes = 8; bytes <= 65536; bytes *= 8192) {
            snprintf(busy, sizeof busy, "busy_%s", metrics[i]);
            worst =
                fmax(worst, bench_ratio(bench_onesided_get(r, "skua", suffix, busy, bytes),
                                        bench_onesided_get(r, "skua", suffix, metrics[i], bytes)));
        }
    return worst;
}

static void bench_onesided_print_limit_goals(const struct results *r, const char *suffix)
{
    bench_print_goal("put of 8 bytes / memcpy", bench_onesided_to_limit(r, suffix, "put_us", 8),
                     "<=", 3);
    bench_print_goal("get of 8 bytes / memcpy", bench_onesided_to_limit(r, suffix, "get_us", 8),
                     "<=", 3);
    bench_print_goal("fetch-add / local atomic add",
                     bench_onesided_to_limit(r, suffix, "fetchadd_us", 8), "<=", 2.5);
    bench_print_goal("put + notify / (memcpy + flag), worst of 8 B, 4 KB, 64 KB",
                     bench_onesided_notify_to_limit(r, suffix, "notify_us"), "<=", 1.3);
    bench_print_goal("signalling put / (memcpy + flag), worst of 8 B, 4 KB, 64 KB",
                     bench_onesided_notify_to_limit(r, suffix, "signal_us"), "<=", 1.8);
    bench_print_goal("put bandwidth / memcpy, worst from 64 KB on",
                     bench_ratio(1, bench_onesided_large_to_limit(r, suffix, "put_gbs")),
                     ">=", 0.9);
    bench_print_goal("get bandwidth / memcpy, worst from 64 KB on",
                     bench_ratio(1, bench_onesided_large_to_limit(r, suffix, "get_gbs")),
                     ">=", 0.9);
    bench_print_goal("daxpy / accumulate, worst from 64 KB on",
                     bench_ratio(1, bench_onesided_large_to_limit(r, suffix, "acc_us")), ">=", 0.6);
}

static void bench_onesided_print_other_goals(const struct results *r, const char *suffix)
{
    double flag = bench_onesided_get(r, "limit", suffix, "flag_us", 8);

    bench_print_goal("plain loop / strided put, segments of 8 bytes",
                     bench_ratio(1, bench_onesided_to_limit(r, suffix, "strided_put_us", 8192)),
                     ">=", 0.8);
    bench_print_goal("plain loop / vector put",
                     bench_ratio(1, bench_onesided_to_limit(r, suffix, "vector_put_us", 8192)),
                     ">=", 0.6);
    bench_print_goal("plain loop / indexed put",
                     bench_ratio(1, bench_onesided_to_limit(r, suffix, "indexed_put_us", 8192)),
                     ">=", 0.6);
    bench_print_goal("remote call with a result / round trip of the flag",
                     bench_ratio(bench_onesided_get(r, "skua", suffix, "call_us", 8), 2 * flag),
                     "<=", 4);
    bench_print_goal("barrier / flag, one way",
                     bench_ratio(bench_onesided_get(r, "skua", suffix, "barrier_us", 0), flag),
                     "<=", 2.2);
    bench_print_goal("computing target / idle target, worst operation",
                     bench_onesided_busy_to_idle(r, suffix), "<=", 1.2);
    bench_print_goal("allocation + free of 64 KB / MPI_Win_allocate + free",
                     bench_ratio(bench_onesided_get(r, "skua", suffix, "alloc_us", 65536),
                                 bench_shorter(results_get(r, "openmpi-lock", 65536, "alloc_us"),
                                               results_get(r, "mpich-lock", 65536, "alloc_us"))),
                     "<=", 0.2);
}

static void bench_onesided_print_peer_goals(const struct results *r, const char *suffix)
{
    static const struct {
        const char *what, *metric;
    } goals[] = {
        {"put", "put_us"},
        {"get", "get_us"},
        {"accumulate", "acc_us"},
        {"fetch-add", "fetchadd_us"},
        {"put + notify", "notify_us"},
        {"puts in flight", "put_gbs"},
        {"gets in flight", "get_gbs"},
        {"patch put", "patch_put_us"},
        {"patch get", "patch_get_us"},
        {"patch accumulate", "patch_acc_us"},
        {"put to local patch", "patch_local_put_us"},
        {"get from local patch", "patch_local_get_us"},
        {"accumulate to local patch", "patch_local_acc_us"},
        {"strided put", "strided_put_us"},
        {"vector put", "vector_put_us"},
        {"put, target computes", "busy_put_us"},
        {"get, target computes", "busy_get_us"},
        {"accumulate, target computes", "busy_acc_us"},
        {"fetch-add, target computes", "busy_fetchadd_us"},
        {"barrier", "barrier_us"},
    };

    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        bench_onesided_print_against_peers(r, suffix, goals[i].what, goals[i].metric);
}

static void bench_onesided_print_goals(const struct results *r, const char *title,
                                       const char *suffix)
{
    bench_print_goals_head(title);
    bench_onesided_print_limit_goals(r, suffix);
    bench_onesided_print_other_goals(r, suffix);
    bench_onesided_print_peer_goals(r, suffix);
}

static void bench_onesided_print(const struct results *r)
{
    bench_onesided_print_sizes(r, "Put, blocking, microseconds", "put_us");
    bench_onesided_print_sizes(r, "Get, blocking, microseconds", "get_us");
    bench_onesided_print_sizes(r, "Accumulate of doubles, blocking, microseconds", "acc_us");
    bench_onesided_print_sizes(r, "Put and notify, one way, microseconds", "notify_us");
    bench_onesided_print_sizes(r, "Signalling put, one way to its handler, microseconds",
                               "signal_us");
    bench_onesided_print_sizes(r, "Puts, many in flight, GB/s", "put_gbs");
    bench_onesided_print_sizes(r, "Gets, many in flight, GB/s", "get_gbs");
    bench_onesided_print_sizes(r, "Patches of a 1024 x 1024 matrix: put, microseconds",
                               "patch_put_us");
    bench_onesided_print_sizes(r, "Patches: get", "patch_get_us");
    bench_onesided_print_sizes(r, "Patches: accumulate", "patch_acc_us");
    bench_onesided_print_sizes(r, "Local patches: put", "patch_local_put_us");
    bench_onesided_print_sizes(r, "Local patches: get", "patch_local_get_us");
    bench_onesided_print_sizes(r, "Local patches: accumulate", "patch_local_acc_us");
    bench_onesided_print_singles(r);
    bench_onesided_print_goals(r, "Goals, between processes", "");
    bench_onesided_print_goals(r, "Goals, between threads (peers between processes)", "-threads");
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_onesided_plot(const struct results *r, FILE *to)
{
    static const char *const colours[COLUMNS] = {"#444444", "#d62728", NULL,      NULL,
                                                 "#1f77b4", "#2ca02c", "#98df8a", "#bcbd22",
                                                 "#8c564b", "#c49c94", "#e377c2", "#9467bd"};
    struct plot_curve        curve[COLUMNS]   = {0};
    struct plot picture = {"A blocking put between two processes", "bytes", "microseconds", curve,
                           0};
    size_t      sizes[ROWS], count = bench_onesided_sizes_of(r, "put_us", sizes);

    for (size_t c = 0; c < COLUMNS; c++) {
        struct plot_curve *one = &curve[picture.curves];
        if (!colours[c])
            continue; /* threads */
        one->name   = c == 0 ? "memcpy" : bench_onesided_column(c);
        one->colour = colours[c];
        one->dash   = c == 0 ? "5 4" : "";
        bench_plot_curve(one, r, bench_onesided_column(c), "put_us", sizes, count);
        picture.curves++;
    }
    plot_write(&picture, to);
}

const struct bench bench_onesided = {.name        = "onesided",
                                     .run         = bench_onesided_run,
                                     .print       = bench_onesided_print,
                                     .plot        = bench_onesided_plot,
                                     .part_on_pes = "onesided"};
