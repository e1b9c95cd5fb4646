/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

/* The 1024 states of 256 water molecules, divided as little as possible: four channels for each
 * state and plane. */
static void options_set_paper(struct pairs_options *o)
{
    o->states = 1024;
    o->grain  = 512;
    o->planes = 32;
    o->points = 200;
    o->chunks = 1;
}

static bool options_complete(struct pairs_options *o)
{
    if (o->paper)
        options_set_paper(o);
    if (o->grain > o->states)
        return arguments_refuse("pairs", "--grain must not exceed --states");
    if (o->chunks > o->points)
        return arguments_refuse("pairs", "--chunks must not exceed --points");
    if (!o->forward && o->states > 2 * o->planes * o->points)
        return arguments_refuse(
            "pairs", "so many --states cannot be linearly independent; use more --points");
    o->blocks = (o->states + o->grain - 1) / o->grain;
    arguments_select(o->variants, o->only, VARIANTS);
    return true;
}

bool options_read(struct pairs_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"states", ARGUMENT_NUMBER, &o->states, 1, 1 << 15, "N", "states (default: 128)"},
        {"planes", ARGUMENT_NUMBER, &o->planes, 1, 1 << 15, "N", "planes (default: 16)"},
        {"points", ARGUMENT_NUMBER, &o->points, 1, 1 << 24, "N",
         "points of a state on a plane (default: 1000)"},
        {"grain", ARGUMENT_NUMBER, &o->grain, 1, 1 << 15, "N", "states per block (default: 32)"},
        {"chunks", ARGUMENT_NUMBER, &o->chunks, 1, 1 << 15, "N",
         "parts of the points of a plane (default: 1)"},
        {"paper", ARGUMENT_FLAG, &o->paper, 0, 0, NULL,
         "1024 states in two blocks, 32 planes of 200 points, as in the paper (0.8 GB)"},
        {"forward-only", ARGUMENT_FLAG, &o->forward, 0, 0, NULL,
         "compute overlaps only, without the orthonormalisation"},
        VARIANT_ARGUMENTS(o, "steps (default: 10)"),
        {0},
    };
    const struct arguments arguments = {
        "pairs",
        "The PairCalculator of OpenAtom: orthonormalises electronic states, which are stored "
        "plane\n"
        "by plane.  Pairs of blocks of states are exchanged by messages and by channels.",
        list};

    *o = (struct pairs_options){.states = 128,
                                .planes = 16,
                                .points = 1000,
                                .grain  = 32,
                                .chunks = 1,
                                .steps  = 10,
                                .repeat = 3};
    return arguments_read(&arguments, argc, argv) && options_complete(o);
}
