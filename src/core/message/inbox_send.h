/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox_send.h - putting messages into the inboxes of other PEs of this host.
 *
 * A cell of an inbox is reserved, filled and published (base/inbox.h).  A message travels as its
 * address, or, if it is small, inside the cell.  Nothing here waits: an inbox that is full is
 * reported, and the caller queues the message in the backlog (send_backlog.h).
 */
#ifndef SKI_INBOX_SEND_H
#define SKI_INBOX_SEND_H

#include "base/copy.h"
#include "core/data/msg.h"
#include "core/pe/pe.h"

/** Wakes @p pe of this host, which sleeps. */
SKI_COLD void ski_inbox_wake(struct ski_pe *self, int pe);

/** Returns the credit of @p self for the inbox of @p pe, from a small table that is indexed by the
 *  low bits of PE numbers; an entry of another PE is replaced. */
static inline struct ski_credit *ski_inbox_credit(struct ski_pe *self, int pe)
{
    struct ski_inbox_credits *entry = &self->credits[(uint32_t)pe % SKI_INBOX_CREDITS];

    if (SKI_UNLIKELY(entry->pe != pe))
        *entry = (struct ski_inbox_credits){pe, {0, 0}};
    return &entry->credit;
}

/** Returns whether the inbox of @p pe is found by arithmetic.  If not, it may still be on this
 *  host. */
static inline bool ski_inbox_is_near(const struct ski_pe *self, int pe)
{
    return SKI_LIKELY((uint32_t)pe - (uint32_t)self->first < self->near);
}

/** Returns the ring of the inbox of the PE @p index of this host that @p self sends to. */
static inline struct ski_inbox *ski_inbox_at(const struct ski_pe *self, size_t index)
{
    return (struct ski_inbox *)(void *)(self->inboxes + index * self->stride);
}

/** Returns the ring of the inbox of @p pe, another PE of this host, that @p self sends to. */
static inline struct ski_inbox *ski_inbox_of(const struct ski_pe *self, int pe)
{
    size_t index = ski_inbox_is_near(self, pe) ? (uint32_t)pe - (uint32_t)self->first
                                               : (size_t)ski_job_index(self->job, pe);

    ski_assert(pe != self->pe && index < (size_t)self->host->all);
    return ski_inbox_at(self, index);
}

/** Reserves a cell of @p inbox, the ring of an inbox that @p self sends to.  Returns NULL if the
 *  ring is full. */
static inline struct ski_cell *ski_inbox_reserve_in(const struct ski_pe *self,
                                                    struct ski_inbox *inbox, uint32_t cells,
                                                    struct ski_credit *credit, uint64_t *tail)
{
    if (self->sole)
        return ski_inbox_reserve_sp(inbox, cells, credit, SKI_CELL_SLOTS, tail);
    if (SKI_UNLIKELY(!ski_inbox_reserve_mp(inbox, cells, credit, tail)))
        return NULL;
    return ski_inbox_cell(inbox, cells, *tail);
}

/** Makes a filled cell of @p inbox, the ring of an inbox that @p self sends to, visible.  Returns
 *  whether the receiver must be woken. */
static inline bool ski_inbox_show(const struct ski_pe *self, struct ski_inbox *inbox,
                                  struct ski_cell *cell, uint64_t tail)
{
    return self->sole ? ski_inbox_publish_sp(inbox, cell, tail) : ski_inbox_publish_mp(cell, tail);
}

/** Reserves a cell in the inbox of @p pe, another PE of this host, to be filled and published;
 *  NULL: the inbox is full. */
static inline struct ski_cell *ski_inbox_reserve(struct ski_pe *self, int pe, uint64_t *tail)
{
    return ski_inbox_reserve_in(self, ski_inbox_of(self, pe), self->reader.cells,
                                ski_inbox_credit(self, pe), tail);
}

/** Publishes a cell that was reserved and has been filled. */
static inline void ski_inbox_publish(struct ski_pe *self, int pe, struct ski_cell *cell,
                                     uint64_t tail)
{
    if (ski_inbox_show(self, ski_inbox_of(self, pe), cell, tail))
        ski_inbox_wake(self, pe);
}

/** Tells @p pe that a message with a priority is in its inbox. */
SKI_COLD void ski_inbox_set_urgent(struct ski_pe *self, int pe);

/** Puts the address of @p msg into the inbox of @p pe.  Returns false if the inbox is full.
 *  @p handler is the one in the header of @p msg; it is passed because the header may still be in
 *  the cache of another core. */
static inline bool ski_inbox_push(struct ski_pe *self, int pe, uint32_t handler,
                                  struct skua_msg *msg)
{
    uint64_t         tail;
    struct ski_cell *cell = ski_inbox_reserve(self, pe, &tail);
    uint8_t          flags;

