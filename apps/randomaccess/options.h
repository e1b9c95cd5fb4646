/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of randomaccess. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "common/arguments.h"

struct randomaccess_options {
    int  log2;                        /* of the number of words of the table */
    bool verify;                      /* repeat all updates and check the table */
    char series[ARGUMENT_WORD_BYTES]; /* name of a line of JSON for `skua bench`, or "" */
};

/** Parse the command line.  Returns false, and ends the job, after printing the help or what is
 *  wrong. */
bool options_read(struct randomaccess_options *options, int argc, char **argv);

#endif
