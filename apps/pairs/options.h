/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of pairs. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"
#include "common/variant.h"

struct pairs_options {
    int64_t states, planes, points; /* points: complex numbers of a state on a plane */
    int64_t grain;                  /* states per block                              */
    /* Number of parts into which the points of a plane are divided. */
    int64_t chunks;
    int64_t steps, repeat;
    int64_t blocks; /* number of blocks of states */
    bool    forward, paper;
    bool    variants[VARIANTS];
    bool    only[VARIANTS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct pairs_options *options, int argc, char **argv);

#endif
