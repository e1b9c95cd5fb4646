/* SPDX-License-Identifier: Apache-2.0 */
/* queue_test.c - the order in which messages leave the queue, and what putting some back does. */
#include "core/data/queue.h"

#include <stdlib.h>

#include "tests/tap.h"

#define MESSAGES 200

static _Alignas(64) struct skua_msg queue_test_msg[MESSAGES];
static struct ski_queue queue_tested;

/* Queues message @p i with a random priority of -1, 0 or 1, or expedited (2). */
static void queue_test_push(int i, int kind)
{
    struct skua_msg *msg = &queue_test_msg[i];

    *msg = (struct skua_msg){.source = i, .bytes = 0};
    if (kind == 2)
        msg->flags = SKI_MSG_EXPEDITED;
    else if (kind)
        msg->flags = SKI_MSG_INT, msg->priority = kind;
    ski_queue_push(&queue_tested, msg, msg->flags);
}

static struct skua_msg *queue_test_pop(void)
{
    struct skua_msg *msg = ski_queue_pop(&queue_tested);

    queue_tested.popped += msg != NULL;
    return msg;
}

/* The place of a message in the order of service: expedited, -1, 0, 1. */
static int queue_test_rank(const struct skua_msg *msg)
{
    return msg->flags & SKI_MSG_EXPEDITED ? -2 : msg->priority;
}

static bool queue_test_is_behind(uint8_t flags, int32_t priority)
{
    const struct skua_msg msg = {.flags = flags, .priority = priority};

    return ski_queue_is_behind(&msg);
}

/* Returns whether all that is queued leaves by rank, and within a rank in the order of coming. */
static bool queue_test_in_order(void)
{
    struct skua_msg *last = queue_test_pop(), *msg;

    while ((msg = queue_test_pop())) {
        if (queue_test_rank(msg) < queue_test_rank(last) ||
            (queue_test_rank(msg) == queue_test_rank(last) && msg->source < last->source))
            return false;
        last = msg;
    }
    return queue_tested.pushed == queue_tested.popped &&
           !(queue_tested.events & SKI_EVENT_PRIORITY);
}

/* Takes the first @p count messages and puts them back. */
static void queue_test_put_back(int count)
{
    struct ski_list list;

    ski_list_init(&list);
    while (count-- > 0)
        ski_list_push(&list, queue_test_pop());
    ski_queue_put_back(&queue_tested, &list);
}

static void queue_test_count(struct skua_msg *msg, void *arg)
{
    (void)msg;
    ++*(int *)arg;
}

/* Removes every third message of priority 0, and the last one. */
static bool queue_test_remove(void)
{
    bool removed = true;
    int  left    = 0;

    for (int i = 1; i < MESSAGES; i += 3) {
        removed &= ski_queue_remove(&queue_tested, &queue_test_msg[i]);
        queue_tested.popped++;
        removed &= !ski_queue_remove(&queue_tested, &queue_test_msg[i]);
    }
    ski_queue_each(&queue_tested, queue_test_count, &left);
    return removed && left == MESSAGES - (MESSAGES + 1) / 3;
}

int main(void)
{
    uint64_t seed = tap_seed();

    ski_queue_init(&queue_tested);
    for (int i = 0; i < MESSAGES; i++)
        queue_test_push(i, 0);
    OK(queue_test_is_behind(SKI_MSG_INT, 1) && !queue_test_is_behind(0, 0) &&
           !queue_test_is_behind(SKI_MSG_INT, -1) &&
           !queue_test_is_behind(SKI_MSG_INT | SKI_MSG_EXPEDITED, 1),
       "a less urgent priority is behind priority 0, and no other is");
    OK(queue_tested.events == 0, "messages of priority 0 set no event");
    OK(queue_test_in_order(), "and leave in the order of coming");
    for (int i = 0; i < MESSAGES; i++)
        queue_test_push(i, (int)(tap_random(&seed) % 4) - 1);
    OK(queue_test_in_order(), "others leave by priority, then in the order of coming");
    for (int i = 0; i < MESSAGES; i++)
        queue_test_push(i, 0);
    queue_test_put_back(7);
    OK(queue_test_in_order(), "messages of priority 0 that were put back go first");
    for (int i = 0; i < MESSAGES; i++)
        queue_test_push(i, (int)(tap_random(&seed) % 4) - 1);
    queue_test_put_back(30);
    OK(queue_test_in_order(), "priorities hold among those that were put back");
    for (int i = 0; i < MESSAGES; i++)
        queue_test_push(i, 0);
    OK(queue_test_remove(), "messages can be removed");
    queue_test_push(MESSAGES - 1, 0);
    OK(queue_test_in_order(), "and the others leave in the order of coming, new ones last");
    ski_queue_destroy(&queue_tested);
    return tap_end();
}
