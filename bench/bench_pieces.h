/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_pieces.h - a region in which each PE of a host accesses the pieces of all PEs by load and
 * store. It is the memory of the limit programs, which use nothing else of the runtime.
 */
#ifndef BENCH_PIECES_H
#define BENCH_PIECES_H

#include <sched.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "bench.h"
#include "common/allreduce.h"

/* Spins of a wait before it yields the core, since PEs may outnumber cores. */
#define BENCH_SPINS 1000

/* Creates a region with pieces of @p bytes, and fills that of this PE with zeros.  Ends the
 * job if there are more than @p most PEs, or no memory. */
static inline skua_region bench_create_pieces(size_t bytes, int most)
{
    skua_region region = {0};

    if (skua_pes() > most || skua_region_create(bytes, &region) < 0)
        skua_abort("there is no memory for so many PEs");
    memset(skua_region_local(region), 0, bytes);
    return region;
}

/* Returns the piece of a PE. */
static inline void *bench_piece(skua_region region, int pe)
{
    void *piece = skua_gaddr_local(skua_at(region, pe, 0));

    if (!piece)
        skua_abort("PE %d shares no memory with this PE", pe);
    return piece;
}

/* Waits until a counter that another PE increases has reached @p value.  The acquire pairs with the
 * release of bench_publish(). */
static inline void bench_wait_for(_Atomic uint64_t *counter, uint64_t value)
{
    for (long spins = 1; atomic_load_explicit(counter, memory_order_acquire) < value; spins++)
        if (spins % BENCH_SPINS == 0)
            sched_yield();
}

/* Sets a counter of this PE, after all that it has written. */
static inline void bench_publish(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_release);
}

#define BENCH_BARRIER_PES 256 /* at most */

/* A barrier of all PEs that calls nothing of the runtime. */
struct bench_barrier {
    _Atomic uint64_t *reached[BENCH_BARRIER_PES]; /* by PE: the barriers that it has reached */
    uint64_t          number;                     /* of this PE's next barrier               */
};

static inline void bench_barrier_init(struct bench_barrier *barrier)
{
    skua_region region = bench_create_pieces(128, BENCH_BARRIER_PES);

    for (int pe = 0; pe < skua_pes(); pe++)
        barrier->reached[pe] = bench_piece(region, pe);
    barrier->number = 0;
    skua_sync();
}

/* Returns when all PEs have called it. */
static inline void bench_barrier_wait(struct bench_barrier *barrier)
{
    barrier->number++;
    bench_publish(barrier->reached[skua_pe()], barrier->number);
    for (int pe = 0; pe < skua_pes(); pe++)
        bench_wait_for(barrier->reached[pe], barrier->number);
}

/* Returns the largest value of all PEs, of which none returns before all have called it. */
static inline double bench_largest(double value)
{
    return allreduce_double(SKUA_MAX, value);
}

/* Ends a limit: prints its result on PE 0, and ends the job. */
static inline void bench_end_limit(const char *bench, const char *series, size_t bytes,
                                   const char *metric, double value)
{
    char name[32];

    snprintf(name, sizeof name, "%s-%dpe", metric, skua_pes());
    skua_sync();
    if (skua_pe() != 0)
        return;
    bench_report(bench, series, bytes, name, value);
    skua_exit(0);
}

#endif
