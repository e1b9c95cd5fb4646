/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_launcher.h - the external launcher is an mpiexec without PMIx, such as MPICH's: MPI itself
 * tells the ranks of the processes and which of them share a host.
 *
 * Only the modules of the MPI driver (transport/mpi), one for each MPI, call MPI.  Besides the
 * driver they export struct ski_mpi_boot, which is used here.  The right module is found by trial:
 * a module refuses where the launcher or the program belongs to the other MPI.
 *
 * MPI cannot query a busy process, so a barrier sends all values that were put to all processes.
 * All calls but get() belong to the thread that starts the job and are collective: every process
 * makes them in the same order.
 *
 * The process finalises MPI at its end only if Skua initialised it; a program that continues to use
 * MPI after Skua initialises it first.
 */
#ifndef SKI_MPI_LAUNCHER_H
#define SKI_MPI_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "boot/external_launcher.h"

#define SKI_MPI_BOOT_VERSION    1
#define SKI_MPI_BOOT_SYMBOL     "ski_mpi_boot"
#define SKI_MPI_BOOT_REASON_MAX 256

/* The functions of a module.  After begin(), a negative status means that MPI has failed; reason()
 * returns the text of the error. */
struct ski_mpi_boot {
    unsigned version;

    /** Initialises MPI, or finds it initialised.  *@p local, the ranks on this host, stays valid
     *  until end().  SKUA_ERR_UNSUPPORTED: not with this MPI; @p reason, of SKI_MPI_BOOT_REASON_MAX
     *  bytes, tells why. */
    skua_status (*begin)(int *rank, int *size, const int **local, int *local_count, char *reason);

    /** Collects @p bytes of every process in @p all, by rank. */
    skua_status (*gather)(const void *mine, size_t bytes, void *all);

    /** Returns the text of the last error of MPI. */
    const char *(*reason)(void);

    /** Ends this use of MPI. */
    void (*end)(void);
};

/** The exchange through MPI. */
extern const struct ski_external_launcher ski_mpi_launcher;

/** Returns whether an MPI launcher without PMIx started this process, or the setting boot selects
 *  MPI.  Uses ski_config. */
bool ski_mpi_launcher_present(void);

/** Returns why MPI cannot be used, or NULL if its modules can be loaded. */
const char *ski_mpi_missing(void);

#endif
