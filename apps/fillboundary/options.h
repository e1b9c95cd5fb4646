/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of fillboundary. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "boxes.h"
#include "common/arguments.h"

#define FB_LEVELS 5 /* largest number of levels, as in the paper */

/** The protocols that fill the ghost cells. */
enum { FB_MESSAGES, FB_PSCW, FB_SIGNAL, FB_CHANNELS, FB_VARIANTS };

struct fillboundary_options {
    const char *boxes; /* a file; NULL: a ball */
    int64_t     per_pe, ball, side, refine, chop, levels;
    int64_t     rounds, exchanges, repeat;
    bool        describe;
    bool        only[FB_VARIANTS], variants[FB_VARIANTS];
    char        series[ARGUMENT_WORD_BYTES];
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct fillboundary_options *options, int argc, char **argv);

/** Creates the list of boxes that the options describe, and sets the number of levels that these
 *  boxes allow. Returns false and stores the reason in @p error if that is not possible. */
bool options_make_boxes(struct fillboundary_options *options, int pes, struct box_list *list,
                        char error[BOXES_ERROR_MAX]);

#endif
