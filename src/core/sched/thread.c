/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - switching between the scheduler and user threads (thread.h). */
#include "core/sched/thread.h"

#include <stdint.h>

/* The fiber of the scheduler that switched to the running thread; only AddressSanitizer asks. */
#ifdef SKI_ASAN
#define SKI_FIBER_LEFT (&ski_pe_now()->threads.fiber)
#else
#define SKI_FIBER_LEFT NULL
#endif

#define CANARY UINT64_C(0x736b75612d656e64) /* in the last word of a stack without guard */

static uint64_t *thread_canary(const struct skua_thread *thread)
{
    return (uint64_t *)(void *)(thread->stack.low + thread->stack.guard);
}

bool ski_thread_guards(const struct ski_pe *self, const void *address)
{
    const struct skua_thread *thread = self->thread;

    return thread && (uintptr_t)address - (uintptr_t)thread->stack.low < thread->stack.guard;
}

/* Switches from the running thread to the scheduler. */
static void thread_leave(struct ski_pe *self, bool for_good)
{
    struct skua_thread *thread = self->thread;

    if (SKI_UNLIKELY(!thread->stack.guarded && *thread_canary(thread) != CANARY))
        ski_fatal("user thread %s overran its stack of %zu bytes; ask for a larger one or raise "
                  "SKUA_STACK_SIZE",
                  ski_thread_name(thread), thread->stack.bytes);
    ski_assert(self == ski_self && thread->pe == self->pe);
    self->thread = NULL;
    ski_fiber_leave(&thread->fiber, &self->threads.fiber, for_good);
    ski_context_switch(&thread->fiber.context, self->threads.fiber.context);
    ski_fiber_arrive(&thread->fiber, SKI_FIBER_LEFT); /* perhaps on another PE */
}

void ski_thread_block(struct ski_pe *self)
{
    thread_leave(self, false);
}

void ski_thread_enter(struct ski_pe *self, struct skua_thread *thread)
{
    ski_assert(!self->thread && !ski_thread_done(thread) && thread->pe == self->pe);
    self->thread = thread;
    self->stats.switches++;
    ski_fiber_switch(&self->threads.fiber, &thread->fiber);
}

/* Runs the function of a thread, on the stack of the thread. */
static void thread_body(void *arg)
{
    struct skua_thread *thread = arg;

    ski_assert(ski_self->thread == thread);
    ski_fiber_arrive(&thread->fiber, &ski_self->threads.fiber);
    thread->fn(thread->arg);
    thread->flags |= SKI_THREAD_DONE;
    thread_leave(ski_pe_now(), true);
}

void ski_thread_set_canary(const struct skua_thread *thread)
{
    if (!thread->stack.guarded)
        *thread_canary(thread) = CANARY;
}

void ski_thread_prepare(struct skua_thread *thread)
{
    char *bottom = (char *)thread_canary(thread);

    ski_assert(thread->stack.low && thread->stack.bytes % 16 == 0);
    ski_thread_set_canary(thread);
    ski_fiber_init(&thread->fiber, bottom, thread->stack.bytes);
    thread->fiber.context = ski_context_make(bottom + thread->stack.bytes, thread_body, thread);
}
