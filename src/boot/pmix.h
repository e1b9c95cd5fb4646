/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmix.h - started by a PMIx launcher: mpirun of Open MPI, prterun, srun
 * --mpi=pmix.
 *
 * The library is looked for when the program runs, so that Skua does not depend
 * on it; pmix_none.c stands in where its headers were missing when Skua was
 * built.  What processes have to tell each other is got when it is needed.
 */
#ifndef SKI_PMIX_H
#define SKI_PMIX_H

#include "boot/external_launcher.h"

extern const struct ski_foreign ski_pmix_launcher;

/** Whether such a launcher started us. */
bool ski_pmix_started_us(void);

/** Why PMIx cannot be used, or NULL if it can. */
const char *ski_pmix_missing(void);

#endif
