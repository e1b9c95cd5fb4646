/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_collectives.c - the measurements of collectives.c with MPI.
 *
 * usage: mpi_collectives SERIES
 */
#include <mpi.h>

#include "bench_collectives.h"

static int      me;
static MPI_Comm team;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static double largest(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

static void allreduce(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    MPI_Allreduce(from, to, (int)(bytes / sizeof *from), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce(int root, size_t bytes, double *from, double *to)
{
    MPI_Reduce(from, to, (int)(bytes / sizeof *from), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void broadcast(int root, size_t bytes, double *from, double *to)
{
    (void)from;
    MPI_Bcast(to, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void scan(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    MPI_Scan(from, to, (int)(bytes / sizeof *from), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(int root, size_t bytes, double *from, double *to)
{
    MPI_Gather(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void scatter(int root, size_t bytes, double *from, double *to)
{
    MPI_Scatter(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void allgather(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    MPI_Allgather(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    MPI_Alltoall(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void exscan(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    MPI_Exscan(from, to, (int)(bytes / sizeof *from), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void minloc(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    MPI_Allreduce(from, to, (int)collectives_pairs(bytes), MPI_DOUBLE_INT, MPI_MINLOC,
                  MPI_COMM_WORLD);
}

/* The blocks of a call whose sizes are uneven, computed once for all calls of a size. */
struct uneven {
    size_t mean;
    int    bytes[COLLECTIVES_PES_MAX], offsets[COLLECTIVES_PES_MAX];
};

/* Describes blocks of which block i has the size of uneven block @p first + i. */
static void uneven_blocks(struct uneven *u, int first, size_t mean)
{
    int ranks;

    if (u->mean == mean)
        return;
    u->mean = mean;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < ranks; i++) {
        u->bytes[i]   = (int)collectives_uneven(first + i, mean);
        u->offsets[i] = i == 0 ? 0 : u->offsets[i - 1] + u->bytes[i - 1];
    }
}

static void allgatherv(int root, size_t bytes, double *from, double *to)
{
    static struct uneven all;

    (void)root;
    uneven_blocks(&all, 0, bytes);
    MPI_Allgatherv(from, all.bytes[me], MPI_BYTE, to, all.bytes, all.offsets, MPI_BYTE,
                   MPI_COMM_WORLD);
}

static void alltoallv(int root, size_t bytes, double *from, double *to)
{
    static struct uneven all;

    (void)root;
    uneven_blocks(&all, me, bytes);
    MPI_Alltoallv(from, all.bytes, all.offsets, MPI_BYTE, to, all.bytes, all.offsets, MPI_BYTE,
                  MPI_COMM_WORLD);
}

static void team_barrier(int root, size_t bytes, double *from, double *to)
{
    (void)root, (void)bytes, (void)from, (void)to;
    MPI_Barrier(team);
}

static void team_allreduce(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    MPI_Allreduce(from, to, (int)(bytes / sizeof *from), MPI_DOUBLE, MPI_SUM, team);
}

static const struct collectives_kind kinds[] = COLLECTIVES_KINDS;

static const struct collectives mpi = {NULL, barrier, largest, kinds, NULL, NULL};

int main(int argc, char **argv)
{
    int ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, collectives_color(me, ranks), -me, &team);
    collectives_all(&mpi, argc > 1 ? argv[1] : "mpi", me, ranks);
    MPI_Finalize();
    return 0;
}
