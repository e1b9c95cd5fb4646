/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of pingpong. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

enum { MESSAGES, CHANNEL, GET, VARIANTS };

#define SIZES_MAX ARGUMENT_LIST_MAX

struct pingpong_options {
    struct argument_list sizes;
    int64_t              iterations, repeat;
    bool                 variants[VARIANTS];
    bool                 only[VARIANTS];
    char                 series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct pingpong_options *options, int argc, char **argv);

#endif
