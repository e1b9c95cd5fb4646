/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul3d_limit.c - the limit of matmul3d: the products, copies and sums of its tiles in shared
 * memory.  The launcher of Skua starts and binds the processes; between the barriers of a
 * measurement the program does not call the runtime.
 *
 * The grid and the slabs are those of the application (matmul3d.ci).  In a step a PE copies the
 * slabs of its tiles into the blocks of the other tiles of their groups, multiplies, and adds the
 * slabs of C that other tiles have.  It waits only for the owners of these tiles.  There are two
 * sets of blocks, used in turn: when a tile writes a set again, every tile that has read it is one
 * step further.
 *
 *   blocks   `phase` release -> `phase` acquire, of the owners of the other tiles of a group
 *
 * usage: bench-matmul3d_limit SERIES SIZE,STEPS,REPEAT,TILES-OF-A-PE
 */
#include <skua/skua.h>

#include <math.h>
#include <stdint.h>

#include "bench.h"
#include "bench_pieces.h"
#include "common/gemm.h"
#include "common/grid.h"
#include "common/numbers.h"

#define LIMIT_PES 256

enum { A, B, C, MATRICES };

/* The piece of a PE.  Two sets of the blocks of its tiles follow it. */
struct limit_piece {
    BENCH_APART _Atomic uint64_t phase; /* half steps that this PE has completed */
    BENCH_APART double           at[];
};

/* Some rows of a block. */
struct limit_slab {
    double *at;
    int64_t count; /* of numbers */
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct limit_piece *piece[LIMIT_PES];
    int                 size, per_pe, steps, repeat;
    int64_t             grid[3];
    int64_t             first[MATRICES + 1]; /* of the blocks of a tile, in numbers */
    uint64_t            phase, turn;
} limit;

/* Directions of the grid: rows and columns of a matrix are divided along them, and the tiles of a
 * group lie along the last. */
static const int rows_of[] = {0, 1, 0}, columns_of[] = {1, 2, 2}, group_of[] = {2, 0, 1};

/* ---- shapes ---------------------------------------------------------------------------- */

static void place_tile(int tile, int64_t at[3])
{
    at[0] = tile / (limit.grid[1] * limit.grid[2]);
    at[1] = tile / limit.grid[2] % limit.grid[1];
    at[2] = tile % limit.grid[2];
}

/* Returns the tile of a group whose index is @p index. */
static int tile_in_group(int tile, int matrix, int64_t index)
{
    int64_t at[3];

    place_tile(tile, at);
    at[group_of[matrix]] = index;
    return (int)((at[0] * limit.grid[1] + at[1]) * limit.grid[2] + at[2]);
}

static int64_t index_in_group(int tile, int matrix)
{
    int64_t at[3];

    place_tile(tile, at);
    return at[group_of[matrix]];
}

/* Returns the first of the rows or columns of a tile along a direction. */
static int64_t first_along(int tile, int d, int next)
{
    int64_t at[3];

    place_tile(tile, at);
    return limit.size * (at[d] + next) / limit.grid[d];
}

static int64_t extent(int tile, int d)
{
    return first_along(tile, d, 1) - first_along(tile, d, 0);
}

static double *block_of(int tile, int matrix)
{
    int64_t which = tile % limit.per_pe * 2 + (int64_t)(limit.turn % 2);

    return limit.piece[tile / limit.per_pe]->at + which * limit.first[MATRICES] +
           limit.first[matrix];
}

/* Returns the slab of a tile's block that belongs to a group index. */
static struct limit_slab slab_of(int tile, int matrix, int64_t index)
{
    int64_t rows = extent(tile, rows_of[matrix]), columns = extent(tile, columns_of[matrix]);
    int64_t parts = limit.grid[group_of[matrix]];
    int64_t first = rows * index / parts, end = rows * (index + 1) / parts;

    return (struct limit_slab){block_of(tile, matrix) + first * columns, (end - first) * columns};
}

static struct limit_slab own_slab(int tile, int matrix)
{
    return slab_of(tile, matrix, index_in_group(tile, matrix));
}

/* ---- a step ---------------------------------------------------------------------------- */

static void send_slab(int tile, int matrix)
{
    int64_t           me   = index_in_group(tile, matrix);
    struct limit_slab from = own_slab(tile, matrix);

    for (int64_t i = 1; i < limit.grid[group_of[matrix]]; i++) {
        int other = tile_in_group(tile, matrix, (me + i) % limit.grid[group_of[matrix]]);

        memcpy(slab_of(other, matrix, me).at, from.at, (size_t)from.count * sizeof(double));
    }
}

static void publish_half(void)
{
    bench_publish(&limit.piece[skua_pe()]->phase, ++limit.phase);
}

static void wait_for_group(int tile, int matrix)
{
    for (int64_t i = 0; i < limit.grid[group_of[matrix]]; i++)
        bench_wait_for(&limit.piece[tile_in_group(tile, matrix, i) / limit.per_pe]->phase,
                       limit.phase);
}

static void multiply_tile(int tile)
{
    struct gemm shape = {
        (int)extent(tile, 0), (int)extent(tile, 2), (int)extent(tile, 1), false, false, 1, 0};

    gemm_double(&shape, block_of(tile, A), block_of(tile, B), block_of(tile, C));
}

