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
 * How a job starts this way:
 *
 *   ski_mpi_start()         rank, size, and the ranks of this host, sorted;
 *   ski_mpi_gather()        of near[0]: who shares a host with whom, in all the job;
 *   the first of each host  makes its arena, and
 *   ski_mpi_share()         tells the others of the host where it is;
 *   ski_mpi_barrier_near()  once they have it;
 *   ski_mpi_gather()        of the addresses that a driver needs to be told;
 *   ski_mpi_end()           after the driver has been stopped.
 *
 * All but ski_mpi_started_us() and ski_mpi_missing() are for the thread that starts
 * the job, and calls that all processes (of the host) make together, in the same order.
 * They block until the others have come.  Failures have been logged.
 *
 * Our process finalises MPI in ski_mpi_end() if nobody had initialised it before; a
 * program that wants to go on with MPI initialises it first.
 */
#ifndef SKI_BOOT_MPI_H
#define SKI_BOOT_MPI_H

#include <stdbool.h>
#include <stddef.h>

#include "boot/foreign.h"

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

    /** Copy @p bytes at @p blob from the first process of this host to the others. */
    skua_status_t (*share)(void *blob, size_t bytes);

    /** Collect @p bytes of every process in @p all, by rank. */
    skua_status_t (*gather)(const void *mine, size_t bytes, void *all);

    skua_status_t (*barrier)(void);
    skua_status_t (*barrier_near)(void);
    const char *(*why)(void);
    void (*end)(void);
};

/* What MPI says of the job. */
struct ski_mpi_job {
    int        rank, size;
    const int *near; /* the ranks on this host, ours among them, sorted */
    int        n_near;
};

extern const struct ski_foreign ski_mpi_launcher;

/** Whether we are to start this way: an MPI launcher without PMIx started us, or the
 *  setting boot says so.  Uses ski_config. */
bool ski_mpi_started_us(void);

/** Why this way cannot be gone, or NULL if it can, as far as can be known before. */
const char *ski_mpi_missing(void);

skua_status_t ski_mpi_start(struct ski_mpi_job *job);
skua_status_t ski_mpi_share(void *blob, size_t bytes);
skua_status_t ski_mpi_gather(const void *mine, size_t bytes, void *all);
skua_status_t ski_mpi_barrier(void);
skua_status_t ski_mpi_barrier_near(void);
void          ski_mpi_end(void);

#endif
