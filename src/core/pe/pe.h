/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - the state of one PE, in the memory of its process.
 *
 * Only the thread of the PE touches it.  What other PEs need is in the arena: its inbox and its
 * heap (transport/host/host.h).  Modules and layers own the members that bear their names; most are
 * opaque here.
 */
#ifndef SKI_PE_H
#define SKI_PE_H

#include <skua/scheduler.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/pool.h"
#include "boot/boot.h"
#include "core/data/queue.h"
#include "core/data/timer_heap.h"
#include "core/pe/progress.h"
#include "core/thread/fiber.h"
#include "core/thread/stack.h"
#include "transport/host/host.h"

struct ski_blocked;
struct ski_collectives;
struct ski_completion_tags;
struct ski_continuation;
struct ski_future_use;
struct ski_isomalloc;
struct ski_idle;
struct ski_net_port;
struct ski_objects;
struct ski_pe;

#define SKI_INBOX_CREDITS 32 /* inboxes whose credits a PE caches */

/* The credit of a PE for the inbox of another one that it has sent to recently. */
struct ski_inbox_credits {
    int32_t           pe;
    struct ski_credit credit;
};

/* Reasons for a pass of the scheduler that takes longer. */
enum {
    SKI_LOOP_RINGS = 1, /* the inbox has several rings                    */
    SKI_LOOP_HOLDS = 2, /* the inbox is not polled for the moment (hold)  */
};

/* Loops of the scheduler around what runs now (scheduler.c). */
struct ski_loop {
    uint32_t depth;     /* 0 in start()                                           */
    uint32_t polling;   /* calls of skua_poll() among them                        */
    uint64_t doorbell;  /* queue.popped after the last doorbell, at least         */
    uint64_t polled;    /* queue.popped when memory was last polled, and ...      */
    uint64_t polled_at; /* ... the ticks at that moment                          */
    uint32_t slow;      /* SKI_LOOP_...                                           */
    uint64_t unchecked; /* messages run without checks while queue.popped is less  */
    uint64_t hold;      /* the inbox is not polled while queue.popped is less     */
    uint64_t held;      /* queue.popped when that was last decided, and ...       */
    uint64_t since;     /* ... the ticks at that moment                           */
    uint64_t drained;   /* queue.popped when the inbox was last drained            */
    uint64_t quick;     /* ticks of a quick message                               */
    uint64_t looked;    /* queue.popped when `pressed' was last found out         */
    uint64_t looked_at; /* `since' at that moment                                 */
    uint64_t marked;    /* queue.popped when the marks of several rings were read */
    bool     pressed;   /* the inbox must be drained now                          */
    bool     brief;     /* messages were quick when `hold' was last decided       */
    bool     stop;      /* skua_stop() was called                                 */
};

/* Sends that wait for room in an inbox (send_backlog.c). */
struct ski_send_backlog {
    struct ski_backlog *first;   /* of PEs                                  */
    uint64_t            waiting; /* messages, which no other counter counts */
};

/* Senders that were held back (backpressure.c). */
struct ski_backpressure {
    int      gave_up_on;    /* the PE for which patience ended, or -1                    */
    uint64_t gave_up_moved; /* messages that had left for it by then                     */
    uint64_t burst_popped;  /* queue.popped when the handler that runs was called        */
    uint32_t burst;         /* sends without room since                                  */
};

/* User threads (sched/thread.h). */
struct ski_threads {
    struct skua_thread *first; /* all that have not ended                     */
    struct ski_fiber    fiber; /* the scheduler's own, while a thread runs    */
    struct ski_stacks   stacks;
    bool                stays; /* the next yield is of the runtime: the thread does not move */

    /* Called when a thread that runs for @object waits; @thread is NULL if the thread has ended. */
    void (*left)(struct ski_pe *self, void *object, struct skua_thread *thread);
};

struct ski_pe {
    /* Read by every pass and every send. */
    struct ski_reader      reader; /* of the PE's inbox                           */
    struct ski_queue       queue;
    uint32_t               idle_passes; /* empty passes since the clock was last read    */
    uint32_t               idle_limit;  /* empty passes until it is read again              */
    struct ski_progress    progress;    /* of the network                              */
    int32_t                pe, pes;
    int32_t                first;   /* PEs from here on, `near` of them, have neighbouring */
    uint32_t               near;    /* inboxes: as in struct ski_job */
    char                  *inboxes; /* as in struct ski_host, at this PE's ring    */
    bool                   sole;    /* this PE is the sole sender of that ring     */
    size_t                 stride;
    const skua_handler_fn *handler;
    uint32_t               handlers; /* their ids are 1 .. handlers */
    uint32_t               sendable; /* equal to handlers; 0: sends are checked (ownership.h) */
    void (*on_doorbell)(struct ski_pe *self); /* handles the doorbell that is next in the inbox */
    void (*on_own_doorbell)(struct ski_pe *self); /* handles one that the PE rang for itself */
    skua_stats               stats;
    struct ski_inbox_credits credits[SKI_INBOX_CREDITS];
    struct ski_pool          pool;

