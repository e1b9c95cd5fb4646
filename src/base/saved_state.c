/* SPDX-License-Identifier: Apache-2.0 */
/* saved_state.c - see saved_state.h. */
#include "base/saved_state.h"

void ski_saved_state_save(struct ski_saved_state *state)
{
    state->has_cpus  = sched_getaffinity(0, sizeof state->cpus, &state->cpus) == 0;
    state->has_files = getrlimit(RLIMIT_NOFILE, &state->files) == 0;
    state->slice     = ski_time_slice_get();
}

void ski_saved_state_restore(const struct ski_saved_state *state)
{
    if (state->has_cpus)
        sched_setaffinity(0, sizeof state->cpus, &state->cpus);
    if (state->has_files)
        setrlimit(RLIMIT_NOFILE, &state->files);
    ski_time_slice_set(state->slice);
}
