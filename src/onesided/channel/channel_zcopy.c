/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_zcopy.c - puts that copy nothing: the receiver looks at the sender's memory.
 *
 * Both have agreed, the receiver when it created the channel, the sender when he opened it.  A
 * sender that lends has a description of his buffer in the arena, in the receiver's shape; a
 * doorbell carries the description's address, and the receiver's view of the channel is that
 * until it is ready again.  A put from another place only changes where the description
 * begins: one put at most is in flight, so nobody looks at it then.
 *
 * Data are copied, as ever, where the receiver does not reach the sender's memory, where the
 * strides of the sender do not fit the receiver's shape, and where they are so few that they
 * travel in the doorbell.
 *
 * Ordering.  What the sender wrote before the put, in his buffer and the description, comes
 * before the release of the doorbell's cell (ski_inbox_publish_mp()), which pairs with the
 * acquire of the receiver's look at the inbox.  The way back, that the receiver has read before
 * the sender writes again, is the program's: the message, or the put, by which it lets the sender
 * know that it was ready; or that of lent->returned (notify.h), which the receiver raises when it
 * is ready and a sender looks at that asks for local completion.
 */
#include "base/config.h"
#include "onesided/channel/channel.h"

static inline void lend(skua_sender *sender, const char *from)
{
    struct ski_lent *lent = sender->lent;

    if (SKI_UNLIKELY(lent->view.at != from)) /* else the receiver keeps its lines */
        lent->view.at = (void *)(uintptr_t)from;
    sender->lendings++;
    ski_channel_ring(SKI_SELF(), sender, SKI_CHANNEL_LENT, lent);
}

/* To a PE of our process. */
static void put_lent(skua_sender *sender, const char *from)
{
    lend(sender, from);
}

/* To one of another, which reaches the arena. */
static void put_lent_arena(skua_sender *sender, const char *from)
{
    if (SKI_LIKELY(ski_arena_contains(SKI_SELF()->pool.arena, from)))
        lend(sender, from);
    else
        sender->copied(sender, from);
}

void ski_sender_lend(struct ski_pe *self, skua_sender *sender, const struct ski_channel *channel)
{
    struct ski_lent *lent;

    if (ski_config.channels == SKI_CHANNELS_MESSAGE || sender->bytes <= SKI_CELL_DATA)
        return;
    lent = ski_pool_alloc(&self->pool, sizeof *lent);
    if (!lent)
        return;
    if (!ski_layout_reshape(channel->view, &sender->layout, &lent->view)) {
        ski_pool_free(&self->pool, lent);
        return;
    }
    lent->pe       = self->pe;
    lent->returned = (skua_notify)SKUA_NOTIFY_INIT;
    sender->lent   = lent;
    sender->copied = sender->put;
    sender->put    = channel->home == self->process ? put_lent : put_lent_arena;
}
