/* SPDX-License-Identifier: Apache-2.0 */
/* mp3.h - the names under which test programs of ARMCI call MPI. */
#ifndef SKUA_ARMCI_MP3_H
#define SKUA_ARMCI_MP3_H

#include <mpi.h>

/** Initialises MPI. */
#define MP_INIT(argc, argv) MPI_Init(&(argc), &(argv))

/** Waits for all processes. */
#define MP_BARRIER() MPI_Barrier(MPI_COMM_WORLD)

/** Finalises MPI. */
#define MP_FINALIZE() MPI_Finalize()

/** Stores the number of processes at @p x. */
#define MP_PROCS(x) MPI_Comm_size(MPI_COMM_WORLD, x)

/** Stores the rank of the calling process at @p x. */
#define MP_MYID(x) MPI_Comm_rank(MPI_COMM_WORLD, x)

/** Returns a time in seconds. */
#define MP_TIMER() MPI_Wtime()

/** Initialises Global Arrays. */
#define GA_INIT(argc, argv) GA_Initialize()

/** Initialises ARMCI. */
#define ARMCI_INIT(argc, argv) ARMCI_Init()

#endif
