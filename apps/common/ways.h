/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - for applications that do the same in several ways: with messages, with channels, and
 * with channels that lend. */
#ifndef WAYS_H
#define WAYS_H

#include <stdbool.h>
#include <stdint.h>

enum { MESSAGES, CHANNELS, LENT, WAYS };

/** The options that they have in common, with the two ways that all of them have, in a list of
 * arguments; of a struct with `steps`, `repeat`, `only` and `series`. */
#define WAYS_ARGUMENTS(o, what)                                                                    \
    {"steps", ARGUMENT_NUMBER, &(o)->steps, 1, 1000000000, "N", what},                             \
        {"repeat",                                                                                 \
         ARGUMENT_NUMBER,                                                                          \
         &(o)->repeat,                                                                             \
         1,                                                                                        \
         1000000,                                                                                  \
         "R",                                                                                      \
         "runs, of which the fastest counts (default: 3)"},                                        \
        {"messages", ARGUMENT_FLAG, &(o)->only[MESSAGES], 0, 0, NULL, "only with messages"},       \
        {"channels", ARGUMENT_FLAG, &(o)->only[CHANNELS], 0, 0, NULL, "only with channels"},       \
    {                                                                                              \
        "series", ARGUMENT_WORD, (o)->series, 0, 0, "NAME", "print times as lines of JSON, too"    \
    }

/** What is printed as lines of JSON: a series is NAME-messages, NAME-channels, NAME-lent. */
struct ways_series {
    const char *bench, *name; /* name "": nothing is */
    int64_t     size;
};

/** A run has ended; @p best is the time of the fastest in its way, 0 at first. */
void ways_stop(double *best, double started);

/** Print the time of a step in the ways that have been used, and what others gain over messages. */
void ways_report(const double *best, int64_t steps, const struct ways_series *series);

/** On a terminal, once a second: how far we are.  @p shown is when that was said, 0 at first. */
void ways_progress(double *shown, int64_t step, int64_t steps);

#endif
