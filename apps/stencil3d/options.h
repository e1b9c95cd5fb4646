/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of stencil3d. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"
#include "common/variant.h"

struct stencil3d_options {
    int64_t size[3];   /* cells                        */
    int64_t blocks[3]; /* into which they are divided  */
    int64_t per_pe;
    int64_t steps, repeat;
    int64_t pause; /* steps after which a checkpoint may be made */
    bool    paper;
    int64_t stale; /* the step in which one face is old; 0: none */
    bool    variants[VARIANTS];
    bool    only[VARIANTS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Parse the command line.  Returns false, and ends the job, after printing the help or what is
 *  wrong. */
bool options_read(struct stencil3d_options *options, int argc, char **argv);

#endif
