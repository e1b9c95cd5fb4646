/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_collectives.c - the measurements of collectives.c with MPI.
 *
 * usage: mpi_collectives SERIES
 */
#include <mpi.h>

#include "bench_collectives.h"

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

static const struct collectives_kind kinds[] = COLLECTIVES_KINDS;

static const struct collectives mpi = {NULL, barrier, largest, kinds, NULL, NULL};

int main(int argc, char **argv)
{
    int me, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    collectives_all(&mpi, argc > 1 ? argv[1] : "mpi", me, ranks);
    MPI_Finalize();
    return 0;
}
