/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>
#include <string.h>

#include "accuracy.h"

static bool options_set_shape(struct fmm_options *o)
{
    for (int shape = 0; shape < SHAPES; shape++)
        if (strcmp(o->shape, shape_names[shape]) == 0) {
            o->bodies.shape = (enum shape)shape;
            return true;
        }
    return arguments_refuse("fmm", "--shape must be cube, sphere or plummer");
}

static bool options_complete(struct fmm_options *o)
{
    if (!options_set_shape(o))
        return false;
    if (strcmp(o->charges, "mixed") != 0 && strcmp(o->charges, "equal") != 0)
        return arguments_refuse("fmm", "--charges must be mixed or equal");
    o->bodies.equal = strcmp(o->charges, "equal") == 0;
    if (!(o->error >= ERROR_MIN && o->error <= ERROR_MAX))
        return arguments_refuse("fmm", "--error must be from 1e-10 to 0.1");
    if (o->periodic && (o->bodies.equal || o->particles % 2))
        return arguments_refuse(
            "fmm", "--periodic needs --charges=mixed and an even number of --particles: "
                   "only a neutral box has a potential");
    if (o->periodic && o->bodies.shape != SHAPE_CUBE)
        return arguments_refuse("fmm", "--periodic needs --shape=cube");
    o->rule.order      = (int)o->order;
    o->rule.separation = (int)o->separation;
    o->rule.periodic   = o->periodic;
    o->rule.no_overlap = o->no_overlap;
    o->rule.no_help    = o->no_help;
    accuracy_choose(&o->rule, o->error);
    return true;
}

bool options_read(struct fmm_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"particles", ARGUMENT_NUMBER, &o->particles, 2, 1000000000, "N",
         "particles (default: 100000)"},
        {"error", ARGUMENT_REAL, &o->error, 0, 1, "E",
         "relative error of the energy that is allowed, 1e-10 to 0.1\n(default: 1e-4)"},
        {"shape", ARGUMENT_WORD, o->shape, 0, 0, "WORD",
         "cube, sphere (its surface) or plummer (default: cube)"},
        {"charges", ARGUMENT_WORD, o->charges, 0, 0, "WORD",
         "mixed (1 and -1) or equal (1) (default: mixed)"},
        {"periodic", ARGUMENT_FLAG, &o->periodic, 0, 0, NULL,
         "the cube and its images fill space, within a conductor"},
        ARGUMENT_REPEAT(&o->repeat, "number of solves; the fastest counts (default: 1)"),
        {"no-overlap", ARGUMENT_FLAG, &o->no_overlap, 0, 0, NULL,
         "wait for other PEs before computing pairs of particles"},
        {"no-help", ARGUMENT_FLAG, &o->no_help, 0, 0, NULL,
         "PEs that have finished do not help others of their host"},
        {"check", ARGUMENT_NUMBER, &o->check, 0, 1000000, "N",
         "particles that are compared with the sum over all pairs\n(default: 500; 0: none)"},
        {"order", ARGUMENT_NUMBER, &o->order, ORDER_MIN, ORDER_MAX, "P",
         "of expansions (default: by --error)"},
        {"separation", ARGUMENT_NUMBER, &o->separation, 1, 2, "S",
         "boxes within which particles act in pairs (default: by --error)"},
        {"leaf", ARGUMENT_NUMBER, &o->rule.leaf, 1, 1 << 20, "N",
         "particles of a leaf, at most (default: by the order)"},
        {"seed", ARGUMENT_NUMBER, &o->bodies.seed, 0, INT64_MAX, "S",
         "of the random particles (default: 1)"},
        ARGUMENT_SERIES(o->series),
        {0},
    };
    const struct arguments arguments = {
        "fmm",
        "The potential and the field of charges by the fast multipole method: an octree of boxes\n"
        "whose expansions act on each other, distributed along a space-filling curve.  What other\n"
        "PEs need is put into their memory while they compute.",
        list};

    *o = (struct fmm_options){.particles = 100000,
                              .error     = 1e-4,
                              .repeat    = 1,
                              .check     = 500,
                              .bodies    = {.seed = 1},
                              .shape     = "cube",
                              .charges   = "mixed"};
    return arguments_read(&arguments, argc, argv) && options_complete(o);
}
