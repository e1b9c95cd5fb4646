/* SPDX-License-Identifier: Apache-2.0 */
/* user_thread.c - the calls of skua/thread.h, and the handlers behind them. */
#include <errno.h>
#include <stdint.h>

#include "base/config.h"
#include "base/rlimit.h"
#include "core/message/addr_tag.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/sched/thread.h"
#include "core/sched/thread_move.h"
#include "core/isomalloc/isomalloc.h"
#include "core/sched/wait.h"

#define STACK_MIN ((size_t)8192)
#define STACK_MAX ((size_t)1 << 40)

static uint64_t thread_tag(const struct ski_pe *self, const struct skua_thread *thread)
{
    return ski_addr_tag(self->job, SKI_TAG_THREAD, self->pe, (uintptr_t)thread, 0);
}

/* Returns whether @p thread, which may come from another host, is a thread of this PE. */
static bool thread_is_ours(const struct ski_pe *self, const struct skua_thread *thread)
{
    return !self->net || (ski_addr_tag_readable(self->job, thread, sizeof *thread) &&
                          ski_addr_tag_peek(&thread->tag) == thread_tag(self, thread));
}

void ski_thread_link(struct ski_pe *self, struct skua_thread *thread)
{
    ski_assert(!thread->next && !thread->previous);
    thread->next = self->threads.first;
    if (thread->next)
        thread->next->previous = thread;
    self->threads.first = thread;
}

void ski_thread_unlink(struct ski_pe *self, struct skua_thread *thread)
{
    if (thread->next)
        thread->next->previous = thread->previous;
    if (thread->previous)
        thread->previous->next = thread->next;
    else {
        ski_assert(self->threads.first == thread);
        self->threads.first = thread->next;
    }
    thread->next = thread->previous = NULL;
}

static void thread_free(struct ski_pe *self, struct skua_thread *thread)
{
    ski_assert(ski_thread_done(thread) && !thread->joiners && thread != self->thread);
    thread->tag = 0;
    ski_pool_free(&self->pool, thread);
}

/* Frees what a thread that has ended no longer needs. */
static void thread_end(struct ski_pe *self, struct skua_thread *thread)
{
    ski_thread_unlink(self, thread);
    ski_fiber_destroy(&thread->fiber);
    ski_wake_all(self, &thread->joiners);
    if (thread->object) {
        ski_thread_free_owned(self, thread);
        return;
    }
    ski_stack_put(&self->threads.stacks, thread->stack); /* nothing runs on it */
    if (thread->detached)
        thread_free(self, thread);
}

/* A thread has ended, or one that runs for an object waits. */
static SKI_COLD void thread_left(struct ski_pe *self, struct skua_thread *thread)
{
    void *object = thread->object;
    bool  done   = ski_thread_done(thread);

    ski_assert(self->thread == NULL);
    if (done)
        thread_end(self, thread);
    if (object)
        self->threads.left(self, object, done ? NULL : thread);
}

/* The handler of `ready`: runs the thread until it leaves again. */
void ski_on_thread(skua_msg *msg)
{
    struct ski_pe      *self   = ski_self;
    struct skua_thread *thread = (struct skua_thread *)msg; /* its first member */

    ski_thread_enter(self, thread);
    if (thread->flags)
        thread_left(self, thread);
}

/* ---- calls --------------------------------------------------------------- */

skua_thread *skua_thread_create(void (*fn)(void *arg), void *arg, size_t stack_bytes)
{
    struct ski_pe      *self   = SKI_SELF();
    size_t              bytes  = stack_bytes ? stack_bytes : ski_config.stack_size;
    struct skua_thread *thread = ski_pool_alloc(&self->pool, sizeof *thread);

    if (bytes > STACK_MAX)
        ski_misuse("skua_thread_create: a stack of %zu bytes is larger than any memory", bytes);
    if (!thread)
        ski_fatal("no memory for another user thread; raise SKUA_ARENA_SIZE");
    *thread = (struct skua_thread){
        .ready = {.handler = SKI_HANDLER_THREAD, .source = self->pe},
        .stack = ski_stack_get(&self->threads.stacks, bytes < STACK_MIN ? STACK_MIN : bytes),
        .fn    = fn,
        .arg   = arg,
        .pe    = self->pe,
        .tag   = self->net ? thread_tag(self, thread) : 0,
    };
    if (!thread->stack.low)
        ski_fatal("the system has no memory for the stack of another user thread (this PE made "
                  "%llu); see vm.max_map_count%s",
                  (unsigned long long)self->stats.threads, ski_rlimit_advice(ENOMEM));
    ski_thread_prepare(thread);
    self->stats.threads++;
    ski_thread_link(self, thread);
    ski_thread_unblock(self, thread);
    return thread;
}

