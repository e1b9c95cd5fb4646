/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"
#include "map.h"

#define ROWS_MAX   (1 << 20)
#define BLOCKS_MAX 1024

/* Small blocks balance the work of small matrices, large ones are multiplied faster, the more so the
 * wider the vectors are. */
static int64_t options_block(int64_t size)
{
    int64_t large = kernels_usable()[0]->vector < 64 ? 12288 : 6144;
    int64_t best  = size < 1536 ? 64 : size < large ? 128 : 256;

    return best < size ? best : size;
}

static bool options_fill_map(struct lu_options *o, const char *path, int32_t *table)
{
    char        error[160];
    const char *why;

    if (path)
        snprintf(o->map, sizeof o->map, "file");
    if (path && !map_read(path, o, skua_pes(), table, error))
        return arguments_refuse("lu", "%s", error);
    why = path ? NULL : map_fill(o, skua_pes(), table);
    return why ? arguments_refuse("lu", "%s", why) : true;
}

static bool options_complete(struct lu_options *o, const struct argument_list *grid,
                             const char *path, int32_t **table)
{
    if (!o->block)
        o->block = options_block(o->size);
    o->blocks = (o->size + o->block - 1) / o->block;
    if (o->blocks > BLOCKS_MAX)
        return arguments_refuse("lu", "more than 1024 block rows; use a larger --block");
    if (o->zero > o->size)
        return arguments_refuse("lu", "--zero-column is not a column of the matrix");
    map_choose_grid(skua_pes(), o->grid);
    for (int d = 0; d < 2 && grid->count; d++)
        o->grid[d] = grid->at[d];
    if ((grid->count && grid->count != 2) || o->grid[0] * o->grid[1] != skua_pes())
        return arguments_refuse("lu",
                                "--grid needs two numbers whose product is the number of PEs");
    if (!o->ahead)
        o->ahead = o->grid[1] <= 2 ? 1 : 3;
    if (o->grid[1] % o->stride)
        return arguments_refuse("lu", "--stride must divide the columns of --grid");
    *table = malloc((size_t)(o->blocks * (o->blocks + 1)) * sizeof **table);
    if (!*table)
        return arguments_refuse("lu", "no memory for the map");
    return options_fill_map(o, path, *table);
}

bool lu_options_read(struct lu_options *o, int32_t **table, int argc, char **argv)
{
    const char           *path   = NULL;
    struct argument_list  grid   = {.count = 0};
    const struct argument list[] = {
        {"size", ARGUMENT_NUMBER, &o->size, 1, ROWS_MAX, "N",
         "rows and columns of the matrix (default: 1024)"},
        {"block", ARGUMENT_NUMBER, &o->block, 1, 4096, "B",
         "rows and columns of a block (default: 64 to 256, by the size)"},
        {"map", ARGUMENT_WORD, o->map, 0, 0, "NAME",
         "which PE has which block: cyclic, 2-D block-cyclic; balanced, the\n"
         "same with the first blocks in reverse order; tiling, tiles of PEs\n"
         "that are rotated; snake, by decreasing work (default: balanced)"},
        {"map-file", ARGUMENT_TEXT, &path, 0, 0, "FILE",
         "the PE of each block from a file, a line for each block row"},
        {"grid", ARGUMENT_LIST, &grid, 1, 1 << 20, "P,Q",
         "rows and columns of the grid of PEs, for all maps but snake"},
        {"rotate", ARGUMENT_NUMBER, &o->rotate, 0, 1 << 20, "R",
         "tiling: rows by which the next tile to the right is rotated\n(default: 1)"},
        {"stride", ARGUMENT_NUMBER, &o->stride, 1, 1 << 20, "S",
         "tiling: adjacent PEs that a tile has side by side (default: 1)"},
        {"memory", ARGUMENT_NUMBER, &o->memory, 0, 1 << 20, "MIB",
         "memory of a PE for copies of blocks of other PEs, which bounds how\n"
         "far it looks ahead; one panel is always kept (default: blocks of\n"
         "the same host are not copied; for others, a tenth of the matrix)"},
        {"cache", ARGUMENT_NUMBER, &o->cache, 1, 1 << 20, "KIB",
         "level-2 cache for which matrix products are divided (default: as the\n"
         "system tells); no part is larger than 1/32 of the matrix of a PE"},
        {"ahead", ARGUMENT_NUMBER, &o->ahead, 1, 1 << 20, "N",
         "steps before its panel from which a column is updated first, and\n"
         "alone (default: 1 on one or two columns of PEs, otherwise 3)"},
        {"seed", ARGUMENT_NUMBER, &o->seed, 0, INT32_MAX, "N", "of the random matrix (default: 1)"},
        {"zero-column", ARGUMENT_NUMBER, &o->zero, 0, ROWS_MAX, "C",
         "make column C zero: the matrix is singular"},
        {"dgemm", ARGUMENT_FLAG, &o->dgemm, 0, 0, NULL,
         "also measure matrix products on all PEs: the limit of the rate"},
        {"times", ARGUMENT_FLAG, &o->times, 0, 0, NULL,
         "also print what the PEs spend their time on"},
        ARGUMENT_SERIES(o->series),
        {0},
    };
    const struct arguments arguments = {
        "lu",
        "Solves A x = b for a dense random matrix by LU factorization with partial pivoting.\n"
        "The residual is checked as HPL does.",
        list};

    *o = (struct lu_options){
        .size = 1024, .rotate = 1, .stride = 1, .memory = -1, .seed = 1, .map = "balanced"};
    return arguments_read(&arguments, argc, argv) && options_complete(o, &grid, path, table);
}
