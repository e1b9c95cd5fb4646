/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of stencil3d. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"
#include "common/variant.h"

struct stencil3d_options {
    int64_t size[3];   /* cells                                   */
    int64_t blocks[3]; /* blocks into which the cells are divided */
    int64_t per_pe;
    int64_t steps, repeat;
    int64_t pause; /* number of steps between possible checkpoints */
    bool    paper;
    int64_t stale; /* the step in which one face is outdated, as a test; 0: none */
    bool    variants[VARIANTS];
    bool    only[VARIANTS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct stencil3d_options *options, int argc, char **argv);

#endif