void skua_thread_set_name(skua_thread *thread, const char *name)
{
    thread->name = name;
}

skua_thread *skua_thread_self(void)
{
    return SKI_SELF()->thread;
}

static struct skua_thread *thread_running(struct ski_pe *self, const char *call)
{
    if (!self->thread)
        ski_misuse("%s: called outside of a user thread", call);
    return self->thread;
}

void skua_thread_yield(void)
{
    struct ski_pe      *self   = SKI_SELF();
    struct skua_thread *thread = thread_running(self, __func__);

    thread->wait        = self->threads.stays ? SKI_THREAD_STAYS : SKI_THREAD_YIELDS;
    self->threads.stays = false;
    ski_thread_unblock(self, thread);
    ski_thread_block(self);
    thread->wait = SKI_THREAD_STAYS;
}

void ski_thread_send_packets(bool now)
{
    struct ski_pe *self = ski_self; /* of the PE to which the thread may have moved */

    if (!self || !self->thread || !(self->queue.events & SKI_EVENT_NET) || !ski_net_urge(self, now))
        return;
    self->threads.stays = true; /* the caller continues with what it knows of this PE */
    skua_thread_yield();
}

void skua_thread_suspend(void)
{
    struct ski_pe      *self   = SKI_SELF();
    struct skua_thread *thread = thread_running(self, __func__);

    if (!thread->resumed) {
        thread->suspended = true;
        thread->blocked   = SKI_CALL;
        thread->wait      = SKI_THREAD_SUSPENDED;
        ski_thread_block(self);
        thread->wait         = SKI_THREAD_STAYS;
        thread->blocked.name = NULL;
        thread->suspended    = false;
    }
    thread->resumed = false;
}

static void thread_resume(struct ski_pe *self, struct skua_thread *thread)
{
    if (thread->suspended && !thread->resumed)
        ski_thread_unblock(self, thread);
    thread->resumed = true;
}

void skua_thread_resume(skua_thread *thread)
{
    skua_thread_resume_on(thread->pe, thread);
}

void skua_thread_resume_on(int pe, skua_thread *thread)
{
    struct ski_pe *self = SKI_SELF();

    if (self->iso && ski_isomalloc_contains(thread)) /* pe may be of a former job of more PEs */
        pe = ski_thread_find_owned(self, thread, pe);
    else if (SKI_UNLIKELY((uint32_t)pe >= (uint32_t)self->pes))
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", __func__, pe,
                   self->pes - 1);
    if (pe == self->pe)
        thread_resume(self, thread);
    else if (pe >= 0)
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_THREAD_RESUME}, &thread, sizeof thread);
}

void ski_on_thread_resume(skua_msg *msg)
{
    struct ski_pe      *self   = ski_self;
    struct skua_thread *thread = *(struct skua_thread **)skua_msg_data(msg);

    if (self->iso && ski_isomalloc_contains(thread)) {
        skua_msg_free(msg);
        skua_thread_resume_on(self->pe, thread);
        return;
    }
    if (!thread_is_ours(self, thread)) {
        ski_net_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    thread_resume(self, thread);
}

void skua_thread_join(skua_thread *thread)
{
    struct ski_pe *self = SKI_SELF();

    if (!thread)
        ski_misuse("skua_thread_join: there is no thread");
    if (thread == self->thread || thread->detached)
        ski_misuse("skua_thread_join: thread %s %s", ski_thread_name(thread),
                   thread->detached ? "was detached" : "cannot join itself");
    while (!ski_thread_done(thread))
        if (!ski_wait_on(self, &thread->joiners, SKI_CALL))
            return; /* the job ends */
    thread_free(self, thread);
}

void skua_thread_detach(skua_thread *thread)
{
    if (ski_thread_done(thread))
        thread_free(SKI_SELF(), thread);
    else
        thread->detached = true;
}
