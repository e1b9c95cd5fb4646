/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - the memory of the job on this host, and its processes here.
 *
 * The processes here have indices, in the order of their numbers (boot/job.h).
 */
#ifndef SKUARUN_SPAWN_H
#define SKUARUN_SPAWN_H

#include <poll.h>
#include <sys/types.h>

#include "boot/boot.h"
#include "options.h"
#include "stream.h"
#include "watch.h"

#define LAUNCH_DRAIN_SECONDS 0.25 /* for output that somebody else holds open at the end */
#define LAUNCH_PROMPT_MS     100  /* an unfinished line of process 0 on a terminal waits so long */

#define WHY_BYTES 2304 /* why a process ended badly, or was not started */

struct child {
    pid_t         pid; /* of the process and of its group; 0 once it has ended */
    int           lifeline;
    int           control; /* where the job is spread, else -1 */
    struct ended  ended;
    struct stream out, err;
    double        stopped;  /* since when, in seconds; 0: it runs */
    bool          given_up; /* for that reason                    */
};

struct launch {
    struct ski_arena *arena;
    struct ski_job   *job;
    int               arena_fd;
    struct child     *child; /* one a process here */
    int               alive;
    uint64_t          oom_kills;  /* of our control groups before the job began */
    bool              terminal;   /* our output goes to one          */
    struct feed       stdin_feed; /* of process 0, where it is here  */
};

/** Make the arena and the job.  False: the reason has been said. */
bool launch_create(struct launch *launch, const struct ski_plan *plan);

/** Start all processes.  False: one could not be started, for the reason @p why,
 *  and those that were have to be ended; *code is the exit code for it. */
bool launch_start(struct launch *launch, const struct options *options, int *code,
                  char why[WHY_BYTES]);

/** Send @p signal to every process that lives, and to what it has started. */
void launch_signal(struct launch *launch, int signal);

void launch_destroy(struct launch *launch);

/* ---- while they run (launch.c) -------------------------------------------------- */

/** Kill the processes that have been stopped for longer than the setting says. */
void launch_give_up(struct launch *launch);

/** The index of a process that has ended, and what it started with it, or -1. */
int launch_reap(struct launch *launch);

/** Say how the process with that index ended badly. */
void launch_why(const struct launch *launch, int index, char why[WHY_BYTES]);

/** Whether some process here has joined the job. */
bool launch_joined(const struct launch *launch);

/* What to poll for: launch_polls() places, which launch_fill() fills, and
 * launch_serve() attends to.  The latter says whether some output is open. */
static inline size_t launch_polls(const struct launch *launch)
{
    return 2 + 2 * (size_t)launch->job->local_processes;
}

void launch_fill(const struct launch *launch, struct pollfd *polls);
bool launch_serve(struct launch *launch, const struct pollfd *polls);

/** An unfinished line of process 0, a prompt perhaps, for a terminal; or NULL. */
struct stream *launch_prompt(const struct launch *launch);

#endif
