/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - allocating, sending and receiving messages. */
#include "core/message/message.h"

#include <string.h>

#include "base/copy.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/ownership.h"
#include "core/pe/pe.h"

/* ---- allocation ---------------------------------------------------------- */

/* What a new message starts with; the half for objects is left as it is. */
static inline struct skua_msg *begin(struct skua_msg *msg, size_t bytes)
{
    msg->bytes = bytes;
    memset(&msg->handler, 0, offsetof(struct skua_msg, link) - offsetof(struct skua_msg, handler));
    msg->link = NULL;
    return msg;
}

/* Memory for @p bytes of data and @p extra bytes behind it, or NULL. */
static SKI_COLD struct skua_msg *new_msg_slow(struct ski_pe *self, size_t bytes, size_t extra)
{
    struct skua_msg *msg = NULL;

    if (bytes < PTRDIFF_MAX)
        msg = ski_pool_alloc(&self->pool, sizeof *msg + bytes + extra);
    else
        ski_error_fail(SKUA_ERR_NOMEM, "a message of %zu bytes is larger than any memory", bytes);
    return msg ? begin(msg, bytes) : NULL;
}

static SKI_COLD struct skua_msg *new_msg_or_die(struct ski_pe *self, size_t bytes, size_t extra)
{
    struct skua_msg *msg = new_msg_slow(self, bytes, extra);

    if (!msg)
        ski_fatal("no memory for a message of %zu bytes: the arena is full; raise SKUA_ARENA_SIZE",
                  bytes);
    return msg;
}

static inline struct skua_msg *new_msg(struct ski_pe *self, size_t bytes)
{
    struct skua_msg *msg = NULL;

    if (SKI_LIKELY(bytes < SKI_SMALL_BYTES))
        msg = ski_pool_at_hand(&self->pool, sizeof *msg + bytes);
    if (SKI_UNLIKELY(!msg))
        return new_msg_or_die(self, bytes, 0);
    return begin(msg, bytes);
}

skua_msg *skua_msg_alloc(size_t bytes)
{
    return new_msg(SKI_SELF(), bytes);
}

skua_status_t skua_msg_try_alloc(size_t bytes, skua_msg **msg)
{
    struct skua_msg *made = new_msg_slow(SKI_SELF(), bytes, 0);

    if (!made)
        return SKUA_ERR_NOMEM;
    *msg = made;
    return SKUA_OK;
}

skua_msg *skua_msg_alloc_bits(size_t bytes, size_t bits)
{
    size_t           words = bits / 32 + (bits % 32 != 0);
    struct skua_msg *msg;

    if (words > UINT16_MAX)
        ski_misuse("skua_msg_alloc_bits: a priority has at most %d bits, not %zu", 32 * UINT16_MAX,
                   bits);
    msg           = new_msg_or_die(SKI_SELF(), bytes, 4 * words + 3); /* 3: to align them */
    msg->bit_room = (uint16_t)words;
    return msg;
}

struct skua_msg *ski_msg_copy(struct ski_pe *self, uint32_t handler, const void *data, size_t bytes)
{
    struct skua_msg *msg = new_msg(self, bytes);

    msg->handler = (uint16_t)handler;
    msg->source  = self->pe;
    if (bytes)
        memcpy(skua_msg_data(msg), data, bytes);
    return msg;
}

static __attribute__((noinline)) void free_slow(struct ski_pe *self, skua_msg *msg,
                                                enum ski_giver giver, const void *where)
{
    if (ski_ownership_checked(self))
        ski_ownership_free(self, giver, msg, where);
    ski_pool_free_slow(&self->pool, msg);
}

static inline void free_msg(struct ski_pe *self, skua_msg *msg, enum ski_giver giver,
                            const void *where)
{
    if (SKI_UNLIKELY(!ski_arena_contains(self->pool.arena, msg)))
        ski_misuse("skua_msg_free: %p is no message", (void *)msg);
    if (SKI_UNLIKELY(!ski_pool_put(&self->pool, msg)))
        free_slow(self, msg, giver, where);
}

void skua_msg_free(skua_msg *msg)
{
    free_msg(SKI_SELF(), msg, SKI_GIVER_FREE, __builtin_return_address(0));
}

void skua_msg_free_when(skua_msg *msg)
{
    free_msg(SKI_SELF(), msg, SKI_GIVER_WHEN, NULL);
}

/* ---- attributes ---------------------------------------------------------- */

size_t skua_msg_size(const skua_msg *msg)
{
    return msg->bytes;
}

int skua_msg_source(const skua_msg *msg)
{
    return msg->source;
}

static void set_flag(skua_msg *msg, unsigned flag, bool on)
{
    msg->flags = (uint8_t)(on ? msg->flags | flag : msg->flags & ~flag);
}

