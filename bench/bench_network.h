/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_network.h - the measurements of `skua bench network`, between two PEs that share no memory,
 * or the PEs of several such pairs at once, for Skua and every peer.
 *
 *   message_us            a message, one way: half of its round trip
 *   notify_us             a put until the waiting target has detected it, one way: half of a round
 *                         trip of such puts
 *   put_local_us          a put until its source may change, while earlier ones are in flight
 *   put_us                a put until its data has arrived: a round trip
 *   get_us, fetchadd_us   a round trip
 *   message_gbs           a window of messages and an answer
 *   put_gbs, get_gbs      a window of operations until all are complete
 *   acc_us                an accumulate of doubles until it is complete: a round trip
 *   patch_put_us, patch_get_us, patch_acc_us
 *                         these operations on a square patch of a matrix of 1024 x 1024 doubles
 *   patch_local_put_us, patch_local_get_us, patch_local_acc_us
 *                         such a patch in the memory of the origin itself
 *   behind_unordered_us, behind_partial_us, behind_strict_us
 *                         a get from the target while puts to other memory there are pending, under
 *                         each order of operations
 *
 *   inflight_us           a put of 8 bytes of 10 to 100000 that are in flight together, whose
 * number is reported in place of a size, until all are complete
 *
 * A batch takes a millisecond or less where possible, so that some batches run undisturbed on a
 * loaded machine; the best batch is reported.
 */
#ifndef BENCH_NETWORK_H
#define BENCH_NETWORK_H

#include "bench_onesided.h"

#define NETWORK_BATCHES ONESIDED_BATCHES_MOST
#define NETWORK_PENDING 8 /* number of puts issued before a get */

static const size_t network_sizes[]   = {8, 64, 1024, 4096, 16384, 65536, 1048576};
static const size_t network_floods[]  = {4096, 65536, 1048576, 4194304};
static const size_t network_patches[] = {2, 8, 32, 128, 512}; /* sides */
static const size_t network_behinds[] = {8, 64, 1024, 4096, 16384, 65536};

static const size_t network_rails[] = {1048576, 4194304, 16777216};

static const size_t network_inflights[] = {10, 100, 1000, 10000, 100000};

#define NETWORK_RAILS     (sizeof network_rails / sizeof *network_rails)
#define NETWORK_INFLIGHTS (sizeof network_inflights / sizeof *network_inflights)
#define NETWORK_SIZES     (sizeof network_sizes / sizeof *network_sizes)
#define NETWORK_FLOODS    (sizeof network_floods / sizeof *network_floods)
#define NETWORK_PATCHES   (sizeof network_patches / sizeof *network_patches)
#define NETWORK_BEHINDS   (sizeof network_behinds / sizeof *network_behinds)
#define NETWORK_BYTES_MAX ((size_t)4194304)

/* The operation of a library that gets while puts are pending, under one order of operations. */
struct network_behind {
    const char *metric;
    onesided_fn put_nb, get;
};

static inline void network_pace(void)
{
    onesided_pace.bench   = "network";
    onesided_pace.batches = NETWORK_BATCHES;
    onesided_pace.fewer   = 20;
    onesided_pace.window  = 4;
}

/* Returns the number of batches, which is smaller for sizes that take long. */
static inline int network_batches(size_t bytes)
{
    return bytes > 65536 ? NETWORK_BATCHES / 5 : NETWORK_BATCHES;
}

/* Measures puts until their source may change.  They are complete before the next batch: what is
 * left behind is not of interest, and some libraries do not cope with it. */
ONESIDED_INLINE void network_local_puts(const struct onesided *ops, const char *series, int me,
                                        const struct onesided_access *a)
{
    int    trips                       = onesided_trips(a->bytes);
    double time[ONESIDED_BATCHES_MOST] = {0};

    if (ops->prepare)
        ops->prepare(a);
    for (int batch = 0; batch < onesided_pace.batches; batch++) {
        ops->barrier(a);
        if (me != 0)
            continue;
        time[batch] = onesided_time(ops->put_local, a, trips);
        ops->complete(a);
    }
    onesided_report(me, series, a->bytes, "put_local_us",
                    onesided_best(time, onesided_pace.batches) * 1e6);
}

/* Measures patches of the matrix at the target and of the own matrix of the origin. */
ONESIDED_INLINE void network_by_patch(const struct onesided *ops, const char *series, int me)
{
    for (size_t i = 0; i < NETWORK_PATCHES; i++) {
        size_t                 side = network_patches[i];
        struct onesided_access a    = {onesided_pair.pe[1], ONESIDED_PATCH,
                                       side * side * sizeof(double), side, 0};

        onesided_pace.batches = network_batches(a.bytes) / 3;
        onesided_measure(ops, series, me, "patch_put_us", ops->put, NULL, &a);
        onesided_measure(ops, series, me, "patch_get_us", ops->get, NULL, &a);
        onesided_measure(ops, series, me, "patch_acc_us", ops->acc, NULL, &a);
        a.pe = onesided_pair.pe[0];
        onesided_measure(ops, series, me, "patch_local_put_us", ops->put, NULL, &a);
        onesided_measure(ops, series, me, "patch_local_get_us", ops->get, NULL, &a);
        onesided_measure(ops, series, me, "patch_local_acc_us", ops->acc, NULL, &a);
    }
}

