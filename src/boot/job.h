/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - what the processes of a job on one host know in common.
 *
 * It lies in the arena (its root).  Whoever starts the job makes it: the
 * launcher, or a program that was started without one.  The processes write
 * how they fare into it, and the launcher reads that when one of them ends.
 */
#ifndef SKI_JOB_H
#define SKI_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"

#define SKI_CRASH_FRAMES 24
#define SKI_CRASH_TEXT   768

#define SKI_CRASH_SAID 2

/* Why a process died, as far as it could still tell (core/crash.c). */
struct ski_crash {
    _Atomic uint32_t taken; /* the first thread to crash writes the record */
    _Atomic uint32_t ready; /* 1: can be read; SKI_CRASH_SAID: the thread is done with it */
    int32_t          pe;    /* of the thread, or -1                        */
    int32_t          signal;
    char             text[SKI_CRASH_TEXT]; /* what is known beyond the signal, or "" */
    int32_t          frames;
    struct ski_frame {
        uint64_t offset; /* in the module */
        char     module[120];
        char     symbol[64];
    } frame[SKI_CRASH_FRAMES];
};

enum ski_process_state {
    SKI_PROCESS_STARTED,  /* by the launcher; nothing heard of it */
    SKI_PROCESS_ATTACHED, /* it is in skua_main()                 */
    SKI_PROCESS_LEFT,     /* it left skua_main() in good order    */
};

struct ski_process {
    int32_t          first_pe, pes;
    _Atomic int32_t  state;
    struct ski_crash crash;
};

/* The names of the handlers, as process 0 registered them. */
struct ski_names {
    _Atomic uint32_t ready; /* futex: others wait for it */
    uint32_t         count;
    char            *text; /* count strings, one after another, each with its 0 */
};

#define SKI_JOB_EXIT (UINT64_C(1) << 32)

struct ski_job {
    struct ski_arena  *arena;
    void              *host;     /* the layer above's: transport/host  */
    void              *onesided; /* and that one's: onesided           */
    int32_t            starter;  /* the process that made it: launcher, or the job itself */
    struct ski_clock   clock;
    int32_t            pes, pes_per_process, processes;
    _Atomic uint64_t   exit; /* 0, or SKI_JOB_EXIT | code once skua_exit() was called */
    struct ski_names   names;
    int32_t           *cpu; /* of each PE, or SKI_CPU_ANY */
    struct ski_process process[];
};

/** Make the job of @p pes PEs in a fresh arena, @p per_process to a process,
 *  placed on CPUs by @p pin (topology.h).  A failure has been logged. */
skua_status_t ski_job_create(struct ski_arena *arena, int pes, int per_process, const char *pin,
                             struct ski_job **job);

/** The job in an attached arena; NULL if there is none. */
struct ski_job *ski_job_of(struct ski_arena *arena);

/** Ask all PEs to end with @p code.  The first to ask decides; returns whether
 *  this call was it.  Sleeping PEs must be woken by the caller. */
bool ski_job_exit(struct ski_job *job, int code);

static inline bool ski_job_exiting(const struct ski_job *job)
{
    return atomic_load_explicit(&job->exit, memory_order_relaxed) != 0;
}

/** The code of a job that is exiting. */
static inline int ski_job_exit_code(const struct ski_job *job)
{
    return (int)(uint32_t)atomic_load_explicit(&job->exit, memory_order_relaxed);
}

static inline int ski_job_process_of(const struct ski_job *job, int pe)
{
    return pe / job->pes_per_process;
}

#endif