static void set_priority(skua_msg *msg, int32_t priority)
{
    msg->priority = priority;
    set_flag(msg, SKI_MSG_BITS, false);
    set_flag(msg, SKI_MSG_INT, priority != 0);
}

/* The calls below change a message, which must be the caller's. */
static inline void check_use(const char *call, skua_msg *msg)
{
    if (ski_self && ski_ownership_checked(ski_self))
        ski_ownership_use(ski_self, call, msg);
}

void skua_msg_set_priority(skua_msg *msg, int32_t priority)
{
    check_use(__func__, msg);
    set_priority(msg, priority);
}

/* Whether a bit string is 0.1000..., the priority 0 that messages have at first. */
static bool is_plain(const uint32_t *words, size_t n)
{
    if (n == 0 || words[0] != UINT32_C(1) << 31)
        return false;
    for (size_t i = 1; i < n; i++)
        if (words[i] != 0)
            return false;
    return true;
}

skua_status_t skua_msg_set_priority_bits(skua_msg *msg, const uint32_t *words, size_t bits)
{
    size_t    n  = bits / 32 + (bits % 32 != 0);
    uint32_t *to = ski_msg_words(msg);

    check_use(__func__, msg);
    if (n > msg->bit_room)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: a priority of %zu bits, but skua_msg_alloc_bits() made room for %d",
                          __func__, bits, 32 * msg->bit_room);
    memcpy(to, words, n * sizeof *to);
    if (bits % 32)
        to[n - 1] &= ~(UINT32_MAX >> (bits % 32));
    msg->bit_words = (uint16_t)n;
    set_flag(msg, SKI_MSG_INT, false);
    set_flag(msg, SKI_MSG_BITS, !is_plain(to, n)); /* equal ones wait in one queue: FIFO */
    return SKUA_OK;
}

void skua_msg_set_expedited(skua_msg *msg, bool expedited)
{
    check_use(__func__, msg);
    set_flag(msg, SKI_MSG_EXPEDITED, expedited);
}

/* ---- sending ------------------------------------------------------------- */

static SKI_COLD void wake(struct ski_pe *self, int pe)
{
    self->stats.wakes++;
    ski_host_wake(self->host, ski_job_index(self->job, pe));
}

/* What we know of the inbox of @p pe: a small table, by the low bits of PEs. */
static inline struct ski_credit *credit_of(struct ski_pe *self, int pe)
{
    struct ski_known *known = &self->known[(uint32_t)pe % SKI_KNOWN];

    if (SKI_UNLIKELY(known->pe != pe))
        *known = (struct ski_known){pe, {0}};
    return &known->credit;
}

/* Whether its inbox is found by arithmetic; it may be here even if not. */
static inline bool is_near(const struct ski_pe *self, int pe)
{
    return SKI_LIKELY((uint32_t)pe - (uint32_t)self->first < self->near);
}

/* A cell in the inbox of another PE of this host, to be filled and handed to publish(). */
static inline struct ski_cell *reserve(struct ski_pe *self, int pe, uint64_t *tail)
{
    size_t            index = is_near(self, pe) ? (uint32_t)pe - (uint32_t)self->first
                                                : (size_t)ski_job_index(self->job, pe);
    struct ski_inbox *inbox = (struct ski_inbox *)(void *)(self->inboxes + index * self->stride);

    if (SKI_UNLIKELY(!ski_inbox_reserve_mp(inbox, self->reader.cells, credit_of(self, pe), tail)))
        return NULL;
    return ski_inbox_cell(inbox, self->reader.cells, *tail);
}

static inline void publish(struct ski_pe *self, int pe, struct ski_cell *cell, uint64_t tail)
{
    if (ski_inbox_publish_mp(cell, tail))
        wake(self, pe);
}

bool ski_msg_try_push(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg)
{
    uint64_t         tail;
    struct ski_cell *cell = reserve(self, pe, &tail);
    uint8_t          flags;

    if (!cell)
        return false;
    /* The message may still be on its way to us.  Wait for it before the cell is
     * touched: the receiver polls that, and would take it away half filled. */
    flags         = msg->flags;
    cell->handler = (uint16_t)handler;
    cell->flags   = flags | SKI_MSG_POINTER;
    cell->message = msg;
    self->stats.sent_pointer++;
    publish(self, pe, cell, tail);
    return true;
}

static inline bool push_inline(struct ski_pe *self, int pe, uint32_t handler, unsigned flags,
                               const void *data, size_t bytes, int32_t priority)
{
    uint64_t         tail;
    struct ski_cell *cell = reserve(self, pe, &tail);

    if (!cell)
        return false;
    cell->handler  = (uint16_t)handler;
    cell->flags    = (uint8_t)flags;
    cell->bytes    = (uint8_t)bytes;
    cell->source   = self->pe;
    cell->priority = priority;
    ski_copy_small(cell->data, data, bytes);
    self->stats.sent_inline++;
    publish(self, pe, cell, tail);
    return true;
}

