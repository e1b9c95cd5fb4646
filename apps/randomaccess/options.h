/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of randomaccess. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "common/arguments.h"

struct randomaccess_options {
    int  log2;                        /* log2 of the number of words of the table */
    bool verify;                      /* repeat all updates and check the table */
    char series[ARGUMENT_WORD_BYTES]; /* name of a line of JSON for `skua bench`, or "" */
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct randomaccess_options *options, int argc, char **argv);

#endif
