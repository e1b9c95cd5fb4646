/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - the record of a job that its processes on one host share.
 *
 * It is the root of the arena.  The launcher creates it, or the first process on the host.  Each
 * process records its state there, and the launcher reads it when a process ends.
 *
 * PEs and processes are numbered across the job.  Those on this host also have a local *index*, in
 * the same order, and arrays in the arena have an element for each local index.  After the PEs of
 * the job come two hidden PEs for each process, which programs do not see: one for its progress
 * thread, and one that stands for its external threads.  They have numbers and indices, too.
 *
 * A job is *distributed* if some of its processes do not share this arena, because they are on
 * other hosts or are kept apart (SKUA_SHARED_MEMORY=0).
 *
 * Here and above, a *host* is the set of processes that share an arena.  Hosts are numbered in the
 * order of their first processes, and every host has the list of the processes of all hosts: trees
 * and exchanges over many PEs enter each host once (core/collective/pe_tree.h).
 */
#ifndef SKI_JOB_H
#define SKI_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"

/* The largest number of PEs of a job that skuarun starts. */
#define SKI_JOB_PES_MAX 65535

#define SKI_CRASH_FRAMES 24
#define SKI_CRASH_TEXT   768

#define SKI_CRASH_REPORTED 2

/* Why a process died, as written by its signal handler (core/lifecycle/crash.c). */
struct ski_crash {
    _Atomic uint32_t taken; /* set by the first thread that crashes, which writes the record   */
    _Atomic uint32_t ready; /* 1: may be read; SKI_CRASH_REPORTED: the thread is done with it */
    int32_t          pe;    /* the PE of the thread, or -1                                     */
    int32_t          signal;
    char             text[SKI_CRASH_TEXT]; /* details beyond the signal, or "" */
    int32_t          frames;
    struct ski_frame {
        uint64_t offset; /* of the address in its module */
        char     module[120];
        char     symbol[64];
    } frame[SKI_CRASH_FRAMES];
};

/* The life of a process. */
enum ski_process_state {
    SKI_PROCESS_STARTED,   /* the launcher started it; it has not joined yet             */
    SKI_PROCESS_ATTACHED,  /* it runs skua_main(), or is in a phase                      */
    SKI_PROCESS_FINALIZED, /* it left a phase in good order, and may join the next       */
    SKI_PROCESS_LEFT,      /* it left skua_main() in good order: it will not join again  */
};

/* A process on this host. */
struct ski_process {
    int32_t          number;
    _Atomic int32_t  state;
    _Atomic int32_t  pid;        /* of the program, which a wrapper may have started; 0: none yet */
    _Atomic uint32_t phase;      /* the phase that it joined last; 0: none */
    _Atomic uint64_t generation; /* of its last complete image (boot/image_slots.h); 0: none */
    struct ski_crash crash;
};

/* The names of the handlers, as the first process on the host registered them. */
struct ski_handler_names {
    _Atomic uint32_t ready; /* a futex: set once the rest is valid */
    uint32_t         count;
    char            *text; /* count strings, each with its terminating 0 */
};

#define SKI_JOB_EXIT          (UINT64_C(1) << 32)
#define SKI_JOB_EXIT_PE_SHIFT 33

