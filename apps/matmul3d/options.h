/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what matmul3d is told. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

enum { MESSAGES, CHANNELS, WAYS };

struct options {
    int64_t size;    /* rows and columns of all matrices */
    int64_t grid[3]; /* of tiles                         */
    int64_t per_pe;
    int64_t steps, repeat;
    bool    paper, single;
    bool    ways[WAYS];
    bool    only[WAYS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Read the command line; false: the job ends. */
bool options_read(struct options *options, int argc, char **argv);

#endif
