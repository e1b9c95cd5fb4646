/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#include "start.h"

#define CELLS_MAX 256
/* Atoms in a cell of 14 angstroms.  Even: the paper's Table 5.  In a droplet: a crystal without
 * pressure, and larger cells, so that computes outside the droplet have something to do. */
#define PER_CELL       150
#define PER_DROPLET    76
#define MARGIN         2
#define MARGIN_DROPLET 8
#define STEPS_MAX      1000000000

/* Returns the default number of atoms per cell. */
static int64_t options_per_cell(const struct md_box *box)
{
    double volume = box->droplet ? PER_DROPLET : PER_CELL;

    for (int d = 0; d < 3; d++)
        volume *= (CUTOFF + box->margin) / (CUTOFF + MARGIN) / box->away[d];
    return volume > 1 ? (int64_t)volume : 1;
}

static bool options_complete(struct leanmd_options *o, const int64_t size[3], const int64_t away[3],
                             int64_t seed)
{
    struct md_box *box = &o->box;

    for (int d = 0; d < 3; d++) {
        if (size[d] < 2 * away[d] + 1)
            return arguments_refuse(
                "leanmd", "a cell would be its neighbour twice; --size must be at least 2 * "
                          "--away + 1 in each direction");
        box->cells[d] = (int)size[d];
        box->away[d]  = (int)away[d];
    }
    if (o->warmup >= o->steps)
        return arguments_refuse("leanmd", "--warmup must be less than --steps");
    if (box->margin == 0)
        box->margin = box->droplet ? MARGIN_DROPLET : MARGIN;
    if (!box->per_cell)
        box->per_cell = options_per_cell(box);
    if (box->per_cell > CELL_ATOMS_MAX / 2)
        return arguments_refuse(
            "leanmd", "such large cells would have too many atoms; use a smaller --margin");
    box->seed = (uint64_t)seed;
    start_prepare(box);
    return true;
}

bool options_read(struct leanmd_options *o, int argc, char **argv)
{
    int64_t               size[3] = {4, 4, 4}, away[3] = {1, 1, 1}, seed = 1;
    const struct argument list[] = {
        {"size", ARGUMENT_SIZES, size, 3, CELLS_MAX, "X,Y,Z", "cells (default: 4,4,4)"},
        {"away", ARGUMENT_SIZES, away, 1, 2, "X,Y,Z",
         "distance of the farthest neighbours in cells, 1 or 2 (default: 1,1,1)"},
        {"margin", ARGUMENT_REAL, &o->box.margin, 1, 24, "M",
         "the edge of a cell is (12 + M) / away angstroms (default: 2;\nwith --droplet: 8)"},
        {"atoms", ARGUMENT_NUMBER, &o->box.per_cell, 1, CELL_ATOMS_MAX / 2, "N",
         "atoms per cell (default: as many per volume as 150 in a cell of\n"
         "14 angstroms; with --droplet: 76)"},
        {"droplet", ARGUMENT_FLAG, &o->box.droplet, 0, 0, NULL,
         "uneven: a droplet in a gas; --atoms are those in a cell inside"},
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
        ARGUMENT_SERIES(o->series),
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
