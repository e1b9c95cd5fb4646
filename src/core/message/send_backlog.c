/* SPDX-License-Identifier: Apache-2.0 */
/* send_backlog.c - see send_backlog.h. */
#include "core/message/send_backlog.h"

#include "base/memory.h"
#include "core/message/backpressure.h"
#include "core/pe/pe.h"

/* What waits for one PE. */
struct ski_backlog {
    struct ski_backlog *next;
    int                 pe;
    struct ski_list     messages;
};

static struct ski_backlog *find(struct ski_pending *pending, int pe)
{
    struct ski_backlog *backlog = pending->first;

    while (backlog && backlog->pe != pe)
        backlog = backlog->next;
    return backlog;
}

static struct ski_backlog *add(struct ski_pending *pending, int pe)
{
    struct ski_backlog *backlog = ski_malloc(sizeof *backlog);

    backlog->pe   = pe;
    backlog->next = pending->first;
    ski_list_init(&backlog->messages);
    return pending->first = backlog;
}

static bool push(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    return ski_msg_try_push(self, pe, msg->handler, msg);
}

/* Sends as much as there is room for; true when nothing is left. */
static bool flush(struct ski_pe *self, struct ski_backlog *backlog)
{
    while (backlog->messages.first) {
        struct skua_msg *next = backlog->messages.first->link; /* ours until it is sent */

        if (!push(self, backlog->pe, backlog->messages.first))
            return false;
        backlog->messages.first = next;
        self->pending.waiting--;
    }
    ski_list_init(&backlog->messages);
    return true;
}

static bool pending_waits(struct ski_pe *self, int pe, uint64_t *moved)
{
    ski_pending_flush(self);
    *moved = self->stats.sent_pointer;
    return find(&self->pending, pe) != NULL;
}

void ski_pending_send(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    struct ski_backlog *backlog = find(&self->pending, pe);

    if ((!backlog || flush(self, backlog)) && push(self, pe, msg))
        return;
    if (!backlog)
        backlog = add(&self->pending, pe);
    ski_list_push(&backlog->messages, msg);
    self->pending.waiting++;
    self->stats.deferred++;
    self->queue.attention |= SKI_ATTEND_PENDING;
    if (ski_backpressure_sender(self, msg->handler))
        ski_backpressure_wait(self, pe, pending_waits);
}

void ski_pending_flush(struct ski_pe *self)
{
    struct ski_backlog **at = &self->pending.first;

    while (*at) {
        struct ski_backlog *backlog = *at;
        if (flush(self, backlog)) {
            *at = backlog->next;
            free(backlog);
        } else {
            at = &backlog->next;
        }
    }
    if (!self->pending.first)
        self->queue.attention &= ~(uint32_t)SKI_ATTEND_PENDING;
}

void ski_pending_destroy(struct ski_pending *pending)
{
    while (pending->first) {
        struct ski_backlog *backlog = pending->first;
        pending->first              = backlog->next;
        free(backlog);
    }
}
