/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the messages that wait on a PE, and which of them is next.
 *
 * Three queues: expedited messages; messages of priority 0, which are nearly
 * all of them; the others in a heap.  Order of service: expedited, heap items
 * below 0, priority 0, the rest of the heap.
 *
 * `attention` is zero as long as priority 0 is all there is, so that the common
 * case looks at one word and one queue.  The scheduler keeps its other reasons
 * to look further there as well.
 */
#ifndef SKI_QUEUE_H
#define SKI_QUEUE_H

#include "base/prioq.h"
#include "core/data/msg_list.h"

enum {
    SKI_ATTEND_QUEUE   = 1,  /* a message is expedited or in the heap */
    SKI_ATTEND_TIMERS  = 2,  /* a timer is running                    */
    SKI_ATTEND_PENDING = 4,  /* sends wait for room in inboxes        */
    SKI_ATTEND_EXIT    = 8,  /* the job ends                          */
    SKI_ATTEND_FAR     = 16, /* packets come from other hosts         */
    SKI_ATTEND_BELLS   = 32, /* the PE has rung doorbells of its own  */
    SKI_ATTEND_POLLED  = 64, /* memory is polled (sched/scheduler.h) */
};

struct ski_queue {
    struct ski_list  plain;
    uint32_t         attention;
    uint64_t         pushed, popped; /* messages, ever */
    struct ski_list  expedited;
    struct ski_prioq heap;
};

void ski_queue_init(struct ski_queue *queue);
void ski_queue_destroy(struct ski_queue *queue);

/* Slow paths. */
SKI_COLD void             ski_queue_push_special(struct ski_queue *queue, struct skua_msg *msg);
SKI_COLD struct skua_msg *ski_queue_pop_special(struct ski_queue *queue);

/** @p flags are the message's; given apart so that its memory, which may still
 *  be on its way from another core, need not be read. */
static inline void ski_queue_push(struct ski_queue *queue, struct skua_msg *msg, unsigned flags)
{
    queue->pushed++;
    if (SKI_UNLIKELY(flags & SKI_MSG_SPECIAL))
        ski_queue_push_special(queue, msg);
    else
        ski_list_push(&queue->plain, msg);
}

/** Put @p list, in its order, before all that wait, as far as priorities allow.  What it
 *  holds counts as popped before and is that no more. */
void ski_queue_put_back(struct ski_queue *queue, struct ski_list *list);

/** The next message, or NULL, whatever its priority. */
static inline struct skua_msg *ski_queue_pop(struct ski_queue *queue)
{
    if (queue->attention & SKI_ATTEND_QUEUE)
        return ski_queue_pop_special(queue);
    return ski_list_pop(&queue->plain);
}

#endif
