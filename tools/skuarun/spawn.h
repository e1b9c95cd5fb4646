/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - the job's memory and its processes.
 */
#ifndef SKUARUN_SPAWN_H
#define SKUARUN_SPAWN_H

#include <sys/types.h>

#include "boot/boot.h"
#include "options.h"
#include "stream.h"

struct child {
    pid_t         pid; /* of the process and of its group; 0 once it has ended */
    int           lifeline;
    struct stream out, err;
};

struct launch {
    struct ski_arena *arena;
    struct ski_job   *job;
    int               arena_fd;
    struct child     *child; /* one a process */
    int               alive;
    struct feed       stdin_feed;
};

/** Make the arena and the job.  False: the reason has been said. */
bool launch_create(struct launch *launch, const struct options *options);

/** Start all processes.  False: one could not be started, the reason has been
 *  said, and those that were have to be ended; *code is the exit code for it. */
bool launch_start(struct launch *launch, const struct options *options, int *code);

/** Send @p signal to every process that lives, and to what it has started. */
void launch_signal(struct launch *launch, int signal);

void launch_destroy(struct launch *launch);

#endif
