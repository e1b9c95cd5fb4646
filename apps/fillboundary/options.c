/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

bool options_read(struct fillboundary_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"boxes", ARGUMENT_TEXT, &o->boxes, 0, 0, "FILE",
         "a list of boxes in the format of BoxLib"},
        {"refine", ARGUMENT_NUMBER, &o->refine, 1, 64, "R", "refine its boxes (default: 1)"},
        {"chop", ARGUMENT_NUMBER, &o->chop, 1, 4096, "N",
         "divide boxes into pieces of up to N cells in each\ndirection (default: 32)"},
        {"ball", ARGUMENT_NUMBER, &o->ball, 1, BOXES_MAX / 8, "N",
         "without --boxes: a ball of N cubes"},
        {"per-pe", ARGUMENT_NUMBER, &o->per_pe, 1, 4096, "N",
         "a ball of N cubes per PE (default: 6, as in the paper\non 4096 cores)"},
        {"side", ARGUMENT_NUMBER, &o->side, 1, 256, "N", "cells along a cube (default: 32)"},
        {"levels", ARGUMENT_NUMBER, &o->levels, 1, FB_LEVELS, "L",
         "levels, each half as fine as the one before (default: 5,\nor as many as the boxes "
         "allow)"},
        {"rounds", ARGUMENT_NUMBER, &o->rounds, 1, 1000000, "N",
         "rounds of 4 exchanges per level and an allreduce\n(default: 100)"},
        {"exchanges", ARGUMENT_NUMBER, &o->exchanges, 1, 1000000, "N",
         "exchanges of one level in a row (default: 100)"},
        ARGUMENT_REPEAT(&o->repeat, "number of runs; the fastest counts (default: 3)"),
        {"messages", ARGUMENT_FLAG, &o->only[FB_MESSAGES], 0, 0, NULL, "measure messages only"},
        {"pscw", ARGUMENT_FLAG, &o->only[FB_PSCW], 0, 0, NULL,
         "measure post-start-complete-wait only"},
        {"signal", ARGUMENT_FLAG, &o->only[FB_SIGNAL], 0, 0, NULL, "measure signalling puts only"},
        {"channels", ARGUMENT_FLAG, &o->only[FB_CHANNELS], 0, 0, NULL, "measure channels only"},
        {"describe", ARGUMENT_FLAG, &o->describe, 0, 0, NULL,
         "count boxes, cells and ghost cells, and exit"},
        ARGUMENT_SERIES(o->series),
        {0},
    };
    const struct arguments arguments = {
        "fillboundary",
        "Fills the ghost cells of boxes on several levels of refinement from the boxes beside\n"
        "them: with messages, with puts between post, start, complete and wait, with signalling\n"
        "puts, and with channels that are opened once. All ghost cells are checked.",
        list};

    *o = (struct fillboundary_options){.per_pe    = 6,
                                       .side      = 32,
                                       .refine    = 1,
                                       .chop      = 32,
                                       .levels    = FB_LEVELS,
                                       .rounds    = 100,
                                       .exchanges = 100,
                                       .repeat    = 3};
    if (!arguments_read(&arguments, argc, argv))
        return false;
    arguments_select(o->variants, o->only, FB_VARIANTS);
    return true;
}

bool options_make_boxes(struct fillboundary_options *o, int pes, struct box_list *list,
                        char error[BOXES_ERROR_MAX])
{
    int halvings;

    if (o->boxes) {
        if (!boxes_read(list, o->boxes, error))
            return false;
        if (!boxes_refine(list, (int)o->refine, error) || !boxes_chop(list, (int)o->chop, error)) {
            boxes_free(list);
            return false;
        }
    } else
        boxes_ball(list, (int)(o->ball ? o->ball : o->per_pe * pes), (int)o->side);
    halvings  = boxes_halvings(list, (int)o->levels - 1);
    o->levels = halvings + 1;
    return true;
}
