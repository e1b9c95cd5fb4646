/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - the rate of the cycle counter, and conversions with it. */
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <skua/time.h>

#include "base/assert.h"

static pthread_once_t   clock_once = PTHREAD_ONCE_INIT;
static struct ski_clock clock_in_use;
static _Atomic uint64_t clock_past; /* ticks of the jobs that this one continues */

static uint64_t clock_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The two clocks, read at the same time. */
struct clock_sample {
    uint64_t ns, ticks;
};

/* Reads both clocks several times and returns the sample with the shortest interval. */
static struct clock_sample clock_take_sample(void)
{
    struct clock_sample best = {0, 0};
    uint64_t            span = UINT64_MAX;

    for (int i = 0; i < 16; i++) {
        uint64_t before = ski_ticks(), ns = clock_monotonic_ns(), after = ski_ticks();
        if (after - before < span) {
            span = after - before;
            best = (struct clock_sample){ns, before + span / 2};
        }
    }
    return best;
}

/* Counts ticks over a millisecond or more of CLOCK_MONOTONIC.  The process sleeps meanwhile, so that
 * the others of the job can start, and the number of instructions at the start does not vary. */
static double clock_measure_rate(void)
{
    struct timespec     left  = {.tv_nsec = 1000000};
    struct clock_sample begin = clock_take_sample(), end;

    while (nanosleep(&left, &left) != 0)
        continue; /* a signal has interrupted it */
    end = clock_take_sample();
    return (double)(end.ticks - begin.ticks) / (double)(end.ns - begin.ns);
}

static void clock_find(void)
{
    uint64_t rate = ski_ticks_rate();

    clock_in_use.ticks_per_ns = rate ? (double)rate * 1e-9 : clock_measure_rate();
    clock_in_use.origin       = ski_ticks();
    ski_assert(clock_in_use.ticks_per_ns > 0);
}

static void clock_keep(void)
{
}

struct ski_clock ski_clock_get(void)
{
    pthread_once(&clock_once, clock_find);
    return clock_in_use;
}

void ski_clock_set(const struct ski_clock *clock)
{
    ski_assert(clock->ticks_per_ns > 0);
    pthread_once(&clock_once, clock_keep); /* so that clock_find() does not run later */
    clock_in_use = *clock;
    atomic_store_explicit(&clock_past, 0, memory_order_relaxed);
}

void ski_clock_continue(double seconds)
{
    uint64_t past;

    if (!(seconds >= 0 && seconds < 1e9))
        seconds = 0; /* of a damaged checkpoint; a NaN is not converted, either */
    past = (uint64_t)(seconds * 1e9 * ski_clock_get().ticks_per_ns);
    atomic_store_explicit(&clock_past, past, memory_order_relaxed);
}

uint64_t ski_ticks_to_ns(uint64_t ticks)
{
    return (uint64_t)((double)ticks / ski_clock_get().ticks_per_ns);
}

uint64_t ski_ns_to_ticks(uint64_t ns)
{
    return (uint64_t)((double)ns * ski_clock_get().ticks_per_ns);
}

double skua_time(void)
{
    struct ski_clock clock = ski_clock_get();
    uint64_t         past  = atomic_load_explicit(&clock_past, memory_order_relaxed);

    return (double)(int64_t)(ski_ticks() - clock.origin + past) / clock.ticks_per_ns * 1e-9;
}
