/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_collectives.h - the measurements of `skua bench collectives`, for Skua and every peer.
 *
 *   sync_us, barrier_us   back to back
 *   allreduce_us          sums of doubles, back to back
 *   scan_us               sums of doubles over the processes up to and including the caller, back
 *                         to back
 *   reduce_us             sums of doubles to a root; the roots take turns, and each waits for its
 *                         result before the next call, so that no process runs ahead
 *   broadcast_us          from roots that take turns, until every process has the data
 *   gather_us, scatter_us to and from roots that take turns; the size is that of a block
 *   allgather_us, alltoall_us   back to back; the size is that of a block
 *   exscan_us             as scan_us, without the caller
 *   minloc_us             minima of doubles and where they are, back to back
 *   allgatherv_us, alltoallv_us   back to back; blocks have half the size and one and a half times
 *                         the size in turn
 *   team_barrier_us, team_allreduce_us   back to back on both halves of the processes, the even
 *                         and the odd ones; of two or three processes, on all in reverse order
 *
 * A value is the time of one operation on the slowest process, in the best batch.  The number of
 * operations in a batch is a multiple of the number of processes, and a batch takes a few hundred
 * microseconds. Time limits bound the number of batches and the whole program; rows that the
 * program does not reach in time are not measured.
 *
 * To examine a few rows, the environment variable BENCH_ROWS lists them, as in
 * "reduce_us:262144,barrier_us,broadcast_us".  If it is empty, all rows are measured.  An entry
 * that names no row is reported on standard error.
 */
#ifndef BENCH_COLLECTIVES_H
#define BENCH_COLLECTIVES_H

#include <stdbool.h>

#include "bench.h"

#define COLLECTIVES_BYTES_MAX ((size_t)16 << 20) /* largest broadcast or reduction */
/* Largest block per process of other collectives. */
#define COLLECTIVES_BLOCK_MAX ((size_t)1 << 20)
#define COLLECTIVES_PES_MAX   256 /* processes */

#define COLLECTIVES_BATCH_S   0.0003 /* seconds of a batch, if its operations are fast */
#define COLLECTIVES_MEASURE_S 0.02   /* seconds of all batches of a measurement        */
#define COLLECTIVES_WARM_S    0.06   /* a slower operation is not repeated before that */
#define COLLECTIVES_PROGRAM_S 180    /* seconds after which a program measures no more */
#define COLLECTIVES_SLOW_S    0.3    /* a batch that takes longer has fewer operations */

static const size_t collectives_sizes[] = {8,     64,     512,     4096,    16384,
                                           65536, 262144, 1048576, 4194304, COLLECTIVES_BYTES_MAX};

#define COLLECTIVES_SIZES (sizeof collectives_sizes / sizeof *collectives_sizes)

/* A collective with data: @p from and @p to have the size of the largest call. */
struct collectives_kind {
    const char *metric; /* NULL ends a list */
    size_t      most;   /* bytes of the largest call */
    void (*run)(int root, size_t bytes, double *from, double *to);
};

/* The rows of Skua and of the MPIs, by functions that each of them defines. */
#define COLLECTIVES_KINDS                                                                          \
    {                                                                                              \
        {"allreduce_us", COLLECTIVES_BYTES_MAX, allreduce},                                        \
            {"reduce_us", COLLECTIVES_BYTES_MAX, reduce},                                          \
            {"broadcast_us", COLLECTIVES_BYTES_MAX, broadcast},                                    \
            {"scan_us", COLLECTIVES_BLOCK_MAX, scan},                                              \
            {"gather_us", COLLECTIVES_BLOCK_MAX, gather},                                          \
            {"scatter_us", COLLECTIVES_BLOCK_MAX, scatter},                                        \
            {"allgather_us", COLLECTIVES_BLOCK_MAX, allgather},                                    \
            {"alltoall_us", COLLECTIVES_BLOCK_MAX, alltoall},                                      \
            {"exscan_us", COLLECTIVES_BLOCK_MAX, exscan},                                          \
            {"minloc_us", COLLECTIVES_BLOCK_MAX, minloc},                                          \
            {"allgatherv_us", COLLECTIVES_BLOCK_MAX, allgatherv},                                  \
            {"alltoallv_us", COLLECTIVES_BLOCK_MAX, alltoallv},                                    \
            {"team_barrier_us", sizeof(double), team_barrier},                                     \
            {"team_allreduce_us", COLLECTIVES_BLOCK_MAX, team_allreduce}, {NULL, 0, NULL},         \
    }

