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
#define NAP_NS UINT64_C(20000000) /* sleep at most: a wake-up may come before the sleep */

/* The state of this process, which all its PEs share.  Each flag is set once in a job. */
static _Atomic int  shutdown_threads;  /* that have stopped running messages                */
static _Atomic int  shutdown_children; /* processes below this one that have stopped        */
static _Atomic bool shutdown_begun;    /* a PE has left its scheduler                       */
static _Atomic bool shutdown_released; /* RELEASE has arrived                                  */
static _Atomic bool shutdown_over;     /* RELEASE has been sent on: ports may be closed     */

/* ---- messages ------------------------------------------------------------------------ */

static void shutdown_send(struct ski_pe *self, int process, uint32_t handler, int32_t code)
{
    struct skua_msg *msg = ski_msg_copy(self, handler, &code, sizeof code);

    skua_msg_set_expedited(msg, true);
    ski_msg_post(self, ski_job_first_pe(self->job, process), handler, msg);
}

static struct ski_tree shutdown_tree(const struct ski_job *job, int process)
{
    return ski_tree_at(process, job->processes, 0, ARITY);
}

static void shutdown_send_to_children(struct ski_pe *self, uint32_t handler)
{
    struct ski_tree tree = shutdown_tree(self->job, self->process);

    for (int i = 0; i < tree.children; i++)
        shutdown_send(self, ski_tree_child(&tree, i), handler, ski_job_exit_code(self->job));
}

/* Reports to process 0 that skua_exit(@p code) was called here. */
static void shutdown_notify_root(struct ski_pe *self, int code)
{
    /* A process 0 of this host sees the flag in the arena. */
    if (ski_job_is_distributed(self->job) && self->job->local_index[0] < 0)
        shutdown_send(self, 0, SKI_HANDLER_SHUTDOWN_EXIT, code);
}

/* Begins skua_exit() of @p pe on this host. Returns false if another PE was first. */
static bool shutdown_exit_here(struct ski_pe *self, int pe, int code)
{
    if (!ski_job_exit(self->job, pe, code))
        return false;
    ski_host_wake_all(self->host);
    for (int index = 0; index < self->job->local_pes; index++)
        if (index != self->index)
            ski_inbox_wakeup(self, ski_job_pe_at(self->job, index));
    ski_pe_check_exit(self);
    return true;
}

/* Returns the code with which the job ends.  The system keeps its low eight bits, in which a
 * failure must not read as success.  A phase has the code that was given. */
static int shutdown_code(const struct ski_job *job, int code)
{
    return code != 0 && (code & 255) == 0 && !atomic_load(&job->phased) ? 255 : code;
}

void skua_exit(int code)
{
    struct ski_pe *self = SKI_SELF();
    int            kept = shutdown_code(self->job, code);

    if (!shutdown_exit_here(self, self->pe, kept))
        return;
    shutdown_notify_root(self, kept);
    if (kept != code)
        ski_log(SKI_LOG_WARN,
                "skua_exit: the exit code is 255: of %d the system would keep 0, which means "
                "success; give a code from 0 to 255",
                code);
}

/* ---- handlers ------------------------------------------------------------------------ */

