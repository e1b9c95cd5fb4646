/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.h - problems as files, and their check.
 *
 * A file is JSON text: one problem, or several one after another, as a job appends them.
 *
 *   {
 *    "format": "skua-loads", "version": 1, "hosts": 2, "seed": 1,
 *    "seconds_per_message": 1e-06, "seconds_per_byte": 1e-10,
 *    "pes": [
 *     {"pe": 0, "host": 0, "background": 0.25, "idle": 0.5, "speed": 1}
 *    ],
 *    "objects": [
 *     {"pe": 0, "load": 0.125, "bytes": 4096, "movable": true, "position": [0, 1, 2]}
 *    ],
 *    "edges": [
 *     [0, 1, 10, 80000]
 *    ],
 *    "hops": [
 *     [0, 1],
 *     [1, 0]
 *    ]
 *   }
 *
 * An object's "pe" is an index of "pes".  An edge has the numbers of two objects, messages and
 * bytes; edges are sorted.  "hops" are the distances of all pairs of hosts, which are left out if
 * all are 1.  "format", "version" and "pes" come first; "objects" comes before "edges".  Required
 * are "format", "version", "pes" and "objects", and of an object "pe" and "load"; others are 0, of
 * an object "movable" true, and "hosts" is the largest host plus 1.
 */
#ifndef SKI_PROBLEM_H
#define SKI_PROBLEM_H

#include <stdbool.h>
#include <stdio.h>

#include <skua/strategy.h>

/** The version of the format of files. */
#define SKI_PROBLEM_VERSION 1

/** The size of the texts that the functions below write. */
#define SKI_PROBLEM_TEXT 256

/** The largest number of PEs of a problem in a file. */
#define SKI_PROBLEM_PES (1 << 20)

/** The largest time, speed or coordinate of a problem, and the inverse of the smallest speed: sums
 *  and quotients of them are finite. */
#define SKI_PROBLEM_MAX 1e100

/* A problem with memory of its own. */
struct ski_problem {
    skua_strategy_problem problem;
    skua_strategy_pe     *pe;
    skua_strategy_object *object;
    skua_strategy_edge   *edge;
    int32_t              *hops; /* hosts * hosts distances, or NULL */
};

/** Checks that a problem is what <skua/strategy.h> promises to strategies.  Returns true, or false
 *  with @p text of SKI_PROBLEM_TEXT bytes written. */
bool ski_problem_check(const skua_strategy_problem *problem, char *text);

/** Writes a problem.  Errors are those of @p to. */
void ski_problem_write(FILE *to, const skua_strategy_problem *problem);

/** Reads the next problem from @p text of @p bytes bytes; @p at is where to begin, 0 at first, and
 *  becomes the position after the problem.  Returns 1, or 0 if only white space is left, or -1 with
 *  @p error of SKI_PROBLEM_TEXT bytes written: "line 3, column 14: ...". */
int ski_problem_read(const char *text, size_t bytes, size_t *at, struct ski_problem *problem,
                     char *error);

/** Frees the memory of a problem that was read. */
void ski_problem_destroy(struct ski_problem *problem);

/** Returns the distance of two hosts: 0 for the same host, else that of the problem, at least 1. */
static inline int ski_problem_hops(const skua_strategy_problem *problem, int a, int b)
{
    int hops = a == b ? 0 : problem->hops ? problem->hops(problem->hops_arg, a, b) : 1;

    return a != b && hops < 1 ? 1 : hops;
}

#endif
