/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_init.c - the start and the end of messages, for programs that leave MPI to ARMCI.
 *
 * ARMCI-MPI does not have these two calls, so programs that run on both define them. A file of its
 * own lets them do so: the linker then takes nothing from this member of the static library.
 */
#include <mpi.h>

#include "armci_impl.h"

void armci_msg_init(int *argc, char ***argv)
{
    int done = 0;

    MPI_Initialized(&done);
    if (!done)
        MPI_Init(argc, argv);
}

void armci_msg_finalize(void)
{
    int done = 0;

    MPI_Finalized(&done);
    if (!done)
        MPI_Finalize();
}
