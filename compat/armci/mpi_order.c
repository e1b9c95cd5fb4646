/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_order.c - programs that call ARMCI_Init() before MPI_Init().
 *
 * ARMCI needs MPI, so ARMCI_Init() initialises it if the program has not. A program may call
 * MPI_Init() afterwards: the library defines MPI_Init() and MPI_Init_thread(), in C and in Fortran,
 * and the first such call after its own initialisation only reports success. In all other cases
 * they call those of MPI. If ARMCI has initialised MPI and the program does not finalise it, the
 * library does so at exit, since launchers treat the absence of MPI_Finalize() as a failure.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "mpi_order.h"

/* ARMCI has initialised MPI, and the program has not called MPI_Init() yet. */
static bool mpi_order_first;

static void mpi_order_at_exit(void)
{
    int finalized = 0;

    MPI_Finalized(&finalized);
    if (!finalized)
        MPI_Finalize();
}

void ski_armci_mpi_ensure(int *argc, char ***argv, int level)
{
    int done = 0, provided;

    MPI_Initialized(&done);
    if (done)
        return;
    PMPI_Init_thread(argc, argv, level, &provided);
    mpi_order_first = true;
    atexit(mpi_order_at_exit);
}

/* Returns true once after ski_armci_mpi_ensure() has initialised MPI. */
static bool mpi_order_take(void)
{
    bool first = mpi_order_first;

    mpi_order_first = false;
    return first;
}

int MPI_Init(int *argc, char ***argv)
{
    return mpi_order_take() ? MPI_SUCCESS : PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return mpi_order_take() ? MPI_Query_thread(provided)
                            : PMPI_Init_thread(argc, argv, required, provided);
}

/* The Fortran functions of MPI, with which programs in C are not linked. */
void mpi_init_(int *error);
void mpi_init_thread_(int *required, int *provided, int *error);

void mpi_init_(int *error)
{
    void (*next)(int *);
    void *symbol = dlsym(RTLD_NEXT, "mpi_init_");

    if (mpi_order_take() || !symbol) {
        *error = MPI_SUCCESS;
        return;
    }
    memcpy(&next, &symbol, sizeof next);
    next(error);
}

void mpi_init_thread_(int *required, int *provided, int *error)
{
    void (*next)(int *, int *, int *);
    void *symbol = dlsym(RTLD_NEXT, "mpi_init_thread_");

    if (mpi_order_take() || !symbol) {
        *error = MPI_Query_thread(provided);
        return;
    }
    memcpy(&next, &symbol, sizeof next);
    next(required, provided, error);
}