/* Returns the bytes of uneven block @p i if blocks have @p bytes on average. */
static inline size_t collectives_uneven(int i, size_t bytes)
{
    return i % 2 ? bytes + bytes / 2 : bytes - bytes / 2;
}

/* Returns the number of pairs of a value and an index, of 16 bytes, in @p bytes; at least one. */
static inline size_t collectives_pairs(size_t bytes)
{
    return bytes < 16 ? 1 : bytes / 16;
}

/* Returns the team of a process: the halves of all, or all. */
static inline int collectives_color(int me, int pes)
{
    return pes > 3 ? me % 2 : 0;
}

/* The collectives of a library. */
struct collectives {
    void (*sync)(void); /* may be NULL */
    void (*barrier)(void);
    double (*largest)(double value); /* returns the largest value of all processes */
    const struct collectives_kind *kinds;
    const char                    *bench; /* benchmark name in the results; NULL: collectives */
    /* Allocates memory for data, never freed; NULL: malloc(). */
    void *(*allocate)(size_t bytes);
};

/* The state of a measurement. */
struct collectives_run {
    const struct collectives *library;
    const char               *series;
    int                       me, pes;
    double                   *from, *to;
};

/* Runs one operation of @p kind or, if that is NULL, of @p plain. */
static inline void collectives_trip(const struct collectives_run  *run,
                                    const struct collectives_kind *kind, void (*plain)(void),
                                    int trip, size_t bytes)
{
    if (kind)
        kind->run(trip % run->pes, bytes, run->from, run->to);
    else
        plain();
}

/* Returns the time of one operation in a batch. */
static inline double collectives_batch(const struct collectives_run  *run,
                                       const struct collectives_kind *kind, void (*plain)(void),
                                       size_t bytes, int trips)
{
    double start;

    run->library->barrier();
    start = bench_now();
    for (int t = 0; t < trips; t++)
        collectives_trip(run, kind, plain, t, bytes);
    return (bench_now() - start) / trips;
}

/* Returns the number of operations in a batch if one takes @p time. */
static inline int collectives_trips(double time, int pes)
{
    int trips = (int)(COLLECTIVES_BATCH_S / time);

    trips = trips < 1 ? 1 : trips > 4000 ? 4000 : trips;
    if (time * pes > COLLECTIVES_SLOW_S)
        return 2; /* few operations: not every process is a root */
    return (trips + pes - 1) / pes * pes;
}

/* Returns whether the first entry of the list @p rows is @p metric alone or with these bytes. */
static inline bool collectives_row_is(const char *rows, const char *metric, size_t bytes)
{
    size_t n = strlen(metric), length = strcspn(rows, ",");
    char  *end;

    if (length < n || strncmp(rows, metric, n) != 0)
        return false;
    if (length == n)
        return true;
    return rows[n] == ':' && strtoull(rows + n + 1, &end, 10) == bytes && end == rows + length;
}

/* Returns the list @p rows without its first entry; NULL: there is no other. */
static inline const char *collectives_next_row(const char *rows)
{
    rows = strchr(rows, ',');
    return rows ? rows + 1 : NULL;
}

/* Returns whether a row is to be measured: BENCH_ROWS is not set, is empty, or has the metric alone
 * or with these bytes. */
static inline bool collectives_wanted(const char *metric, size_t bytes)
{
    const char *rows = getenv("BENCH_ROWS");

    if (!rows || !*rows)
        return true;
    for (; rows; rows = collectives_next_row(rows))
        if (collectives_row_is(rows, metric, bytes))
            return true;
    return false;
}

/* Returns whether the first entry of the list @p rows names a row.  sync_us is a row of every
 * library: a list is for all of them, and some have no sync. */
static inline bool collectives_row_exists(const struct collectives *library, const char *rows)
{
    if (collectives_row_is(rows, "sync_us", 0) || collectives_row_is(rows, "barrier_us", 0))
        return true;
    for (const struct collectives_kind *kind = library->kinds; kind->metric; kind++)
        for (size_t i = 0; i < COLLECTIVES_SIZES && collectives_sizes[i] <= kind->most; i++)
            if (collectives_row_is(rows, kind->metric, collectives_sizes[i]))
                return true;
    return false;
}

