/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - the state of one PE, in the memory of its process.
 *
 * Only the PE's own thread touches it.  What other PEs need of it lies in the
 * arena: its inbox, its heap (transport/host/host.h).
 */
#ifndef SKI_PE_H
#define SKI_PE_H

#include <skua/scheduler.h>

#include "base/log.h"
#include "base/pool.h"
#include "boot/boot.h"
#include "core/collective/collective.h"
#include "core/thread/fiber.h"
#include "core/message/send_backlog.h"
#include "core/sched/queue.h"
#include "core/message/slot_table.h"
#include "core/thread/stack.h"
#include "core/sched/timer.h"
#include "core/net/ack_policy.h"
#include "transport/host/host.h"

/* The PEs that a PE sent to lately, and what it knows of their inboxes. */
#define SKI_KNOWN 32

struct ski_objects;

struct ski_known {
    int32_t           pe;
    struct ski_credit credit;
};

/* Tags of completions that a PE has made lately (completion.c). */
#define SKI_DONE_TAGS 16

struct ski_done_tag {
    uint64_t kind, address, arg, tag;
};

/* The PE for which a sender has given up waiting, or -1, and how many messages had left for it. */
struct ski_impatience {
    int      pe;
    uint64_t moved;
};

/* Sends that found no room since the handler that runs was called. */
struct ski_burst {
    uint64_t popped; /* of the queue when it was called */
    uint32_t count;
};

struct ski_pe {
    /* What every pass and every send looks at. */
    struct ski_reader      reader; /* of our inbox                                */
    struct ski_queue       queue;
    uint32_t               idle_passes; /* empty ones since the last look at the clock */
    uint32_t               idle_limit;  /* so many bring the next look                 */
    int32_t                far_passes;  /* until the next look at the network          */
    int32_t                pe, pes;
    int32_t                first;   /* PEs from there on, `near` of them, have neighbouring */
    uint32_t               near;    /* inboxes: as in struct ski_job */
    char                  *inboxes; /* as in struct ski_host                       */
    size_t                 stride;
    const skua_handler_fn *handler;
    uint32_t               handlers;       /* their ids are 1 .. handlers */
    uint32_t               sendable;       /* the same, or 0: sends are checked (ownership.h) */
    void (*ring)(struct ski_pe *self);     /* answers the doorbell that is next in the inbox */
    void (*ring_own)(struct ski_pe *self); /* ... and one that it has rung itself            */
    skua_stats       stats;
    struct ski_known known[SKI_KNOWN];
    struct ski_pool  pool;

    /* The rest. */
    struct ski_job        *job;
    struct ski_host       *host;
    int                    process;
    int                    index;          /* on this host */
    bool                   stop;           /* skua_stop() was called */
    uint64_t               rung;           /* queue.popped after the last doorbell, at least */
    uint64_t               idle_since;     /* ticks; 0: not known               */
    uint64_t               idle_delivered; /* stats.delivered at that moment    */
    uint32_t               idle_yields;    /* since then                        */
    uint32_t               idle_depth;     /* walks of the list of idle callbacks */
    bool                   idle_worked;    /* idle callbacks have nothing to do */
    uint64_t               spin_ticks;     /* idle so long: spin                */
    uint64_t               yield_ticks;    /* idle so long: spin and yield; then sleep */
    uint64_t               look_ticks;     /* of polling between two yields */
    struct ski_pending     pending;
    struct ski_impatience  impatient; /* backpressure.c */
    struct ski_burst       burst;
    struct ski_timers      timers;
    struct ski_idle       *idle;   /* scheduler.c */
    struct skua_thread    *thread; /* running, or NULL */
    struct ski_fiber       fiber;  /* the scheduler's own, while a thread runs */
    struct ski_stacks      stacks;
    struct ski_collectives collectives;
    void                  *data;       /* skua_pe_data                 */
    void                  *onesided;   /* the layer above's            */
    struct ski_objects    *objects;    /* the one above that           */
    uint64_t               held;       /* messages delivered that the runtime keeps for later */
    const void            *giver_at;   /* code that gives a message away, if that is checked */
    uint32_t               loops;      /* of the scheduler around what runs now: 0 in start() */
    uint32_t               polling;    /* calls of skua_poll() around what runs now */
    struct ski_far        *far;        /* its port to other hosts, or NULL */
    void (*late)(struct ski_pe *self); /* the layer above has something to send, or NULL ... */
    uint32_t         late_passes; /* ... for so many passes (deferred_ack.h)                   */
    struct ski_trust late_trust;  /* to be back in the scheduler                       */

