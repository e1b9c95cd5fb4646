/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.h - started by an mpiexec that knows neither PMIx nor Skua, such as MPICH's: MPI
 * itself says who we are and who the others are.
 *
 * MPI is called in the modules of the MPI driver alone (transport/mpi), one for each
 * MPI.  Besides the driver they export struct ski_mpi_boot, which is used here; the
 * right one is found by trying: a module refuses where the launcher or the program is
 * of the other MPI.
 *
 * MPI has nothing to ask a busy process with, so what processes put goes to everybody
 * with the next barrier.  All calls but get() are for the thread that starts the job, and
 * calls that all processes make together, in the same order.
 *
 * Our process finalises MPI at the end if nobody had initialised it before; a
 * program that wants to go on with MPI initialises it first.
 */
#ifndef SKI_MPI_H
#define SKI_MPI_H

#include <stdbool.h>
#include <stddef.h>

#include "boot/external_launcher.h"

#define SKI_MPI_BOOT_VERSION 1
#define SKI_MPI_BOOT_SYMBOL  "ski_mpi_boot"
#define SKI_MPI_BOOT_WHY     256

/* What a module provides.  After begin(), a negative status means that MPI has failed,
 * and why() says how. */
struct ski_mpi_boot {
    unsigned version;

    /** Initialise MPI, or find it initialised; *near stays in place until end().
     *  SKUA_ERR_UNSUPPORTED: not with this MPI; @p why (SKI_MPI_BOOT_WHY bytes) says why. */
    skua_status_t (*begin)(int *rank, int *size, const int **near, int *n_near, char *why);

    /** Collect @p bytes of every process in @p all, by rank. */
    skua_status_t (*gather)(const void *mine, size_t bytes, void *all);

    const char *(*why)(void);
    void (*end)(void);
};

extern const struct ski_foreign ski_mpi_launcher;

/** Whether we are to start this way: an MPI launcher without PMIx started us, or the
 *  setting boot says so.  Uses ski_config. */
bool ski_mpi_started_us(void);

/** Why this way cannot be gone, or NULL if it can, as far as can be known before. */
const char *ski_mpi_missing(void);

#endif
