/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the loops in which fmm spends most of its time, for the vectors of this CPU.
 *
 * kernels.c is compiled once for registers of 16 bytes, which every 64-bit CPU has, and on x86-64
 * also for AVX2 and AVX-512.  The best set that the CPU can execute is chosen when the program
 * runs.
 */
#ifndef FMM_KERNELS_H
#define FMM_KERNELS_H

#include <stdint.h>

#include "lanes.h"
#include "near.h"

#define PANEL 4 /* rows of a matrix that are computed together */

/** LANES bodies, and the sums that belong to them. */
struct near_group {
    lanes x, y, z;
    lanes potential, fx, fy, fz;
};

/** The rows of a block: output rows are the product of a matrix and input rows. */
struct translate_block {
    int            out, in; /* numbers of rows */
    const int16_t *out_row, *in_row;
};

/** A matrix of blocks; elements lie in the order in which they are used: PANEL rows at a time,
 * column by column. */
struct translate_matrix {
    const struct translate_block *block;
    int                           blocks;
    double                       *at;
};

/** A set of kernels. */
struct fmm_kernels {
    const char *name;
    /** Adds the potential and field of source bodies to a group. */
    void (*near)(struct near_group *group, const struct near_sources *from);
    /** Multiplies lanes by a matrix. */
    void (*multiply)(const struct translate_matrix *matrix, const lanes *from, lanes *to);
    /** Rotates expansions in lanes about z; @p cosine and @p sine are those of the multiples of the
     *  angle, and @p sign is 1, or -1 to rotate back. */
    void (*turn)(const double *cosine, const double *sine, int order, double sign, lanes *x);
};

/** Returns the sets of kernels that this CPU can execute, best first; NULL ends them. */
const struct fmm_kernels *const *kernels_usable(void);

/** Returns the best set of kernels that this CPU can execute. */
static inline const struct fmm_kernels *kernels_best(void)
{
    return kernels_usable()[0];
}

#endif
