/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem_make.h - problems that are generated: for tests, benchmarks and `skua balance --make`.
 *
 *   random    objects of random loads, unevenly many on each PE; each talks to four random others
 *   droplet   a grid of cells, blocks of it on each PE; cells in a sphere in the middle are heavy;
 *             neighbours talk
 *   gradient  a grid of cells whose load grows along one side
 *   hotspot   the objects of one PE are ten times as heavy as the others
 *   varied    as random, with background on some PEs, PEs of several speeds, and some immovable
 *             objects
 *   even      a grid of cells of one load
 */
#ifndef SKI_PROBLEM_MAKE_H
#define SKI_PROBLEM_MAKE_H

#include "strategy/problem.h"

/* The size of a problem. */
struct ski_problem_size {
    int32_t  pes, hosts;
    uint32_t objects;
    uint64_t seed;
};

/** The names of the kinds, in the order above; NULL ends the list. */
extern const char *const ski_problem_kinds[];

/** Makes a problem of a kind.  Returns false if there is no such kind.  A problem is the same
 *  whenever kind and size are. */
bool ski_problem_make(const char *kind, const struct ski_problem_size *size,
                      struct ski_problem *problem);

#endif
