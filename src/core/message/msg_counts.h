/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_counts.h - how many messages a PE has sent and received since it began.
 *
 * The numbers are computed from counters that exist for other purposes, so they cost the fast paths
 * nothing.  A message is *sent* from the call that sends it on, and *received* when its handler is
 * called:
 *
 *      sent      to itself         queue.pushed - stats.received: the queue counts arrivals
 *                to an inbox       stats.sent_inline, stats.sent_pointer
 *                to a full inbox   backlog.waiting, until it is one of those
 *                to other hosts    stats.sent_net, also while it waits for the network
 *      received  handler called    queue.popped
 *                kept for later    less `held`: its handler is yet to use it
 *
 * A user thread that is ready is a message to itself.  Out-of-order packets, packets that the
 * driver holds and messages in an inbox have been sent and not received.  Wake-ups are not
 * messages.  Invalid packets are dropped and not counted.
 *
 * Both numbers only grow, and received <= sent in the sum over all PEs.  In addition `sent` is one
 * too large while something other than a message may cause a send: an operation of the driver, a
 * deferred acknowledgement, a caller of skua_poll().
 */
#ifndef SKI_MSG_COUNTS_H
#define SKI_MSG_COUNTS_H

#include "core/net/net.h"
#include "core/pe/pe.h"

/* Messages of a PE. */
struct ski_msg_counts {
    uint64_t sent, received;
};

/** Returns the counts of @p pe, which is this PE or one that does not run. */
static inline struct ski_msg_counts ski_msg_counts_of(const struct ski_pe *pe)
{
    const skua_stats *stats = &pe->stats;
    bool              busy  = pe->loop.polling > 0 || ski_net_will_send(pe);
    uint64_t          away  = stats->sent_inline + stats->sent_pointer + stats->sent_net;

    return (struct ski_msg_counts){.sent = pe->queue.pushed - stats->received + away +
                                           pe->backlog.waiting + busy,
                                   .received = pe->queue.popped - pe->held};
}

/** Keeps @p msg, which is being delivered, in @p list: it counts as if it were still queued. */
static inline void ski_msg_hold(struct ski_pe *self, struct ski_list *list, struct skua_msg *msg)
{
    self->held++;
    ski_list_push(list, msg);
}

/** Keeps @p msg, which was never queued, in @p list: it counts as a message to this PE itself. */
static inline void ski_msg_hold_new(struct ski_pe *self, struct ski_list *list,
                                    struct skua_msg *msg)
{
    self->queue.pushed++;
    self->queue.popped++;
    ski_msg_hold(self, list, msg);
}

/** Queues the messages of @p list again, in their order and before those that came later. */
static inline void ski_msg_unhold(struct ski_pe *self, struct ski_list *list)
{
    for (const struct skua_msg *msg = list->first; msg; msg = msg->link) {
        ski_assert(self->held > 0);
        self->held--;
    }
    ski_queue_put_back(&self->queue, list);
    if (self->progress.due != UINT64_MAX) /* it is a value of `popped`, which has become less */
        self->progress.due = self->queue.popped;
}

#endif
