/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast_order.c - broadcasts of a root are delivered in the order of its calls.
 *
 * Inside a host all broadcasts of a root travel along one tree, which keeps their order.  Between
 * hosts the tree depends on the size of the message (broadcast_segment.c), so a small broadcast may
 * overtake a large one.  There a root numbers its broadcasts, and each PE knows, for each root, the
 * number that it delivers next.  A broadcast that arrives early is forwarded immediately; its
 * delivery waits.  At the root itself a broadcast that the network still reads keeps those after
 * it. Broadcasts with a priority have no order and no number.
 */
#include "base/assert.h"
#include "base/memory.h"
#include "core/collective/broadcast.h"
#include "core/message/message.h"
#include "core/message/msg_counts.h"
#include "core/net/net.h"
#include "core/pe/pe.h"

uint32_t ski_broadcast_number(struct ski_pe *self, const skua_msg *msg)
{
    struct ski_collectives *c = self->collectives;

    if (!ski_job_is_distributed(self->job) || msg->flags & SKI_MSG_SPECIAL)
        return 0;
    if (++c->broadcasts_sent == 0) /* the numbers wrap around, without 0 */
        c->broadcasts_sent = 1;
    return c->broadcasts_sent;
}

/* Returns the number before the one of the next broadcast of @p root. */
static uint32_t *order_last(struct ski_pe *self, int root)
{
    struct ski_collectives *c = self->collectives;

    if (SKI_UNLIKELY(!c->delivered))
        c->delivered = ski_calloc((size_t)self->pes, sizeof *c->delivered);
    return &c->delivered[root];
}

/* Returns how many broadcasts come before number @p number if @p last was delivered last; a large
 * value: it has been delivered. */
static uint32_t order_distance(uint32_t last, uint32_t number)
{
    uint32_t distance = number - last;

    return (number < last ? distance - 1 : distance) - 1; /* there is no number 0 */
}

/* Queues the early broadcasts of @p root that are now next in order. */
static void order_release(struct ski_pe *self, int root, uint32_t *last)
{
    struct ski_list *early = &self->collectives->early, ready;
    skua_msg       **link  = &early->first;

    ski_list_init(&ready);
    while (*link) {
        skua_msg                        *msg  = *link;
        const struct ski_broadcast_tail *tail = ski_broadcast_tail_of(msg);

        if (tail->root != root || order_distance(*last, tail->number) != 0) {
            link = &msg->link;
            continue;
        }
        *last = tail->number;
        *link = msg->link;
        ski_list_push(&ready, msg);
        link = &early->first;
    }
    early->last = link;
    ski_msg_unhold(self, &ready);
}

bool ski_broadcast_in_turn(struct ski_pe *self, skua_msg *msg,
                           const struct ski_broadcast_tail *tail)
{
    uint32_t *last, distance;

    if (tail->number == 0)
        return true;
    last     = order_last(self, tail->root);
    distance = order_distance(*last, tail->number);
    if (SKI_LIKELY(distance == 0)) {
        *last = tail->number;
        if (SKI_UNLIKELY(self->collectives->early.first != NULL))
            order_release(self, tail->root, last);
        return true;
    }
    if (distance < UINT32_MAX / 2)
        ski_msg_hold(self, &self->collectives->early, msg);
    else
        ski_net_drop(self, msg);
    return false;
}

void ski_broadcast_post_local(struct ski_pe *self, skua_msg *msg)
{
    struct ski_list *kept = &self->collectives->local;

    if (SKI_LIKELY(!kept->first && !self->collectives->transfers) || msg->flags & SKI_MSG_SPECIAL ||
        (!kept->first && !ski_segments_read(self, msg)))
        ski_msg_post(self, self->pe, msg->handler, msg);
    else
        ski_msg_hold_new(self, kept, msg);
}

void ski_broadcast_release_local(struct ski_pe *self)
{
    struct ski_list *kept = &self->collectives->local;

    while (kept->first && !ski_segments_read(self, kept->first)) {
        skua_msg *msg = ski_list_pop(kept);

        ski_assert(self->held > 0);
        self->held--;
        ski_msg_post(self, self->pe, msg->handler, msg);
    }
}
