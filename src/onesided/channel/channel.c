/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - the receiver: creating channels, answering doorbells, saying that it is ready.
 *
 * A channel counts what has arrived and what has been reported, and knows whether its PE wants
 * to hear of the next put.  An arrival that is not wanted yet is reported in its time by a
 * message of the PE to itself, which skua_channel_poll() sends.
 *
 * Ready asks for nothing more than that: no value has to be put back in the buffer, and no list
 * is kept of channels that expect something.
 */
#include "onesided/channel/channel.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/message/addr_tag.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/rma/rma_pe.h"

#define AHEAD  4  /* doorbells that we look ahead */
#define OLDEST 64 /* one in so many of our own is answered before newer ones */

static struct ski_channels *channels_of(struct ski_pe *self)
{
    return &ski_origin_of(self)->channels;
}

/* ---- records -------------------------------------------------------------------- */

static uint64_t channel_tag(const struct ski_job *job, const struct ski_channel *channel)
{
    return ski_addr_tag(job, SKI_TAG_CHANNEL, ski_addr_tag_peek_pe(&channel->pe),
                        (uintptr_t)channel, ski_addr_tag_peek(&channel->key));
}

/* A key may come from another host, and lead to memory that looks like a record: to data of a
 * message, say.  Its tag shows that it is one. */
struct ski_channel *ski_channel_find(const struct ski_job *job, uint64_t key)
{
    struct ski_channel *channel = ski_channel_at(job->arena, key);

    if (!key || !ski_addr_tag_may_look(job, channel, sizeof *channel) ||
        ski_addr_tag_peek(&channel->key) != key ||
        (ski_job_spread(job) && ski_addr_tag_peek(&channel->tag) != channel_tag(job, channel)))
        return NULL;
    return channel;
}

static SKI_COLD _Noreturn void not_mine(const struct ski_pe *self, const char *call)
{
    ski_misuse("%s: this is no channel of PE %d's own, or one that was deleted", call, self->pe);
}

static inline struct ski_channel *mine(const struct ski_pe *self, const char *call,
                                       skua_channel value)
{
    const struct ski_arena *arena   = self->pool.arena;
    struct ski_channel     *channel = ski_channel_at(arena, value.key);

    if (SKI_UNLIKELY(value.pe != self->pe || !value.key || !ski_arena_contains(arena, channel) ||
                     channel->key != value.key))
        not_mine(self, call);
    return channel;
}

/* Memory for a record: all zero, but for its generation. */
static struct ski_channel *new_record(struct ski_pe *self)
{
    struct ski_channels *channels = channels_of(self);
    struct ski_channel  *channel  = channels->free;
    uint32_t             generation;

    if (channel) {
        channels->free = channel->next;
        generation     = channel->generation + 1;
    } else {
        channel    = ski_pool_alloc(&self->pool, sizeof *channel);
        generation = 1;
    }
    if (!channel)
        return NULL;
    memset(channel, 0, sizeof *channel);
    channel->generation = generation;
    return channel;
}

static uint64_t key_of(const struct ski_pe *self, const struct ski_channel *channel)
{
    uint64_t place = ((uintptr_t)channel - self->pool.arena->base) / SKI_CACHE_LINE;
    uint64_t mask  = (UINT64_C(1) << (64 - SKI_KEY_PLACE_BITS)) - 1;
    uint64_t turn  = 1 + channel->generation % mask; /* not 0 */

    return turn << SKI_KEY_PLACE_BITS | place;
}

static const char *copy_name(struct ski_pe *self, const char *name)
{
    char *copy = name ? ski_pool_alloc(&self->pool, strlen(name) + 1) : NULL;

    return copy ? strcpy(copy, name) : NULL;
}

static void set_pattern(struct ski_pe *self, struct ski_channel *channel, const skua_layout *layout)
{
    if (layout->levels == 0)
        return;
    channel->pattern = ski_pool_alloc(&self->pool, sizeof *channel->pattern);
    if (!channel->pattern)
        ski_fatal("no memory for a channel: the arena is full; raise SKUA_ARENA_SIZE");
    channel->pattern->layout = *layout;
    ski_path_make(&channel->pattern->unpack, layout, NULL);
}

