/* SPDX-License-Identifier: Apache-2.0 */
/* send_backlog.c - see send_backlog.h. */
#include "core/message/send_backlog.h"

#include <string.h>

#include "base/memory.h"
#include "core/message/backpressure.h"
#include "core/message/inbox_send.h"
#include "core/message/ownership.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"

/* Messages that wait for one PE. */
struct ski_backlog {
    struct ski_backlog *next;
    int                 pe;
    struct ski_list     messages;
};

static struct ski_backlog *backlog_find(struct ski_send_backlog *all, int pe)
{
    struct ski_backlog *backlog = all->first;

    while (backlog && backlog->pe != pe)
        backlog = backlog->next;
    return backlog;
}

static struct ski_backlog *backlog_add(struct ski_send_backlog *all, int pe)
{
    struct ski_backlog *backlog = ski_malloc(sizeof *backlog);

    ski_assert(!backlog_find(all, pe));
    backlog->pe   = pe;
    backlog->next = all->first;
    ski_list_init(&backlog->messages);
    return all->first = backlog;
}

/* Returns whether @p msg may travel inside a cell: a message of a program, of this PE, that a cell
 * describes completely.  Checked messages keep their blocks, which have the records. */
static bool backlog_fits_cell(const struct ski_pe *self, const struct skua_msg *msg)
{
    const unsigned flags = SKI_MSG_INT | SKI_MSG_EXPEDITED | SKI_MSG_OBJECT;

    return msg->bytes <= SKI_CELL_DATA && !(msg->flags & ~flags) && !msg->bit_room &&
           msg->handler >= SKI_HANDLERS && msg->source == self->pe && !ski_ownership_checked(self);
}

/* Writes what a cell has of @p msg, a message to an object: its target, its index in whole words
 * and its data.  Returns the number of bytes, or 0 if a cell has no room for them. */
static size_t backlog_pack_object(unsigned char to[SKI_CELL_DATA], const struct skua_msg *msg)
{
    size_t index = (ski_target_bytes(msg->target) + 7) & ~(size_t)7;
    size_t head  = sizeof msg->target + index;

    if (ski_target_long(msg->target) || head + msg->bytes > SKI_CELL_DATA)
        return 0;
    memcpy(to, &msg->target, sizeof msg->target);
    memcpy(to + sizeof msg->target, msg->index, index);
    memcpy(to + head, msg + 1, msg->bytes);
    return head + msg->bytes;
}

/* Returns whether a small message that had no room as a packed cell is tried as a whole one: a ring
 * takes packed cells in fewer lines, and doorbells, which do not wait for the backlog, could keep
 * it too full for them.  One message follows each doorbell, so that others stay packed. */
static bool backlog_follows_doorbell(const struct ski_pe *self, int pe)
{
    const struct ski_cell *last =
        self->sole ? ski_inbox_last_whole_sp(ski_inbox_of(self, pe), self->reader.cells) : NULL;

    return last && last->flags & SKI_MSG_WAKEUP;
}

/* Sends @p msg, whose receiver had no room.  A small message is copied into a cell and its block
 * stays here: the receiver would fetch the lines of the block from this core, one after the other,
 * while all senders wait for it. */
static bool backlog_push(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    unsigned char packed[SKI_CELL_DATA];
    const void   *data  = msg + 1;
    size_t        bytes = msg->bytes;

    if (!backlog_fits_cell(self, msg))
        return ski_inbox_push(self, pe, msg->handler, msg);
    if (msg->flags & SKI_MSG_OBJECT) {
        data  = packed;
        bytes = backlog_pack_object(packed, msg);
        if (bytes == 0)
            return ski_inbox_push(self, pe, msg->handler, msg);
    }
    if (!ski_inbox_push_inline(self, pe, msg->handler, msg->flags, data, bytes, msg->priority) &&
        !(backlog_follows_doorbell(self, pe) &&
          ski_inbox_push_whole(self, pe, msg->handler, msg->flags, data, bytes, msg->priority)))
        return false;
    skua_msg_free(msg);
    return true;
}

/* Sends as many as there is room for. Returns true if none is left. */
static bool backlog_flush(struct ski_pe *self, struct ski_backlog *backlog)
{
    while (backlog->messages.first) {
        struct skua_msg *next = backlog->messages.first->link; /* ours until it is sent */

        if (!backlog_push(self, backlog->pe, backlog->messages.first))
            return false;
        backlog->messages.first = next;
        ski_assert(self->backlog.waiting > 0);
        self->backlog.waiting--;
    }
    ski_list_init(&backlog->messages);
    return true;
}

static bool backlog_waits(struct ski_pe *self, int pe, uint64_t arg, uint64_t *moved)
{
    (void)arg;
    ski_send_backlog_flush(self);
    *moved = self->stats.sent_pointer + self->stats.sent_inline;
    return backlog_find(&self->backlog, pe) != NULL;
}

/* Returns whether the receiver has not yet taken the cells up to @p ticket. */
static bool backlog_untaken(struct ski_pe *self, int pe, uint64_t ticket, uint64_t *moved)
{
    *moved = ski_inbox_consumed(ski_inbox_of(self, pe));
    return *moved < ticket;
}

/* Holds back the sender of a large message for @p handler, which is in the inbox of @p pe. */
static void backlog_sent_large(struct ski_pe *self, int pe, uint32_t handler)
{
    if (ski_backpressure_sender(self, handler))
        ski_backpressure_wait(self, pe, backlog_untaken, ski_inbox_taken(ski_inbox_of(self, pe)));
}

void ski_send_backlog_add(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    struct ski_backlog *backlog = backlog_find(&self->backlog, pe);
    bool                large   = msg->bytes >= SKI_BACKPRESSURE_LARGE;
    uint32_t            handler = msg->handler; /* the message is the receiver's once it is sent */

    if ((!backlog || backlog_flush(self, backlog)) && backlog_push(self, pe, msg)) {
        if (large)
            backlog_sent_large(self, pe, handler);
        return;
    }
    if (!backlog)
        backlog = backlog_add(&self->backlog, pe);
    ski_assert(backlog->pe == pe && pe != self->pe);
    ski_list_push(&backlog->messages, msg);
    self->backlog.waiting++;
    self->stats.backlogged++;
    self->queue.events |= SKI_EVENT_BACKLOG;
    if (ski_backpressure_sender(self, handler))
        ski_backpressure_wait(self, pe, backlog_waits, 0);
}

void ski_send_backlog_flush(struct ski_pe *self)
{
    struct ski_backlog **at = &self->backlog.first;

    while (*at) {
        struct ski_backlog *backlog = *at;
        if (backlog_flush(self, backlog)) {
            *at = backlog->next;
            free(backlog);
        } else {
            at = &backlog->next;
        }
    }
    ski_assert(!self->backlog.first == (self->backlog.waiting == 0));
    if (!self->backlog.first)
        self->queue.events &= ~(uint32_t)SKI_EVENT_BACKLOG;
}

void ski_send_backlog_destroy(struct ski_send_backlog *all)
{
    while (all->first) {
        struct ski_backlog *backlog = all->first;
        all->first                  = backlog->next;
        free(backlog);
    }
}
