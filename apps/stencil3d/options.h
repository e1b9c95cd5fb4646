/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what stencil3d is told. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"
#include "common/ways.h"

struct options {
    int64_t size[3];   /* cells                        */
    int64_t blocks[3]; /* that they are cut into       */
    int64_t per_pe;
    int64_t steps, repeat;
    bool    paper;
    bool    ways[WAYS];
    bool    only[WAYS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Read the command line; false: the job ends. */
bool options_read(struct options *options, int argc, char **argv);

#endif
