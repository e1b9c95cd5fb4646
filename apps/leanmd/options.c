/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#define CELLS_MAX   256
#define PER_CELL    150 /* atoms in a cell whose edges are cutoff + margin: the paper's Table 5 */
#define PER_DROPLET 76  /* in a droplet, a crystal without pressure                             */
#define STEPS_MAX   1000000000

static bool options_error(const char *why)
{
    fprintf(stderr, "leanmd: %s\n", why);
    skua_exit(2);
    return false;
}

static bool options_complete(struct leanmd_options *o, const int64_t size[3], const int64_t away[3],
                             int64_t seed)
{
    struct md_box *box = &o->box;
    int64_t        per = box->droplet ? PER_DROPLET : PER_CELL;

    for (int d = 0; d < 3; d++) {
        if (size[d] < 2 * away[d] + 1)
            return options_error("a cell would be its neighbour twice; --size must be at least 2 * "
                                 "--away + 1 in each direction");
        box->cells[d] = (int)size[d];
        box->away[d]  = (int)away[d];
    }
    if (o->warmup >= o->steps)
        return options_error("--warmup must be less than --steps");
    if (!box->per_cell) {
        int64_t parts = away[0] * away[1] * away[2];

        box->per_cell = (per + parts - 1) / parts;
    }
    box->seed = (uint64_t)seed;
    box_prepare(box);
    return true;
}

bool options_read(struct leanmd_options *o, int argc, char **argv)
{
    int64_t               size[3] = {4, 4, 4}, away[3] = {1, 1, 1}, seed = 1;
    const struct argument list[] = {
        {"size", ARGUMENT_SIZES, size, 3, CELLS_MAX, "X,Y,Z", "cells (default: 4,4,4)"},
        {"away", ARGUMENT_SIZES, away, 1, 2, "X,Y,Z",
         "neighbours are so many cells away: 1 or 2, with cells of 14\n"
         "or 7 angstroms (default: 1,1,1)"},
        {"atoms", ARGUMENT_NUMBER, &o->box.per_cell, 1, CELL_ATOMS_MAX / 4, "N",
         "atoms per cell (default: 150, or 76 in a droplet; fewer with\n--away=2)"},
        {"droplet", ARGUMENT_FLAG, &o->box.droplet, 0, 0, NULL,
         "uneven: a dense droplet in a thin gas; --atoms are those in\na cell inside it"},
        {"steps", ARGUMENT_NUMBER, &o->steps, 1, STEPS_MAX, "N", "steps of 1 fs (default: 100)"},
        {"migrate", ARGUMENT_NUMBER, &o->migrate, 1, STEPS_MAX, "N",
         "atoms change cells, and energies are summed, every N steps\n(default: 20)"},
        {"balance", ARGUMENT_NUMBER, &o->balance, 0, STEPS_MAX, "N",
         "cells and computes may move every N steps, 0: never (default:\n"
         "20); SKUA_BALANCE chooses the strategy"},
        {"warmup", ARGUMENT_NUMBER, &o->warmup, 0, STEPS_MAX, "N",
         "steps before the clock starts (default: 0)"},
        {"seed", ARGUMENT_NUMBER, &seed, 0, INT32_MAX, "N",
         "of displacements and velocities at the start (default: 1)"},
        {"series", ARGUMENT_WORD, o->series, 0, 0, "NAME", "also print results as lines of JSON"},
        {0},
    };
    const struct arguments arguments = {
        "leanmd",
        "Molecular dynamics of atoms with a Lennard-Jones potential that is cut off at 12\n"
        "angstroms.  Cells hold atoms; computes, one for each pair of neighbouring cells,\n"
        "compute forces.  The energy, the momentum and the number of atoms are checked.",
        list};

    *o = (struct leanmd_options){.steps = 100, .migrate = 20, .balance = 20};
    return arguments_read(&arguments, argc, argv) && options_complete(o, size, away, seed);
}
