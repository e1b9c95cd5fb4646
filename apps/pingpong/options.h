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

/** Parse the command line.  Returns false, and ends the job, after printing the help or what is
 *  wrong. */
bool options_read(struct pingpong_options *options, int argc, char **argv);

#endif
