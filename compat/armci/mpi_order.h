/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_order.h - initialises MPI once, whether ARMCI or the program calls first. */
#ifndef SKI_ARMCI_MPI_ORDER_H
#define SKI_ARMCI_MPI_ORDER_H

/** Initialises MPI with at least the thread level @p level, unless MPI is initialised already. */
void ski_armci_mpi_ensure(int *argc, char ***argv, int level);

#endif
