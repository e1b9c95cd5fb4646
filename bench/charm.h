/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charm.h - definitions of the programs that are compared with Charm++ (charm.c, charm_arrays.c):
 * waiting for a result, the best time of several batches, and the report.
 *
 * PE 0 controls the programs in its begin function.
 */
#ifndef BENCH_CHARM_H
#define BENCH_CHARM_H

#include <skua/skua.h>

#include "bench.h"

#define CHARM_BENCH "objects"

/* The result of a program: a number, and whether it has arrived. */
struct charm_outcome {
    int64_t value;
    bool    done;
};

static inline void charm_on_outcome(void *arg, const void *data, size_t bytes)
{
    struct charm_outcome *outcome = arg;

    if (bytes == sizeof outcome->value)
        memcpy(&outcome->value, data, bytes);
    outcome->done = true;
}

/* Returns the completion that sets @p outcome to a result. */
static inline skua_completion charm_done(struct charm_outcome *outcome)
{
    return skua_done_call(charm_on_outcome, outcome);
}

static inline bool charm_is_set(void *arg)
{
    return *(bool *)arg;
}

/* Waits for a result, checks it, and makes @p outcome ready for the next one. */
static inline void charm_expect(struct charm_outcome *outcome, int64_t value)
{
    skua_run_until(charm_is_set, &outcome->done);
    if (outcome->value != value)
        skua_abort("the result of a program is wrong");
    *outcome = (struct charm_outcome){0};
}

static inline void charm_wait_until_quiet(void)
{
    struct charm_outcome quiet = {0};

    skua_quiescence(charm_done(&quiet));
    charm_expect(&quiet, 0);
}

/* Replaces *@p best by the time since @p start if that is shorter. */
static inline void charm_keep_best(double *best, double start)
{
    double time = bench_now() - start;

    if (*best == 0 || time < *best)
        *best = time;
}

static inline void charm_report(const char *series, const char *program, const char *unit,
                                double value)
{
    char metric[32];

    snprintf(metric, sizeof metric, "%s-%dpe_%s", program, skua_pes(), unit);
    bench_report(CHARM_BENCH, series, 0, metric, value);
}

/* Returns whether a program is to be measured: all are, unless the command line names one. */
static inline bool charm_is_wanted(const char *only, const char *program)
{
    return !only || strcmp(only, program) == 0;
}

#endif
