/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of fmm and of its peers. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "bodies.h"
#include "common/arguments.h"
#include "solve.h"

struct fmm_options {
    int64_t            particles, repeat, check, order, separation;
    double             error;
    struct bodies_rule bodies;
    struct solve_rule  rule;
    bool               no_overlap, no_help, periodic;
    char               shape[ARGUMENT_WORD_BYTES], charges[ARGUMENT_WORD_BYTES];
    char               series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct fmm_options *options, int argc, char **argv);

#endif
