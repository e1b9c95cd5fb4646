/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_arena.h - the arena of a new job, of the size, address, page bound and page size that the
 * settings give.
 */
#ifndef SKI_JOB_ARENA_H
#define SKI_JOB_ARENA_H

#include "base/arena.h"

/** Creates the arena of a new job, as the settings arena_size, arena_address, arena_keep and
 *  huge_pages say.  A failure has been logged. */
skua_status ski_boot_arena(struct ski_arena **arena, int *fd);

/** Maps the arena of the job that this process joins, as the setting huge_pages says.  A failure
 * has been logged. */
skua_status ski_boot_attach_arena(int fd, struct ski_arena **arena);

/** Returns the bytes of the arena that ski_boot_arena() creates: the setting, or three quarters of
 *  the memory that this process may use. */
size_t ski_boot_arena_bytes(void);

#endif
