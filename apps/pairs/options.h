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
    int64_t chunks;                 /* into which the points of a plane are divided  */
    int64_t steps, repeat;
    int64_t blocks; /* of states */
    bool    forward, paper;
    bool    variants[VARIANTS];
    bool    only[VARIANTS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Parse the command line.  Returns false, and ends the job, after printing the help or what is
 *  wrong. */
bool options_read(struct pairs_options *options, int argc, char **argv);

#endif
