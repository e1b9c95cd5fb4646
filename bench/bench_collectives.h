/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_collectives.h - what is measured of collectives, the same for Skua and for every peer
 * (skua bench collectives).
 *
 *   sync_us, barrier_us   one after another
 *   allreduce_us          sums of doubles, one after another
 *   reduce_us             the same to a root; the roots take turns, and each waits for its
 *                         result before it goes on, so that no process runs ahead
 *   broadcast_us          from roots that take turns, until the data is at every process
 *
 * Times are those of PE 0, for one operation; the best batch counts.
 */
#ifndef BENCH_COLLECTIVES_H
#define BENCH_COLLECTIVES_H

#include "bench.h"

#define COLLECTIVES_MOST ((size_t)16 << 20)

static const size_t collectives_sizes[] = {8,     64,     512,     4096,    16384,
                                           65536, 262144, 1048576, 4194304, COLLECTIVES_MOST};

#define COLLECTIVES_SIZES (sizeof collectives_sizes / sizeof *collectives_sizes)

/* What a library calls them.  NULL: it has none.  @p turn counts the calls. */
struct collectives {
    void (*sync)(void);
    void (*barrier)(void);
    void (*allreduce)(const double *data, size_t count);
    void (*reduce)(int root, const double *data, size_t count);
    void (*broadcast)(int root, size_t bytes);
};

/* In a batch: some hundred microseconds' worth, and a multiple of the roots. */
static inline int collectives_trips(size_t bytes, int pes)
{
    int trips = bytes <= 4096 ? 400 : bytes <= 65536 ? 40 : bytes <= 1048576 ? 8 : 2;

    return (trips + pes - 1) / pes * pes;
}

static inline int collectives_batches(size_t bytes)
{
    return bytes <= 65536 ? 40 : bytes <= 1048576 ? 20 : 8;
}

/* One trip of the operation that a metric is of. */
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

/* Everything; all PEs call it. */
static inline void collectives_all(const struct collectives *ops, const char *series, int me,
                                   int pes)
{
    double *data = malloc(COLLECTIVES_MOST);

    for (size_t i = 0; i < COLLECTIVES_MOST / sizeof *data; i++)
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