/* The root of the arena. */
struct ski_job {
    struct ski_arena *arena;
    void             *host;     /* struct ski_host of transport/host                            */
    void             *onesided; /* the shared state of the one-sided layer                      */
    int32_t           starter;  /* id of the launcher's process, or of the one that made the job */
    struct ski_clock  clock;
    uint64_t *secret;   /* of a distributed job: two words in pages of their own, then tag_key */
    uint64_t *tag_key;  /* of a distributed job: the key of this host (core/message/addr_tag.h) */
    uint64_t  msg_mark; /* random, the same on all hosts: proves that the runtime has laid out data
                           of a message, since data of the program that look alike have another */
    bool one_host;      /* all processes are on one host, also if it is distributed */
    bool cpus_shared; /* PEs of the job that do not share this arena run on the CPUs of its PEs   */
    int32_t pes, pes_per_process, processes; /* of the whole job                        */
    int32_t local_processes, local_pes;      /* processes on this host, and their PEs   */
    int32_t run_first, run_pes; /* so many PEs from run_first on have indices 0, 1, ... */
    _Atomic uint64_t
        exit; /* 0, or SKI_JOB_EXIT | code | PE << SKI_JOB_EXIT_PE_SHIFT: skua_exit() */
    _Atomic uint32_t phase; /* a futex: the phase that the arena is laid out for, from 1 on       */
    _Atomic uint32_t survive; /* milliseconds of the setting, if the program has asked for it */
    _Atomic uint32_t resize;  /* PEs that the program asks for; 0: none, or the launcher knows */
    _Atomic uint32_t ends; /* processes that ended this phase by skua_finalize(): a futex        */
    _Atomic bool     phased;     /* a process has called skua_init(): skua_exit() ends a phase    */
    void            *keep_until; /* memory below is kept when the arena is laid out again         */
    struct ski_handler_names names;
    int32_t                 *cpu;   /* by local index: the CPU of a PE, or SKI_CPU_ANY       */
    int32_t                 *range; /* by local index: the NUMA range of a PE in the arena   */
    int32_t           *local_index; /* by process number: its local index, or -1             */
    int32_t            hosts, host_number; /* hosts of the job, and the number of this one   */
    int32_t           *host_of;      /* by process number: the number of its host            */
    int32_t           *host_process; /* the processes of host 0, of host 1, ..., ascending   */
    int32_t           *host_first;   /* by host: where its processes begin in host_process   */
    struct ski_process process[];    /* by local index                                       */
};

/* The parameters of a new job. */
struct ski_job_params {
    int        pes, pes_per_process;
    const int *local; /* ascending numbers of the processes on this host; NULL: all are */
    int        local_processes;
    bool       one_host;
    const int *leader; /* by process, the first process of its host; NULL: each process that is
                          not in `local` is a host of its own */
    const char *pin;   /* how PEs are bound to CPUs (topology.h), if cpu is NULL */
    const int  *cpu;   /* by local index, the CPU of each PE                     */
    bool        cpus_shared; /* PEs on other processes' arenas are bound to these CPUs, too */
    uint64_t    secret[2];
};

/** Creates a job in a new arena.  A failure has been logged. */
skua_status ski_job_create(struct ski_arena *arena, const struct ski_job_params *plan,
                           struct ski_job **job);

/** Divides the arena among the NUMA nodes of the PEs, if the setting `numa` allows it, after the
 * layers have allocated what they share. */
void ski_job_divide_arena(struct ski_job *job);

/** Returns the job in an attached arena, or NULL if there is none.  Its secret is kept out of core
 *  dumps of this process. */
struct ski_job *ski_job_of(struct ski_arena *arena);

/** Clears the arena for the next phase and counts it, in one process of the host, after all of them
 *  have left the phase before.  The caller creates the shared structures of the layers again, and
 *  then calls ski_job_open_phase(). */
void ski_job_next_phase(struct ski_job *job);

/** Allows the other processes of the host to join phase @p phase. */
void ski_job_open_phase(struct ski_job *job, uint32_t phase);

/** Requests for @p pe that all PEs exit with @p code.  The first request counts; returns whether
 *  this one is it.  The caller must wake sleeping PEs. */
bool ski_job_exit(struct ski_job *job, int pe, int code);

/** Returns whether the exit of the job was requested. */
static inline bool ski_job_exiting(const struct ski_job *job)
{
    return atomic_load_explicit(&job->exit, memory_order_relaxed) != 0;
}

/** Returns the exit code of a job that is exiting. */
static inline int ski_job_exit_code(const struct ski_job *job)
{
    return (int)(uint32_t)atomic_load_explicit(&job->exit, memory_order_relaxed);
}

/** Returns the PE that requested the exit of a job that is exiting. */
static inline int ski_job_exit_pe(const struct ski_job *job)
{
    return (int)(atomic_load_explicit(&job->exit, memory_order_relaxed) >> SKI_JOB_EXIT_PE_SHIFT);
}

/* ---- numbers and indices ---------------------------------------------------- */

/** Returns whether process @p process of the job is on this host; @p job may be NULL. */
static inline bool ski_job_has_process(const struct ski_job *job, int process)
{
    return job && process >= 0 && process < job->processes && job->local_index[process] >= 0;
}

/** Returns whether some processes of the job do not share this arena. */
static inline bool ski_job_is_distributed(const struct ski_job *job)
{
    return job->local_processes < job->processes;
}

