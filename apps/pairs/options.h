/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what pairs is told. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

enum { MESSAGES, CHANNELS, WAYS };

struct options {
    int64_t states, planes, points; /* complex numbers of a state on a plane   */
    int64_t grain;                  /* states of a block                       */
    int64_t chunks;                 /* that the points of a plane are cut into */
    int64_t steps, repeat;
    int64_t blocks; /* of states */
    bool    forward;
    bool    ways[WAYS];
    bool    only[WAYS];
    char    series[ARGUMENT_WORD_BYTES];
};

/** Read the command line; false: the job ends. */
bool options_read(struct options *options, int argc, char **argv);

#endif
