/* SPDX-License-Identifier: Apache-2.0 */
/* shutdown.c - see shutdown.h. */
#include "core/lifecycle/shutdown.h"

#include <stdatomic.h>

#include <skua/pe.h>

#include "base/config.h"
#include "core/message/inbox_recv.h"
#include "core/message/inbox_send.h"
#include "core/message/message.h"
#include "core/message/send_backlog.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"
#include "core/collective/tree.h"

#define ARITY  4
#define NAP_NS UINT64_C(20000000) /* should a wake-up come too early */

/* Of this process. */
static _Atomic int  stopped; /* PEs and helper that have left their schedulers */
static _Atomic int  gone;    /* children of the process in the tree            */
static _Atomic bool leaving, bye, over;

/* ---- telling ------------------------------------------------------------------------ */

static void say(struct ski_pe *self, int process, uint32_t handler, int32_t code)
{
    struct skua_msg *msg = ski_msg_copy(self, handler, &code, sizeof code);

    skua_msg_set_expedited(msg, true);
    ski_msg_post(self, ski_job_first_pe(self->job, process), handler, msg);
}

static struct ski_tree tree_of(const struct ski_job *job, int process)
{
    return ski_tree_at(process, job->processes, 0, ARITY);
}

static void say_to_children(struct ski_pe *self, uint32_t handler)
{
    struct ski_tree tree = tree_of(self->job, self->process);

    for (int i = 0; i < tree.children; i++)
        say(self, ski_tree_child(&tree, i), handler, ski_job_exit_code(self->job));
}

/* Lets the other arenas know that skua_exit(@p code) was called here. */
static void shutdown_tell(struct ski_pe *self, int code)
{
    /* Where process 0 shares our arena it sees the flag. */
    if (ski_job_spread(self->job) && self->job->place[0] < 0)
        say(self, 0, SKI_HANDLER_EXIT, code);
}

/* skua_exit() on this host; false: another PE was first. */
static bool shutdown_exit_here(struct ski_pe *self, int code)
{
    if (!ski_job_exit(self->job, code))
        return false;
    ski_host_wake_all(self->host);
    for (int index = 0; index < self->job->pes_here; index++)
        if (index != self->index)
            ski_msg_poke(self, ski_job_pe_at(self->job, index));
    ski_pe_look_for_exit(self);
    return true;
}

void skua_exit(int code)
{
    struct ski_pe *self = SKI_SELF();

    if (shutdown_exit_here(self, code))
        shutdown_tell(self, code);
}

/* ---- hearing ------------------------------------------------------------------------ */

static int32_t code_in(skua_msg *msg)
{
    int32_t code = *(int32_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    return code;
}

void ski_on_exit(skua_msg *msg)
{
    shutdown_exit_here(ski_self, code_in(msg));
}

void ski_on_gone(skua_msg *msg)
{
    code_in(msg);
    atomic_fetch_add(&gone, 1);
}

void ski_on_bye(skua_msg *msg)
{
    struct ski_job *job = ski_self->job;

    /* What process 0 says counts: others may have called skua_exit() at the same time. */
    atomic_store(&job->exit, SKI_JOB_EXIT | (uint32_t)code_in(msg));
    atomic_store(&bye, true);
}

/* What has arrived: the messages above are run, all others have come too late. */
static void attend(struct ski_pe *self)
{
    struct skua_msg *msg;

    ski_msg_arrivals(self, 64);
    if (ski_msg_bell_next(self))
        ski_msg_poked(self);
    while ((msg = ski_queue_pop(&self->queue))) {
        if (msg->handler >= SKI_HANDLER_EXIT && msg->handler <= SKI_HANDLER_BYE)
            self->handler[msg->handler](msg);
        else if (msg->handler != SKI_HANDLER_THREAD) /* which is no message */
            skua_msg_free(msg);
    }
}

/* ---- leaving ------------------------------------------------------------------------ */

static bool is_over(const struct ski_pe *self)
{
    (void)self;
    return atomic_load(&over);
}

static bool all_gone(const struct ski_pe *self)
{
    return atomic_load(&gone) >= tree_of(self->job, self->process).children &&
           atomic_load(&stopped) == ski_job_pes_of(self->job, self->process) + ski_config.helper;
}

static bool may_go(const struct ski_pe *self)
{
    (void)self;
    return atomic_load(&bye);
}

/* Another thread of ours that waits below. */
static void wake(struct ski_pe *self, int pe)
{
    if (pe != self->pe)
        ski_host_wake(self->host, ski_job_index(self->job, pe));
}

static void until(struct ski_pe *self, bool (*condition)(const struct ski_pe *self))
{
    while (!condition(self)) {
        bool moved = ski_far_progress(self);

        ski_layers_during_shutdown();
        if (self->queue.attention & SKI_ATTEND_PENDING)
            ski_pending_flush(self);
        attend(self);
        if (!moved && !condition(self))
            ski_far_sleep(self, NAP_NS);
    }
}

void ski_leave(struct ski_pe *self)
{
    struct ski_tree tree = tree_of(self->job, self->process);

    if (!self->net)
        return;
    atomic_store(&leaving, true);
    if (self->pe == ski_job_first_pe(self->job, self->process))
        say_to_children(self, SKI_HANDLER_EXIT);
    until(self, ski_far_quiet); /* what we sent has been fetched: nobody reads or writes later */
    atomic_fetch_add(&stopped, 1);
    wake(self, ski_job_first_pe(self->job, self->process));
    if (self->pe == ski_job_first_pe(self->job, self->process)) {
        until(self, all_gone);
        if (self->process > 0) {
            say(self, ski_tree_parent(&tree), SKI_HANDLER_GONE, 0);
            until(self, may_go);
        }
        say_to_children(self, SKI_HANDLER_BYE);
        until(self, ski_far_quiet);
        atomic_store(&over, true);
        for (int i = 0; i < ski_job_pes_of(self->job, self->process); i++)
            wake(self, self->pe + i);
        wake(self, ski_job_helper(self->job, self->process));
    }
    until(self, is_over);
    until(self, ski_far_quiet);
}

/* ---- losing ------------------------------------------------------------------------- */

/* A process that we wait for will not say anything any more. */
static void wait_no_more(const struct ski_pe *self, int process)
{
    struct ski_tree ours   = tree_of(self->job, self->process);
    struct ski_tree theirs = tree_of(self->job, process);

    if (ours.rank > 0 && process == ski_tree_parent(&ours))
        atomic_store(&bye, true);
    else if (theirs.rank > 0 && self->process == ski_tree_parent(&theirs))
        atomic_fetch_add(&gone, 1);
}

void ski_peer_lost(struct ski_pe *self, int pe, const char *why)
{
    int process = ski_job_process_of(self->job, pe);

    if (atomic_load(&leaving)) { /* it may have left; if not, its launcher knows */
        ski_log(SKI_LOG_DEBUG, "PE %d closed its connection at the end: %s", pe, why);
        if (pe < self->pes)
            wait_no_more(self, process);
        return;
    }
    ski_fatal("lost PE %d (process %d): %s", pe, process, why);
}
