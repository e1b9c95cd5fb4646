/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of gtcshift. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

/** The protocols that shift particles. */
enum { SHIFT_MESSAGES, SHIFT_PSCW, SHIFT_SIGNAL, SHIFT_PIPELINED, SHIFT_VARIANTS };

struct gtcshift_options {
    int64_t domains, particles, per_cell, chunk, steps, repeat;
    bool    only[SHIFT_VARIANTS], variants[SHIFT_VARIANTS];
    char class[ARGUMENT_WORD_BYTES], series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct gtcshift_options *options, int argc, char **argv);

#endif
