/* SPDX-License-Identifier: Apache-2.0 */
/* onesided.c - start and end of the layer, and what connects its sub-folders. */
#include "onesided/onesided.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/net/net.h"
#include "onesided/buffer/buffer.h"
#include "onesided/buffer/buffer_data.h"
#include "onesided/buffer/buffer_pe.h"
#include "onesided/channel/channel.h"
#include "onesided/channel/channel_pe.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/region/region_pe.h"
#include "onesided/region/region_table.h"
#include "onesided/region/registration.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/region/symmetric_vote.h"
#include "onesided/rma/accumulate.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/am_reply.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/rma_request.h"
#include "onesided/sync/barrier.h"
#include "onesided/sync/lock_remote.h"
#include "onesided/sync/sync_pe.h"
#include "onesided/team/team_packet.h"
#include "onesided/team/team_send.h"
#include "onesided/team/team_split.h"

/* Modules that are notified of the end of a region. */
static const struct ski_region_observer onesided_observers[] = {
    {.removed = ski_rkey_revoke},             /* the driver's registration of its memory */
    {.piece_freed = ski_channel_check_freed}, /* channels and senders that use it        */
    {.removed = NULL},
};

skua_status ski_onesided_create(struct ski_job *job)
{
    size_t                    stripes   = SKI_STRIPES * sizeof(struct ski_stripe);
    size_t                    head      = (sizeof(struct ski_onesided_root) + 63) & ~(size_t)63;
    size_t                    barriers  = (size_t)job->local_pes * sizeof(struct ski_barrier);
    size_t                    accessing = (size_t)job->local_pes * sizeof(_Atomic int32_t);
    struct ski_onesided_root *root;
    void                     *span;
    skua_status               status;

    status = ski_span_alloc(job->arena, head + stripes + barriers + accessing, &span);
    if (status != SKUA_OK)
        return status;
    root            = span; /* a fresh arena is all zeros: free locks, counters at 0 */
    root->stripes   = (struct ski_stripe *)(void *)((char *)span + head);
    root->barrier   = (struct ski_barrier *)(void *)((char *)span + head + stripes);
    root->accessing = (_Atomic int32_t *)(void *)((char *)span + head + stripes + barriers);
    job->onesided   = root;
    return ski_regions_create(job, &root->regions);
}

/* Packets whose data the driver receives, or core copies, to where they belong. */
static const struct ski_placement am_placement   = {.place  = ski_am_recv_alloc,
                                                    .placed = ski_am_recv_done,
                                                    .take   = ski_am_recv_inline,
                                                    .small  = true};
static const struct ski_placement team_placement = {
    .place = ski_team_place, .placed = ski_team_placed, .until_exit = true};

/* Operations of external threads may be in flight: the driver has to be done with their memory.
 * Completions within the driver are those of @p self, which no thread runs as now. */
static void onesided_end_external(struct ski_pe *self)
{
    struct ski_pe *caller = ski_self;

    ski_self = self;
    while (ski_rma_pe(self)->at_driver > 0)
        ski_net_progress(self);
    ski_self = caller;
    ski_onesided_end(self);
}

/* Begins in a process, before its PEs do. */
static void onesided_open(const struct ski_boot *boot)
{
    ski_onesided_set_job(boot->job, boot->process);
    /* Where the system lets only parents access their children: the other processes of the job, all
     * children of its starter, may access this one. */
    prctl(PR_SET_PTRACER, (unsigned long)boot->job->starter, 0, 0, 0);
    ski_regions_open(boot->job, boot->process, ski_onesided->regions, onesided_observers);
    ski_rkey_cache_open(ski_am_query_rkey);
    ski_external_open(boot, ski_onesided_begin, onesided_end_external);
    ski_net_set_placement(SKI_HANDLER_AM_REQUEST, &am_placement);
    ski_net_set_placement(SKI_HANDLER_AM_REPLY, &am_placement);
    ski_net_set_placement(SKI_HANDLER_BUFFER_DATA, &ski_buffer_placement);
    ski_net_set_placement(SKI_HANDLER_CHANNEL_PUT, &ski_channel_placement);
    ski_net_set_placement(SKI_HANDLER_TEAM, &team_placement);
}

/* The table of regions stays: an external thread may be in a call that uses it (boot.c). */
static void onesided_close(void)
{
    ski_external_close();
    ski_rkey_cache_close();
}

/* Resets the state of the job.  No other process accesses memory of this one by process_vm_readv()
 * now. */
static void onesided_reset(void)
{
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
    ski_symmetric_vote_reset();
    ski_regions_reset();
    ski_zcopy_threshold_reset();
    ski_onesided_set_job(NULL, -1);
}

void ski_onesided_begin(struct ski_pe *self)
{
    struct ski_onesided_pe *pe = ski_calloc(1, sizeof *pe);

    ski_assert(!self->onesided);
    pe->region = ski_calloc(1, sizeof *pe->region);
    pe->sync   = ski_calloc(1, sizeof *pe->sync);
    pe->rma    = ski_calloc(1, sizeof *pe->rma);
    ski_rma_note_wait(pe->rma, 0);
    pe->buffer     = ski_calloc(1, sizeof *pe->buffer);
    pe->channel    = ski_calloc(1, sizeof *pe->channel);
    pe->team       = ski_calloc(1, sizeof *pe->team);
    self->onesided = pe;
    ski_teams_begin(self);
    ski_channel_pe_begin(self);
    ski_zcopy_threshold_begin(self);
}

/* A PE that has no states has begun no operation. */
static void onesided_before_exit(struct ski_pe *self)
{
    if (ski_onesided_pe(self))
        ski_team_end_accesses(self);
}

bool ski_onesided_is_idle(const struct ski_pe *self)
{
    const struct ski_rma_pe *rma = ski_rma_pe(self);

    return rma->outstanding.entries == 0 && rma->at_driver == 0;
}

void ski_onesided_end(struct ski_pe *self)
{
    struct ski_onesided_pe *pe = ski_onesided_pe(self);

    ski_teams_end(self);
    ski_channel_pe_end(self);
    ski_lock_queues_end();
    ski_buffers_end(self);
    ski_am_origin_end(self);
    ski_am_target_end(self);
    ski_outstanding_end(&pe->rma->outstanding);
    ski_symmetric_vote_end(self);
    ski_rkey_cache_end(self);
    ski_registrations_end(self);
    free(pe->team);
    free(pe->channel);
    free(pe->buffer);
    free(pe->rma);
    free(pe->sync);
    free(pe->region);
    free(pe);
    self->onesided = NULL;
}

const struct ski_layer ski_onesided_layer = {
    .name            = "onesided",
    .create          = ski_onesided_create,
    .open            = onesided_open,
    .close           = onesided_close,
    .reset           = onesided_reset,
    .begin           = ski_onesided_begin,
    .end             = ski_onesided_end,
    .before_sleep    = ski_external_before_sleep,
    .before_exit     = onesided_before_exit,
    .during_shutdown = ski_external_progress,
};
