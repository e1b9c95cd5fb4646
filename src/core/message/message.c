/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - sending messages. */
#include "core/message/message.h"

#include "core/message/backpressure.h"
#include "core/message/inbox_send.h"
#include "core/message/ownership.h"
#include "core/message/send_backlog.h"
#include "core/net/net.h"
#include "core/pe/handler.h"

bool ski_msg_try_small(struct ski_pe *self, int pe, uint32_t handler, unsigned flags,
                       const void *data, size_t bytes)
{
    return pe != self->pe && ski_inbox_is_near(self, pe) &&
           !(self->queue.events & SKI_EVENT_BACKLOG) &&
           ski_inbox_push_inline(self, pe, handler, flags, data, bytes, 0);
}

bool ski_msg_try_tailed(struct ski_pe *self, int pe, uint32_t handler, const struct skua_msg *msg,
                        const void *tail)
{
    size_t           offset = ski_msg_tail_offset(msg);
    uint64_t         ticket;
    struct ski_cell *cell;

    if (offset + SKI_MSG_TAIL_BYTES > SKI_CELL_DATA || msg->flags || msg->bit_room ||
        pe == self->pe || !ski_inbox_is_near(self, pe) || self->queue.events & SKI_EVENT_BACKLOG)
        return false;
    cell = ski_inbox_reserve(self, pe, &ticket);
    if (!cell)
        return false;
    cell->handler = (uint16_t)handler;
    cell->flags   = SKI_MSG_TAIL;
    cell->bytes   = (uint8_t)msg->bytes; /* without the tail: the receiver copies all of the cell */
    cell->source  = self->pe;
    cell->priority = 0;
    ski_copy_small(cell->data, msg + 1, offset);
    memcpy(cell->data + offset, tail, SKI_MSG_TAIL_BYTES);
    self->stats.sent_inline++;
    ski_inbox_publish(self, pe, cell, ticket);
    return true;
}

/* The sender waits for room in the network while memory is short. */
void ski_msg_send_remote(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg)
{
    ski_assert(self->net && ski_job_index(self->job, pe) < 0 && msg->handler == handler);
    if (ski_net_send(self, pe, msg) && ski_backpressure_sender(self, handler))
        ski_backpressure_wait(self, pe, ski_net_waits, 0);
}

__attribute__((noinline)) void ski_msg_send_away(struct ski_pe *self, int pe, uint32_t handler,
                                                 struct skua_msg *msg)
{
    ski_assert(pe >= 0 && pe < ski_job_all(self->job) && pe != self->pe);
    ski_assert(msg->handler == handler);
    if (SKI_UNLIKELY(!ski_inbox_is_near(self, pe) && ski_job_index(self->job, pe) < 0))
        ski_msg_send_remote(self, pe, handler, msg);
    else if (SKI_UNLIKELY(self->queue.events & SKI_EVENT_SENDS) ||
             !ski_inbox_push(self, pe, handler, msg))
        ski_send_backlog_add(self, pe, msg);
}

/* Ends the job if there is no such PE or handler. */
static SKI_COLD void message_check_send(const struct ski_pe *self, const char *call, int pe,
                                        skua_handler handler)
{
    if (!ski_pe_has_handler(self, handler.id))
        ski_handler_misuse(call, handler.id);
    if ((uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, self->pes - 1);
}

/* Returns whether a send needs no check, or passes the checks. */
static inline bool message_is_plain_send(const struct ski_pe *self, int pe, skua_handler handler)
{
    return SKI_LIKELY(handler.id - 1 < self->sendable && (uint32_t)pe < (uint32_t)self->pes);
}

static inline void message_send(struct ski_pe *self, int pe, skua_handler handler, skua_msg *msg)
{
    msg->handler = (uint16_t)handler.id;
    msg->source  = self->pe;
    ski_msg_post(self, pe, handler.id, msg);
}

static SKI_COLD void message_send_checked(struct ski_pe *self, enum ski_release_call call, int pe,
                                          skua_handler handler, skua_msg *msg, const void *where)
{
    message_check_send(self, ski_release_name(call), pe, handler);
    ski_ownership_send(self, call, msg, handler.id, where, true);
    message_send(self, pe, handler, msg);
}

void skua_send(int pe, skua_handler handler, skua_msg *msg)
{
    struct ski_pe *self = SKI_SELF();

    if (message_is_plain_send(self, pe, handler))
        message_send(self, pe, handler, msg);
    else
        message_send_checked(self, SKI_RELEASE_SEND, pe, handler, msg, __builtin_return_address(0));
}

void skua_enqueue(skua_handler handler, skua_msg *msg)
{
    struct ski_pe *self = SKI_SELF();

    if (message_is_plain_send(self, self->pe, handler))
        message_send(self, self->pe, handler, msg);
    else
        message_send_checked(self, SKI_RELEASE_ENQUEUE, self->pe, handler, msg,
                             __builtin_return_address(0));
}

static inline void message_send_copy(struct ski_pe *self, int pe, skua_handler handler,
                                     const void *data, size_t bytes, int32_t priority)
{
    struct skua_msg *msg;

    if (bytes <= SKI_CELL_DATA && pe != self->pe && ski_inbox_is_near(self, pe) &&
        !(self->queue.events & SKI_EVENT_BACKLOG) &&
        ski_inbox_push_inline(self, pe, handler.id, priority ? SKI_MSG_INT : 0, data, bytes,
                              priority))
        return;
    msg = ski_msg_copy_inline(self, handler.id, data, bytes);
    ski_msg_set_priority(msg, priority);
    ski_msg_post(self, pe, handler.id, msg);
}

static SKI_COLD void message_send_copy_checked(struct ski_pe *self, const char *call, int pe,
                                               skua_handler handler, const void *data, size_t bytes,
                                               int32_t priority)
{
    message_check_send(self, call, pe, handler);
    message_send_copy(self, pe, handler, data, bytes, priority);
}

void skua_send_copy(int pe, skua_handler handler, const void *data, size_t bytes)
{
    struct ski_pe *self = SKI_SELF();

    if (message_is_plain_send(self, pe, handler))
        message_send_copy(self, pe, handler, data, bytes, 0);
    else
        message_send_copy_checked(self, __func__, pe, handler, data, bytes, 0);
}

void skua_send_copy_prio(int pe, skua_handler handler, const void *data, size_t bytes,
                         int32_t priority)
{
    struct ski_pe *self = SKI_SELF();

    if (message_is_plain_send(self, pe, handler))
        message_send_copy(self, pe, handler, data, bytes, priority);
    else
        message_send_copy_checked(self, __func__, pe, handler, data, bytes, priority);
}
