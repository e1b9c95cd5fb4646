/* SPDX-License-Identifier: Apache-2.0 */
/* onesided.c - beginning and end of the layer, and the guest of the process. */
#include "onesided/onesided.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/lifecycle/pe_run.h"
#include "core/message/send_backlog.h"
#include "core/sched/scheduler.h"
#include "core/message/msg_counts.h"
#include "onesided/region/symmetric_alloc.h"
#include "onesided/buffer/buffer.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/sync/notify.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region.h"
#include "onesided/region/registration.h"
#include "onesided/rma/am_origin.h"

struct ski_onesided_root *ski_onesided;

static struct ski_boot boot;
static struct ski_pe  *guest; /* made when a thread first needs it */
static pthread_mutex_t guest_lock = PTHREAD_MUTEX_INITIALIZER;

/* Threads that are no PEs inside of our calls, and whether the door is shut. */
static _Atomic int outside;
#define SHUT (1 << 30)

skua_status_t ski_onesided_create(struct ski_job *job)
{
    size_t                    stripes = SKI_STRIPES * sizeof(struct ski_stripe);
    size_t                    head    = (sizeof *ski_onesided + 63) & ~(size_t)63;
    struct ski_onesided_root *made;
    void                     *span;
    skua_status_t             status;

    status =
        ski_span_alloc(job->arena, head + stripes + (size_t)job->pes_here * sizeof *made->barrier,
                       SKI_UNIT_LARGE, &span);
    if (status != SKUA_OK)
        return status;
    made          = span; /* a fresh arena is all zeros: free locks, counters at 0 */
    made->stripes = (struct ski_stripe *)(void *)((char *)span + head);
    made->barrier = (struct ski_barrier *)(void *)((char *)span + head + stripes);
    job->onesided = made;
    return ski_regions_create(job);
}

/* Nobody else looks at the port of a guest that has given up waiting. */
static void progress_guest(void)
{
    if (pthread_mutex_trylock(&guest_lock) != 0)
        return;
    if (guest && guest->net)
        ski_far_progress(guest);
    pthread_mutex_unlock(&guest_lock);
}

/* Packets whose data goes straight to where it belongs. */
static const struct ski_placement request_placement = {ski_request_place, ski_request_placed,
                                                       ski_request_take};
static const struct ski_placement channel_placement = {.take = ski_channel_take};

void ski_onesided_open(const struct ski_boot *our_boot)
{
    boot         = *our_boot;
    ski_onesided = ski_onesided_root(boot.job);
    /* Where the system lets only parents look into their children: the other
     * processes of the job, all children of its starter, may attach to us. */
    prctl(PR_SET_PTRACER, (unsigned long)boot.job->starter, 0, 0, 0);
    ski_regions_open(boot.job, boot.process);
    atomic_store(&outside, 0);
    ski_net_set_placement(SKI_HANDLER_REQUEST, &request_placement);
    ski_net_set_placement(SKI_HANDLER_SERVED, &request_placement);
    ski_net_set_placement(SKI_HANDLER_CHANNEL, &channel_placement);
}

void ski_onesided_close(void)
{
    /* The job is exiting, so none of them waits for long. */
    atomic_fetch_or(&outside, SHUT);
    while (atomic_load(&outside) != SHUT)
        sched_yield();
    if (guest) {
        ski_onesided_end(guest);
        ski_pe_destroy(guest);
        guest = NULL;
    }
    ski_conceal(0); /* all that is left */
    /* The table stays: a thread of the program's own may be at it (boot.c). */
}

void ski_onesided_begin(struct ski_pe *self)
{
    self->onesided = ski_calloc(1, sizeof(struct ski_origin));
    ski_channels_begin(self);
    ski_zero_copy_begin(self);
}

void ski_onesided_end(struct ski_pe *self)
{
    ski_channels_end(self);
    ski_requests_end(self->onesided);
    ski_outstanding_end(&ski_origin_of(self)->outstanding);
    ski_agree_end(self->onesided);
    ski_known_end(self->onesided);
    ski_buffers_end(self->onesided);
    ski_registrations_end(self->onesided);
    free(self->onesided);
}

void ski_onesided_check(const char *call)
{
    if (!ski_onesided)
        ski_misuse("%s: called before skua_main()", call);
}

struct ski_job *ski_origin_job(void)
{
    return boot.job;
}

/* ---- guests ----------------------------------------------------------------- */

bool ski_outside_begin(void)
{
    if (!(atomic_fetch_add(&outside, 1) & SHUT))
        return true;
    ski_outside_end();
    return false;
}

void ski_outside_end(void)
{
    atomic_fetch_sub(&outside, 1);
}

struct ski_traffic ski_guest_traffic(void)
{
    struct ski_traffic traffic = {1, 0};

    if (pthread_mutex_trylock(&guest_lock) != 0)
        return traffic;
    traffic = guest ? ski_traffic_of(guest) : (struct ski_traffic){0, 0};
    pthread_mutex_unlock(&guest_lock);
    return traffic;
}

bool ski_act_begin(struct ski_actor *actor)
{
    actor->self  = ski_self;
    actor->guest = !ski_self;
    if (!actor->guest)
        return true;
    if (!ski_outside_begin())
        return false;
    pthread_mutex_lock(&guest_lock);
    if (!guest) {
        guest = ski_pe_create(&boot, ski_job_guest(boot.job, boot.process));
        ski_onesided_begin(guest);
    }
    ski_self = actor->self = guest;
    return true;
}

void ski_act_end(struct ski_actor *actor)
{
    if (!actor->guest)
        return;
    while ((guest->queue.attention & SKI_ATTEND_PENDING || !ski_far_quiet(guest)) &&
           !ski_job_exiting(boot.job)) {
        ski_pending_flush(guest);
        if (guest->net)
            ski_far_progress(guest);
        sched_yield();
    }
    ski_self = NULL;
    pthread_mutex_unlock(&guest_lock);
    ski_outside_end();
}

const struct ski_layer ski_onesided_layer = {
    .name            = "onesided",
    .create          = ski_onesided_create,
    .open            = ski_onesided_open,
    .close           = ski_onesided_close,
    .begin           = ski_onesided_begin,
    .end             = ski_onesided_end,
    .during_shutdown = progress_guest,
};
