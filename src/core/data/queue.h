/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the messages that wait on a PE, by priority.
 *
 * Three queues: expedited messages; messages of priority 0, nearly all of them; the others in a
 * heap. Order of service: expedited, heap items below 0, priority 0, the rest of the heap.
 *
 * The event mask `events` is 0 while only messages of priority 0 wait, so that the common case
 * reads one word and one queue.  The scheduler keeps its other reasons for a slow pass in the same
 * mask.
 */
#ifndef SKI_QUEUE_H
#define SKI_QUEUE_H

#include <stdbool.h>

#include "base/prioq.h"
#include "core/data/msg_list.h"

/* The event mask: reasons for a slow pass of the scheduler. */
enum {
    SKI_EVENT_PRIORITY  = 1,   /* a message is expedited or in the heap  */
    SKI_EVENT_TIMERS    = 2,   /* a timer is running                     */
    SKI_EVENT_BACKLOG   = 4,   /* messages wait for room in inboxes      */
    SKI_EVENT_EXIT      = 8,   /* the job ends                           */
    SKI_EVENT_NET       = 16,  /* the network has its turn (pe/progress.h) */
    SKI_EVENT_DOORBELLS = 32,  /* the PE has rung doorbells for itself   */
    SKI_EVENT_POLLED_0  = 64,  /* memory is polled: hook 0 ...           */
    SKI_EVENT_POLLED_1  = 128, /* ... and 1 (sched/scheduler.h)          */
    SKI_EVENT_PRESSED   = 256, /* memory was short (message/backpressure.h) */

    SKI_EVENT_POLLED = SKI_EVENT_POLLED_0 | SKI_EVENT_POLLED_1,
    SKI_EVENT_SENDS  = SKI_EVENT_BACKLOG | SKI_EVENT_PRESSED, /* a message is sent the slow way */
};

/* The queues of one PE. */
struct ski_queue {
    struct ski_list  plain;
    uint32_t         events;         /* SKI_EVENT_... */
    uint64_t         pushed, popped; /* messages since the PE began */
    uint64_t         special; /* `pushed` when a message with a priority last came; 0: never */
    struct ski_list  expedited;
    struct ski_prioq heap;
};

/** Makes @p queue empty. */
void ski_queue_init(struct ski_queue *queue);
/** Frees the heap; messages are not freed. */
void ski_queue_destroy(struct ski_queue *queue);

/** Slow path of ski_queue_push(): @p msg has a priority or is expedited. */
SKI_COLD void ski_queue_push_special(struct ski_queue *queue, struct skua_msg *msg);

/** Slow path of ski_queue_pop(): some message has a priority or is expedited. */
SKI_COLD struct skua_msg *ski_queue_pop_special(struct ski_queue *queue);

/** Queues @p msg.  @p flags are those of the message, passed separately so that its memory, which
 * may be in the cache of another core, need not be read. */
static inline void ski_queue_push(struct ski_queue *queue, struct skua_msg *msg, unsigned flags)
{
    queue->pushed++;
    if (SKI_UNLIKELY(flags & SKI_MSG_SPECIAL))
        ski_queue_push_special(queue, msg);
    else
        ski_list_push(&queue->plain, msg);
}

/** Returns whether @p msg has a priority with which it is behind all messages of priority 0. */
bool ski_queue_is_behind(const struct skua_msg *msg);

/** Queues the messages of @p list, which were popped before, in their order and before all others
 * as far as priorities allow.  They are subtracted from `popped`. */
void ski_queue_put_back(struct ski_queue *queue, struct ski_list *list);

/** Removes @p msg, of priority 0, from the queue.  Returns false if it is not there.  The caller
 * counts it in `popped`. */
bool ski_queue_remove(struct ski_queue *queue, const struct skua_msg *msg);

/** Calls @p fn for each message, in no particular order. */
void ski_queue_each(const struct ski_queue *queue, void (*fn)(struct skua_msg *msg, void *arg),
                    void                   *arg);

/** Removes and returns the next message; NULL: there is none.  The caller counts it in `popped`. */
static inline struct skua_msg *ski_queue_pop(struct ski_queue *queue)
{
    if (queue->events & SKI_EVENT_PRIORITY)
        return ski_queue_pop_special(queue);
    return ski_list_pop(&queue->plain);
}

#endif
