/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_collectives.h - the measurements of `skua bench collectives`, for Skua and every peer.
 *
 *   sync_us, barrier_us   back to back
 *   allreduce_us          sums of doubles, back to back
 *   reduce_us             sums of doubles to a root; the roots take turns, and each waits for its
 *                         result before the next call, so that no process runs ahead
 *   broadcast_us          from roots that take turns, until every process has the data
 *
 * A value is the time of one operation on PE 0, in the best batch.
 */
#ifndef BENCH_COLLECTIVES_H
#define BENCH_COLLECTIVES_H

#include "bench.h"

#define COLLECTIVES_MAX_BYTES ((size_t)16 << 20)

static const size_t collectives_sizes[] = {8,     64,     512,     4096,    16384,
                                           65536, 262144, 1048576, 4194304, COLLECTIVES_MAX_BYTES};

#define COLLECTIVES_SIZES (sizeof collectives_sizes / sizeof *collectives_sizes)

/* The operations of a library; sync may be NULL. */
struct collectives {
    void (*sync)(void);
    void (*barrier)(void);
    void (*allreduce)(const double *data, size_t count);
    void (*reduce)(int root, const double *data, size_t count);
    void (*broadcast)(int root, size_t bytes);
};

/* The number of operations in a batch, which takes some hundred microseconds: a multiple of the
 * number of roots. */
static inline int collectives_trips(size_t bytes, int pes)
{
    int trips = bytes <= 4096 ? 400 : bytes <= 65536 ? 40 : bytes <= 1048576 ? 8 : 2;

    return (trips + pes - 1) / pes * pes;
}

static inline int collectives_batches(size_t bytes)
{
    return bytes <= 65536 ? 40 : bytes <= 1048576 ? 20 : 8;
}

/* Runs one operation: (s)ync, (p) barrier, (a)llreduce, (r)educe or (b)roadcast. */
static inline void collectives_trip(const struct collectives *ops, char which, const double *data,
                                    size_t bytes, int root)
{
    switch (which) {
    case 's': ops->sync(); break;
    case 'p': ops->barrier(); break;
    case 'a': ops->allreduce(data, bytes / sizeof *data); break;
    case 'r': ops->reduce(root, data, bytes / sizeof *data); break;
    default: ops->broadcast(root, bytes); break;
    }
}

static inline void collectives_measure(const struct collectives *ops, const char *series, int me,
                                       int pes, char which, const char *metric, size_t bytes,
                                       const double *data)
{
    int    trips = collectives_trips(bytes, pes), batches = collectives_batches(bytes);
    double best = 1e9;

    for (int batch = 0; batch < batches; batch++) {
        double start, time;

        ops->barrier();
        start = bench_now();
        for (int t = 0; t < trips; t++)
            collectives_trip(ops, which, data, bytes, t % pes);
        time = (bench_now() - start) / trips;
        best = time < best ? time : best;
    }
    if (me == 0)
        bench_report("collectives", series, bytes, metric, best * 1e6);
}

/* Measures everything; all PEs call it. */
static inline void collectives_all(const struct collectives *ops, const char *series, int me,
                                   int pes)
{
    double *data = malloc(COLLECTIVES_MAX_BYTES);

    for (size_t i = 0; i < COLLECTIVES_MAX_BYTES / sizeof *data; i++)
        data[i] = (double)(i % 1000);
    if (ops->sync)
        collectives_measure(ops, series, me, pes, 's', "sync_us", 0, data);
    collectives_measure(ops, series, me, pes, 'p', "barrier_us", 0, data);
    for (size_t i = 0; i < COLLECTIVES_SIZES; i++) {
        size_t bytes = collectives_sizes[i];

        collectives_measure(ops, series, me, pes, 'a', "allreduce_us", bytes, data);
        collectives_measure(ops, series, me, pes, 'r', "reduce_us", bytes, data);
        collectives_measure(ops, series, me, pes, 'b', "broadcast_us", bytes, data);
    }
    free(data);
}

#endif
