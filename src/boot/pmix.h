/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmix.h - started by a PMIx launcher: mpirun of Open MPI, prterun, srun
 * --mpi=pmix.
 *
 * The library is looked for when the program runs, so that Skua does not depend
 * on it; pmix_none.c stands in where its headers were missing when Skua was
 * built.
 *
 * The processes of a host share the arena of the first of them: it tells the
 * others, through PMIx, which of its descriptors that is, and they open it under
 * /proc.  What has to be known between hosts is got when it is needed.
 */
#ifndef SKI_PMIX_H
#define SKI_PMIX_H

#include "boot/boot.h"

/** Whether such a launcher started us. */
bool ski_pmix_started_us(void);

/** Why PMIx cannot be used, or NULL if it can. */
const char *ski_pmix_missing(void);

/** Join the job, or make it, as the first process of this host.  A failure has been logged. */
skua_status_t ski_pmix_start(struct ski_boot *boot);

/** Wait until all processes have come here. */
skua_status_t ski_pmix_barrier(void);

/** ski_boot_put() and ski_boot_get(). */
skua_status_t ski_pmix_put(const char *key, const void *data, size_t bytes);
skua_status_t ski_pmix_get(int process, const char *key, void *data, size_t *bytes);

void ski_pmix_end(void);

#endif
