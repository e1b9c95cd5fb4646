/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of randomaccess. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "common/arguments.h"

struct options {
    int  log2;                        /* of the words in the table         */
    bool verify;                      /* repeat all updates and look       */
    char series[ARGUMENT_WORD_BYTES]; /* print a line for `skua bench`, too */
};

/** Read them; if something is wrong, or help is wanted, say it and end the job.  True: go on. */
bool options_read(struct options *options, int argc, char **argv);

#endif
