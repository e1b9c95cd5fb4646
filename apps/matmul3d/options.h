/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of matmul3d. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"
#include "common/variant.h"

struct matmul3d_options {
    int64_t size;    /* rows and columns of all matrices */
    int64_t grid[3]; /* grid of tiles */
    int64_t per_pe;
    int64_t steps, repeat;
    bool    paper, single;
    bool    variants[VARIANTS];
    bool    only[VARIANTS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct matmul3d_options *options, int argc, char **argv);

#endif
