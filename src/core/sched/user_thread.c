/* SPDX-License-Identifier: Apache-2.0 */
/* user_thread.c - the calls of skua/thread.h, and the handlers behind them. */
#include <stdint.h>

#include "base/config.h"
#include "core/message/addr_tag.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/sched/thread.h"
#include "core/sched/wait.h"

#define STACK_LEAST ((size_t)8192)
#define STACK_MOST  ((size_t)1 << 40)

static uint64_t thread_tag(const struct ski_pe *self, const struct skua_thread *thread)
{
    return ski_addr_tag(self->job, SKI_TAG_THREAD, self->pe, (uintptr_t)thread, 0);
}

/* Whether @p thread, which may come from another host, is the address of a thread of ours. */
static bool thread_is_ours(const struct ski_pe *self, const struct skua_thread *thread)
{
    return !self->net || (ski_addr_tag_may_look(self->job, thread, sizeof *thread) &&
                          ski_addr_tag_peek(&thread->tag) == thread_tag(self, thread));
}

static void thread_link(struct ski_pe *self, struct skua_thread *thread)
{
    thread->next = self->threads.first;
    if (thread->next)
        thread->next->previous = thread;
    self->threads.first = thread;
}

static void thread_unlink(struct ski_pe *self, const struct skua_thread *thread)
{
    if (thread->next)
        thread->next->previous = thread->previous;
    if (thread->previous)
        thread->previous->next = thread->next;
    else
        self->threads.first = thread->next;
}

static void thread_free(struct ski_pe *self, struct skua_thread *thread)
{
    thread->tag = 0;
    ski_pool_free(&self->pool, thread);
}

/* The handler of `ready`: switch to the thread until it leaves again. */
void ski_on_thread(skua_msg *msg)
{
    struct ski_pe      *self   = ski_self;
    struct skua_thread *thread = (struct skua_thread *)msg; /* its first member */

    ski_thread_enter(self, thread);
    if (!thread->done)
        return;
    thread_unlink(self, thread);
    ski_stack_put(&self->threads.stacks, thread->stack); /* nobody runs on it any more */
    ski_fiber_destroy(&thread->fiber);
    ski_wake_all(self, &thread->joiners);
    if (thread->detached)
        thread_free(self, thread);
}

/* ---- calls --------------------------------------------------------------- */

skua_thread *skua_thread_create(void (*fn)(void *arg), void *arg, size_t stack_bytes)
{
    struct ski_pe      *self   = SKI_SELF();
    size_t              bytes  = stack_bytes ? stack_bytes : ski_config.stack_size;
    struct skua_thread *thread = ski_pool_alloc(&self->pool, sizeof *thread);

    if (bytes > STACK_MOST)
        ski_misuse("skua_thread_create: a stack of %zu bytes", bytes);
    if (!thread)
        ski_fatal("no memory for another user thread; raise SKUA_ARENA_SIZE");
    *thread = (struct skua_thread){
        .ready = {.handler = SKI_HANDLER_THREAD, .source = self->pe},
        .stack = ski_stack_get(&self->threads.stacks, bytes < STACK_LEAST ? STACK_LEAST : bytes),
        .fn    = fn,
        .arg   = arg,
        .pe    = self->pe,
        .tag   = self->net ? thread_tag(self, thread) : 0,
    };
    if (!thread->stack.low)
        ski_fatal("the system has no memory for the stack of another user thread (this PE made "
                  "%llu)",
                  (unsigned long long)self->stats.threads);
    ski_thread_prepare(thread);
    self->stats.threads++;
    thread_link(self, thread);
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
    struct ski_pe *self = SKI_SELF();

    ski_thread_unblock(self, thread_running(self, __func__));
    ski_thread_block(self);
}

void skua_thread_suspend(void)
{
    struct ski_pe      *self   = SKI_SELF();
    struct skua_thread *thread = thread_running(self, __func__);

    if (!thread->resumed) {
        thread->suspended = true;
        thread->blocked   = SKI_CALL;
        ski_thread_block(self);
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

    if (pe == self->pe)
        thread_resume(self, thread);
    else
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_RESUME}, &thread, sizeof thread);
}

void ski_on_resume(skua_msg *msg)
{
    struct skua_thread *thread = *(struct skua_thread **)skua_msg_data(msg);

    if (!thread_is_ours(ski_self, thread)) {
        ski_far_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    thread_resume(ski_self, thread);
}

void skua_thread_join(skua_thread *thread)
{
    struct ski_pe *self = SKI_SELF();

    if (thread == self->thread || thread->detached)
        ski_misuse("skua_thread_join: thread %s %s", ski_thread_name(thread),
                   thread->detached ? "was detached" : "cannot join itself");
    while (!thread->done)
        if (!ski_wait_on(self, &thread->joiners, SKI_CALL))
            return; /* the job ends */
    thread_free(self, thread);
}

void skua_thread_detach(skua_thread *thread)
{
    if (thread->done)
        thread_free(SKI_SELF(), thread);
    else
        thread->detached = true;
}
