/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmix.h - the external launcher offers PMIx: mpirun of Open MPI, prterun, srun --mpi=pmix.
 *
 * The library is loaded at run time, so Skua does not depend on it; pmix_none.c replaces this
 * module where the headers of PMIx were missing at build time.  A process gets a value from the
 * server of the process that put it, when it needs it.
 */
#ifndef SKI_PMIX_H
#define SKI_PMIX_H

#include "boot/external_launcher.h"

/** The exchange through PMIx. */
extern const struct ski_external_launcher ski_pmix_launcher;

/** Returns whether a PMIx launcher started this process. */
bool ski_pmix_launcher_present(void);

/** Returns why PMIx cannot be used, or NULL if it can. */
const char *ski_pmix_missing(void);

#endif