static void add_parts(int tile)
{
    int64_t           me  = index_in_group(tile, C);
    struct limit_slab own = own_slab(tile, C);

    for (int64_t i = 1; i < limit.grid[group_of[C]]; i++) {
        int other = tile_in_group(tile, C, (me + i) % limit.grid[group_of[C]]);

        add_double(own.at, slab_of(other, C, me).at, own.count);
    }
}

static void run_step(void)
{
    int first = skua_pe() * limit.per_pe, end = first + limit.per_pe;

    for (int tile = first; tile < end; tile++) {
        send_slab(tile, A);
        send_slab(tile, B);
    }
    publish_half();
    for (int tile = first; tile < end; tile++) {
        wait_for_group(tile, A);
        wait_for_group(tile, B);
        multiply_tile(tile);
    }
    publish_half();
    for (int tile = first; tile < end; tile++) {
        wait_for_group(tile, C);
        add_parts(tile);
    }
    limit.turn++;
}

/* ---- contents and check ---------------------------------------------------------------- */

/* Returns row i, column j of A or B: small integers that are products of a factor for i and one for
 * j, so that C is such a product as well. */
static double number_at(int matrix, int64_t i, int64_t j)
{
    return matrix == A ? (double)((i % 7 - 3) * (j % 5 - 2)) : (double)((i % 3) * (j % 11 - 5));
}

static double product_at(int64_t i, int64_t j)
{
    double sum = 0;

    for (int64_t k = 0; k < limit.size; k++)
        sum += (double)((k % 5 - 2) * (k % 3));
    return (double)((i % 7 - 3) * (j % 11 - 5)) * sum;
}

/* Fills the slab of a tile with its numbers. */
static void fill_slab(int tile, int matrix)
{
    struct limit_slab slab    = own_slab(tile, matrix);
    int64_t           columns = extent(tile, columns_of[matrix]);
    int64_t           row     = first_along(tile, rows_of[matrix], 0);

    row += (slab.at - block_of(tile, matrix)) / columns;
    for (int64_t i = 0; i < slab.count; i++)
        slab.at[i] = number_at(matrix, row + i / columns,
                               first_along(tile, columns_of[matrix], 0) + i % columns);
}

static void fill_all(void)
{
    for (int set = 0; set < 2; set++, limit.turn++)
        for (int tile = skua_pe() * limit.per_pe; tile < (skua_pe() + 1) * limit.per_pe; tile++) {
            fill_slab(tile, A);
            fill_slab(tile, B);
        }
}

/* Checks some numbers of the slab of C of the last step. */
static void verify_tile(int tile)
{
    struct limit_slab slab    = own_slab(tile, C);
    int64_t           columns = extent(tile, 2);
    int64_t           row     = first_along(tile, 0, 0) + (slab.at - block_of(tile, C)) / columns;

    for (int64_t i = 0; i < slab.count; i += 17)
        if (!(slab.at[i] == product_at(row + i / columns, first_along(tile, 2, 0) + i % columns)))
            skua_abort("the product is wrong in tile %d", tile);
}

/* ---- main ---------------------------------------------------------------------------- */

/* Returns the cost of a grid in the application: the slabs that tiles exchange. */
static int64_t grid_slabs(const void *size, const int64_t *grid)
{
    int64_t n = *(const int *)size, rows_a = n / grid[0], rows_b = n / grid[1];
    bool    fits = rows_a >= grid[2] && rows_b >= grid[0] && rows_a >= grid[1] && n >= grid[2];

    return fits ? grid[0] + grid[1] + grid[2] : INT64_MAX;
}

static void prepare(void)
{
    int64_t     most[3];
    skua_region region;

    if (!grid_choose(limit.grid, (int64_t)limit.per_pe * skua_pes(), grid_slabs, &limit.size))
        skua_abort("the matrices are too small for so many tiles");
    for (int d = 0; d < 3; d++)
        most[d] = limit.size / limit.grid[d] + 1;
    for (int m = 0; m < MATRICES; m++)
        limit.first[m + 1] = limit.first[m] + most[rows_of[m]] * most[columns_of[m]];
    region = bench_create_pieces(sizeof(struct limit_piece) + 2 * (size_t)limit.per_pe *
                                                                  (size_t)limit.first[MATRICES] *
                                                                  sizeof(double),
                                 LIMIT_PES);
    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
    fill_all();
}

/* Returns the seconds of all steps on the slowest PE. */
static double run_steps(int steps)
{
    double start;

    skua_sync();
    start = bench_now();
    for (int i = 0; i < steps; i++)
        run_step();
    return bench_largest(bench_now() - start);
}

static void start(int argc, char **argv)
{
    double best = INFINITY;

    if (argc < 3 ||
        sscanf(argv[2], "%d,%d,%d,%d", &limit.size, &limit.steps, &limit.repeat, &limit.per_pe) < 4)
        skua_abort("usage: bench-matmul3d_limit SERIES SIZE,STEPS,REPEAT,TILES-OF-A-PE");
    prepare();
    run_steps(2); /* touches both sets */
    for (int i = 0; i < limit.repeat; i++)
        best = fmin(best, run_steps(limit.steps));
    limit.turn--;
    for (int tile = skua_pe() * limit.per_pe; tile < (skua_pe() + 1) * limit.per_pe; tile++)
        verify_tile(tile);
    bench_end_limit("matmul3d", argv[1], (size_t)limit.size, "step", best / limit.steps);
}

int main(int argc, char **argv)
{
    gemm_prepare();
    return skua_main(argc, argv, start);
}