/* Reports the entries of BENCH_ROWS that name no row to @p to.  Returns their number. */
static inline int collectives_report_unknown(const struct collectives *library, FILE *to)
{
    const char *rows    = getenv("BENCH_ROWS");
    int         unknown = 0;

    for (; rows && *rows; rows = collectives_next_row(rows)) {
        if (collectives_row_exists(library, rows))
            continue;
        fprintf(to,
                "BENCH_ROWS: `%.*s' names no row and is ignored; expected METRIC or METRIC:BYTES, "
                "as in barrier_us,%s:%zu\n",
                (int)strcspn(rows, ","), rows, library->kinds->metric, collectives_sizes[0]);
        unknown++;
    }
    return unknown;
}

/* The first batch is short: it fills caches and opens connections. */
static inline void collectives_measure(const struct collectives_run  *run,
                                       const struct collectives_kind *kind, void (*plain)(void),
                                       const char *metric, size_t bytes)
{
    double best;
    int    trips, batches;

    if (!collectives_wanted(metric, bytes))
        return;
    best = run->library->largest(collectives_batch(run, kind, plain, bytes, run->pes));
    if (best < COLLECTIVES_WARM_S) /* measures again, now that caches are filled */
        best = run->library->largest(collectives_batch(run, kind, plain, bytes, run->pes));
    trips   = collectives_trips(best, run->pes);
    batches = (int)(COLLECTIVES_MEASURE_S / (best * trips));
    batches = batches < 1 ? 1 : batches > 60 ? 60 : batches;
    for (best = 1e9; batches > 0; batches--) {
        double time = run->library->largest(collectives_batch(run, kind, plain, bytes, trips));

        best = time < best ? time : best;
    }
    if (run->me == 0)
        bench_report(run->library->bench ? run->library->bench : "collectives", run->series, bytes,
                     metric, best * 1e6);
}

/* Allocates @p bytes of memory and touches its pages. */
static inline double *collectives_memory(const struct collectives *library, size_t bytes)
{
    double *data = library->allocate ? library->allocate(bytes) : malloc(bytes);

    for (size_t i = 0; i < bytes / sizeof *data; i++)
        data[i] = (double)(i % 1000);
    return data;
}

/* Measures a collective at all sizes, until the time limit since @p start. */
static inline void collectives_sweep(const struct collectives_run  *run,
                                     const struct collectives_kind *kind, double start)
{
    for (size_t i = 0; i < COLLECTIVES_SIZES && collectives_sizes[i] <= kind->most; i++) {
        if (run->library->largest(bench_now() - start) > COLLECTIVES_PROGRAM_S)
            return;
        collectives_measure(run, kind, NULL, kind->metric, collectives_sizes[i]);
    }
}

/* Measures everything; all processes call it. */
static inline void collectives_all(const struct collectives *library, const char *series, int me,
                                   int pes)
{
    size_t                 blocks = COLLECTIVES_BLOCK_MAX * (size_t)(pes + 1); /* uneven ones */
    size_t                 bytes  = blocks > COLLECTIVES_BYTES_MAX ? blocks : COLLECTIVES_BYTES_MAX;
    double                 start  = bench_now();
    struct collectives_run run    = {library,
                                     series,
                                     me,
                                     pes,
                                     collectives_memory(library, bytes),
                                     collectives_memory(library, bytes)};

    if (pes > COLLECTIVES_PES_MAX) {
        fprintf(stderr, "%d processes: at most %d are measured\n", pes, COLLECTIVES_PES_MAX);
        return;
    }
    if (me == 0)
        collectives_report_unknown(library, stderr);
    if (library->sync)
        collectives_measure(&run, NULL, library->sync, "sync_us", 0);
    collectives_measure(&run, NULL, library->barrier, "barrier_us", 0);
    for (const struct collectives_kind *kind = library->kinds; kind->metric; kind++)
        collectives_sweep(&run, kind, start);
    if (library->allocate)
        return;
    free(run.from);
    free(run.to);
}

#endif
