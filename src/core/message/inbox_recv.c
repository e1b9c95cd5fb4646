/* SPDX-License-Identifier: Apache-2.0 */
/* inbox_recv.c - see inbox_recv.h. */
#include "core/message/inbox_recv.h"

#include <string.h>

#include "core/message/msg_alloc.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"

/* Takes a message to an object out of the data of a cell, @p bytes of @p room: target, index in
 * whole words, data. */
static inline void inbox_unpack_object(struct skua_msg *msg, const unsigned char *data,
                                       size_t bytes, size_t room)
{
    size_t   index = room - sizeof msg->target;
    uint64_t target;
    size_t   head;

    memcpy(&target, data, sizeof target);
    head        = (ski_target_bytes(target) + 7) & ~(size_t)7;
    msg->target = target;
    memcpy(msg->index, data + sizeof target,
           index < SKI_MSG_INDEX_BYTES ? index : SKI_MSG_INDEX_BYTES);
    head += sizeof target;
    ski_assert(head <= bytes && bytes <= room);
    msg->bytes = bytes - head;
    memcpy(msg + 1, data + head, room - head);
}

/* Returns a new message with the data of an inline cell. */
static inline struct skua_msg *inbox_unpack(struct ski_pe *self, const struct ski_cell *cell)
{
    struct skua_msg *msg = ski_msg_new(self, SKI_CELL_DATA);

    memcpy(&msg->handler, &cell->handler, SKI_MSG_IN_CELL);
    msg->priority = cell->priority;
    if (cell->flags & SKI_MSG_OBJECT) {
        inbox_unpack_object(msg, cell->data, cell->bytes, SKI_CELL_DATA);
        return msg;
    }
    ski_assert(cell->bytes <= SKI_CELL_DATA && cell->source != self->pe);
    msg->bytes = cell->bytes;
    memcpy(msg + 1, cell->data, SKI_CELL_DATA); /* of a fixed size: a few vector moves */
    return msg;
}

/* Returns a new message with the data of a packed cell of @p source. */
static inline struct skua_msg *inbox_unpack_packed(struct ski_pe *self, const struct ski_cell *cell,
                                                   int32_t source)
{
    const unsigned char *data    = ski_cell_packed_data(cell);
    size_t               bytes   = cell->bytes;
    uint16_t             handler = cell->handler;
    unsigned             flags   = cell->flags;
    struct skua_msg     *msg     = ski_msg_new(self, SKI_CELL_DATA);

    ski_assert(bytes <= SKI_PACKED_DATA && source != self->pe);
    msg->handler = handler;
    msg->source  = source;
    msg->bytes   = bytes;
    if (SKI_LIKELY(bytes <= SKI_PACKED_SHORT)) {
        ski_assert(!(flags & SKI_MSG_OBJECT));
        memcpy(msg + 1, data, SKI_PACKED_SHORT);
    } else if (flags & SKI_MSG_OBJECT) {
        msg->flags = SKI_MSG_OBJECT;
        inbox_unpack_object(msg, data, bytes, SKI_PACKED_DATA);
    } else {
        memcpy(msg + 1, data, SKI_PACKED_DATA);
    }
    return msg;
}

/* Returns the message of a cell that is not packed. */
static inline struct skua_msg *inbox_take(struct ski_pe *self, const struct ski_cell *cell)
{
    ski_assert(!(cell->flags & SKI_MSG_WAKEUP) && cell->handler != 0);
    if (cell->flags & SKI_MSG_POINTER) {
        struct skua_msg *msg = cell->message;

        ski_assert(ski_arena_contains(self->pool.arena, msg));
        ski_prefetch_write(msg);                      /* it will be sent on or freed */
        if (cell->handler == SKI_HANDLER_BROADCAST) { /* the runtime reads its tail next */
            __builtin_prefetch(msg + 1);
            __builtin_prefetch((const char *)(msg + 1) + SKI_CACHE_LINE);
        }
        return msg;
    }
    return inbox_unpack(self, cell);
}

void ski_inbox_answer(struct ski_pe *self)
{
    ski_assert(self->reader.next->flags & SKI_MSG_WAKEUP);
    if (self->reader.next->handler) {
        ski_assert(self->on_doorbell);
        self->on_doorbell(self);
        return;
    }
    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
    ski_pe_check_exit(self);
}

/* Returns whether a doorbell is next in the ring that is read. */
static inline bool inbox_is_doorbell_next(const struct ski_pe *self)
{
    const struct ski_cell *cell = ski_reader_peek_sc(&self->reader);

    return cell && cell->flags & SKI_MSG_WAKEUP && cell->handler;
}

bool ski_inbox_doorbell_next(struct ski_pe *self)
{
    const struct ski_rings *rings = self->reader.rings;

    if (inbox_is_doorbell_next(self))
        return true;
    for (uint32_t i = 0; rings && i < rings->others; i++)
        if (ski_rings_turn_sc(&self->reader) && inbox_is_doorbell_next(self))
            return true;
    return false;
}

