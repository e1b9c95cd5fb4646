/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_stencil3d.c - the computation of apps/stencil3d with MPI: one block for each rank, divided
 * along z and y.  Contiguous faces are sent without packing, others as a vector type, and receives
 * are posted early.  With several blocks for each rank, all of their faces are messages.
 *
 * As in apps/stencil3d, ghost layers are separate arrays, which is a tenth faster than rows and
 * planes around the cells; the kernel and the periodic grid of float are equal.  x needs no
 * exchange, since it is not divided.
 *
 * usage: mpirun -n N mpi_stencil3d SERIES X,Y,Z,STEPS,REPEAT[,BLOCKS-IN-Y,BLOCKS-IN-Z]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define MESSAGES_MAX 4096 /* largest number of messages of a rank in a step */

enum { SOUTH, NORTH, BELOW, ABOVE, SIDES };

struct stencil_block {
    int    at[2]; /* coordinates in the grid of blocks */
    float *u[2];
    float *ghost[SIDES]; /* n[2] rows, or n[1] rows */
};

static int rank, ranks, size[3], n[3], grid[2], blocks; /* grid: blocks along y and z */
static struct stencil_block *block;                     /* blocks of this rank */
static MPI_Request           request[MESSAGES_MAX];

static size_t row(int y, int z)
{
    return ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0];
}

/* Returns the number of a block, or of its neighbour; the blocks of a rank are consecutive. */
static int number(const struct stencil_block *b, int y, int z)
{
    return (b->at[1] + z + grid[1]) % grid[1] * grid[0] + (b->at[0] + y + grid[0]) % grid[0];
}

/* Returns the tag of a face beyond @p side; the neighbour receives it on the opposite side. */
static void exchange_side(const struct stencil_block *b, const float *from, int side,
                          MPI_Datatype rows, MPI_Request two[2])
{
    int step = side & 1 ? 1 : -1, y = side <= NORTH ? step : 0, z = side <= NORTH ? 0 : step;
    int there = number(b, y, z), here = number(b, 0, 0), cells = n[0] * n[side <= NORTH ? 2 : 1];

    MPI_Irecv(b->ghost[side], cells, MPI_FLOAT, there / blocks, here % blocks * SIDES + side,
              MPI_COMM_WORLD, &two[0]);
    MPI_Isend(from, side <= NORTH ? 1 : cells, side <= NORTH ? rows : MPI_FLOAT, there / blocks,
              there % blocks * SIDES + (side ^ 1), MPI_COMM_WORLD, &two[1]);
}

/* Exchanges the faces of a step: four, or two where y is not divided. */
static void exchange(int set, MPI_Datatype rows)
{
    static MPI_Status status[MESSAGES_MAX];
    int               count = 0;

    for (struct stencil_block *b = block; b < block + blocks; b++) {
        const float *v            = b->u[set];
        const float *inner[SIDES] = {v, v + row(n[1] - 1, 0), v, v + row(0, n[2] - 1)};

        for (int side = grid[0] > 1 ? SOUTH : BELOW; side < SIDES; side++, count += 2)
            exchange_side(b, inner[side], side, rows, request + count);
    }
    MPI_Waitall(count, request, status);
}

static void sweep_row(float *restrict to, const float *restrict c, const float *restrict y,
                      const float *restrict s, const float *restrict a, const float *restrict d)
{
    const float seventh = 1.0f / 7;
    int         last    = n[0] - 1;

    for (int i = 1; i < last; i++)
        to[i] = (c[i] + c[i - 1] + c[i + 1] + y[i] + s[i] + a[i] + d[i]) * seventh;
    to[0]    = (c[0] + c[last] + c[1] + y[0] + s[0] + a[0] + d[0]) * seventh;
    to[last] = (c[last] + c[last - 1] + c[0] + y[last] + s[last] + a[last] + d[last]) * seventh;
}

/* Returns the row beyond a plane: a received row, or the block's own row at the opposite end. */
static const float *beyond(const struct stencil_block *b, const float *from, int side, int k)
{
    if (grid[0] > 1)
        return b->ghost[side] + row(k, 0);
    return from + row(side == SOUTH ? n[1] - 1 : 0, k);
}

