/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_stamp.h - a number of calls that one PE raises and others poll, with the PEs that sleep
 * until it is raised (team_slot.h, Sleep).
 */
#ifndef SKI_TEAM_STAMP_H
#define SKI_TEAM_STAMP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/membarrier.h"

struct ski_team_stamp {
    _Alignas(8) _Atomic uint32_t count;
    _Atomic uint32_t sleepers; /* bits of ranks */
};

/** Raises @p stamp to @p count.  Returns the ranks that sleep until then, as bits.  @p light: PEs
 * that are about to sleep execute heavy fences (membarrier.h).  An exchange waits for the cache
 * line, which a reader polls, and is visible sooner than a store.  @p go_on: the caller does not
 * wait for others now, so that a store is better. */
static inline uint32_t ski_team_stamp_raise(struct ski_team_stamp *stamp, uint32_t count,
                                            bool light, bool go_on)
{
    /* Release: pairs with the acquire in ski_team_stamp_count().  The fences pair with those
     * between ski_team_stamp_arm() and the next read of the stamp. */
    if (go_on && light)
        atomic_store_explicit(&stamp->count, count, memory_order_release);
    else
        atomic_exchange_explicit(&stamp->count, count, memory_order_seq_cst); /* see arch.h */
    if (light)
        ski_membarrier_light();
    else
        ski_order_swap();
    if (SKI_LIKELY(!atomic_load_explicit(&stamp->sleepers, memory_order_relaxed)))
        return 0;
    return atomic_exchange_explicit(&stamp->sleepers, 0, memory_order_acq_rel);
}

/** Returns the number that @p stamp has. */
static inline uint32_t ski_team_stamp_count(const struct ski_team_stamp *stamp)
{
    return atomic_load_explicit(&stamp->count, memory_order_acquire);
}

/** Requests a wakeup of rank @p rank when @p stamp is raised.  The caller executes a fence and
 * looks at the stamp again before it sleeps. */
static inline void ski_team_stamp_arm(struct ski_team_stamp *stamp, int rank)
{
    atomic_fetch_or_explicit(&stamp->sleepers, UINT32_C(1) << rank, memory_order_relaxed);
}

#endif