static void enlist(struct ski_pe *self, struct ski_channel *channel)
{
    struct ski_channels *channels = channels_of(self);

    channel->next = channels->first;
    channel->link = &channels->first;
    if (channel->next)
        channel->next->link = &channel->next;
    channels->first = channel;
}

/* The data may be looked at elsewhere, in the same shape. */
static bool set_view(struct ski_pe *self, struct ski_channel *channel, const skua_layout *layout)
{
    skua_layout *view = ski_pool_alloc(&self->pool, sizeof *view);

    channel->view = view;
    if (view)
        *view = *layout;
    return view != NULL;
}

/* A channel with a simple layout of @p bytes; it is not known to anybody yet.  NULL, logged. */
static struct ski_channel *create(struct ski_pe *self, const skua_layout *to, size_t bytes,
                                  skua_channel_fn fn, void *arg, const char *name)
{
    struct ski_channel *channel = new_record(self);

    if (!channel)
        return NULL;
    channel->to      = to->at;
    channel->bytes   = bytes;
    channel->fn      = fn;
    channel->arg     = arg;
    channel->polled  = true;
    channel->senders = 1;
    channel->pe      = self->pe;
    channel->home    = self->process;
    channel->process = ski_arena_contains(self->pool.arena, to->at) ? -1 : self->process;
    channel->name    = copy_name(self, name);
    set_pattern(self, channel, to);
    enlist(self, channel);
    return channel;
}

static void drop_part(struct ski_pe *self, const void *part)
{
    if (part)
        ski_pool_free(&self->pool, (void *)(uintptr_t)part);
}

static void drop(struct ski_pe *self, struct ski_channel *channel)
{
    channel->key   = 0;
    *channel->link = channel->next;
    if (channel->next)
        channel->next->link = channel->link;
    drop_part(self, channel->pattern);
    drop_part(self, channel->view);
    drop_part(self, channel->name);
    channel->next           = channels_of(self)->free;
    channels_of(self)->free = channel;
}

static void publish(struct ski_pe *self, struct ski_channel *channel, skua_channel *value)
{
    channel->key = key_of(self, channel);
    channel->tag = channel_tag(self->job, channel);
    *value       = (skua_channel){self->pe, self->job->process[0].number, channel->key};
}

/* A channel that is not known to anybody yet, for any layout; *made is NULL if not. */
static skua_status_t create_checked(struct ski_pe *self, const char *call, const skua_layout *to,
                                    skua_channel_fn fn, void *arg, const char *name,
                                    struct ski_channel **made)
{
    skua_layout   simple;
    size_t        bytes;
    skua_status_t status = ski_layout_check(call, to, true, &simple, &bytes);

    *made = status == SKUA_OK ? create(self, &simple, bytes, fn, arg, name) : NULL;
    return status == SKUA_OK && !*made ? SKUA_ERR_NOMEM : status;
}

skua_status_t skua_channel_create(const skua_layout *to, skua_channel_fn fn, void *arg,
                                  const char *name, skua_channel *channel)
{
    struct ski_pe      *self = SKI_SELF();
    struct ski_channel *made;
    skua_status_t       status = create_checked(self, __func__, to, fn, arg, name, &made);

    if (made)
        publish(self, made, channel);
    return status;
}

skua_status_t skua_channel_create_view(const skua_layout *to, skua_channel_fn fn, void *arg,
                                       const char *name, skua_channel *channel)
{
    struct ski_pe      *self = SKI_SELF();
    struct ski_channel *made;
    skua_status_t       status = create_checked(self, __func__, to, fn, arg, name, &made);

    if (!made)
        return status;
    if (!set_view(self, made, to)) {
        drop(self, made);
        return SKUA_ERR_NOMEM;
    }
    publish(self, made, channel);
    return SKUA_OK;
}

const skua_layout *skua_channel_view(skua_channel value)
{
    const struct ski_channel *channel = mine(SKI_SELF(), __func__, value);

    if (channel->lent)
        return &channel->lent->view;
    if (!channel->view)
        ski_misuse("%s: a channel that skua_channel_create_view() has not made", __func__);
    return channel->view;
}