/* Returns the seconds of a get that is issued after puts to other memory of the target. */
ONESIDED_INLINE double network_get_behind(const struct onesided       *ops,
                                          const struct network_behind *behind, size_t bytes)
{
    struct onesided_access put = {.pe = onesided_pair.pe[1], .bytes = bytes}, get = put;
    double                 start;

    get.offset = ONESIDED_AREA / 2;
    if (ops->begin)
        ops->begin(&put);
    for (int i = 0; i < NETWORK_PENDING; i++, put.offset += bytes)
        behind->put_nb(&put);
    start = bench_now();
    behind->get(&get);
    start = bench_now() - start;
    ops->complete(&put);
    return start;
}

ONESIDED_INLINE void network_by_order(const struct onesided       *ops,
                                      const struct network_behind *behind, const char *series,
                                      int me)
{
    struct onesided_access whole = {.pe = onesided_pair.pe[1], .bytes = sizeof(double)};

    if (ops->prepare)
        ops->prepare(&whole);
    for (; behind->metric; behind++)
        for (size_t i = 0; i < NETWORK_BEHINDS; i++) {
            size_t bytes                     = network_behinds[i];
            int    trips                     = onesided_trips(bytes);
            double time[NETWORK_BATCHES / 3] = {0};

            for (int batch = 0; batch < NETWORK_BATCHES / 3; batch++) {
                ops->barrier(&whole);
                for (int trip = 0; me == 0 && trip < trips; trip++)
                    time[batch] += network_get_behind(ops, behind, bytes) / trips;
            }
            onesided_report(me, series, bytes, behind->metric,
                            onesided_best(time, NETWORK_BATCHES / 3) * 1e6);
        }
}

/* Measures small puts by the number that is in flight. */
ONESIDED_INLINE void network_by_number(const struct onesided *ops, const char *series, int me)
{
    struct onesided_access put = {.pe = onesided_pair.pe[1], .bytes = sizeof(double)};

    if (ops->prepare)
        ops->prepare(&put);
    for (size_t n = 0; n < NETWORK_INFLIGHTS; n++) {
        size_t count                 = network_inflights[n];
        int    batches               = count > 1000 ? 5 : NETWORK_BATCHES;
        double time[NETWORK_BATCHES] = {0};

        for (int batch = 0; batch < batches; batch++) {
            double start;

            ops->barrier(&put);
            start = bench_now();
            for (size_t i = 0; me == 0 && i < count; i++) {
                put.offset = i * put.bytes % ONESIDED_AREA;
                ops->put_nb(&put);
            }
            if (me != 0)
                continue;
            ops->complete(&put);
            time[batch] = (bench_now() - start) / (double)count;
        }
        onesided_report(me, series, count, "inflight_us", onesided_best(time, batches) * 1e6);
    }
}

/* Measures the one-sided operations; all PEs call it.  @p behind ends with a metric NULL. */
ONESIDED_INLINE void network_onesided(const struct onesided       *ops,
                                      const struct network_behind *behind, const char *series,
                                      int me)
{
    struct onesided_access number = {.pe = onesided_pair.pe[1], .bytes = sizeof(int64_t)};
    uint64_t               turn   = 0;

    onesided_check(ops, me);
    for (size_t i = 0; i < NETWORK_SIZES; i++) {
        struct onesided_access a = {.pe = onesided_pair.pe[1], .bytes = network_sizes[i]};
        onesided_pace.batches    = network_batches(a.bytes);
        network_local_puts(ops, series, me, &a);
        onesided_measure(ops, series, me, "put_us", ops->put, NULL, &a);
        onesided_measure(ops, series, me, "get_us", ops->get, NULL, &a);
        onesided_measure(ops, series, me, "acc_us", ops->acc, NULL, &a);
        onesided_pingpong(ops, series, me, "notify_us", ops->notify, ops->await, a.bytes, &turn);
    }
    for (size_t i = 0; i < NETWORK_FLOODS; i++) {
        struct onesided_access a = {.pe = onesided_pair.pe[1], .bytes = network_floods[i]};
        onesided_pace.batches    = network_batches(a.bytes);
        onesided_bandwidth(ops, series, me, "put_gbs", ops->put_nb, &a);
        onesided_bandwidth(ops, series, me, "get_gbs", ops->get_nb, &a);
    }
    network_by_patch(ops, series, me);
    network_by_order(ops, behind, series, me);
    network_by_number(ops, series, me);
    onesided_pace.batches = NETWORK_BATCHES;
    onesided_measure(ops, series, me, "fetchadd_us", ops->fetch_add, NULL, &number);
    ops->barrier(&number);
}

#endif