    ski_assert((uintptr_t)msg % SKI_CACHE_LINE == 0);
    ski_assert(ski_arena_contains(self->pool.arena, msg));
    if (!cell)
        return false;
    /* The header may still be in the cache of another core.  Load it before the first store to the
     * cell: the receiver polls the cell, and would take away its line while it is half filled. */
    flags = msg->flags;
    ski_assert(!(flags & (SKI_MSG_HERE | SKI_MSG_WAKEUP)));
    cell->handler = (uint16_t)handler;
    cell->flags   = flags | SKI_MSG_POINTER;
    cell->message = msg;
    self->stats.sent_pointer++;
    ski_inbox_publish(self, pe, cell, tail);
    if (SKI_UNLIKELY(flags & SKI_MSG_SPECIAL))
        ski_inbox_set_urgent(self, pe);
    return true;
}

/** Returns whether a message with @p flags and @p bytes of data in a cell fits into a packed one,
 *  which has no priority.  One slot is too little for the target and the index of an object. */
static inline bool ski_inbox_packs(unsigned flags, size_t bytes)
{
    return bytes <= SKI_PACKED_DATA && !(flags & SKI_MSG_SPECIAL) &&
           (!(flags & SKI_MSG_OBJECT) || bytes > SKI_PACKED_SHORT);
}

/** Puts @p bytes of data into the inbox of @p pe, in which @p self has a ring of its own, as a
 *  message with @p flags that fits into a packed cell.  Returns false if the inbox is full. */
static inline bool ski_inbox_push_packed(struct ski_pe *self, int pe, uint32_t handler,
                                         unsigned flags, const void *data, size_t bytes)
{
    struct ski_inbox *inbox = ski_inbox_of(self, pe);
    uint32_t          slots = ski_packed_slots(bytes);
    uint64_t          tail;
    struct ski_cell  *cell =
        ski_inbox_reserve_sp(inbox, self->reader.cells, ski_inbox_credit(self, pe), slots, &tail);

    ski_assert(ski_inbox_packs(flags, bytes) && handler <= UINT16_MAX);
    ski_assert(!(flags & ~(unsigned)SKI_MSG_OBJECT));
    if (!cell)
        return false;
    cell->handler = (uint16_t)handler;
    cell->flags   = (uint8_t)(flags | SKI_CELL_PACKED);
    cell->bytes   = (uint8_t)bytes;
    ski_copy_small(ski_cell_packed_data(cell), data, bytes);
    self->stats.sent_inline++;
    if (ski_inbox_publish_packed_sp(inbox, cell, slots, tail))
        ski_inbox_wake(self, pe);
    return true;
}

/** Puts @p bytes of data, at most SKI_CELL_DATA, into the inbox of @p pe as a message with
 *  @p flags, in a whole cell. Returns false if the inbox is full. */
static inline bool ski_inbox_push_whole(struct ski_pe *self, int pe, uint32_t handler,
                                        unsigned flags, const void *data, size_t bytes,
                                        int32_t priority)
{
    uint64_t         tail;
    struct ski_cell *cell = ski_inbox_reserve(self, pe, &tail);

    ski_assert(bytes <= SKI_CELL_DATA && handler <= UINT16_MAX);
    ski_assert(!(flags & ~(unsigned)(SKI_MSG_SPECIAL | SKI_MSG_OBJECT)));
    if (!cell)
        return false;
    cell->handler  = (uint16_t)handler;
    cell->flags    = (uint8_t)flags;
    cell->bytes    = (uint8_t)bytes;
    cell->source   = self->pe;
    cell->priority = priority;
    ski_copy_small(cell->data, data, bytes);
    self->stats.sent_inline++;
    ski_inbox_publish(self, pe, cell, tail);
    if (SKI_UNLIKELY(flags & SKI_MSG_SPECIAL))
        ski_inbox_set_urgent(self, pe);
    return true;
}

/** Puts @p bytes of data, at most SKI_CELL_DATA, into the inbox of @p pe as a message with
 *  @p flags. Returns false if the inbox is full. */
static inline bool ski_inbox_push_inline(struct ski_pe *self, int pe, uint32_t handler,
                                         unsigned flags, const void *data, size_t bytes,
                                         int32_t priority)
{
    if (self->sole && ski_inbox_packs(flags, bytes))
        return ski_inbox_push_packed(self, pe, handler, flags, data, bytes);
    return ski_inbox_push_whole(self, pe, handler, flags, data, bytes, priority);
}

/** Makes @p pe of this host poll its inbox, and restarts its idle time.  Does nothing if its inbox
 *  is full: then the PE polls it anyway.  What the caller stored before, so that @p pe finds it, is
 *  ordered before the look at the inbox. */
void ski_inbox_wakeup(struct ski_pe *self, int pe);

#endif
