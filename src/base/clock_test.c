/* SPDX-License-Identifier: Apache-2.0 */
/* clock_test.c - ticks and time convert into each other, time does not go back, and a clock of
 * another process replaces the own one. */
#include "base/clock.h"

#include <math.h>

#include <skua/time.h>
#include <time.h>

#include "tests/tap.h"

static void test_clock_conversion(void)
{
    int bad = 0;

    for (uint64_t ns = 1000; ns < UINT64_C(1000000000000); ns *= 10) {
        uint64_t back = ski_ticks_to_ns(ski_ns_to_ticks(ns));
        bad += back > ns || ns - back > ns / 20; /* a tick may last 40 ns */
    }
    OK(bad == 0, "nanoseconds become ticks and nanoseconds again, from 1 us to 15 min");
    OK(ski_ticks_to_ns(0) == 0 && ski_ns_to_ticks(0) == 0, "no time is no ticks");
}

static void test_clock_monotonic(void)
{
    double last = skua_time();
    int    bad  = 0;

    for (int i = 0; i < 100000; i++) {
        double now = skua_time();
        bad += now < last;
        last = now;
    }
    OK(bad == 0, "time does not go back");
}

/* The system's clock bounds the interval from outside, so no load can make this fail. */
static void test_clock_rate(void)
{
    struct timespec before, after, nap = {0, 20000000};
    double          outer, inner;

    clock_gettime(CLOCK_MONOTONIC, &before);
    inner = skua_time();
    nanosleep(&nap, NULL);
    inner = skua_time() - inner;
    clock_gettime(CLOCK_MONOTONIC, &after);
    outer =
        (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    OK(inner > 0.019 && inner <= outer * 1.01, "an interval of %.1f ms, at most %.1f ms",
       inner * 1e3, outer * 1e3);
}

static void test_clock_set(void)
{
    struct ski_clock own = ski_clock_get(), other = {2.0, own.origin};
    const double     wrong[] = {-1, 1e300, NAN, INFINITY};

    ski_clock_set(&other);
    OK(ski_ticks_to_ns(1000) == 500 && ski_ns_to_ticks(500) == 1000,
       "the clock of another process is used");
    ski_clock_set(&own);
    OK(ski_clock_get().origin == own.origin, "and the own one again");
    ski_clock_continue(5000);
    OK(skua_time() >= 5000 && skua_time() < 6000, "the time of a restarted job continues");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ski_clock_continue(wrong[i]);
        OK(skua_time() >= 0 && skua_time() < 5000, "a time of %g seconds is ignored", wrong[i]);
    }
    ski_clock_set(&own);
    OK(skua_time() < 5000, "that of the next one begins anew");
}

int main(void)
{
    test_clock_conversion();
    test_clock_monotonic();
    test_clock_rate();
    test_clock_set();
    return tap_end();
}