    /* The data of a packet that has arrived goes to its place; the message that is left to be
     * run, or NULL: it is not of that kind.  @p data is not aligned. */
    struct skua_msg *(*take)(struct ski_pe *self, const struct skua_msg *head, const char *data);
    size_t (*place)(struct ski_pe *self, const struct skua_msg *head, const char *data, void **to);
    struct skua_msg *(*placed)(struct ski_pe *self, const struct skua_msg *head, const char *data,
                               bool whole);
    uint32_t
        unserved; /* SKI_HANDLER_REQUEST from other hosts in the queue, all their data with them */

    /* Waiting. */
    struct skua_thread *threads; /* all that have not ended                          */
    struct ski_blocked *blocked; /* calls on its own stack that wait (wait.h)        */
    uint64_t            rests;   /* times that all idle callbacks had nothing to do  */
    void (*open_gates)(
        struct ski_pe *self); /* in `begin` of a program (objects/services/program.h)      */

    /* Sleep no longer than it says, in nanoseconds; 0: not at all, it has sent something.  NULL:
     * as long as you like. */
    uint64_t (*before_sleep)(struct ski_pe *self);

    struct ski_slots    broadcasts; /* nodes of those that are waited for */
    struct ski_done_tag done_tags[SKI_DONE_TAGS];

    struct ski_transfer *transfers;      /* broadcasts in segments that are in flight */
    uint64_t             transfers_sent; /* ever */
};

/** Note that the job ends, if it does.  Looked at with every batch of arrivals
 *  and when idle; skua_exit() pokes all PEs, so those are moments enough.
 *  Relaxed: the code comes with the flag, in one word. */
static inline void ski_pe_look_for_exit(struct ski_pe *self)
{
    if (SKI_UNLIKELY(atomic_load_explicit(&self->job->exit, memory_order_relaxed) != 0))
        self->queue.attention |= SKI_ATTEND_EXIT;
}

static inline bool ski_pe_exiting(const struct ski_pe *self)
{
    return self->queue.attention & SKI_ATTEND_EXIT;
}

/** The doorbell that is next in the inbox has been looked at: it counts as a message that has
 *  been delivered (msg_counts.h). */
static inline void ski_pe_rung(struct ski_pe *self)
{
    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
    self->stats.received++;
    self->queue.pushed++;
    self->queue.popped++;
    ski_pe_look_for_exit(self);
}

/** The PE of the calling thread, or NULL.  Initial-exec: one load, also in the
 *  shared library. */
extern _Thread_local struct ski_pe *ski_self __attribute__((tls_model("initial-exec")));

/** A PE, hidden ones included, and its end.  To be called by its thread. */
struct ski_pe *ski_pe_create(const struct ski_boot *boot, int pe);
void           ski_pe_destroy(struct ski_pe *self);

/** skua_exit() on this host; false: somebody was first. */
bool ski_pe_exit(struct ski_pe *self, int code);

/** Whether it is one that programs do not see (transport/host/host.h). */
static inline bool ski_pe_hidden(const struct ski_pe *self)
{
    return self->pe >= self->pes;
}

/* What a thread does when it is a PE: `begin` and `end` are the layers' above. */
struct ski_life {
    void (*begin)(struct ski_pe *self);
    void (*start)(int argc, char **argv); /* or NULL */
    void (*end)(struct ski_pe *self);
    int    argc;
    char **argv;
};

/** Be PE @p pe, on the calling thread, until the job ends. */
void ski_pe_run(const struct ski_boot *boot, int pe, const struct ski_life *life);

/** Whether @p id is that of a handler. */
static inline bool ski_pe_has_handler(const struct ski_pe *self, uint32_t id)
{
    return id - 1 < self->handlers; /* 0 wraps around */
}

/* ski_msg_post() to another PE. */
void ski_msg_send_away(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg);

/** Hand @p msg, whose header is filled in, to @p pe, or queue it here. */
static inline void ski_msg_post(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg)
{
    if (pe != self->pe)
        ski_msg_send_away(self, pe, handler, msg);
    else
        ski_queue_push(&self->queue, msg, msg->flags);
}

SKI_COLD _Noreturn void ski_not_a_pe(const char *call);

/** The same for public calls: a thread that is no PE ends the job. */
static inline struct ski_pe *ski_pe_of_caller(const char *call)
{
    struct ski_pe *self = ski_self;

    if (SKI_UNLIKELY(!self))
        ski_not_a_pe(call);
    return self;
}

#define SKI_SELF() ski_pe_of_caller(__func__)

#endif
