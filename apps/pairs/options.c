/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

static bool refuse(const char *why)
{
    fprintf(stderr, "pairs: %s\n", why);
    skua_exit(2);
    return false;
}

static bool complete(struct options *o)
{
    bool one = o->only[MESSAGES] || o->only[CHANNELS];

    if (o->grain > o->states)
        return refuse("--grain is more than all --states");
    if (o->chunks > o->points)
        return refuse("--chunks must not be more than --points");
    if (!o->forward && o->states > 2 * o->planes * o->points)
        return refuse("so many --states cannot be independent; try more --points");
    o->blocks = (o->states + o->grain - 1) / o->grain;
    for (int way = 0; way < WAYS; way++)
        o->ways[way] = !one || o->only[way];
    return true;
}

bool options_read(struct options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"states", ARGUMENT_NUMBER, &o->states, 1, 1 << 15, "N", "states (default: 128)"},
        {"planes", ARGUMENT_NUMBER, &o->planes, 1, 1 << 15, "N", "planes (default: 16)"},
        {"points", ARGUMENT_NUMBER, &o->points, 1, 1 << 24, "N",
         "points of a state on a plane (default: 1000)"},
        {"grain", ARGUMENT_NUMBER, &o->grain, 1, 1 << 15, "N", "states of a block (default: 32)"},
        {"chunks", ARGUMENT_NUMBER, &o->chunks, 1, 1 << 15, "N",
         "parts of the points of a plane (default: 1)"},
        {"forward-only", ARGUMENT_FLAG, &o->forward, 0, 0, NULL,
         "states meet, and are not made orthonormal"},
        WAYS_ARGUMENTS(o, "steps (default: 10)"),
        {0},
    };
    const struct arguments arguments = {
        "pairs",
        "The PairCalculator of OpenAtom: electronic states, kept plane by plane, are made\n"
        "orthonormal; blocks of them meet in pairs, and travel in messages, and through channels.",
        list};

    *o = (struct options){.states = 128,
                          .planes = 16,
                          .points = 1000,
                          .grain  = 32,
                          .chunks = 1,
                          .steps  = 10,
                          .repeat = 3};
    return arguments_read(&arguments, argc, argv) && complete(o);
}
