/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_zcopy.c - puts that copy nothing: the receiver reads the sender's memory.
 *
 * Both sides have agreed: the receiver when it created the channel, the sender when it opened it.
 * The sender has a descriptor of its buffer in the arena, in the receiver's layout.  A doorbell
 * carries the address of the descriptor, and the receiver's view of the channel is the descriptor's
 * until the receiver is ready again.  A put from another address only changes where the descriptor
 * begins: at most one put is in flight, so the receiver does not read it at that time.
 *
 * Data are copied where the receiver does not reach the sender's memory, where the strides of the
 * sender do not fit the receiver's layout, and where they are small enough for the doorbell.
 *
 * Ordering.  What the sender wrote before the put, into its buffer and the descriptor, comes before
 * the release of the doorbell's cell (ski_inbox_publish_mp()), which pairs with the acquire when
 * the receiver polls its inbox.  The opposite direction, that the receiver has read before the
 * sender writes again, is the program's: the message or the put by which the receiver says that it
 * is ready; or it is that of zcopy->returned (notify.h), which the receiver raises and which a
 * sender reads that asks for local completion.
 */
#include "base/assert.h"
#include "base/config.h"
#include "onesided/channel/channel.h"

static inline void channel_zcopy_ring(skua_sender *sender, const char *from)
{
    struct ski_zcopy_desc *zcopy = sender->zcopy;

    if (SKI_UNLIKELY(zcopy->view.at != from)) /* else the receiver keeps its cache lines */
        zcopy->view.at = (void *)(uintptr_t)from;
    ski_assert(skua_notify_value(&zcopy->returned) <= sender->zcopy_puts);
    sender->zcopy_puts++;
    ski_channel_ring(SKI_SELF(), sender, SKI_CHANNEL_ZCOPY, zcopy);
}

/* To a PE of the same process. */
static void channel_put_zcopy(skua_sender *sender, const char *from)
{
    channel_zcopy_ring(sender, from);
}

/* To a PE of another process, which reaches the arena. */
static void channel_put_zcopy_arena(skua_sender *sender, const char *from)
{
    if (SKI_LIKELY(ski_arena_contains(SKI_SELF()->pool.arena, from)))
        channel_zcopy_ring(sender, from);
    else
        sender->copied(sender, from);
}

void ski_sender_use_zcopy(struct ski_pe *self, skua_sender *sender,
                          const struct ski_channel *channel)
{
    struct ski_zcopy_desc *zcopy;

    if (ski_config.channels == SKI_CHANNELS_MESSAGE || sender->bytes <= SKI_CELL_DATA)
        return;
    zcopy = ski_pool_alloc(&self->pool, sizeof *zcopy);
    if (!zcopy)
        return;
    if (!ski_layout_reshape(channel->view, &sender->layout, &zcopy->view)) {
        ski_pool_free(&self->pool, zcopy);
        return;
    }
    zcopy->pe       = self->pe;
    zcopy->returned = (skua_notify)SKUA_NOTIFY_INIT;
    sender->zcopy   = zcopy;
    ski_assert(skua_layout_bytes(&zcopy->view) == sender->bytes);
    sender->copied = sender->put;
    sender->put    = channel->home == self->process ? channel_put_zcopy : channel_put_zcopy_arena;
}
