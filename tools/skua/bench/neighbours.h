/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - functions that the benchmarks of neighbour exchanges, fillboundary and gtcshift,
 * share.
 *
 * A series is LIBRARY-PROTOCOL inside a host and LIBRARY-tcp-PROTOCOL over TCP, where the library
 * is skua, openmpi or mpich. Programs print the metric step-Ppe and, for each phase of an exchange,
 * PHASE-Ppe.
 */
#ifndef SKUA_NEIGHBOURS_H
#define SKUA_NEIGHBOURS_H

#include "bench.h"
#include "network.h"

#define NEIGHBOURS_PES 16 /* of the goals on larger machines */

/** A row of the tables. */
struct neighbours_row {
    const char *library, *protocol, *name;
};

/** A column of the tables, in microseconds. */
struct neighbours_column {
    const char *title, *metric; /* metric: without the number of PEs */
    size_t      bytes;
    double      x; /* in plots */
};

/** A benchmark: an application and its peer. */
struct neighbours {
    const char                     *app;
    const char                     *what;    /* is measured, in titles */
    const struct neighbours_row    *row;     /* up to one without a library                 */
    const struct neighbours_column *column;  /* up to one without a title; the first has the
                                                smallest exchange                           */
    const struct neighbours_column *wide;    /* those on 16 PEs; NULL: the same             */
    const char                     *fast[2]; /* the protocols that the goals are about     */
    const char                     *small;   /* that of the goal on the smallest exchange  */
    double                          goal;    /* how many times faster than two-sided it is */
    int exchanges; /* of data between two PEs in the smallest exchange, at least  */
};

/** Measures a problem on @p pes PEs of this host: arguments of the application, and of its peers.
 */
void neighbours_run(const struct neighbours *bench, struct results *results, const char *arguments,
                    const char *peer, int pes);

/** Measures a problem with the PEs as threads of one process: series skua-threads-PROTOCOL. */
void neighbours_run_threads(const struct neighbours *bench, struct results *results,
                            const char *arguments, int pes);

/** Measures a problem on two PEs over TCP: loopback, or between network namespaces. */
void neighbours_run_tcp(const struct neighbours *bench, struct results *results,
                        const char *arguments, const char *peer);

/** Prints the times of all rows, calls @p print_paper, and prints the goals. */
void neighbours_print(const struct neighbours *bench, const struct results *results,
                      void (*print_paper)(const struct results *));

/** Prints the phases of all rows, in microseconds, one column for each phase. */
void neighbours_print_phases(const struct neighbours *bench, const struct results *results,
                             const char *const phases[], size_t bytes);

/** Draws the times of all rows over the columns' x, inside a host and over TCP. */
void neighbours_plot(const struct neighbours *bench, const struct results *results, FILE *to);

#endif
