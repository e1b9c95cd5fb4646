/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_collectives.c - the measurements of collectives.c with MPI.
 *
 * usage: mpi_collectives SERIES
 */
#include <mpi.h>

#include "bench_collectives.h"

static double result[COLLECTIVES_MAX_BYTES / sizeof(double)];

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(const double *data, size_t count)
{
    MPI_Allreduce(data, result, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce(int root, const double *data, size_t count)
{
    MPI_Reduce(data, result, (int)count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void broadcast(int root, size_t bytes)
{
    MPI_Bcast(result, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static const struct collectives mpi = {NULL, barrier, allreduce, reduce, broadcast};

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