bool ski_msg_try_small(struct ski_pe *self, int pe, uint32_t handler, unsigned flags,
                       const void *data, size_t bytes)
{
    return pe != self->pe && is_near(self, pe) && !(self->queue.attention & SKI_ATTEND_PENDING) &&
           push_inline(self, pe, handler, flags, data, bytes, 0);
}

bool ski_msg_try_tailed(struct ski_pe *self, int pe, uint32_t handler, const struct skua_msg *msg,
                        const void *tail)
{
    size_t           offset = ski_msg_tail_offset(msg);
    uint64_t         ticket;
    struct ski_cell *cell;

    if (offset + SKI_MSG_TAIL_BYTES > SKI_CELL_DATA || msg->flags || msg->bit_room ||
        pe == self->pe || !is_near(self, pe) || self->queue.attention & SKI_ATTEND_PENDING)
        return false;
    cell = reserve(self, pe, &ticket);
    if (!cell)
        return false;
    cell->handler  = (uint16_t)handler;
    cell->flags    = SKI_MSG_TAIL;
    cell->bytes    = (uint8_t)msg->bytes; /* without the tail: unpack() copies all of the cell */
    cell->source   = self->pe;
    cell->priority = 0;
    ski_copy_small(cell->data, msg + 1, offset);
    memcpy(cell->data + offset, tail, SKI_MSG_TAIL_BYTES);
    self->stats.sent_inline++;
    publish(self, pe, cell, ticket);
    return true;
}

void ski_msg_poke(struct ski_pe *self, int pe)
{
    uint64_t         tail;
    struct ski_cell *cell = reserve(self, pe, &tail);

    if (!cell)
        return;
    cell->flags   = SKI_MSG_POKE;
    cell->handler = 0;
    publish(self, pe, cell, tail);
}

__attribute__((noinline)) void ski_msg_send_away(struct ski_pe *self, int pe, uint32_t handler,
                                                 struct skua_msg *msg)
{
    if (SKI_UNLIKELY(!is_near(self, pe) && ski_job_index(self->job, pe) < 0))
        ski_far_send(self, pe, msg);
    else if (SKI_UNLIKELY(self->queue.attention & SKI_ATTEND_PENDING) ||
             !ski_msg_try_push(self, pe, handler, msg))
        ski_pending_send(self, pe, msg);
}

