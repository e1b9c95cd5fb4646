/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - what the processes of a job on one host know in common.
 *
 * It lies in the arena (its root).  Whoever starts the job makes it: the
 * launcher, or a program that was started without one.  The processes write
 * how they fare into it, and the launcher reads that when one of them ends.
 *
 * PEs and processes have numbers in the job, which are the same everywhere, and
 * those of this host also have an *index* here, in the same order: arrays in the
 * arena are as long as what is here.  Behind the PEs of the job come two more for
 * each process, which nobody sees: its helper thread, and the guest that stands
 * for its threads that are no PEs.  They too have numbers and indices.
 *
 * A job is *spread* if some of its processes do not share this arena: they are on
 * other hosts, or were told to keep apart (SKUA_SHARE=0), which is the same.
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

/* Why a process died, as far as it could still tell (core/lifecycle/crash.c). */
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
    int32_t          number;
    _Atomic int32_t  state;
    struct ski_crash crash;
};

/* The names of the handlers, as the first process here registered them. */
struct ski_names {
    _Atomic uint32_t ready; /* futex: others wait for it */
    uint32_t         count;
    char            *text; /* count strings, one after another, each with its 0 */
};

#define SKI_JOB_EXIT (UINT64_C(1) << 32)

struct ski_job {
    struct ski_arena *arena;
    void             *host;     /* the layer above's: transport/host  */
    void             *onesided; /* and that one's: onesided           */
    int32_t           starter;  /* the process that made it: launcher, or the job itself */
    struct ski_clock  clock;
    uint64_t         *secret;  /* of a job that is spread: two words, in pages of their own; then
                                  those of tag_key */
    uint64_t        *tag_key;  /* of this host, where the job is spread (core/message/addr_tag.h) */
    bool             one_host; /* it may be spread and yet on one host */
    int32_t          pes, pes_per_process, processes;
    int32_t          here, pes_here; /* processes of this host, and their PEs          */
    int32_t          first, near;    /* so many PEs from there on have neighbouring indices */
    _Atomic uint64_t exit;           /* 0, or SKI_JOB_EXIT | code once skua_exit() was called */
    struct ski_names names;
    int32_t         *cpu;         /* of each PE here, or SKI_CPU_ANY                    */
    int32_t         *place;       /* of each process of the job: its index, or -1       */
    struct ski_process process[]; /* those here */
};

/* How a job is to be made. */
struct ski_plan {
    int         pes, pes_per_process;
    const int  *near; /* numbers of the processes here, ascending; NULL: all are here */
    int         here;
    bool        one_host;
    const char *pin; /* of the PEs here (topology.h) */
    const int  *cpu; /* or that has been decided     */
    uint64_t    secret[2];
};

/** Make a job in a fresh arena.  A failure has been logged. */
skua_status_t ski_job_create(struct ski_arena *arena, const struct ski_plan *plan,
                             struct ski_job **job);

/** Find the job in an attached arena; NULL if there is none.  Its secret stays out of core dumps of
 *  this process. */
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

/* ---- numbers ------------------------------------------------------------------ */

static inline bool ski_job_spread(const struct ski_job *job)
{
    return job->here < job->processes;
}

static inline int ski_job_helper(const struct ski_job *job, int process)
{
    return job->pes + 2 * process;
}

static inline int ski_job_guest(const struct ski_job *job, int process)
{
    return job->pes + 2 * process + 1;
}

/** The process of any PE, also a hidden one. */
static inline int ski_job_process_of(const struct ski_job *job, int pe)
{
    return pe < job->pes ? pe / job->pes_per_process : (pe - job->pes) / 2;
}

static inline int ski_job_first_pe(const struct ski_job *job, int process)
{
    return process * job->pes_per_process;
}

static inline int ski_job_pes_of(const struct ski_job *job, int process)
{
    int left = job->pes - ski_job_first_pe(job, process);
    return left < job->pes_per_process ? left : job->pes_per_process;
}

/** How many PEs there are, with the hidden ones: in the job, and here. */
static inline int ski_job_all(const struct ski_job *job)
{
    return job->pes + 2 * job->processes;
}

static inline int ski_job_all_here(const struct ski_job *job)
{
    return job->pes_here + 2 * job->here;
}

/** The index of any PE, or -1: it is not here. */
static inline int ski_job_index(const struct ski_job *job, int pe)
{
    int at = job->place[ski_job_process_of(job, pe)];

    if (at < 0)
        return -1;
    return pe < job->pes ? at * job->pes_per_process + pe % job->pes_per_process
                         : job->pes_here + 2 * at + (pe - job->pes) % 2;
}

/** The number of the PE with an index here. */
static inline int ski_job_pe_at(const struct ski_job *job, int index)
{
    int at = index < job->pes_here ? index / job->pes_per_process : (index - job->pes_here) / 2;
    int n  = job->process[at].number;

    return index < job->pes_here ? n * job->pes_per_process + index % job->pes_per_process
                                 : job->pes + 2 * n + (index - job->pes_here) % 2;
}

/** The record of a process that is here. */
static inline struct ski_process *ski_job_process(struct ski_job *job, int process)
{
    return &job->process[job->place[process]];
}

#endif
