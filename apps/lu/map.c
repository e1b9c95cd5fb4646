/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - see map.h. */
#include "map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAP_MANY 16

typedef int64_t (*map_fn)(const struct lu_options *o, int pes, int64_t i, int64_t j);

static int64_t map_cyclic(const struct lu_options *o, int pes, int64_t i, int64_t j)
{
    (void)pes;
    return i % o->grid[0] * o->grid[1] + j % o->grid[1];
}

static int64_t map_tiling(const struct lu_options *o, int pes, int64_t i, int64_t j)
{
    int64_t row    = (i + j / o->grid[1] * o->rotate) % o->grid[0];
    int64_t column = j % o->grid[1], part = o->grid[1] / o->stride;

    (void)pes;
    return row * o->stride + column % part * o->grid[0] * o->stride + column / part;
}

/* Returns the row or column of the grid of a block row or column.  The work grows with the index,
 * so that the last of @p count would always have the most.  It grows fastest at the beginning: the
 * first 1 - sqrt(1/2) of the rounds in reverse order make up for the others.  The first round may
 * be incomplete; the last one, which has the most work, never is. */
static int64_t map_turn(int64_t index, int64_t count, int64_t blocks)
{
    int64_t rounds = (blocks + count - 1) / count, reversed = (rounds * 293 + 500) / 1000;
    int64_t turn = index + rounds * count - blocks;

    return turn / count < reversed ? count - 1 - turn % count : turn % count;
}

/* 2-D block-cyclic, with the first blocks in reverse order. */
static int64_t map_balanced(const struct lu_options *o, int pes, int64_t i, int64_t j)
{
    (void)pes;
    return map_turn(i, o->grid[0], o->blocks) * o->grid[1] + map_turn(j, o->grid[1], o->blocks);
}

/* Returns the position of a block in descending order of its number of updates, min(i, j). */
static int64_t map_snake(const struct lu_options *o, int pes, int64_t i, int64_t j)
{
    int64_t n = o->blocks, least = i < j ? i : j, before = 0, turn;

    for (int64_t d = n - 1; d > least; d--)
        /* Block (d, d), the blocks below it and, including the right-hand side, to its right. */
        before += 2 * (n - d);
    before += i > j ? i - j : i < j ? n - least - 1 + j - i : 0;
    turn = before % (2 * pes);
    return turn < pes ? turn : 2 * pes - 1 - turn;
}

static const struct {
    const char *name;
    map_fn      fn;
} map_known[] = {{"balanced", map_balanced},
                 {"cyclic", map_cyclic},
                 {"tiling", map_tiling},
                 {"snake", map_snake}};

const char *map_fill(const struct lu_options *o, int pes, int32_t *table)
{
    for (size_t m = 0; m < sizeof map_known / sizeof *map_known; m++) {
        if (strcmp(map_known[m].name, o->map))
            continue;
        for (int64_t i = 0; i < o->blocks; i++)
            for (int64_t j = 0; j <= o->blocks; j++)
                table[i * (o->blocks + 1) + j] = (int32_t)map_known[m].fn(o, pes, i, j);
        return NULL;
    }
    return "--map: not one of balanced, cyclic, tiling, snake";
}

static bool map_read_rows(FILE *file, const struct lu_options *o, int pes, int32_t *table,
                          char error[160])
{
    for (int64_t i = 0; i < o->blocks; i++)
        for (int64_t j = 0; j < o->blocks; j++) {
            int64_t pe = -1;

            if (fscanf(file, "%" SCNd64, &pe) != 1 || pe < 0 || pe >= pes) {
                snprintf(error, 160,
                         "--map-file: line %" PRId64 ", number %" PRId64
                         " must be a PE from 0 to %d; the file needs %" PRId64 " lines of %" PRId64
                         " numbers",
                         i + 1, j + 1, pes - 1, o->blocks, o->blocks);
                return false;
            }
            table[i * (o->blocks + 1) + j] = (int32_t)pe;
        }
    return true;
}

bool map_read(const char *path, const struct lu_options *o, int pes, int32_t *table,
              char error[160])
{
    FILE *file = fopen(path, "r");
    bool  good;

    if (!file) {
        snprintf(error, 160, "--map-file: cannot open %.80s", path);
        return false;
    }
    good = map_read_rows(file, o, pes, table, error);
    fclose(file);
    /* The right-hand side is on the PE of the last block. */
    for (int64_t i = 0; good && i < o->blocks; i++)
        table[i * (o->blocks + 1) + o->blocks] = table[i * (o->blocks + 1) + o->blocks - 1];
    return good;
}

void map_choose_grid(int pes, int64_t grid[2])
{
    int64_t shape = pes < MAP_MANY ? 4 : 1; /* columns for each row, at least */

    grid[0] = 1;
    for (int64_t rows = 1; rows * rows * shape <= pes; rows++)
        if (pes % rows == 0)
            grid[0] = rows;
    grid[1] = pes / grid[0];
}
