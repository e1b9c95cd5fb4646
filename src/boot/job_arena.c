/* SPDX-License-Identifier: Apache-2.0 */
/* job_arena.c - see job_arena.h. */
#include "boot/job_arena.h"

#include <stdio.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/config.h"
#include "base/log.h"
#include "base/rlimit.h"
#include "base/sanitizer.h"

#define ARENA_HUGE_PAGES "/sys/kernel/mm/transparent_hugepage/shmem_enabled"

static size_t arena_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t ski_boot_arena_bytes(void)
{
    size_t share = ski_memory_allowed() / 4 * 3; /* the rest is for memory outside the arena */
    size_t file  = ski_rlimit_file() / SKI_UNIT_BYTES * SKI_UNIT_BYTES;

    if (ski_config.arena_size > 0)
        return ski_config.arena_size;
    return arena_min(arena_min(share, file), ski_sanitizer_arena_max());
}

/* Returns whether the kernel uses huge pages for shared memory that asks for them. */
static bool arena_host_has_huge_pages(void)
{
    FILE *in       = fopen(ARENA_HUGE_PAGES, "re");
    char  line[80] = "";
    bool  has;

    has = in && fgets(line, sizeof line, in) && !strstr(line, "[never]") && !strstr(line, "[deny]");
    if (in)
        fclose(in);
    return has;
}

skua_status ski_boot_arena(struct ski_arena **arena, int *fd)
{
    skua_status status = ski_arena_create(ski_boot_arena_bytes(), ski_config.arena_address,
                                          ski_config.arena_keep, arena, fd);

    if (status != SKUA_OK || !ski_config.huge_pages)
        return status;
    if (!ski_arena_use_huge_pages(*arena) || !arena_host_has_huge_pages())
        ski_log(SKI_LOG_WARN, "SKUA_HUGE_PAGES=1 has no effect on this host: %s must be advise",
                ARENA_HUGE_PAGES);
    return SKUA_OK;
}

skua_status ski_boot_attach_arena(int fd, struct ski_arena **arena)
{
    skua_status status = ski_arena_attach(fd, arena);

    /* The process that created the arena has logged a failure of the advice. */
    if (status == SKUA_OK && ski_config.huge_pages)
        ski_arena_use_huge_pages(*arena);
    return status;
}
