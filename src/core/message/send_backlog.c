/* SPDX-License-Identifier: Apache-2.0 */
/* send_backlog.c - see send_backlog.h. */
#include "core/message/send_backlog.h"

#include "base/memory.h"
#include "core/message/backpressure.h"
#include "core/message/inbox_send.h"
#include "core/pe/pe.h"

/* What waits for one PE. */
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

    backlog->pe   = pe;
    backlog->next = all->first;
    ski_list_init(&backlog->messages);
    return all->first = backlog;
}

static bool backlog_push(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    return ski_msg_try_push(self, pe, msg->handler, msg);
}

/* Sends as much as there is room for; true when nothing is left. */
static bool backlog_flush(struct ski_pe *self, struct ski_backlog *backlog)
{
    while (backlog->messages.first) {
        struct skua_msg *next = backlog->messages.first->link; /* ours until it is sent */

        if (!backlog_push(self, backlog->pe, backlog->messages.first))
            return false;
        backlog->messages.first = next;
        self->backlog.waiting--;
    }
    ski_list_init(&backlog->messages);
    return true;
}

static bool backlog_waits(struct ski_pe *self, int pe, uint64_t *moved)
{
    ski_pending_flush(self);
    *moved = self->stats.sent_pointer;
    return backlog_find(&self->backlog, pe) != NULL;
}

void ski_pending_send(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    struct ski_backlog *backlog = backlog_find(&self->backlog, pe);

    if ((!backlog || backlog_flush(self, backlog)) && backlog_push(self, pe, msg))
        return;
    if (!backlog)
        backlog = backlog_add(&self->backlog, pe);
    ski_list_push(&backlog->messages, msg);
    self->backlog.waiting++;
    self->stats.deferred++;
    self->queue.attention |= SKI_ATTEND_PENDING;
    if (ski_backpressure_sender(self, msg->handler))
        ski_backpressure_wait(self, pe, backlog_waits);
}

void ski_pending_flush(struct ski_pe *self)
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
    if (!self->backlog.first)
        self->queue.attention &= ~(uint32_t)SKI_ATTEND_PENDING;
}

void ski_pending_destroy(struct ski_send_backlog *all)
{
    while (all->first) {
        struct ski_backlog *backlog = all->first;
        all->first                  = backlog->next;
        free(backlog);
    }
}
