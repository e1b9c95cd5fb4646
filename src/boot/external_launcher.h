/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_launcher.h - joining a job under a launcher that does not know Skua: mpirun, prterun,
 * srun, mpiexec.
 *
 * The first process of each host creates arena and job and publishes its process id and the
 * descriptor of the arena; the other processes of the host open it under /proc.  In a job over
 * several hosts process 0 makes the secret.
 *
 * struct ski_external_launcher is the exchange that a launcher offers: PMIx (pmix.c) or MPI
 * (mpi_launcher.c).
 */
#ifndef SKI_EXTERNAL_LAUNCHER_H
#define SKI_EXTERNAL_LAUNCHER_H

#include "boot/job.h"

/* The operations of a launcher.  Every function logs its failures. */
struct ski_external_launcher {
    /** Connects to the launcher.  *@p local is the ascending list of the processes on this host,
     *  which the caller frees. */
    skua_status (*begin)(int *rank, int *size, int **local, int *local_processes, bool *one_host);

    /** Ends this use of the launcher.  Unless it is the @p last one, the connection may stay until
     *  the process exits. */
    void (*end)(bool last);

    /** Waits until all processes have called it. */
    skua_status (*barrier)(void);

    /** Publishes a value, which others may get after the next barrier. */
    skua_status (*put)(const char *key, const void *value, size_t bytes);

    /** Gets the value that @p process has published under @p key.  *@p bytes is the room, then the
     *  size. */
    skua_status (*get)(int process, const char *key, void *value, size_t *bytes);
};

/* The state of a process that has joined. */
struct ski_external_join {
    const struct ski_external_launcher *launcher;
    struct ski_arena                   *arena;
    struct ski_job                     *job;
    int                                 process;
    uint32_t                            phase; /* the phase that it joins, from 1 on */
};

#define SKI_EXTERNAL_KEY 48

/** Writes the key under which values of a phase are published; a launcher may keep those of the
 *  phases before.  Returns @p text. */
const char *ski_external_key(const char *key, uint32_t phase, char text[SKI_EXTERNAL_KEY]);

/** Joins the job through @p join->launcher, or creates it as the first process of this host.  A
 *  failure has been logged. */
skua_status ski_external_launcher_start(struct ski_external_join *join);

#endif