/** Returns the number of the hidden PE of the progress thread of a process. */
static inline int ski_job_progress_pe(const struct ski_job *job, int process)
{
    return job->pes + 2 * process;
}

/** Returns the number of the hidden PE of the external threads of a process. */
static inline int ski_job_external_pe(const struct ski_job *job, int process)
{
    return job->pes + 2 * process + 1;
}

/** Returns the process of a PE, which may be a hidden one. */
static inline int ski_job_process_of(const struct ski_job *job, int pe)
{
    return pe < job->pes ? pe / job->pes_per_process : (pe - job->pes) / 2;
}

/** Returns the first PE of a process. */
static inline int ski_job_first_pe(const struct ski_job *job, int process)
{
    return process * job->pes_per_process;
}

/** Returns the number of PEs of a process, without hidden ones. */
static inline int ski_job_pes_of(const struct ski_job *job, int process)
{
    int left = job->pes - ski_job_first_pe(job, process);
    return left < job->pes_per_process ? left : job->pes_per_process;
}

/** Returns the number of PEs of the job, with the hidden ones. */
static inline int ski_job_all(const struct ski_job *job)
{
    return job->pes + 2 * job->processes;
}

/** Returns the number of PEs on this host, with the hidden ones. */
static inline int ski_job_all_local(const struct ski_job *job)
{
    return job->local_pes + 2 * job->local_processes;
}

/** Returns the local index of a PE, which may be a hidden one; -1 if it is not on this host. */
static inline int ski_job_index(const struct ski_job *job, int pe)
{
    int at = job->local_index[ski_job_process_of(job, pe)];

    if (at < 0)
        return -1;
    return pe < job->pes ? at * job->pes_per_process + pe % job->pes_per_process
                         : job->local_pes + 2 * at + (pe - job->pes) % 2;
}

/** Returns the NUMA range from which the PE with a local index, which may be a hidden one,
 *  allocates. */
static inline uint32_t ski_job_numa_range(const struct ski_job *job, int index)
{
    int at = index < job->local_pes ? index : (index - job->local_pes) / 2 * job->pes_per_process;

    return (uint32_t)job->range[at];
}

/** Returns the number of the PE with a local index. */
static inline int ski_job_pe_at(const struct ski_job *job, int index)
{
    int at = index < job->local_pes ? index / job->pes_per_process : (index - job->local_pes) / 2;
    int n  = job->process[at].number;

    return index < job->local_pes ? n * job->pes_per_process + index % job->pes_per_process
                                  : job->pes + 2 * n + (index - job->local_pes) % 2;
}

/** Returns the number of the host of @p pe, which may be a hidden one. */
static inline int ski_job_host_of(const struct ski_job *job, int pe)
{
    return job->host_of[ski_job_process_of(job, pe)];
}

/** Returns the number of PEs of @p host, without hidden ones. */
static inline int ski_job_host_pes(const struct ski_job *job, int host)
{
    int last = job->host_first[host + 1] - 1;

    return (last - job->host_first[host]) * job->pes_per_process +
           ski_job_pes_of(job, job->host_process[last]);
}

/** Returns PE number @p i of @p host, in ascending order.  Only the last process of the job may
 *  have fewer PEs than the others. */
static inline int ski_job_host_pe(const struct ski_job *job, int host, int i)
{
    int process = job->host_process[job->host_first[host] + i / job->pes_per_process];

    return ski_job_first_pe(job, process) + i % job->pes_per_process;
}

/** Returns whether the job has several hosts, and a host with several PEs: then collectives go
 *  inside a host first.  All PEs of a job get the same answer. */
static inline bool ski_job_is_mixed(const struct ski_job *job)
{
    return job->hosts > 1 && job->hosts < job->pes;
}

/** Returns the record of a process on this host. */
static inline struct ski_process *ski_job_process(struct ski_job *job, int process)
{
    ski_assert(ski_job_has_process(job, process));
    return &job->process[job->local_index[process]];
}

/** Returns the id of the process of @p pe, which is on this host. */
static inline int32_t ski_job_pid(struct ski_job *job, int pe)
{
    return atomic_load_explicit(&ski_job_process(job, ski_job_process_of(job, pe))->pid,
                                memory_order_relaxed);
}

#endif