skua_status_t skua_channel_create_reduction(void *to, size_t count, skua_op op, skua_type type,
                                            int senders, skua_channel_fn fn, void *arg,
                                            const char *name, skua_channel *channel)
{
    struct ski_pe      *self    = SKI_SELF();
    const skua_update   update  = {op, type, NULL};
    struct ski_combine  combine = {.op = op, .type = type};
    skua_layout         layout;
    struct ski_channel *made;

    combine.fn = ski_update_function(&update, &combine.element);
    if (!combine.fn || !to || count == 0 || count > PTRDIFF_MAX / combine.element || senders < 1 ||
        (uintptr_t)to % (combine.element < 8 ? combine.element : 8))
        return ski_refuse(SKUA_ERR_INVAL, "%s: %zu elements of %s from %d senders by %s at %p",
                          __func__, count, ski_type_name(type), senders, ski_op_name(op), to);
    layout = skua_layout_of(to, count * combine.element);
    made   = create(self, &layout, layout.bytes, fn, arg, name);
    if (!made)
        return SKUA_ERR_NOMEM;
    made->combines = senders > 1; /* what one puts is the result */
    made->senders  = (uint32_t)senders;
    made->combine  = combine;
    ski_channel_clear(made);
    publish(self, made, channel);
    return SKUA_OK;
}

void skua_channel_delete(skua_channel channel)
{
    struct ski_pe *self = SKI_SELF();

    drop(self, mine(self, __func__, channel));
}

/* ---- arrivals --------------------------------------------------------------------- */

/* What is in one block goes to its place. */
static void unpack(struct ski_channel *channel, const char *from)
{
    if (channel->pattern)
        ski_path_copy(&channel->pattern->unpack, channel->to, from);
    else
        ski_copy(channel->to, from, channel->bytes);
}

/* The next put that has not been reported is. */
static inline void report(struct ski_channel *channel)
{
    channel->polled = false;
    channel->reported++;
    channel->fn(channel->arg);
}

static uint64_t arrived(const struct ski_channel *channel)
{
    return atomic_load_explicit(&channel->arrived, memory_order_relaxed);
}

/* Data have come that are in their place: counts them, and tells the program if it wants to
 * know. */
static inline void has_arrived(struct ski_pe *self, struct ski_channel *channel)
{
    atomic_store_explicit(&channel->arrived, arrived(channel) + 1, memory_order_relaxed);
    if (SKI_LIKELY(channel->polled) && SKI_LIKELY(!ski_pe_exiting(self)))
        report(channel);
}

/* The channel of a cell, whose record may be gone; NULL: the cell is no doorbell. */
static inline struct ski_channel *rung_by(const struct ski_pe *self, const struct ski_cell *cell)
{
    uint64_t key;

    if (!cell || cell->handler != SKI_HANDLER_CHANNEL || !(cell->flags & SKI_MSG_POKE))
        return NULL;
    memcpy(&key, &cell->source, sizeof key);
    return ski_channel_at(self->pool.arena, key);
}

/* Where many channels are rung in turn each has left the cache since the last time: what the
 * next doorbells need is fetched while this one is answered. */
static inline void look_ahead(const struct ski_pe *self)
{
    const struct ski_cell    *cell = ski_reader_ahead_sc(&self->reader, AHEAD / 2);
    const struct ski_channel *near = rung_by(self, cell), *far;

    if (!near)
        return;
    __builtin_prefetch(near->arg, 1);
    if (cell->bytes == SKI_BELL(SKI_CHANNEL_LENT))
        __builtin_prefetch(cell->message);
    far = rung_by(self, ski_reader_ahead_sc(&self->reader, AHEAD));
    if (far)
        __builtin_prefetch(far, 1);
}

/* Nothing has come: a sender asks us to copy with him. */
static SKI_COLD void help(struct ski_pe *self, struct ski_together *all)
{
    ski_pe_rung(self);
    ski_together_help(all);
}

