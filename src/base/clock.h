/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - time from the cycle counter.
 *
 * ski_ticks() (arch.h) takes an instruction or two; fast paths compare ticks.  The CPU reports the
 * rate of the counter, or it is measured over a millisecond.  The processes of a host share one
 * rate and one origin (ski_clock_set), so their times are comparable.
 */
#ifndef SKI_CLOCK_H
#define SKI_CLOCK_H

#include <stdint.h>

#include "base/arch.h"

/* How ticks become time. */
struct ski_clock {
    double   ticks_per_ns;
    uint64_t origin; /* ticks at time zero */
};

/** Returns the clock in use; the first call determines it. */
struct ski_clock ski_clock_get(void);

/** Uses @p clock, of another process of this host, from now on.  It is called before other threads
 *  read the time. */
void ski_clock_set(const struct ski_clock *clock);

/** Makes skua_time() begin at @p seconds instead of 0, in each process of a job that is restarted.
 *  Threads that read the time meanwhile see it jump. */
void ski_clock_continue(double seconds);

/** Converts @p ticks to nanoseconds. */
uint64_t ski_ticks_to_ns(uint64_t ticks);

/** Converts @p ns nanoseconds to ticks. */
uint64_t ski_ns_to_ticks(uint64_t ns);

#endif