static void sweep(const struct stencil_block *b, float *to, const float *from)
{
    size_t north = row(1, 0), up = row(0, 1);

    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++) {
            const float *c = from + row(j, k);

            sweep_row(to + row(j, k), c, j + 1 < n[1] ? c + north : beyond(b, from, NORTH, k),
                      j > 0 ? c - north : beyond(b, from, SOUTH, k),
                      k + 1 < n[2] ? c + up : b->ghost[ABOVE] + row(j, 0),
                      k > 0 ? c - up : b->ghost[BELOW] + row(j, 0));
        }
}

static double value(int steps, int x, int y, int z)
{
    int    i[3] = {x, y, z};
    double sum  = 0;

    for (int d = 0; d < 3; d++)
        sum += (1 + pow((5 + 2 * cos(2 * M_PI / size[d])) / 7, steps) *
                        cos(2 * M_PI * i[d] / size[d])) /
               3;
    return sum;
}

static void fill(const struct stencil_block *b)
{
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                b->u[0][row(j, k) + (size_t)i] =
                    (float)value(0, i, b->at[0] * n[1] + j, b->at[1] * n[2] + k);
}

static double error_of(const struct stencil_block *b, int steps)
{
    const float *v    = b->u[steps % 2];
    double       most = 0;

    for (int k = 0; k < n[2]; k += 7)
        for (int j = 0; j < n[1]; j += 5)
            for (int i = 0; i < n[0]; i += 3)
                most = fmax(most, fabs(v[row(j, k) + (size_t)i] -
                                       value(steps, i, b->at[0] * n[1] + j, b->at[1] * n[2] + k)));
    return most;
}

static double largest_error(int steps)
{
    double most = 0;

    for (int i = 0; i < blocks; i++)
        most = fmax(most, error_of(&block[i], steps));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static double measure(int steps)
{
    MPI_Datatype rows;
    double       start;

    MPI_Type_vector(n[2], n[0], n[0] * n[1], MPI_FLOAT, &rows);
    MPI_Type_commit(&rows);
    for (int i = 0; i < blocks; i++)
        fill(&block[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        exchange(step % 2, rows);
        for (int i = 0; i < blocks; i++)
            sweep(&block[i], block[i].u[(step + 1) % 2], block[i].u[step % 2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime() - start;
    MPI_Type_free(&rows);
    return start;
}

/* Divides y and z into one block for each rank, as square as possible. */
static void deal(void)
{
    for (int y = 1; y * y <= ranks; y++)
        if (ranks % y == 0 && size[1] % y == 0 && size[2] % (ranks / y) == 0)
            grid[0] = y;
    grid[1] = ranks / grid[0];
}

static void make_block(struct stencil_block *b, int i)
{
    b->at[0] = i % grid[0];
    b->at[1] = i / grid[0];
    for (int set = 0; set < 2; set++)
        b->u[set] = calloc(row(0, n[2]), sizeof *b->u[set]);
    for (int side = 0; side < SIDES; side++)
        b->ghost[side] = calloc(row(side < BELOW ? n[2] : n[1], 0), sizeof *b->ghost[side]);
}

static void make_blocks(void)
{
    if (!grid[1])
        deal();
    n[0]   = size[0];
    n[1]   = size[1] / grid[0];
    n[2]   = size[2] / grid[1];
    blocks = grid[0] * grid[1] / ranks;
    if (n[1] * grid[0] != size[1] || n[2] * grid[1] != size[2] || grid[0] * grid[1] % ranks ||
        2 * SIDES * blocks > MESSAGES_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    block = calloc((size_t)blocks, sizeof *block);
    for (int i = 0; i < blocks; i++)
        make_block(&block[i], rank * blocks + i);
}

int main(int argc, char **argv)
{
    double best = 1e9, error = 0;
    int    steps, repeat;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || sscanf(argv[2], "%d,%d,%d,%d,%d,%d,%d", &size[0], &size[1], &size[2], &steps,
                            &repeat, &grid[0], &grid[1]) < 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    make_blocks();
    for (int i = 0; i < repeat; i++) {
        double seconds = measure(steps);

        best  = seconds < best ? seconds : best;
        error = fmax(error, largest_error(steps));
    }
    if (rank == 0)
        printf("{\"bench\":\"stencil3d\",\"series\":\"%s\",\"bytes\":%d,\"metric\":\"step-%dpe\","
               "\"value\":%.6g}\n",
               argv[1], blocks, ranks, best / steps);
    MPI_Finalize();
    return error < 1e-4 ? 0 : 1;
}
