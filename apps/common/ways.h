/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - for applications that do the same in two ways: with messages, and with channels. */
#ifndef WAYS_H
#define WAYS_H

#include <stdbool.h>
#include <stdint.h>

enum { MESSAGES, CHANNELS, WAYS };

/** What is printed as lines of JSON: a series is NAME-messages, NAME-channels. */
struct ways_series {
    const char *bench, *name; /* name "": nothing is */
    int64_t     size;
};

/** A run has ended; @p best is the time of the fastest in its way, 0 at first. */
void ways_stop(double *best, double started);

/** Print the time of a step in the ways that have been used, and what channels gain. */
void ways_report(const double *best, int64_t steps, const struct ways_series *series);

/** On a terminal, once a second: how far we are.  @p shown is when that was said, 0 at first. */
void ways_progress(double *shown, int64_t step, int64_t steps);

#endif