    /* The position of the PE in the job. */
    struct ski_job  *job;
    struct ski_host *host;
    int              process;
    int              index; /* on this host */

    /* State of modules of core, each owned by the file that its type names. */
    struct ski_loop             loop;
    struct ski_idle            *idle;      /* scheduler.c */
    const struct ski_polled    *polled[2]; /* progress.h */
    struct ski_send_backlog     backlog;
    struct ski_backpressure     backpressure;
    struct ski_timer_heap       timers;
    struct skua_thread         *thread; /* running, or NULL */
    struct ski_threads          threads;
    struct ski_isomalloc       *iso;           /* isomalloc/isomalloc.c, or NULL           */
    struct ski_blocked         *blocked;       /* calls on the PE's own stack that wait */
    struct ski_completion_tags *tags;          /* completion.c                          */
    struct ski_continuation    *continuations; /* those that have not happened (future.c) */
    struct ski_future_use      *future_uses;   /* results of futures in use           */
    struct ski_collectives     *collectives;   /* collective/                           */
    struct ski_net_port        *net;           /* net/peer.h; NULL in a job on one host */
    void                       *data;          /* pe_data.c                             */

    /* State of the layers above. */
    void               *onesided;
    struct ski_objects *objects;
    bool        before_wait; /* a layer wants to be called before the next wait (layer.h)  */
    uint64_t    held;        /* messages delivered that the runtime keeps (msg_counts.h)    */
    uint32_t    counted;     /* packets in the queue of SKI_HANDLES_COUNTED                 */
    const void *released_at; /* code that releases a message, if that is checked          */
};

/** Sets SKI_EVENT_EXIT if the job ends.  Called with every batch of arrivals and when idle, which
 * is often enough since skua_exit() wakes all PEs.  Relaxed: the flag and the exit code are one
 * word. */
static inline void ski_pe_check_exit(struct ski_pe *self)
{
    if (SKI_UNLIKELY(atomic_load_explicit(&self->job->exit, memory_order_relaxed) != 0))
        self->queue.events |= SKI_EVENT_EXIT;
}

/** Records that memory is short, if it is (message/backpressure.h): until it no longer is, messages
 * by address are sent the slow way, and consumed cells are published in each pass of the scheduler.
 */
static inline void ski_pe_note_pressure(struct ski_pe *self)
{
    if (SKI_UNLIKELY(ski_arena_pressed(self->pool.arena)))
        self->queue.events |= SKI_EVENT_PRESSED;
}

/** Returns whether this PE has noted that the job ends. */
static inline bool ski_pe_exiting(const struct ski_pe *self)
{
    return self->queue.events & SKI_EVENT_EXIT;
}

/** Removes the doorbell that is next in the inbox, which has been handled.  It counts as a message
 * that was delivered (msg_counts.h). */
static inline void ski_pe_doorbell_answered(struct ski_pe *self)
{
    ski_assert(self->reader.next->flags & SKI_MSG_WAKEUP && self->reader.next->handler);
    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
    self->stats.received++;
    self->queue.pushed++;
    self->queue.popped++;
    ski_pe_check_exit(self);
}

/** The PE of the calling thread, or NULL.  Initial-exec makes it one load, also in the shared
 * library. */
extern _Thread_local struct ski_pe *ski_self __attribute__((tls_model("initial-exec")));

/** Returns the PE of the calling thread.  For code after a wait of a user thread, which may
 * continue on another PE: the compiler computes the address of ski_self once in a function. */
struct ski_pe *ski_pe_now(void);

/** Returns whether @p self is a PE that programs do not see (transport/host/host.h). */
static inline bool ski_pe_hidden(const struct ski_pe *self)
{
    return self->pe >= self->pes;
}

/** Returns whether @p id is the number of a handler. */
static inline bool ski_pe_has_handler(const struct ski_pe *self, uint32_t id)
{
    return id - 1 < self->handlers; /* 0 wraps around */
}

/** Ends the job: @p call was made by a thread that is not a PE. */
SKI_COLD _Noreturn void ski_not_a_pe(const char *call);

/** Returns the PE of the calling thread, for public calls; ends the job if the thread has none. */
static inline struct ski_pe *ski_pe_of_caller(const char *call)
{
    struct ski_pe *self = ski_self;

    if (SKI_UNLIKELY(!self))
        ski_not_a_pe(call);
    return self;
}

/** The PE of the thread that has called the public function that this stands in. */
#define SKI_SELF() ski_pe_of_caller(__func__)

#endif
