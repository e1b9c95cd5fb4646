/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_network.h - the measurements of `skua bench network`, between two PEs that share no memory,
 * for Skua and every peer.
 *
 *   message_us            a message, one way: half of its round trip
 *   notify_us             a put until the waiting target has noticed it, one way: half of a round
 *                         trip of such puts
 *   put_us                a put until its data has arrived: a round trip
 *   get_us, fetchadd_us   a round trip
 *   message_gbs           a window of messages and an answer
 *   put_gbs, get_gbs      a window of operations until all are complete
 *
 * A batch takes a millisecond or less where possible, so that some batches run undisturbed on a
 * loaded machine; the best one counts.
 */
#ifndef BENCH_NETWORK_H
#define BENCH_NETWORK_H

#include "bench_onesided.h"

#define NETWORK_BATCHES 150

static const size_t network_sizes[]  = {8, 64, 1024, 4096, 16384, 65536, 1048576};
static const size_t network_floods[] = {4096, 65536, 1048576, 4194304};

#define NETWORK_SIZES     (sizeof network_sizes / sizeof *network_sizes)
#define NETWORK_FLOODS    (sizeof network_floods / sizeof *network_floods)
#define NETWORK_MAX_BYTES ((size_t)4194304)

static inline void network_pace(void)
{
    onesided_pace.bench   = "network";
    onesided_pace.batches = NETWORK_BATCHES;
    onesided_pace.fewer   = 20;
    onesided_pace.window  = 4;
}

/* The number of batches: smaller for sizes that take long. */
static inline int network_batches(size_t bytes)
{
    return bytes > 65536 ? NETWORK_BATCHES / 5 : NETWORK_BATCHES;
}

/* Measures the one-sided operations; both PEs call it. */
ONESIDED_INLINE void network_onesided(const struct onesided *ops, const char *series, int me)
{
    struct onesided_access number = {.pe = 1, .bytes = sizeof(int64_t)};
    uint64_t               turn   = 0;

    onesided_check(ops, me);
    for (size_t i = 0; i < NETWORK_SIZES; i++) {
        struct onesided_access a = {.pe = 1, .bytes = network_sizes[i]};
        onesided_pace.batches    = network_batches(a.bytes);
        onesided_measure(ops, series, me, "put_us", ops->put, NULL, &a);
        onesided_measure(ops, series, me, "get_us", ops->get, NULL, &a);
        onesided_pingpong(ops, series, me, "notify_us", ops->notify, ops->await, a.bytes, &turn);
    }
    for (size_t i = 0; i < NETWORK_FLOODS; i++) {
        struct onesided_access a = {.pe = 1, .bytes = network_floods[i]};
        onesided_pace.batches    = network_batches(a.bytes);
        onesided_bandwidth(ops, series, me, "put_gbs", ops->put_nb, &a);
        onesided_bandwidth(ops, series, me, "get_gbs", ops->get_nb, &a);
    }
    onesided_pace.batches = NETWORK_BATCHES;
    onesided_measure(ops, series, me, "fetchadd_us", ops->fetch_add, NULL, &number);
    ops->barrier(&number);
}

#endif
