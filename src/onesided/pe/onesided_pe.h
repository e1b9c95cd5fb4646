/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided_pe.h - what all sub-folders of this layer use: the root in the arena, the job, and the
 * table of per-PE states.
 *
 * Each sub-folder owns its state: in the arena (struct ski_onesided_root), in the process (statics
 * of its files) and on a PE (struct ski_onesided_pe).  The types are complete only inside of the
 * sub-folder, so none of them depends on another for its data.
 */
#ifndef SKI_ONESIDED_PE_H
#define SKI_ONESIDED_PE_H

#include "base/config.h"
#include "core/pe/pe.h"

struct ski_region_root;
struct ski_stripe;
struct ski_barrier;

/* The root of the layer in the arena: shared by all processes of a host. */
struct ski_onesided_root {
    struct ski_region_root *regions;   /* region/region_table.h                      */
    struct ski_stripe      *stripes;   /* rma/accumulate.h                           */
    struct ski_barrier     *barrier;   /* sync/barrier.h: one for each PE of the host */
    _Atomic int32_t        *accessing; /* team/team_send.c: one for each PE of the host */
};

struct ski_region_pe;
struct ski_sync_pe;
struct ski_rma_pe;
struct ski_buffer_pe;
struct ski_channel_pe;
struct ski_team_pe;

/* The states that a PE has in this layer, one for each sub-folder. */
struct ski_onesided_pe {
    struct ski_channel_pe *channel;
    struct ski_rma_pe     *rma;
    struct ski_sync_pe    *sync;
    struct ski_region_pe  *region;
    struct ski_buffer_pe  *buffer;
    struct ski_team_pe    *team;
    uint64_t               outstanding; /* one-sided operations of this PE that are not complete */
    bool                   syncing;     /* skua_sync() flushes                                   */
};

/** Returns the states of @p self in this layer. */
static inline struct ski_onesided_pe *ski_onesided_pe(const struct ski_pe *self)
{
    return self->onesided;
}

/** The root in the arena, as this process maps it; NULL before skua_main(). */
extern struct ski_onesided_root *ski_onesided;

/** Makes @p job the job of this process: ski_onesided and ski_onesided_job() refer to it. */
void ski_onesided_set_job(struct ski_job *job, int process);

/** Returns the job of this process; NULL before skua_main(). */
struct ski_job *ski_onesided_job(void);

/** Ends the job with an error if public function @p call runs before skua_main(). */
void ski_onesided_check(const char *call);

/** Returns the PE in whose name the calling thread acts: its own, or the first of its process. */
int32_t ski_caller_pe(void);

/** Returns whether @p bytes at @p data can be copied into a message: there are data, and the arena,
 *  which messages are in, is larger. */
static inline bool ski_fits_message(const void *data, size_t bytes)
{
    return bytes == 0 || (data && ski_onesided_job() && bytes < ski_onesided_job()->arena->bytes);
}

/** Returns the PE that serves requests for the memory of @p pe: itself, or the progress thread of
 *  its process. */
static inline int ski_am_server(const struct ski_job *job, int pe)
{
    return ski_config.progress_thread ? ski_job_progress_pe(job, ski_job_process_of(job, pe)) : pe;
}

/** Returns the PE that receives replies for @p pe: itself or, for the PE of external threads, one
 *  of its process whose scheduler runs. */
static inline int ski_reply_pe(const struct ski_job *job, int pe)
{
    return pe < job->pes ? pe
                         : ski_am_server(job, ski_job_first_pe(job, ski_job_process_of(job, pe)));
}

#endif
