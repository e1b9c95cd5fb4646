/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - user threads, as the scheduler sees them.
 *
 * A thread is in the arena, so that its address can be sent; its stack is memory of its process.
 * A thread that runs for an object which can migrate is in the isomalloc range
 * (isomalloc/isomalloc.h), at the top of its stack, and moves with the object (thread_move.h).
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

/* The kinds of waits of a thread.  A thread moves only while it waits in one of those that follow
 * SKI_THREAD_STAYS: what these use afterwards is on its stack, or is looked up again. */
enum ski_thread_wait {
    SKI_THREAD_STAYS,     /* it runs, or waits in something that does not move */
    SKI_THREAD_YIELDS,    /* skua_thread_yield()                               */
    SKI_THREAD_SUSPENDED, /* skua_thread_suspend()                             */
    SKI_THREAD_WAITS,     /* for a future or a counter                         */
    SKI_THREAD_MIGRATES,  /* skua_migrate_now()                                */
};

/* Flags that ski_on_thread() reads when a thread has left its stack. */
enum { SKI_THREAD_DONE = 1, SKI_THREAD_OWNED = 2 };

/* A user thread. */
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
    uint8_t     flags;     /* SKI_THREAD_DONE: fn has returned; SKI_THREAD_OWNED: see `object` */
    uint8_t     wait;      /* enum ski_thread_wait                      */
    bool        detached;
    void       *joiners; /* wait list */
    void       *charged; /* the object that its time is charged to; NULL: none */
    uint64_t    tag;     /* of its address (addr_tag.h); 0 once it is free */

    /* Of a thread that moves with an object (thread_move.h); pins and replies of any thread. */
    void                *object;   /* NULL: the thread stays on its PE                      */
    struct skua_thread **siblings; /* the list of the threads of the object                 */
    struct skua_thread  *sibling;  /* the next of them                                      */
    void               **list;     /* the wait list of the last wait                        */
    struct ski_waiter   *waiter;   /* its entry there                                       */
    void                *last;     /* *list, while the object migrates                      */
    void                *replies;  /* answers that its entries owe (objects/chare/entry.c)  */
    uint32_t             pins;     /* reasons to stay here: mutexes, calls of the runtime   */
    uint32_t             entry;    /* the handler that the thread was made for              */
    int32_t              migrated; /* a skua_status: what skua_migrate_now() returns        */
    bool                 on_host;  /* uses a message of the arena: it stays on this host    */
    bool                 queued;   /* while it migrates: it was ready                       */

    struct ski_call     blocked;         /* no name: the thread does not wait */
    struct skua_thread *next, *previous; /* in ski_threads.first */
};

/** Returns whether @p thread has ended. */
static inline bool ski_thread_done(const struct skua_thread *thread)
{
    return thread->flags & SKI_THREAD_DONE;
}

/** Lets the packets leave that the running thread, if there is one, has sent to other hosts: they
 * wait for the scheduler, and would do so while the thread computes.  Unless @p now, they may wait
 * for others if the PE usually sends those soon. */
void ski_thread_send_packets(bool now);

/** Keeps the running thread, if there is one, on this PE until ski_thread_unpin(). */
static inline void ski_thread_pin(const struct ski_pe *self)
{
    if (self->thread)
        self->thread->pins++;
}

/** Ends what ski_thread_pin() began. */
static inline void ski_thread_unpin(const struct ski_pe *self)
{
    if (self->thread && self->thread->pins > 0)
        self->thread->pins--;
}

/** Suspends the calling thread; returns after ski_thread_unblock(). */
void ski_thread_block(struct ski_pe *self);

/** Queues a blocked thread of this PE. */
static inline void ski_thread_unblock(struct ski_pe *self, struct skua_thread *thread)
{
    ski_queue_push(&self->queue, &thread->ready, 0);
}

/** Runs @p thread until it blocks or ends. */
void ski_thread_enter(struct ski_pe *self, struct skua_thread *thread);

/** Adds a thread of this PE to the list of its PE. */
void ski_thread_link(struct ski_pe *self, struct skua_thread *thread);

/** Removes a thread from the list of its PE. */
void ski_thread_unlink(struct ski_pe *self, struct skua_thread *thread);

/** Prepares a thread that has its stack, function and argument to be entered. */
void ski_thread_prepare(struct skua_thread *thread);

/** Marks the end of the stack of @p thread, if no guard does. */
void ski_thread_set_canary(const struct skua_thread *thread);

/** Returns what errors call @p thread. */
static inline const char *ski_thread_name(const struct skua_thread *thread)
{
    return thread->name ? thread->name : "(no name)";
}

/** Returns whether @p address is in the guard of the running thread's stack. */
bool ski_thread_guards(const struct ski_pe *self, const void *address);

#endif
