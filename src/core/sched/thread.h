/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - user threads, as the scheduler sees them.
 *
 * A thread lies in the arena, so that its address can be sent; its stack is memory of its process.
 * A thread that is ready waits in the queue of its PE as a message does: `ready` is that message,
 * whose handler switches to the thread.  A thread that waits is in no queue, but in the wait list
 * of what it waits for.
 *
 * Threads switch only to and from the scheduler, on whose stack handlers run.
 */
#ifndef SKI_THREAD_H
#define SKI_THREAD_H

#include <skua/thread.h>

#include "core/thread/fiber.h"
#include "core/data/msg.h"
#include "core/thread/stack.h"
#include "core/pe/pe.h"
#include "core/sched/blocked.h"

struct skua_thread {
    struct skua_msg  ready;
    struct ski_fiber fiber;
    struct ski_stack stack;
    void (*fn)(void *arg);
    void       *arg;
    const char *name;
    int32_t     pe;
    bool        suspended; /* in skua_thread_suspend()                  */
    bool        resumed;   /* resumed before it suspended itself        */
    bool        done;      /* fn has returned                           */
    bool        detached;
    void       *joiners; /* wait list */
    void       *charged; /* the object that its time is charged to; NULL: none */
    uint64_t    tag;     /* of its address (addr_tag.h); 0 once it is free */

    struct ski_call     blocked;         /* no name: the thread does not wait */
    struct skua_thread *next, *previous; /* in ski_threads.first */
};

/** Leaves the calling thread; returns after ski_thread_unblock(). */
void ski_thread_block(struct ski_pe *self);

/** Queues a blocked thread of this PE. */
static inline void ski_thread_unblock(struct ski_pe *self, struct skua_thread *thread)
{
    ski_queue_push(&self->queue, &thread->ready, 0);
}

/** Runs @p thread until it blocks or ends. */
void ski_thread_enter(struct ski_pe *self, struct skua_thread *thread);

/** Prepares a thread that has its stack, function and argument to be entered. */
void ski_thread_prepare(struct skua_thread *thread);

/** Returns what errors call @p thread. */
static inline const char *ski_thread_name(const struct skua_thread *thread)
{
    return thread->name ? thread->name : "(no name)";
}

/** Returns whether @p address is in the guard of the running thread's stack. */
bool ski_thread_guards(const struct ski_pe *self, const void *address);

#endif
