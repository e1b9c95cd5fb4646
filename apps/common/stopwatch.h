/* SPDX-License-Identifier: Apache-2.0 */
/* stopwatch.h - the seconds that an operation spends in each of its phases. */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include <stdbool.h>
#include <time.h>

#define STOPWATCH_PHASES 8 /* largest number of phases; an application names its own */

/** Times of the phases; measured only while `on`, since reading the clock takes time. */
struct stopwatch {
    bool   on;
    double last, seconds[STOPWATCH_PHASES];
};

/** Returns the time in seconds. */
static inline double stopwatch_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Begins a phase. */
static inline void stopwatch_start(struct stopwatch *watch)
{
    if (watch->on)
        watch->last = stopwatch_now();
}

/** Ends a phase, and begins the next one. */
static inline void stopwatch_lap(struct stopwatch *watch, int phase)
{
    double now;

    if (!watch->on)
        return;
    now = stopwatch_now();
    watch->seconds[phase] += now - watch->last;
    watch->last = now;
}

#endif
