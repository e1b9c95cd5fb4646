/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procs.h - the arena of the job on this host, and the processes that share it.
 *
 * A process here is named by its index, in the order of process numbers (boot/job.h).
 */
#ifndef SKUARUN_PROCS_H
#define SKUARUN_PROCS_H

#include <poll.h>
#include <sys/types.h>

#include "boot/boot.h"
#include "common/options.h"
#include "common/exit_report.h"
#include "processes/iof.h"
#include "survive/host_images.h"

#define PROCS_DRAIN_SECONDS 0.25 /* after the last exit, for pipes that stay open          */
#define PROCS_PROMPT_MS     100  /* until an incomplete line of process 0 goes to a terminal */

struct procs_child {
    pid_t              pid; /* of the process and of its process group; 0 once it has ended */
    int                lifeline;
    int                control; /* the control connection of a distributed job, else -1 */
    struct exit_report report;
    struct iof_output  out, err;
    double             stopped;        /* when it was stopped, in seconds; 0: it runs */
    bool               killed_stopped; /* it was killed because it was stopped for too long */
    bool               ordered;        /* the launcher has killed it */
};

/** The state that a host keeps from one epoch to the next with --survive. */
struct procs_survival {
    struct host_images     images;
    struct output_history *history; /* of stdout and stderr of each process of the job */
    int                    histories;
};

struct procs {
    struct ski_arena      *arena;
    struct ski_job        *job;
    int                    arena_fd;
    struct procs_child    *child; /* one for each process here */
    int                    alive;
    uint64_t               oom_kills;        /* of our control groups before the job began */
    bool                   terminal;         /* the output of the job goes to a terminal */
    struct iof_input       input;            /* of process 0, if it runs here */
    struct procs_survival *survival;         /* with --survive, else NULL */
    bool                   checkpoints;      /* SIGUSR1 makes one due              */
    bool                   checkpoint_asked; /* by SIGUSR1, which has not been sent */
};

/* ---- starting (procs_start.c) ------------------------------------------------ */

/** Makes the arena and the job.  Returns false after logging the reason. */
bool procs_create(struct procs *procs, const struct ski_job_params *plan);

/** Starts all processes.  If one cannot be started, returns false with a text in @p reason and the
 * exit code in *@p code; the caller ends those that were started. */
bool procs_start(struct procs *procs, const struct run_options *options, int *code,
                 char reason[REASON_BYTES]);

/** Sends @p signal to the process group of every process that is alive.  SIGUSR1 of a job that
 * makes checkpoints only requests one: see procs_ask_checkpoint(). */
void procs_signal(struct procs *procs, int signal);

/** Sends SIGUSR1, which makes a checkpoint due, if it has been requested and all programs here have
 * joined the job.  It goes to the programs alone: before they join, it would end them, and at any
 * time a shell that has started them. */
void procs_ask_checkpoint(struct procs *procs);

/** Releases the arena, closes the pipes, and frees the table of processes. */
void procs_destroy(struct procs *procs);

/** Makes image slots and histories of output for the epoch of @p plan, after procs_create().
 * Returns false after printing the reason. */
bool procs_begin_epoch(struct procs *procs, struct procs_survival *survival,
                       const struct host_images_plan *plan);

/** Rolls the output of all processes back to @p generation, before procs_destroy(). */
void procs_rewind_output(struct procs *procs, uint64_t generation);

/** Writes the output that waits for the end of the job, before procs_destroy(). */
void procs_end_output(struct procs *procs);

/** Returns the newest generation that all processes here have completed in this epoch; 0: none. */
uint64_t procs_generation(const struct procs *procs);

/** Frees the state that was kept from epoch to epoch. */
void procs_survival_free(struct procs_survival *survival);

/* ---- running (procs.c) --------------------------------------------------------- */

/** Kills the processes that have been stopped for longer than SKUA_STOP_TIMEOUT. */
void procs_kill_stopped(struct procs *procs);

/** Collects one process that has ended and kills what it left running.  Returns its index, or -1 if
 * there is none. */
int procs_reap(struct procs *procs);

/** Writes why the process with that index failed, after procs_reap() returned it. */
void procs_exit_reason(const struct procs *procs, int index, char reason[REASON_BYTES]);

/** Returns whether skua_exit() has been called and ends the program, not a phase of it. */
bool procs_program_exiting(const struct procs *procs);

/** Returns the latest phase that some process here has joined, or waits to join; 0: none has
 * joined. */
uint32_t procs_joined_phase(const struct procs *procs);

/** Returns the number of PEs that the program has requested since the last call, or 0. */
int procs_asked_size(struct procs *procs);

/** Returns whether all processes here have joined the job. */
bool procs_all_joined(const struct procs *procs);

/** Returns the number of elements that procs_poll_fill() fills: two for the input, two for each
 * process. */
static inline size_t procs_poll_count(const struct procs *procs)
{
    return 2 + 2 * (size_t)procs->job->local_processes;
}

/** Fills @p polls with the descriptors of input and output. */
void procs_poll_fill(const struct procs *procs, struct pollfd *polls);

/** Forwards input and output as poll() allows.  Returns whether some output is still open. */
bool procs_poll_serve(struct procs *procs, const struct pollfd *polls);

/** Returns the stdout of process 0 if it shows an incomplete line, such as a prompt, and the job
 * runs on a terminal; else NULL. */
struct iof_output *procs_prompt(const struct procs *procs);

#endif
