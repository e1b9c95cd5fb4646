/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_counts.h - how many messages a PE has sent and received, ever.
 *
 * Made of counters that exist anyway, so that nothing is counted for it on the fast
 * paths.  A message is *sent* from the call that sends it on, and *received* when its
 * handler is called:
 *
 *      to itself         queue.pushed - stats.received: the queue also counts arrivals
 *      in the inbox      stats.sent_inline, stats.sent_pointer
 *      of a full inbox   pending.waiting, until it is one of those
 *      to other hosts    stats.sent_far, whether it waits for the network or not
 *
 *      its handler runs  queue.popped
 *      kept for later    but not those in `held`, which are only to be used later
 *
 * A user thread that is ready is a message to itself.  A packet that came before its
 * turn, one that the driver holds, and one in an inbox have been sent and not received.
 * Pokes are no messages.  Packets that are dropped because they make no sense were sent
 * by nobody.
 *
 * Both numbers only grow, and received <= sent in the sum over all PEs.  On top of that
 * `sent` is one too large while something goes on here that will send without a message
 * that leads to it: an operation of the network's, answers that wait to be sent together,
 * a caller of skua_poll().
 */
#ifndef SKI_MSG_COUNTS_H
#define SKI_MSG_COUNTS_H

#include "core/net/net.h"
#include "core/pe/pe.h"

struct ski_traffic {
    uint64_t sent, received;
};

static inline struct ski_traffic ski_traffic_of(const struct ski_pe *pe)
{
    const skua_stats *stats = &pe->stats;
    bool              busy  = pe->loop.polling > 0 || ski_net_will_send(pe);
    uint64_t          away  = stats->sent_inline + stats->sent_pointer + stats->sent_far;

    return (struct ski_traffic){.sent = pe->queue.pushed - stats->received + away +
                                        pe->backlog.waiting + busy,
                                .received = pe->queue.popped - pe->held};
}

/** Keep @p msg, which is being delivered, in @p list: as if it still were in the queue. */
static inline void ski_hold(struct ski_pe *self, struct ski_list *list, struct skua_msg *msg)
{
    self->held++;
    ski_list_push(list, msg);
}

/** The same with a message that was never in the queue: as if it had been sent to oneself. */
static inline void ski_hold_new(struct ski_pe *self, struct ski_list *list, struct skua_msg *msg)
{
    self->queue.pushed++;
    self->queue.popped++;
    ski_hold(self, list, msg);
}

/** Queue the messages of @p list again, in their order and before what is queued by
 *  now: that came later. */
static inline void ski_unhold(struct ski_pe *self, struct ski_list *list)
{
    for (const struct skua_msg *msg = list->first; msg; msg = msg->link)
        self->held--;
    ski_queue_put_back(&self->queue, list);
}

#endif
