/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - time from the cycle counter.
 *
 * ski_ticks() (arch.h) costs an instruction or two and is what hot paths
 * compare.  Its rate is asked of the CPU, or measured over a millisecond
 * where the CPU does not tell.  The processes of a host share one rate and one
 * origin (ski_clock_set), so that their times can be compared.
 */
#ifndef SKI_CLOCK_H
#define SKI_CLOCK_H

#include <stdint.h>

#include "base/arch.h"

struct ski_clock {
    double   ticks_per_ns;
    uint64_t origin; /* ticks at time zero */
};

/** The clock in use; found out on the first call. */
struct ski_clock ski_clock_get(void);

/** Use @p clock, made by another process of this host, from now on.
 *  Call it before other threads look at the time. */
void ski_clock_set(const struct ski_clock *clock);

/** Nanoseconds that @p ticks last. */
uint64_t ski_ticks_to_ns(uint64_t ticks);

/** Ticks in @p ns nanoseconds. */
uint64_t ski_ns_to_ticks(uint64_t ns);

#endif
