/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_launcher.h - started by a launcher that knows nothing of Skua: mpirun, prterun, srun,
 * mpiexec.
 *
 * The first process of each host makes arena and job, and tells the others of the host
 * which of its descriptors that is; they open it under /proc.  In a job over several
 * hosts process 0 makes up the secret.
 *
 * A launcher's own way to tell each other things is behind struct ski_foreign (pmix.c,
 * mpi.c).
 */
#ifndef SKI_EXTERNAL_LAUNCHER_H
#define SKI_EXTERNAL_LAUNCHER_H

#include "boot/boot.h"

struct ski_foreign {
    /** Begin, and learn who we are: *near are the processes of this host, ascending, for
     *  the caller to free.  A failure has been logged. */
    skua_status_t (*begin)(int *rank, int *size, int **near, int *here, bool *one_host);
    void (*end)(void);

    /** Wait until all processes have come here. */
    skua_status_t (*barrier)(void);

    /** Tell the others, who may get it after the next barrier.  Failures have been
     *  logged. */
    skua_status_t (*put)(const char *key, const void *value, size_t bytes);
    skua_status_t (*get)(int process, const char *key, void *value, size_t *bytes);
};

/** Join the job, or make it, as the first process of this host.  A failure has been
 *  logged. */
skua_status_t ski_foreign_start(struct ski_boot *boot, const struct ski_foreign *foreign);

#endif
