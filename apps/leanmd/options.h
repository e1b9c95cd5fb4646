/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of leanmd. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "atoms.h"
#include "common/arguments.h"

struct leanmd_options {
    struct md_box box;
    int64_t       steps;
    int64_t       migrate; /* steps between migrations of atoms, and samples of the energy */
    int64_t       balance; /* steps between sync points for load balancing; 0: none        */
    int64_t       warmup;  /* steps before the clock starts                                */
    char          series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct leanmd_options *options, int argc, char **argv);

#endif
