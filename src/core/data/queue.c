/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - see queue.h. */
#include "core/data/queue.h"

void ski_queue_init(struct ski_queue *queue)
{
    *queue = (struct ski_queue){.events = 0};
    ski_list_init(&queue->plain);
    ski_list_init(&queue->expedited);
    ski_prioq_init(&queue->heap);
}

void ski_queue_destroy(struct ski_queue *queue)
{
    ski_prioq_destroy(&queue->heap);
}

static struct ski_prio queue_prio(struct skua_msg *msg)
{
    return msg->flags & SKI_MSG_BITS ? ski_prio_words(ski_msg_words(msg), msg->bit_words)
                                     : ski_prio_int(msg->priority);
}

bool ski_queue_is_behind(const struct skua_msg *msg)
{
    return msg->flags & (SKI_MSG_INT | SKI_MSG_BITS) && !(msg->flags & SKI_MSG_EXPEDITED) &&
           queue_prio((struct skua_msg *)(uintptr_t)msg).key >= SKI_PRIO_ZERO;
}

void ski_queue_push_special(struct ski_queue *queue, struct skua_msg *msg)
{
    queue->special = queue->pushed;
    queue->events |= SKI_EVENT_PRIORITY;
    ski_assert(msg->flags & SKI_MSG_SPECIAL);
    if (msg->flags & SKI_MSG_EXPEDITED)
        ski_list_push(&queue->expedited, msg);
    else
        ski_prioq_push(&queue->heap, queue_prio(msg), msg);
}

/* Returns whether a message of priority 0 goes first among those that are not expedited. */
static bool queue_plain_is_next(const struct ski_queue *queue)
{
    return queue->plain.first &&
           (queue->heap.count == 0 || ski_prioq_key(&queue->heap) >= SKI_PRIO_ZERO);
}

struct skua_msg *ski_queue_pop_special(struct ski_queue *queue)
{
    struct skua_msg *msg = ski_list_pop(&queue->expedited);

    if (!msg && queue_plain_is_next(queue))
        return ski_list_pop(&queue->plain);
    if (!msg)
        msg = ski_prioq_pop(&queue->heap);
    if (!queue->expedited.first && queue->heap.count == 0)
        queue->events &= ~(uint32_t)SKI_EVENT_PRIORITY;
    return msg;
}

/* Queues all of @p list without counting them again. */
static void queue_push_all(struct ski_queue *queue, struct ski_list *list)
{
    struct skua_msg *msg;

    while ((msg = ski_list_pop(list))) {
        ski_queue_push(queue, msg, msg->flags);
        queue->pushed--;
    }
}

/* Puts @p list back if one of its messages has a priority: all others are taken out and queued
 * after it. */
static SKI_COLD void queue_put_back_special(struct ski_queue *queue, struct ski_list *list)
{
    struct ski_list  later;
    struct skua_msg *msg;
    uint64_t         popped = queue->popped;

    ski_list_init(&later);
    while ((msg = ski_queue_pop(queue)))
        ski_list_push(&later, msg);
    queue_push_all(queue, list);
    queue_push_all(queue, &later);
    queue->popped = popped;
}

void ski_queue_put_back(struct ski_queue *queue, struct ski_list *list)
{
    unsigned flags = 0;

    for (const struct skua_msg *msg = list->first; msg; msg = msg->link) {
        flags |= msg->flags;
        ski_assert(queue->popped > 0);
        queue->popped--;
    }
    if (flags & SKI_MSG_SPECIAL)
        queue_put_back_special(queue, list);
    else
        ski_list_prepend(&queue->plain, list);
}

bool ski_queue_remove(struct ski_queue *queue, const struct skua_msg *msg)
{
    struct skua_msg **at = &queue->plain.first;

    while (*at && *at != msg)
        at = &(*at)->link;
    if (!*at)
        return false;
    *at = msg->link;
    if (!*at)
        queue->plain.last = at;
    return true;
}

static void queue_list_each(const struct ski_list *list,
                            void (*fn)(struct skua_msg *msg, void *arg), void *arg)
{
    for (struct skua_msg *msg = list->first; msg; msg = msg->link)
        fn(msg, arg);
}

void ski_queue_each(const struct ski_queue *queue, void (*fn)(struct skua_msg *msg, void *arg),
                    void                   *arg)
{
    queue_list_each(&queue->plain, fn, arg);
    queue_list_each(&queue->expedited, fn, arg);
    for (size_t i = 0; i < queue->heap.count; i++)
        fn(queue->heap.entry[i].item, arg);
}
