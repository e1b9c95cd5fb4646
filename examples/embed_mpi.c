/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_mpi.c - an MPI program with a phase of Skua in every step: MPI distributes the work,
 * messages of Skua do it, and MPI collects the result.
 *
 * usage: mpirun -n 4 embed_mpi [mpi-last]    mpi-last: MPI is initialised after the first phase
 */
#include <mpi.h>
#include <skua/skua.h>
#include <stdio.h>
#include <string.h>

#define STEPS 3

static skua_handler collatz_handler;
static long         longest; /* the longest chain that this PE has found */

/* A number and the length of its chain so far. The chain moves to another PE in every step. */
struct chain {
    long number, length;
};

static void on_chain(skua_msg *msg)
{
    struct chain *chain = skua_msg_data(msg);

    chain->number = chain->number % 2 ? 3 * chain->number + 1 : chain->number / 2;
    if (++chain->length > longest)
        longest = chain->length;
    if (chain->number > 1)
        skua_send((int)(chain->number % skua_pes()), collatz_handler, msg);
    else
        skua_msg_free(msg);
}

/* Follows the chains of some numbers.  Returns the largest length of a chain that passed this PE.
 */
static long find_longest(long first, long count)
{
    longest = 0;
    if (skua_init(NULL) != SKUA_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (long i = first; i < first + count; i++) {
        struct chain chain = {i, 0};

        skua_send_copy((int)(i % skua_pes()), collatz_handler, &chain, sizeof chain);
    }
    skua_finalize(); /* returns when all chains of all processes have ended */
    return longest;
}

int main(int argc, char **argv)
{
    int  late = argc > 1 && strcmp(argv[1], "mpi-last") == 0, level, rank = 0, size;
    long found, most;

    collatz_handler = skua_handler_register("collatz", on_chain);
    if (late)
        find_longest(2, 1);
    MPI_Initialized(&level); /* true if Skua has initialised MPI */
    if (!level)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < STEPS; step++) {
        long first = 2 + step * 100;

        MPI_Bcast(&first, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        found = find_longest(first + rank * (100 / size), 100 / size);
        MPI_Reduce(&found, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("step %d: a chain of %ld\n", step, most);
    }
    MPI_Finalize();
    return 0;
}
