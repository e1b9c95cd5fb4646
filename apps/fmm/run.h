/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a run of fmm, the same for each variant of its communication. */
#ifndef FMM_RUN_H
#define FMM_RUN_H

#include "options.h"

/** Solves the problem of the options, checks the solution, and prints the result on PE 0.
 *  Collective. Returns true if the errors are within the requested limit. */
bool run_fmm(struct comm *comm, const struct fmm_options *o);

/** Lets free() keep memory for the next solve, which otherwise takes its page faults again. */
void run_keep_memory(const struct comm *comm, const struct fmm_options *o);

#endif
