/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#define PIECES_MAX (1 << 24)
#define EPS_MIN    1e-4 /* limit that keeps fixed-point energies (body.h) from overflowing */

static bool options_complete(const struct barneshut_options *o)
{
    if (!(o->eps >= EPS_MIN))
        return arguments_refuse("barneshut", "--eps must be at least 0.0001");
    if (o->per_piece < o->leaf)
        return arguments_refuse("barneshut", "--per-piece must not be less than --leaf");
    if (2 * o->particles / o->per_piece > PIECES_MAX)
        return arguments_refuse("barneshut",
                                "--per-piece is too small: there would be more than 2^24 pieces");
    return true;
}

bool options_read(struct barneshut_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"particles", ARGUMENT_NUMBER, &o->particles, 2, 1000000000, "N",
         "particles, in two Plummer spheres (default: 10000)"},
        {"steps", ARGUMENT_NUMBER, &o->steps, 0, 1000000000, "N", "steps (default: 10)"},
        {"theta", ARGUMENT_REAL, &o->theta, 0, 1, "T",
         "opening angle; 0: direct summation (default: 0.5)"},
        {"eps", ARGUMENT_REAL, &o->eps, 0, 1000, "E", "softening length (default: 0.05)"},
        {"dt", ARGUMENT_REAL, &o->dt, 0, 1000, "T", "time of a step (default: 0.001)"},
        {"leaf", ARGUMENT_NUMBER, &o->leaf, 1, 1 << 20, "N",
         "particles in a leaf of the tree, at most (default: 8)"},
        {"per-piece", ARGUMENT_NUMBER, &o->per_piece, 1, 1 << 24, "N",
         "particles in the part of the tree that a piece has, at most\n(default: 500)"},
        {"balance", ARGUMENT_NUMBER, &o->balance, 0, 1000000000, "N",
         "balance the load after the first step, then every N steps; 0: never\n"
         "(default: 10)"},
        {"seed", ARGUMENT_NUMBER, &o->seed, 0, INT64_MAX, "S",
         "of the random initial conditions (default: 123)"},
        {"no-check", ARGUMENT_FLAG, &o->no_check, 0, 0, NULL,
         "do not compare forces with direct summation"},
        ARGUMENT_SERIES(o->series),
        {0},
    };
    const struct arguments arguments = {
        "barneshut",
        "Gravity by the method of Barnes and Hut: a tree of particles, distributed over all PEs,\n"
        "in which distant groups of particles attract others as one mass.",
        list};

    *o = (struct barneshut_options){.particles = 10000,
                                    .steps     = 10,
                                    .leaf      = 8,
                                    .per_piece = 500,
                                    .balance   = 10,
                                    .seed      = 123,
                                    .theta     = 0.5,
                                    .eps       = 0.05,
                                    .dt        = 0.001};
    return arguments_read(&arguments, argc, argv) && options_complete(o);
}
