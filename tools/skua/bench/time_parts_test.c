/* SPDX-License-Identifier: Apache-2.0 */
/* time_parts_test.c - the parts of a step add up to it. */
#include "time_parts.h"

#include <math.h>
#include <stdio.h>

#include "tests/tap.h"

static void time_parts_test_add(struct results *results, const char *metric, double value)
{
    struct result result = {.bytes = 64, .value = value};

    snprintf(result.series, sizeof result.series, "skua");
    snprintf(result.metric, sizeof result.metric, "%s-4pe", metric);
    results_add(results, &result);
}

static bool time_parts_test_near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

/* 10 ms: 6 ms of work, 7.5 ms of it on the busiest PE, 3 ms of waiting, 0.5 ms of balancing. */
static void time_parts_test_all(void)
{
    struct results    results = {0};
    struct time_parts parts   = time_parts_of(&results, "skua", 64, 4);

    OK(parts.step == 0 && parts.work == 0, "what was not measured has no parts");
    time_parts_test_add(&results, "step", 0.01);
    time_parts_test_add(&results, "idle", 0.4);
    time_parts_test_add(&results, "uneven", 1.25);
    time_parts_test_add(&results, "waiting", 0.3);
    time_parts_test_add(&results, "balancing", 0.05);
    parts = time_parts_of(&results, "skua", 64, 4);
    OK(time_parts_test_near(parts.work, 0.006), "work");
    OK(time_parts_test_near(parts.uneven, 0.0015), "uneven work");
    OK(time_parts_test_near(parts.balancing, 0.0005), "balancing");
    OK(time_parts_test_near(parts.waiting, 0.001), "waits that uneven work does not explain");
    OK(time_parts_test_near(parts.runtime, 0.001), "the runtime");
    OK(time_parts_test_near(
           parts.work + parts.uneven + parts.balancing + parts.waiting + parts.runtime, parts.step),
       "the parts add up to the step");
    time_parts_test_add(&results, "waiting", 0.1);
    parts = time_parts_of(&results, "skua", 64, 4);
    OK(parts.waiting == 0 && time_parts_test_near(parts.runtime, 0.002),
       "uneven work may be longer than the waits");
    results_free(&results);
}

int main(void)
{
    time_parts_test_all();
    return tap_end();
}
