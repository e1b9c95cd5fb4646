/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_local.c - local completion of puts: the memory that was put may change again.
 *
 * A put that copies is locally complete when it returns.  Two kinds are not:
 *
 *   - Data that are sent to another host without a copy (channel_put.c) are read until the driver
 *     reports that it has sent them.  It reports that from within the driver, where no code of the
 *     program may run: the completion goes into a list, and an empty message to this PE performs
 *     it.
 *   - Data of a zcopy put (channel_zcopy.c) are read until the receiver marks the channel.  It then
 *     raises zcopy->returned, a notification in the sender's memory of the arena (notify.h), and so
 *     sends a message only if the sender waits.  A receiver that destroys the channel instead does
 *     not touch that memory: the sender may have closed the channel and freed the memory.
 *
 * The sender counts what it has begun, in `sending` and `zcopy_puts`; a test costs nothing where
 * the data were copied.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/channel/channel.h"
#include "onesided/channel/channel_pe.h"
#include "onesided/rma/rma_request.h"

/* A completion that is to take place. */
struct ski_channel_due {
    struct ski_channel_due *next;
    skua_completion         done;
};

static bool local_is_sent(void *arg)
{
    return ((const skua_sender *)arg)->sending == 0;
}

static bool local_is_returned(const skua_sender *sender)
{
    return !sender->zcopy || skua_notify_value(&sender->zcopy->returned) >= sender->zcopy_puts;
}

static bool local_is_complete(skua_sender *sender)
{
    return local_is_sent(sender) && local_is_returned(sender);
}

bool ski_channel_put_complete(skua_sender *sender)
{
    return local_is_complete(sender);
}

/* ---- data that are sent without a copy --------------------------------------------- */

/* Takes the completion that a sender has for its local completion. */
static skua_completion local_take(skua_sender *sender)
{
    skua_completion local = sender->local;

    ski_assert(local.kind);
    sender->local = skua_done_nothing();
    return local;
}

static void local_settle_soon(struct ski_pe *self, skua_sender *sender)
{
    struct ski_channel_pe  *channels = ski_channel_pe(self);
    struct ski_channel_head head     = {.kind = SKI_CHANNEL_SENT};
    struct ski_channel_due *due;

    if (sender->local.kind) {
        due           = ski_malloc(sizeof *due);
        *due          = (struct ski_channel_due){channels->due, local_take(sender)};
        channels->due = due;
    }
    ski_channel_send_head(self, self->pe, &head);
}

void ski_channel_send_done(struct ski_pe *self, void *arg)
{
    skua_sender *sender = arg;

    ski_assert(ski_rma_pe(self)->at_driver > 0 && sender->sending > 0);
    ski_rma_pe(self)->at_driver--;
    if (--sender->sending > 0)
        return;
    if (sender->local.kind || sender->waiting)
        local_settle_soon(self, sender);
    if (sender->closed)
        ski_sender_free(sender);
}

void ski_channel_local_complete(struct ski_pe *self)
{
    struct ski_channel_pe  *channels = ski_channel_pe(self);
    struct ski_channel_due *due      = channels->due, *next;

    ski_assert(self == ski_self); /* code of the program runs */
    channels->due = NULL;
    for (; due; due = next) {
        next = due->next;
        skua_complete(due->done, NULL, 0);
        free(due);
    }
    ski_wake_all(self, &ski_rma_pe(self)->waiters);
}

/* ---- data of zcopy puts ----------------------------------------------------------------- */

void ski_zcopy_desc_release(struct ski_zcopy_desc *zcopy)
{
    ski_notify_raise(&zcopy->returned, zcopy->pe, 1);
}

static void local_returned(struct ski_pe *self, struct ski_notify_watch *expected)
{
    skua_sender *sender =
        (skua_sender *)(void *)((char *)expected - offsetof(skua_sender, expected));

    (void)self;
    ski_assert(sender->zcopy);
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
        sent = ski_rma_wait(self, local_is_sent, sender);
        sender->waiting--;
    }
    return sent && (local_is_returned(sender) ||
                    ski_notify_wait(self, &sender->zcopy->returned, sender->zcopy_puts, SKI_CALL));
}

void skua_channel_put_then(skua_sender *sender, skua_completion local)
{
    struct ski_pe *self = SKI_SELF();

    if (sender->local.kind)
        ski_misuse("%s: the sender, of a channel to PE %d, has a completion that has not been "
                   "performed yet",
                   __func__, sender->pe);
    if (local_is_complete(sender)) {
        skua_complete(local, NULL, 0);
        return;
    }
    sender->local = local;
    if (!local_is_sent(sender))
        return;
    sender->expected = (struct ski_notify_watch){
        .notify = &sender->zcopy->returned, .target = sender->zcopy_puts, .fn = local_returned};
    if (!ski_notify_watch_add(self, &sender->expected))
        local_returned(self, &sender->expected);
}

bool ski_channel_local_close(struct ski_pe *self, skua_sender *sender)
{
    if (sender->local.kind && sender->expected.fn &&
        ski_notify_watch_remove(self, &sender->expected))
        skua_complete(local_take(sender), NULL, 0);
    sender->closed = sender->sending > 0;
    return !sender->closed;
}