/* Returns whether a quarter of a ring is filled, half of what senders that share it use, or a
 * quarter of the packed cells that a sole sender may have in it, or an urgent cell is in it. */
static inline bool inbox_ring_presses(const struct ski_reader *reader)
{
    uint32_t lines = reader->sole ? reader->cells / 16 + 1 : reader->cells / 4;

    return ski_reader_is_urgent_sc(reader) || ski_reader_ahead_sc(reader, lines) != NULL;
}

bool ski_inbox_is_pressing(const struct ski_pe *self)
{
    const struct ski_rings *rings = self->reader.rings;

    for (uint32_t i = 0; rings && i < rings->others; i++)
        if (inbox_ring_presses(&rings->other[i]))
            return true;
    return inbox_ring_presses(&self->reader);
}

static SKI_COLD void inbox_queue_special(struct ski_pe *self, struct skua_msg *msg, unsigned flags)
{
    self->stats.received++;
    ski_queue_push(&self->queue, msg, flags);
}

static inline void inbox_advance(struct ski_reader *reader, bool sole)
{
    if (sole)
        ski_reader_advance_sp(reader);
    else
        ski_reader_advance_mp(reader);
}

static inline void inbox_note_peak(struct ski_pe *self)
{
    uint64_t waiting = self->queue.pushed - self->queue.popped;

    if (waiting > self->stats.queue_peak)
        self->stats.queue_peak = waiting;
}

/* Does what ski_inbox_drain() does, for a ring with a sole sender or not. */
static inline __attribute__((always_inline)) bool inbox_drain(struct ski_pe *self, unsigned limit,
                                                              bool sole)
{
    /* What changes with each cell is in variables, not in self: a store into a message could change
     * self, as far as the compiler knows.  Nothing below reads it there or queues plain messages.
     */
    struct ski_reader reader   = self->reader;
    struct ski_list   plain    = {.last = self->queue.plain.last};
    uint64_t          count    = 0;
    bool              doorbell = false;

    if (sole && reader.left < limit)
        limit = reader.left;
    if (!sole && reader.until - reader.stamp < limit)
        limit = (unsigned)(reader.until - reader.stamp); /* the rest of the visit */
    while (limit-- > 0 && ski_reader_ready_sc(&reader)) {
        const struct ski_cell *cell  = reader.next;
        unsigned               flags = cell->flags;
        struct skua_msg       *msg;

        if (SKI_UNLIKELY(flags & SKI_MSG_WAKEUP)) {
            doorbell = cell->handler != 0;
            if (doorbell)
                break;
            inbox_advance(&reader, sole);
            continue;
        }
        inbox_advance(&reader, sole); /* the cell stays as it is until the head is published */
        msg = sole && SKI_LIKELY(flags & SKI_CELL_PACKED)
                  ? inbox_unpack_packed(self, cell, reader.source)
                  : inbox_take(self, cell);
        if (SKI_UNLIKELY(flags & SKI_MSG_SPECIAL)) {
            inbox_queue_special(self, msg, flags);
            continue;
        }
        ski_list_push(&plain, msg);
        count++;
    }
    self->queue.plain.last = plain.last;
    self->queue.pushed += count;
    self->stats.received += count;
    self->reader.next  = reader.next;
    self->reader.stamp = reader.stamp;
    if (sole) {
        self->reader.left = reader.left;
        self->reader.due  = reader.due;
    }
    ski_reader_tell_sc(&self->reader);
    inbox_note_peak(self);
    ski_pe_check_exit(self);
    return doorbell;
}

bool ski_inbox_drain(struct ski_pe *self, unsigned limit)
{
    return self->reader.sole ? inbox_drain(self, limit, true) : inbox_drain(self, limit, false);
}

/* Prefetches the data of a small message that is handled next, for writing: this PE frees the block
 * and fills it with the data of the next message that it sends. */
static inline void inbox_prefetch_data(const struct skua_msg *msg)
{
    const char *data = (const char *)(msg + 1);

    for (size_t i = 0; msg->bytes <= SKI_MSG_PREFETCH && i < msg->bytes; i += SKI_CACHE_LINE)
        ski_prefetch_write(data + i);
}

struct skua_msg *ski_inbox_take(struct ski_pe *self)
{
    const struct ski_cell *cell = self->reader.next;
    struct skua_msg       *msg  = self->reader.sole && cell->flags & SKI_CELL_PACKED
                                      ? inbox_unpack_packed(self, cell, self->reader.source)
                                      : inbox_take(self, cell);

    if (SKI_MSG_PREFETCH && cell->flags & SKI_MSG_POINTER && cell->handler != SKI_HANDLER_BROADCAST)
        inbox_prefetch_data(msg);
    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
    self->stats.received++;
    self->queue.pushed++;
    ski_pe_check_exit(self);
    return msg;
}
