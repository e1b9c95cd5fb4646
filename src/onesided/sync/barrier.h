/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barrier.h - skua_sync(): a dissemination barrier over counters.
 *
 * In round k each PE signals the one 2^k further on and waits for the signal of the one 2^k before
 * it; after the last round it has received a signal from all others, directly or indirectly.  The
 * counters only grow, so rounds of different barriers are not confused.
 *
 * In a job of several hosts, of which some have several PEs, the PEs of a host signal along a
 * binomial tree to the first of them, the first PEs of the hosts run the rounds above, and a last
 * counter releases the PEs of a host along the same tree: h hosts send h log2(h) messages.
 */
#ifndef SKI_BARRIER_H
#define SKI_BARRIER_H

#include <skua/message.h>
#include <skua/onesided.h>

#include "base/arch.h"

#define SKI_BARRIER_ROUNDS 32

/* The counters of a PE, one for each round, which others raise; in the arena. */
struct ski_barrier {
    _Alignas(SKI_CACHE_LINE) skua_notify round[SKI_BARRIER_ROUNDS];
};

/** Handles the signal of a PE of another host. */
void ski_on_barrier_round(skua_msg *msg);

#endif
