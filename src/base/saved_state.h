/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_state.h - what a job changes of the process and of the thread that joins it, to be
 * restored when the process continues without the job.
 */
#ifndef SKI_SAVED_STATE_H
#define SKI_SAVED_STATE_H

#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "base/topology.h"

/* What was recorded. */
struct ski_saved_state {
    cpu_set_t             cpus; /* CPUs that the thread may use                */
    struct ski_time_slice slice;
    struct rlimit         files; /* descriptors that the process may have open  */
    bool                  has_cpus, has_files;
};

/** Records the state, on the thread that joins a job. */
void ski_saved_state_save(struct ski_saved_state *state);

/** Restores what was recorded, on the same thread. */
void ski_saved_state_restore(const struct ski_saved_state *state);

#endif