/* Ends the job if there is no such PE or handler. */
static SKI_COLD void check_send(const struct ski_pe *self, const char *call, int pe,
                                skua_handler handler)
{
    if (!ski_pe_has_handler(self, handler.id))
        ski_handler_misuse(call, handler.id);
    if ((uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, self->pes - 1);
}

/* Whether nothing is to be checked, or found wrong, about a send. */
static inline bool is_plain_send(const struct ski_pe *self, int pe, skua_handler handler)
{
    return SKI_LIKELY(handler.id - 1 < self->sendable && (uint32_t)pe < (uint32_t)self->pes);
}

static inline void send_msg(struct ski_pe *self, int pe, skua_handler handler, skua_msg *msg)
{
    msg->handler = (uint16_t)handler.id;
    msg->source  = self->pe;
    ski_msg_post(self, pe, handler.id, msg);
}

static SKI_COLD void send_checked(struct ski_pe *self, enum ski_giver giver, const char *call,
                                  int pe, skua_handler handler, skua_msg *msg, const void *where)
{
    check_send(self, call, pe, handler);
    ski_ownership_send(self, giver, msg, handler.id, where, true);
    send_msg(self, pe, handler, msg);
}

void skua_send(int pe, skua_handler handler, skua_msg *msg)
{
    struct ski_pe *self = SKI_SELF();

    if (is_plain_send(self, pe, handler))
        send_msg(self, pe, handler, msg);
    else
        send_checked(self, SKI_GIVER_SEND, __func__, pe, handler, msg, __builtin_return_address(0));
}

void skua_enqueue(skua_handler handler, skua_msg *msg)
{
    struct ski_pe *self = SKI_SELF();

    if (is_plain_send(self, self->pe, handler))
        send_msg(self, self->pe, handler, msg);
    else
        send_checked(self, SKI_GIVER_ENQUEUE, __func__, self->pe, handler, msg,
                     __builtin_return_address(0));
}

static inline void send_copy(struct ski_pe *self, int pe, skua_handler handler, const void *data,
                             size_t bytes, int32_t priority)
{
    struct skua_msg *msg;

    if (bytes <= SKI_CELL_DATA && pe != self->pe && is_near(self, pe) &&
        !(self->queue.attention & SKI_ATTEND_PENDING) &&
        push_inline(self, pe, handler.id, priority ? SKI_MSG_INT : 0, data, bytes, priority))
        return;
    msg = ski_msg_copy(self, handler.id, data, bytes);
    set_priority(msg, priority);
    ski_msg_post(self, pe, handler.id, msg);
}

static SKI_COLD void send_copy_checked(struct ski_pe *self, const char *call, int pe,
                                       skua_handler handler, const void *data, size_t bytes,
                                       int32_t priority)
{
    check_send(self, call, pe, handler);
    send_copy(self, pe, handler, data, bytes, priority);
}

void skua_send_copy(int pe, skua_handler handler, const void *data, size_t bytes)
{
    struct ski_pe *self = SKI_SELF();

    if (is_plain_send(self, pe, handler))
        send_copy(self, pe, handler, data, bytes, 0);
    else
        send_copy_checked(self, __func__, pe, handler, data, bytes, 0);
}

void skua_send_copy_prio(int pe, skua_handler handler, const void *data, size_t bytes,
                         int32_t priority)
{
    struct ski_pe *self = SKI_SELF();

    if (is_plain_send(self, pe, handler))
        send_copy(self, pe, handler, data, bytes, priority);
    else
        send_copy_checked(self, __func__, pe, handler, data, bytes, priority);
}

/* ---- receiving ----------------------------------------------------------- */

/* Takes what goes into the header of a message to an object out of @p msg, which was
 * filled as @p cell is: target, index in whole words, data. */
static void unpack_object(struct skua_msg *msg, const struct ski_cell *cell)
{
    uint64_t target;
    size_t   head;

    memcpy(&target, cell->data, sizeof target);
    head        = (ski_target_bytes(target) + 7) & ~(size_t)7;
    msg->target = target;
    memcpy(msg->index, cell->data + sizeof target, SKI_MSG_INDEX_BYTES);
    head += sizeof target;
    msg->bytes = cell->bytes - head;
    memcpy(msg + 1, cell->data + head, SKI_CELL_DATA - head);
}

/* A message of our own with what an inline cell holds. */
static inline struct skua_msg *unpack(struct ski_pe *self, const struct ski_cell *cell)
{
    struct skua_msg *msg = new_msg(self, SKI_CELL_DATA);

    memcpy(&msg->handler, &cell->handler, SKI_MSG_IN_CELL);
    msg->priority = cell->priority;
    if (cell->flags & SKI_MSG_OBJECT) {
        unpack_object(msg, cell);
        return msg;
    }
    msg->bytes = cell->bytes;
    memcpy(msg + 1, cell->data, SKI_CELL_DATA); /* of a fixed size: a few vector moves */
    return msg;
}

/* What a cell brings. */
static inline struct skua_msg *take(struct ski_pe *self, const struct ski_cell *cell)
{
    if (cell->flags & SKI_MSG_POINTER) {
        __builtin_prefetch(cell->message, 1); /* for writing: it will be sent on or freed */
        return cell->message;
    }
    return unpack(self, cell);
}

void ski_msg_poked(struct ski_pe *self)
{
    if (self->reader.next->handler) {
        self->ring(self);
        return;
    }
    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
    ski_pe_look_for_exit(self);
}

bool ski_msg_bell_next(struct ski_pe *self)
{
    const struct ski_cell *cell = ski_reader_peek_sc(&self->reader);

    return cell && cell->flags & SKI_MSG_POKE && cell->handler;
}

void ski_msg_arrivals(struct ski_pe *self, unsigned limit)
{
    struct ski_cell *cell;
    uint64_t         waiting;

    while (limit-- > 0 && (cell = ski_reader_peek_sc(&self->reader))) {
        unsigned         flags = cell->flags;
        struct skua_msg *msg;

        if (SKI_UNLIKELY(flags & SKI_MSG_POKE)) {
            if (cell->handler)
                break;
            ski_msg_poked(self);
            continue;
        }
        msg = take(self, cell);
        ski_reader_advance_sc(&self->reader);
        self->stats.received++;
        ski_queue_push(&self->queue, msg, flags);
    }
    ski_reader_tell_sc(&self->reader);
    waiting = self->queue.pushed - self->queue.popped;
    if (waiting > self->stats.queue_longest)
        self->stats.queue_longest = waiting;
    ski_pe_look_for_exit(self);
}

struct skua_msg *ski_msg_arrival(struct ski_pe *self)
{
    struct skua_msg *msg = take(self, self->reader.next);

    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
    self->stats.received++;
    self->queue.pushed++;
    ski_pe_look_for_exit(self);
    return msg;
}
