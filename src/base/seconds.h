/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seconds.h - clocks of the system in seconds, for time-outs and measurements off the fast path.
 */
#ifndef SKI_SECONDS_H
#define SKI_SECONDS_H

#include <time.h>

/** Returns the time of @p clock, one of clock_gettime(2). */
static inline double ski_seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
