/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_order.h - MPI is initialized once, whether ARMCI or the program comes first. */
#ifndef SKI_ARMCI_MPI_ORDER_H
#define SKI_ARMCI_MPI_ORDER_H

/** Initializes MPI with at least the thread level @p level, unless that has happened. */
void ski_armci_mpi_ensure(int *argc, char ***argv, int level);

#endif
