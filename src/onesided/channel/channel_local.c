/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_local.c - local completion of puts: the memory that was put may change again.
 *
 * A put that copies is locally complete when it returns.  Two kinds are not:
 *
 *   - Data that are sent to another host from where they lie (channel_put.c) are read until the
 *     driver says that it is done with them.  It says so in the middle of its own work, where
 *     nothing of the program may run: what is to take place is put into a list, and a message to
 *     this PE, which carries nothing, lets it take place.
 *   - Data that are lent (channel_zcopy.c) are read until the receiver marks the channel.  It then
 *     raises lent->returned, a notification in the sender's memory of the arena (notify.h): it
 *     sends a message only if the sender waits.  A receiver that deletes the channel instead does
 *     not touch that memory, which may be gone: a sender may have closed a channel whose end it
 *     knows of.
 *
 * The sender counts what it has begun, in `sending` and `lendings`; asking costs nothing where the
 * data were copied.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/channel/channel.h"
#include "onesided/rma/rma_request.h"
#include "onesided/rma/rma_pe.h"

/* A completion that is to take place. */
struct ski_due {
    struct ski_due *next;
    skua_completion done;
};

static bool local_is_sent(void *arg)
{
    return ((const skua_sender *)arg)->sending == 0;
}

static bool local_is_returned(const skua_sender *sender)
{
    return !sender->lent || skua_notify_value(&sender->lent->returned) >= sender->lendings;
}

static bool local_is_complete(skua_sender *sender)
{
    return local_is_sent(sender) && local_is_returned(sender);
}

/* ---- data that are sent from where they lie --------------------------------------------- */

/* Takes over what shall take place at the local completion of a sender. */
static skua_completion local_take(skua_sender *sender)
{
    skua_completion local = sender->local;

    sender->local = skua_done_nothing();
    return local;
}

static void local_settle_soon(struct ski_pe *self, skua_sender *sender)
{
    struct ski_channels    *channels = &ski_origin_of(self)->channels;
    struct ski_channel_head head     = {.kind = SKI_CHANNEL_SENT};
    struct ski_due         *due;

    if (sender->local.kind) {
        due           = ski_malloc(sizeof *due);
        *due          = (struct ski_due){channels->due, local_take(sender)};
        channels->due = due;
    }
    ski_msg_post(self, self->pe, SKI_HANDLER_CHANNEL,
                 ski_msg_copy(self, SKI_HANDLER_CHANNEL, &head, sizeof head));
}

void ski_channel_sent(struct ski_pe *self, skua_sender *sender)
{
    ski_origin_of(self)->at_driver--;
    if (--sender->sending > 0)
        return;
    if (sender->local.kind || sender->waiting)
        local_settle_soon(self, sender);
    if (sender->closed)
        free(sender);
}

void ski_channel_settle(struct ski_pe *self)
{
    struct ski_origin *origin = ski_origin_of(self);
    struct ski_due    *due    = origin->channels.due, *next;

    origin->channels.due = NULL;
    for (; due; due = next) {
        next = due->next;
        skua_complete(due->done, NULL, 0);
        free(due);
    }
    ski_wake_all(self, &origin->waiters);
}

/* ---- data that are lent ------------------------------------------------------------------ */

void ski_lent_return(struct ski_lent *lent)
{
    ski_notify_raise(&lent->returned, lent->pe, 1);
}

static void local_returned(struct ski_pe *self, struct ski_expected *expected)
{
    skua_sender *sender =
        (skua_sender *)(void *)((char *)expected - offsetof(skua_sender, expected));

    (void)self;
    skua_complete(local_take(sender), NULL, 0);
}

/* ---- the calls ---------------------------------------------------------------------------- */

bool skua_channel_put_test(skua_sender *sender)
{
    if (!local_is_complete(sender) && !SKI_SELF()->thread)
        skua_poll(1);
    return local_is_complete(sender);
}

bool skua_channel_put_wait(skua_sender *sender)
{
    struct ski_pe *self = SKI_SELF();
    bool           sent = true;

    if (!local_is_sent(sender)) {
        sender->waiting++;
        sent = ski_operations_wait(self, local_is_sent, sender);
        sender->waiting--;
    }
    return sent && (local_is_returned(sender) ||
                    ski_notify_wait(self, &sender->lent->returned, sender->lendings, SKI_CALL));
}

void skua_channel_put_then(skua_sender *sender, skua_completion local)
{
    struct ski_pe *self = SKI_SELF();

    if (sender->local.kind)
        ski_misuse("%s: a completion of this sender, of a channel to PE %d, waits already",
                   __func__, sender->pe);
    if (local_is_complete(sender)) {
        skua_complete(local, NULL, 0);
        return;
    }
    sender->local = local;
    if (!local_is_sent(sender))
        return;
    sender->expected = (struct ski_expected){
        .notify = &sender->lent->returned, .target = sender->lendings, .fn = local_returned};
    if (!ski_notify_expect(self, &sender->expected))
        local_returned(self, &sender->expected);
}

bool ski_channel_unlocal(struct ski_pe *self, skua_sender *sender)
{
    if (sender->local.kind && sender->expected.fn && ski_notify_forget(self, &sender->expected))
        skua_complete(local_take(sender), NULL, 0);
    sender->closed = sender->sending > 0;
    return !sender->closed;
}
