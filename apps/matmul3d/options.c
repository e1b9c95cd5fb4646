/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#include "common/grid.h"

/* Returns whether every slab of A, B and C has at least one row. */
static bool fits(const struct matmul3d_options *o, const int64_t *grid)
{
    int64_t rows_a = o->size / grid[0], rows_b = o->size / grid[1];

    return rows_a >= grid[2] && rows_b >= grid[0] && rows_a >= grid[1] && o->size >= grid[2];
}

/* Returns the number of slabs that tiles exchange: A goes to grid[2] tiles, B to grid[0], C to
 * grid[1]. */
static int64_t grid_slabs(const void *options, const int64_t *grid)
{
    return fits(options, grid) ? grid[0] + grid[1] + grid[2] : INT64_MAX;
}

static bool options_complete(struct matmul3d_options *o)
{
    if (o->paper)
        o->size = 2048;
    if (o->grid[0] && !fits(o, o->grid))
        return arguments_refuse("matmul3d",
                                "some tiles of --grid would have no row; use a larger --size");
    if (!o->grid[0] && !grid_choose(o->grid, o->per_pe * skua_pes(), grid_slabs, o))
        return arguments_refuse(
            "matmul3d",
            "--size is too small for this number of tiles; use --grid or a smaller --per-pe");
    arguments_select(o->variants, o->only, VARIANTS);
    return true;
}

bool options_read(struct matmul3d_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"size", ARGUMENT_NUMBER, &o->size, 1, 1 << 16, "N",
         "rows and columns of each matrix (default: 768)"},
        {"paper", ARGUMENT_FLAG, &o->paper, 0, 0, NULL, "2048 rows and columns, as in the paper"},
        {"per-pe", ARGUMENT_NUMBER, &o->per_pe, 1, 4096, "K", "tiles per PE (default: 4)"},
        {"grid", ARGUMENT_SIZES, o->grid, 1, 4096, "X,Y,Z", "tiles in each direction"},
        {"float", ARGUMENT_FLAG, &o->single, 0, 0, NULL, "use single precision"},
        VARIANT_ARGUMENTS(o, "products (default: 20)"),
        {0},
    };
    const struct arguments arguments = {
        "matmul3d",
        "The product of two square matrices on a grid of X x Y x Z tiles, which exchange slabs of\n"
        "the matrices by messages and by channels.",
        list};

    *o = (struct matmul3d_options){.size = 768, .per_pe = 4, .steps = 20, .repeat = 3};
    return arguments_read(&arguments, argc, argv) && options_complete(o);
}
