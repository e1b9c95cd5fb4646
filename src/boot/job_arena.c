/* SPDX-License-Identifier: Apache-2.0 */
/* job_arena.c - see job_arena.h. */
#include "boot/job_arena.h"

#include "base/cgroup.h"
#include "base/config.h"
#include "base/sanitizer.h"

size_t ski_boot_arena_bytes(void)
{
    size_t most  = ski_sanitizer_arena_max();
    size_t share = ski_memory_allowed() / 4 * 3; /* the rest is for memory outside the arena */

    if (ski_config.arena_size > 0)
        return ski_config.arena_size;
    return share < most ? share : most;
}

skua_status ski_boot_arena(struct ski_arena **arena, int *fd)
{
    return ski_arena_create(ski_boot_arena_bytes(), ski_config.arena_address, ski_config.arena_keep,
                            arena, fd);
}
