/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_parts.h - where the time of a step goes, by the results of a program on P PEs:
 *
 *     step-Ppe       seconds of a step
 *     idle-Ppe       the part of it that is not work of the program, the mean of all PEs
 *     uneven-Ppe     the work of the busiest PE, relative to the mean
 *     waiting-Ppe    the part of the step in which a PE has nothing to run, the mean of all PEs
 *     balancing-Ppe  the part of the step that balancing takes; PEs wait in it
 *
 * The parts add up to the step in a run of one round; with more, each result is the best of its
 * own.
 */
#ifndef SKUA_TIME_PARTS_H
#define SKUA_TIME_PARTS_H

#include "results.h"

/** Seconds of a step. */
struct time_parts {
    double step;      /* the sum of the others                                      */
    double work;      /* of the program, the mean of all PEs                        */
    double uneven;    /* work of the busiest PE beyond the mean: the others wait    */
    double balancing; /* gathering loads, deciding, moving objects                  */
    double waiting;   /* other waits: for messages of PEs that are behind           */
    double runtime;   /* sending, scheduling and delivering messages, and measuring */
};

/** Returns the parts of a step of @p series on @p pes PEs; all are 0 if it was not measured. */
struct time_parts time_parts_of(const struct results *results, const char *series, size_t bytes,
                                int pes);

/** Prints the heading of a table of parts. */
void time_parts_print_head(void);

/** Prints a line of the table: the parts in percent of @p work seconds.  Prints nothing if one of
 * both was not measured. */
void time_parts_print(const struct time_parts *parts, double work, const char *what);

#endif
