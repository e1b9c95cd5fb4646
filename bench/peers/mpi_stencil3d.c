/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_stencil3d.c - what apps/stencil3d computes, as one writes it with MPI: one block for each
 * rank, cut along z and y; faces are exchanged without packing where they are contiguous, rows
 * of others as a vector type; receives are posted before.
 *
 * As there, ghost layers are arrays beside the cells: that is a tenth faster than rows and planes
 * around them.
 *
 * The same kernel, the same periodic grid of float; x needs no exchange, as no rank cuts it.
 *
 * usage: mpirun -n N mpi_stencil3d SERIES X,Y,Z,STEPS,REPEAT
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int    rank, ranks, size[3], n[3], grid[2], at[2]; /* grid: ranks along y and z */
static float *u[2];

enum { SOUTH, NORTH, BELOW, ABOVE, SIDES };

static float *ghost[SIDES]; /* n[2] rows, or n[1] */

static size_t row(int y, int z)
{
    return ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0];
}

static int neighbour(int y, int z)
{
    return (at[1] + z + grid[1]) % grid[1] * grid[0] + (at[0] + y + grid[0]) % grid[0];
}

static void exchange_planes(const float *v, MPI_Request request[4])
{
    int plane = n[0] * n[1];

    MPI_Irecv(ghost[BELOW], plane, MPI_FLOAT, neighbour(0, -1), 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(ghost[ABOVE], plane, MPI_FLOAT, neighbour(0, 1), 1, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(v + row(0, n[2] - 1), plane, MPI_FLOAT, neighbour(0, 1), 0, MPI_COMM_WORLD,
              &request[2]);
    MPI_Isend(v, plane, MPI_FLOAT, neighbour(0, -1), 1, MPI_COMM_WORLD, &request[3]);
}

static void exchange_rows(const float *v, MPI_Datatype rows, MPI_Request request[4])
{
    int side = n[0] * n[2];

    MPI_Irecv(ghost[SOUTH], side, MPI_FLOAT, neighbour(-1, 0), 2, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(ghost[NORTH], side, MPI_FLOAT, neighbour(1, 0), 3, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(v + row(n[1] - 1, 0), 1, rows, neighbour(1, 0), 2, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(v, 1, rows, neighbour(-1, 0), 3, MPI_COMM_WORLD, &request[3]);
}

/* The faces of a step: all four, or two where planes are whole. */
static void exchange(const float *v, MPI_Datatype rows)
{
    MPI_Request request[8];
    MPI_Status  status[8];

    exchange_planes(v, request);
    if (grid[0] > 1)
        exchange_rows(v, rows, request + 4);
    MPI_Waitall(grid[0] > 1 ? 8 : 4, request, status);
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

/* The rows beyond a plane: those that came, or its own at the other end. */
static const float *beyond(const float *from, int side, int k)
{
    if (grid[0] > 1)
        return ghost[side] + row(k, 0);
    return from + row(side == SOUTH ? n[1] - 1 : 0, k);
}

static void sweep(float *to, const float *from)
{
    size_t north = row(1, 0), up = row(0, 1);

    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++) {
            const float *c = from + row(j, k);

            sweep_row(to + row(j, k), c, j + 1 < n[1] ? c + north : beyond(from, NORTH, k),
                      j > 0 ? c - north : beyond(from, SOUTH, k),
                      k + 1 < n[2] ? c + up : ghost[ABOVE] + row(j, 0),
                      k > 0 ? c - up : ghost[BELOW] + row(j, 0));
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

static void fill(float *v)
{
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                v[row(j, k) + (size_t)i] = (float)value(0, i, at[0] * n[1] + j, at[1] * n[2] + k);
}

static double error_of(const float *v, int steps)
{
    double most = 0;

    for (int k = 0; k < n[2]; k += 7)
        for (int j = 0; j < n[1]; j += 5)
            for (int i = 0; i < n[0]; i += 3)
                most = fmax(most, fabs(v[row(j, k) + (size_t)i] -
                                       value(steps, i, at[0] * n[1] + j, at[1] * n[2] + k)));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static double measure(int steps)
{
    MPI_Datatype rows;
    double       start;

    MPI_Type_vector(n[2], n[0], n[0] * n[1], MPI_FLOAT, &rows);
    MPI_Type_commit(&rows);
    fill(u[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        exchange(u[step % 2], rows);
        sweep(u[(step + 1) % 2], u[step % 2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime() - start;
    MPI_Type_free(&rows);
    return start;
}

/* Ranks along y and z, as square as can be. */
static void deal(void)
{
    for (int y = 1; y * y <= ranks; y++)
        if (ranks % y == 0 && size[1] % y == 0 && size[2] % (ranks / y) == 0)
            grid[0] = y;
    grid[1] = ranks / grid[0];
    at[0]   = rank % grid[0];
    at[1]   = rank / grid[0];
    n[0]    = size[0];
    n[1]    = size[1] / grid[0];
    n[2]    = size[2] / grid[1];
}

int main(int argc, char **argv)
{
    double best = 1e9, error = 0;
    int    steps, repeat;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 ||
        sscanf(argv[2], "%d,%d,%d,%d,%d", &size[0], &size[1], &size[2], &steps, &repeat) != 5)
        MPI_Abort(MPI_COMM_WORLD, 2);
    deal();
    for (int i = 0; i < 2; i++)
        u[i] = calloc(row(0, n[2]), sizeof *u[i]);
    for (int i = 0; i < SIDES; i++)
        ghost[i] = calloc(row(i < BELOW ? n[2] : n[1], 0), sizeof *ghost[i]);
    for (int i = 0; i < repeat; i++) {
        double seconds = measure(steps);

        best  = seconds < best ? seconds : best;
        error = fmax(error, error_of(u[steps % 2], steps));
    }
    if (rank == 0)
        printf("{\"bench\":\"stencil3d\",\"series\":\"%s\",\"bytes\":1,\"metric\":\"step-%dpe\","
               "\"value\":%.6g}\n",
               argv[1], ranks, best / steps);
    MPI_Finalize();
    return error < 1e-4 ? 0 : 1;
}