/* The doorbell that is next in the inbox: self->ring. */
static void ring(struct ski_pe *self)
{
    const struct ski_cell *cell = self->reader.next;
    struct ski_channel    *channel;
    uint64_t               key;

    memcpy(&key, &cell->source, sizeof key);
    channel = ski_channel_at(self->pool.arena, key);
    if (SKI_UNLIKELY(channel->key != key)) {
        ski_pe_rung(self);
        return;
    }
    if (SKI_UNLIKELY(cell->bytes == SKI_BELL(SKI_CHANNEL_HELP))) {
        help(self, (void *)cell->message);
        return;
    }
    if (cell->bytes == SKI_BELL(SKI_CHANNEL_LENT))
        channel->lent = cell->message;
    else if (cell->bytes == SKI_BELL(SKI_CHANNEL_STAGED))
        unpack(channel, cell->message);
    else if (SKI_UNLIKELY(cell->bytes == SKI_BELL(SKI_CHANNEL_PIECES)))
        ski_together_end(cell->message);
    else if (SKI_UNLIKELY(channel->pattern && cell->bytes))
        ski_path_copy(&channel->pattern->unpack, channel->to, (const char *)cell->data);
    else
        ski_copy_small(channel->to, cell->data, cell->bytes);
    ski_pe_rung(self);
    look_ahead(self);
    has_arrived(self, channel);
}

/* ---- doorbells of our own ------------------------------------------------------------ */

static SKI_COLD void grow(struct ski_bells *bells)
{
    uint32_t         room = bells->room ? 2 * bells->room : 64;
    struct ski_bell *at   = ski_malloc(room * sizeof *at);

    for (uint32_t i = bells->first; i != bells->end; i++)
        at[i & (room - 1)] = bells->at[i & (bells->room - 1)];
    free(bells->at);
    bells->at   = at;
    bells->room = room;
}

void ski_bell_push(struct ski_pe *self, uint64_t key, struct ski_lent *lent)
{
    struct ski_bells *bells = &channels_of(self)->bells;

    if (SKI_UNLIKELY(bells->end - bells->first == bells->room))
        grow(bells);
    bells->at[bells->end++ & (bells->room - 1)] = (struct ski_bell){key, lent};
    self->stats.sent_inline++;
    self->queue.attention |= SKI_ATTEND_BELLS;
}

/* The newest, whose data and memory are in the cache; but now and then the oldest, which must
 * not wait for ever. */
static inline struct ski_bell pop(struct ski_bells *bells)
{
    uint32_t which = bells->turn++ % OLDEST ? --bells->end : bells->first++;

    return bells->at[which & (bells->room - 1)];
}

