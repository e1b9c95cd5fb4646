/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_trip.h - how long a message to another host and its reply take, at best.
 *
 * The first uses of the threshold between hosts each send a probe, an empty message that the other
 * PE returns.  The process uses the shortest time, since a reply is late if either PE was busy.  No
 * call waits for a reply, and after ROUND_TRIP_PROBES of them no more are sent.
 */
#ifndef SKI_ROUND_TRIP_H
#define SKI_ROUND_TRIP_H

#include "core/pe/pe.h"

/* A probe, or its reply. */
struct ski_round_trip {
    uint64_t sent;     /* nanoseconds, of the clock of the PE that measures */
    uint64_t returned; /* 1: this is the reply */
};

#define SKI_ROUND_TRIP_MIN sizeof(struct ski_round_trip)

/** Returns the shortest round trip that this process has measured, in nanoseconds; 0: none yet. */
uint64_t ski_round_trip_ns(void);

/** Sends a probe to @p pe, which is on another host, unless one is in flight or enough were sent.
 */
void ski_round_trip_probe(struct ski_pe *self, int pe);

/** Handles a probe, or its reply. */
void ski_on_round_trip(skua_msg *msg);

/** Discards what was measured.  Called when no thread is a PE. */
void ski_round_trip_reset(void);

#endif