static int32_t shutdown_take_code(skua_msg *msg)
{
    int32_t code = *(int32_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    return code;
}

void ski_on_shutdown_exit(skua_msg *msg)
{
    int pe = msg->source;

    shutdown_exit_here(ski_self, pe, shutdown_take_code(msg));
}

void ski_on_shutdown_stopped(skua_msg *msg)
{
    shutdown_take_code(msg);
    atomic_fetch_add(&shutdown_children, 1);
}

void ski_on_shutdown_release(skua_msg *msg)
{
    struct ski_job *job = ski_self->job;
    uint64_t        pe  = (uint64_t)ski_job_exit_pe(job) << SKI_JOB_EXIT_PE_SHIFT;

    /* The code of process 0 counts: several PEs may have called skua_exit() at the same time. */
    atomic_store(&job->exit, SKI_JOB_EXIT | pe | (uint32_t)shutdown_take_code(msg));
    atomic_store(&shutdown_released, true);
}

/* Runs the messages above that have arrived, and frees all others, which have arrived too late. */
static void shutdown_run_messages(struct ski_pe *self)
{
    struct skua_msg *msg;

    ski_reader_poll_sc(&self->reader);
    ski_inbox_drain(self, 64);
    if (ski_inbox_doorbell_next(self))
        ski_inbox_answer(self);
    while ((msg = ski_queue_pop(&self->queue))) {
        if (msg->handler >= SKI_HANDLER_SHUTDOWN_EXIT &&
            msg->handler <= SKI_HANDLER_SHUTDOWN_RELEASE)
            self->handler[msg->handler](msg);
        else if (msg->handler != SKI_HANDLER_THREAD) /* part of a user thread, and no block */
            skua_msg_free(msg);
    }
}

/* ---- shutdown ------------------------------------------------------------------------ */

static bool shutdown_is_over(const struct ski_pe *self)
{
    (void)self;
    return atomic_load(&shutdown_over);
}

static bool shutdown_all_stopped(const struct ski_pe *self)
{
    return atomic_load(&shutdown_children) >= shutdown_tree(self->job, self->process).children &&
           atomic_load(&shutdown_threads) ==
               ski_job_pes_of(self->job, self->process) + ski_config.progress_thread;
}

static bool shutdown_is_released(const struct ski_pe *self)
{
    (void)self;
    return atomic_load(&shutdown_released);
}

/* Wakes another thread of this process, which sleeps in shutdown_until(). */
static void shutdown_wake(struct ski_pe *self, int pe)
{
    if (pe != self->pe)
        ski_host_wake(self->host, ski_job_index(self->job, pe));
}

/* Progresses the network, the layers and the messages above until @p condition holds. */
static void shutdown_until(struct ski_pe *self, bool (*condition)(const struct ski_pe *self))
{
    while (!condition(self)) {
        bool moved = ski_net_progress(self);

        ski_layers_during_shutdown();
        if (self->queue.events & SKI_EVENT_BACKLOG)
            ski_send_backlog_flush(self);
        shutdown_run_messages(self);
        if (!moved && !condition(self))
            ski_net_sleep(self, NAP_NS);
    }
}

void ski_shutdown(struct ski_pe *self)
{
    struct ski_tree tree = shutdown_tree(self->job, self->process);

    if (!self->net)
        return;
    ski_assert(ski_pe_exiting(self) && !self->thread);
    atomic_store(&shutdown_begun, true);
    if (self->pe == ski_job_first_pe(self->job, self->process))
        shutdown_send_to_children(self, SKI_HANDLER_SHUTDOWN_EXIT);
    shutdown_until(self, ski_net_drained); /* no peer reads or writes memory of this PE later */
    ski_assert(atomic_load(&shutdown_threads) <
               ski_job_pes_of(self->job, self->process) + ski_config.progress_thread);
    atomic_fetch_add(&shutdown_threads, 1);
    shutdown_wake(self, ski_job_first_pe(self->job, self->process));
    if (self->pe == ski_job_first_pe(self->job, self->process)) {
        shutdown_until(self, shutdown_all_stopped);
        if (self->process > 0) {
            shutdown_send(self, ski_tree_parent(&tree), SKI_HANDLER_SHUTDOWN_STOPPED, 0);
            shutdown_until(self, shutdown_is_released);
        }
        shutdown_send_to_children(self, SKI_HANDLER_SHUTDOWN_RELEASE);
        shutdown_until(self, ski_net_drained);
        atomic_store(&shutdown_over, true);
        for (int i = 0; i < ski_job_pes_of(self->job, self->process); i++)
            shutdown_wake(self, self->pe + i);
        shutdown_wake(self, ski_job_progress_pe(self->job, self->process));
    }
    ski_assert(self->loop.polling == 0);
    shutdown_until(self, shutdown_is_over);
    shutdown_until(self, ski_net_drained);
}

void ski_shutdown_reset(void)
{
    atomic_store(&shutdown_threads, 0);
    atomic_store(&shutdown_children, 0);
    atomic_store(&shutdown_begun, false);
    atomic_store(&shutdown_released, false);
    atomic_store(&shutdown_over, false);
}

/* ---- lost peers ------------------------------------------------------------------------- */

/* Stops waiting for a process that is lost. */
static void shutdown_stop_waiting(const struct ski_pe *self, int process)
{
    struct ski_tree ours   = shutdown_tree(self->job, self->process);
    struct ski_tree theirs = shutdown_tree(self->job, process);

    if (ours.rank > 0 && process == ski_tree_parent(&ours))
        atomic_store(&shutdown_released, true);
    else if (theirs.rank > 0 && self->process == ski_tree_parent(&theirs))
        atomic_fetch_add(&shutdown_children, 1);
}

void ski_shutdown_peer_lost(struct ski_pe *self, int pe, const char *why)
{
    int process = ski_job_process_of(self->job, pe);

    if (atomic_load(&shutdown_begun)) { /* the peer may have left; if it died, its launcher knows */
        ski_log(SKI_LOG_DEBUG, "PE %d closed its connection while the job ends: %s", pe, why);
        if (pe < self->pes)
            shutdown_stop_waiting(self, process);
        return;
    }
    ski_fatal("lost PE %d (process %d): %s", pe, process, why);
}