/* One of them: self->ring_own. */
static void ring_own(struct ski_pe *self)
{
    struct ski_bells   *bells = &channels_of(self)->bells;
    struct ski_bell     bell  = pop(bells);
    struct ski_channel *channel;

    if (bells->first == bells->end)
        self->queue.attention &= ~(uint32_t)SKI_ATTEND_BELLS;
    self->stats.received++;
    self->queue.pushed++;
    self->queue.popped++;
    channel = ski_channel_at(self->pool.arena, bell.key);
    if (SKI_UNLIKELY(channel->key != bell.key))
        return;
    channel->lent = bell.lent;
    has_arrived(self, channel);
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Whether the message is as it should be. */
static bool is_sound(const skua_msg *msg, const struct ski_channel_head *head,
                     const struct ski_channel *channel)
{
    size_t bytes = msg->bytes - sizeof *head;

    switch (head->kind) {
    case SKI_CHANNEL_DATA: return bytes == head->bytes && head->bytes == channel->bytes;
    case SKI_CHANNEL_STAGED:
    case SKI_CHANNEL_PIECES:
    case SKI_CHANNEL_LENT:
        return bytes == sizeof(char *) && ski_job_index(ski_self->job, msg->source) >= 0;
    default: return bytes == 0;
    }
}

/* The data of a message; true: all that were waited for have come. */
static bool bring(struct ski_channel *channel, const struct ski_channel_head *head)
{
    if (channel->combines && head->kind == SKI_CHANNEL_DATA)
        return ski_channel_combine(channel, (const char *)(head + 1));
    if (head->kind == SKI_CHANNEL_DATA)
        unpack(channel, (const char *)(head + 1));
    else if (head->kind == SKI_CHANNEL_STAGED)
        unpack(channel, *(char *const *)(head + 1));
    else if (head->kind == SKI_CHANNEL_PIECES)
        ski_together_end(*(struct ski_together *const *)(head + 1));
    else if (head->kind == SKI_CHANNEL_LENT)
        channel->lent = *(struct ski_lent *const *)(head + 1);
    return true;
}

static void wrong_size(const struct ski_channel *channel, int source,
                       const struct ski_channel_head *head)
{
    ski_misuse("channel %s from PE %d to PE %d: put %llu has %llu bytes, the channel %zu",
               ski_channel_name(channel), source, channel->pe, (unsigned long long)head->put,
               (unsigned long long)head->bytes, channel->bytes);
}

/* A put for a channel of ours. */
static void on_put(struct ski_pe *self, skua_msg *msg, struct ski_channel *channel)
{
    const struct ski_channel_head *head = skua_msg_data(msg);
    bool                           all;

    if (ski_config.checked_channels)
        ski_check_arrival(channel, msg->source, head);
    if (!is_sound(msg, head, channel))
        wrong_size(channel, msg->source, head);
    all = bring(channel, head);
    skua_msg_free(msg);
    if (all)
        has_arrived(self, channel);
}

/* A message about a channel of ours; @p channel is NULL if there is none such. */
static void on_one(struct ski_pe *self, skua_msg *msg, struct ski_channel *channel)
{
    const struct ski_channel_head *head = skua_msg_data(msg);

    switch (head->kind) {
    case SKI_CHANNEL_OPENED: ski_on_channel_opened(self, msg, head, channel); break;
    case SKI_CHANNEL_POLLED:
        if (channel && channel->polled && arrived(channel) != channel->reported) {
            skua_msg_free(msg);
            report(channel);
            return;
        }
        break;
    default:
        if (channel) {
            on_put(self, msg, channel);
            return;
        }
        if (ski_job_index(self->job, msg->source) < 0) /* others have seen that it is gone */
            ski_channel_none(self, msg->source, head);
    }
    skua_msg_free(msg);
}

/* Whether a message that only the PE itself sends comes from elsewhere. */
static bool channel_is_forged(const struct ski_pe *self, const skua_msg *msg,
                              const struct ski_channel_head *head)
{
    return (head->kind == SKI_CHANNEL_SENT || head->kind == SKI_CHANNEL_POLLED) &&
           msg->source != self->pe;
}

void ski_on_channel(skua_msg *msg)
{
    struct ski_pe                 *self = ski_self;
    const struct ski_channel_head *head = skua_msg_data(msg);
    struct ski_channel            *channel;

    if (SKI_UNLIKELY(head->kind > SKI_CHANNEL_REFUSED || channel_is_forged(self, msg, head))) {
        ski_far_drop(self, msg);
        return;
    }
    switch (head->kind) {
    case SKI_CHANNEL_MANY: ski_on_channel_many(msg); return;
    case SKI_CHANNEL_SENT: ski_channel_settle(self); break;
    case SKI_CHANNEL_REFUSED: ski_on_channel_refused(msg, head); break;
    default:
        channel = ski_channel_find(self->job, head->key);
        on_one(self, msg, channel && channel->pe == self->pe ? channel : NULL);
        return;
    }
    skua_msg_free(msg);
}

/* As ski_request_take(): the data of a put go to their place, and what is left takes its turn. */
skua_msg *ski_channel_take(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct ski_channel_head head;
    struct ski_channel     *channel;
    skua_msg               *left;

    if (msg->bytes < sizeof head || ski_config.checked_channels)
        return NULL;
    memcpy(&head, data, sizeof head);
    channel = ski_channel_find(self->job, head.key);
    if (!channel || channel->pe != self->pe || head.kind != SKI_CHANNEL_DATA || channel->combines ||
        !is_sound(msg, &head, channel))
        return NULL;
    unpack(channel, data + sizeof head);
    head.kind    = SKI_CHANNEL_PLACED;
    left         = ski_msg_copy(self, SKI_HANDLER_CHANNEL, &head, sizeof head);
    left->source = msg->source;
    return left;
}

/* ---- ready ------------------------------------------------------------------------- */

static void give_back(struct ski_channel *channel)
{
    struct ski_lent *lent = channel->lent;

    if (SKI_UNLIKELY(ski_config.checked_channels))
        ski_check_returned(channel);
    channel->lent = NULL;
    ski_lent_return(lent);
}

static inline void mark(struct ski_channel *channel)
{
    if (SKI_UNLIKELY(channel->combines))
        ski_channel_clear(channel);
    if (channel->lent)
        give_back(channel);
    if (SKI_UNLIKELY(ski_config.checked_channels))
        atomic_fetch_add_explicit(&channel->ready, 1, memory_order_release);
}

/* Not from within the caller: it may be in the middle of something. */
static SKI_COLD void report_soon(struct ski_pe *self, const struct ski_channel *channel)
{
    struct ski_channel_head head = {.key = channel->key, .kind = SKI_CHANNEL_POLLED};

    ski_msg_post(self, self->pe, SKI_HANDLER_CHANNEL,
                 ski_msg_copy(self, SKI_HANDLER_CHANNEL, &head, sizeof head));
}

static inline void poll(struct ski_pe *self, struct ski_channel *channel)
{
    channel->polled = true;
    if (SKI_UNLIKELY(arrived(channel) != channel->reported))
        report_soon(self, channel);
}

void skua_channel_ready(skua_channel value)
{
    struct ski_pe      *self    = SKI_SELF();
    struct ski_channel *channel = mine(self, __func__, value);

    mark(channel);
    poll(self, channel);
}

void skua_channel_mark(skua_channel channel)
{
    mark(mine(SKI_SELF(), __func__, channel));
}

void skua_channel_poll(skua_channel channel)
{
    struct ski_pe *self = SKI_SELF();

    poll(self, mine(self, __func__, channel));
}

uint64_t skua_channel_count(skua_channel channel)
{
    return mine(SKI_SELF(), __func__, channel)->reported;
}

/* ---- memory -------------------------------------------------------------------------- */

/* Before each block of memory that skua_channel_alloc() gave out. */
struct block {
    _Alignas(SKI_CACHE_LINE) size_t bytes;
    uint64_t sign;
};

#define SIGN UINT64_C(0x736b75612d6d656d)

/* What is copied to a place little behind its own, modulo a page, is copied slowly, as if loads
 * waited for stores that only seem to be to the same place.  Large memory of others, that of
 * malloc() for example, begins with a page; ours in the middle of one. */
#define LEAD       2048
#define LEAD_LEAST 32768 /* of the memory that has it: it should not cost much */

static size_t lead(size_t bytes)
{
    return bytes > LEAD_LEAST ? LEAD : 0;
}

void *skua_channel_alloc(size_t bytes)
{
    struct ski_pe *self   = SKI_SELF();
    size_t         before = lead(bytes) + sizeof(struct block);
    char         *memory = bytes < PTRDIFF_MAX ? ski_pool_alloc(&self->pool, before + bytes) : NULL;
    struct block *block;

    if (!memory)
        return NULL;
    block        = (void *)(memory + lead(bytes));
    block->bytes = bytes;
    block->sign  = SIGN;
    return block + 1;
}

void skua_channel_free(void *memory)
{
    struct ski_pe *self  = SKI_SELF();
    struct block  *block = memory ? (struct block *)memory - 1 : NULL;

    if (!memory)
        return;
    if (!ski_arena_contains(self->pool.arena, block) || block->sign != SIGN)
        ski_misuse("%s: %p is not from skua_channel_alloc(), or was freed before", __func__,
                   memory);
    if (ski_config.checked_channels)
        ski_check_freed(self, memory, block->bytes);
    block->sign = 0;
    ski_pool_free(&self->pool, (char *)block - lead(block->bytes));
}

/* ---- life ----------------------------------------------------------------------------- */

void ski_channels_begin(struct ski_pe *self)
{
    self->ring     = ring;
    self->ring_own = ring_own;
}

/* Records, patterns and names go with the arena, senders that were not closed with them. */
void ski_channels_end(struct ski_pe *self)
{
    self->ring     = NULL;
    self->ring_own = NULL;
    free(channels_of(self)->bells.at);
    channels_of(self)->bells = (struct ski_bells){.at = NULL};
}
