/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#include "common/grid.h"

#define SCATTERED 16 /* relative cost of a cell that is alone in its cache line */

/* Returns the cost of the faces of a block, in cells.  Cells of a face in x are scattered; these
 * faces exist only if rows are divided. */
static int64_t surface(const int64_t *size, const int64_t *blocks)
{
    int64_t x = size[0] / blocks[0], y = size[1] / blocks[1], z = size[2] / blocks[2];

    return x * y + (blocks[0] > 1 ? SCATTERED * y * z : 0) + z * x;
}

static bool only_lent(const struct stencil3d_options *o)
{
    return o->only[LENT] && !o->only[MESSAGES] && !o->only[CHANNELS];
}

/* Returns the cost of a division, which must be even.  Without copies, divisions that leave planes
 * whole cost nothing. */
static int64_t division_cost(const void *options, const int64_t *blocks)
{
    const struct stencil3d_options *o = options;

    if (o->size[0] % blocks[0] || o->size[1] % blocks[1] || o->size[2] % blocks[2])
        return INT64_MAX;
    return only_lent(o) && blocks[0] == 1 ? blocks[1] : blocks[1] + surface(o->size, blocks);
}

static bool options_complete(struct stencil3d_options *o)
{
    int64_t paper[3] = {1024, 1024, 512};

    for (int d = 0; d < 3; d++) {
        o->size[d] = o->paper ? paper[d] : o->size[d];
        if (o->blocks[d] && o->size[d] % o->blocks[d])
            return arguments_refuse("stencil3d", "--blocks must divide --size");
    }
    if (!o->blocks[0] && !grid_choose(o->blocks, o->per_pe * skua_pes(), division_cost, o))
        return arguments_refuse(
            "stencil3d",
            "this number of blocks does not divide --size; use --blocks or another --per-pe");
    arguments_select(o->variants, o->only, VARIANTS);
    o->pause = o->pause ? o->pause : o->steps;
    return true;
}

bool options_read(struct stencil3d_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"size", ARGUMENT_SIZES, o->size, 1, 1 << 16, "X,Y,Z", "cells (default: 128,128,128)"},
        {"paper", ARGUMENT_FLAG, &o->paper, 0, 0, NULL, "1024 x 1024 x 512 cells, as in the paper"},
        {"per-pe", ARGUMENT_NUMBER, &o->per_pe, 1, 4096, "K", "blocks per PE (default: 8)"},
        {"blocks", ARGUMENT_SIZES, o->blocks, 1, 4096, "X,Y,Z", "blocks in each direction"},
        VARIANT_ARGUMENTS(o, "steps (default: 100)"),
        {"pause", ARGUMENT_NUMBER, &o->pause, 1, 1000000000, "K",
         "wait after every K steps, for a checkpoint if one is due"},
        {"stale", ARGUMENT_NUMBER, &o->stale, 0, 1000000000, "STEP",
         "use an outdated face in this step, to test the check"},
        {"lent", ARGUMENT_FLAG, &o->only[LENT], 0, 0, NULL, "measure zero-copy channels only"},
        {0},
    };
    const struct arguments arguments = {
        "stencil3d",
        "A seven-point Jacobi stencil on a periodic grid of float, divided into blocks that\n"
        "exchange their faces by messages, by channels, and by zero-copy channels (lent).",
        list};

    *o =
        (struct stencil3d_options){.size = {128, 128, 128}, .per_pe = 8, .steps = 100, .repeat = 3};
    return arguments_read(&arguments, argc, argv) && options_complete(o);
}
