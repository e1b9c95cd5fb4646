/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what pingpong is told. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

enum { MESSAGES, CHANNEL, GET, WAYS };

#define SIZES_MOST ARGUMENT_LIST_MOST

struct options {
    struct argument_list sizes;
    int64_t              iterations, repeat;
    bool                 ways[WAYS];
    bool                 only[WAYS];
    char                 series[ARGUMENT_WORD_BYTES];
};

/** Read the command line; false: the job ends. */
bool options_read(struct options *options, int argc, char **argv);

#endif
