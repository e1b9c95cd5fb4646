/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of barneshut. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

struct barneshut_options {
    int64_t particles, steps;
    int64_t leaf;      /* the largest number of particles of a leaf           */
    int64_t per_piece; /* the largest number of particles of a top-level cell */
    int64_t pieces;    /* number of Pieces                                    */
    int64_t balance;   /* steps between two load balancings; 0: never         */
    int64_t seed;
    double  theta, eps, dt;
    bool    no_check;
    char    series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct barneshut_options *options, int argc, char **argv);

#endif
