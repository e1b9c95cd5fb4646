/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of lu. */
#ifndef LU_OPTIONS_H
#define LU_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

/** The problem and its distribution.  All PEs have the values of PE 0. */
struct lu_options {
    int64_t size;                     /* rows of the matrix                           */
    int64_t block;                    /* rows of a block                              */
    int64_t grid[2];                  /* rows and columns of the grid of PEs          */
    int64_t rotate, stride;           /* parameters of a tiling (map.h)               */
    int64_t memory;                   /* MiB per PE for remote blocks                 */
    int64_t cache;                    /* KiB of the level-2 cache; 0: as the system tells */
    int64_t ahead;                    /* steps before its panel in which a column is urgent */
    int64_t seed;                     /* seed of the random numbers                   */
    int64_t zero;                     /* number of a column of zeros, from 1; 0: none */
    bool    dgemm;                    /* also measure matrix products                 */
    bool    times;                    /* also print what the PEs spend their time on  */
    int64_t blocks;                   /* block rows of the matrix                     */
    char    map[ARGUMENT_WORD_BYTES]; /* the name of the map                          */
    char    series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line and reads the map, whose table the caller frees: the PE of block (i, j)
 *  is (*table)[i * (blocks + 1) + j].  Prints the help or an error, ends the job and returns false
 *  if the program must not run. */
bool lu_options_read(struct lu_options *options, int32_t **table, int argc, char **argv);

#endif
