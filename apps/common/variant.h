/* SPDX-License-Identifier: Apache-2.0 */
/* variant.h - for applications with several variants of their communication: messages, channels,
 * and zero-copy channels (lent). */
#ifndef VARIANT_H
#define VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

enum { MESSAGES, CHANNELS, LENT, VARIANTS };

/** The arguments that these applications share, for an options struct with `steps`, `repeat`,
 * `only` and `series`. */
#define VARIANT_ARGUMENTS(o, what)                                                                 \
    {"steps", ARGUMENT_NUMBER, &(o)->steps, 1, 1000000000, "N", what},                             \
        ARGUMENT_REPEAT(&(o)->repeat, "number of runs; the fastest counts (default: 3)"),          \
        {"messages", ARGUMENT_FLAG, &(o)->only[MESSAGES], 0, 0, NULL, "measure messages only"},    \
        {"channels", ARGUMENT_FLAG, &(o)->only[CHANNELS], 0, 0, NULL, "measure channels only"},    \
        ARGUMENT_SERIES((o)->series)

/** How results are printed as JSON: the series are NAME-messages, NAME-channels and NAME-lent. */
struct variant_series {
    const char *bench, *name; /* name "": no JSON */
    int64_t     size;
};

/** Records the end of a run that began at @p started: *@p best, 0 at first, is the time of the
 *  fastest run of its variant. */
void variant_stop(double *best, double started);

/** Prints the time of a step with each variant that was measured, and its gain over messages. */
void variant_report(const double *best, int64_t steps, const struct variant_series *series);

/** Shows progress on a terminal, once a second.  *@p shown is the time of the last output, 0 at
 *  first. */
void variant_progress(double *shown, int64_t step, int64_t steps);

#endif
