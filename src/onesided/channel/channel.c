/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - the receiver: creates channels, handles doorbells, marks buffers as ready.
 *
 * A channel counts the puts that arrived and those that were reported, and records whether the
 * program has requested a report of the next one.  An earlier arrival is reported on that request,
 * by a message of the PE to itself, which skua_channel_poll() sends.
 *
 * Being ready costs no more than that: no value is written into the buffer, and there is no list of
 * channels that wait.
 */
#include "base/params_check.h"
#include "onesided/channel/channel.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/collective/collective.h"
#include "core/message/addr_tag.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/channel/channel_pe.h"

#define AHEAD  4  /* doorbells that are prefetched ahead */
#define OLDEST 64 /* one in so many of a PE's own doorbells is the oldest instead of the newest */

/* ---- records -------------------------------------------------------------------- */

static uint64_t channel_tag(const struct ski_job *job, const struct ski_channel *channel)
{
    return ski_addr_tag(job, SKI_TAG_CHANNEL, ski_addr_tag_peek_pe(&channel->pe),
                        (uintptr_t)channel, ski_addr_tag_peek(&channel->key));
}

/* A key from another host may point at memory that looks like a record, the data of a message for
 * example.  The tag proves that it is one. */
struct ski_channel *ski_channel_find(const struct ski_job *job, uint64_t key)
{
    struct ski_channel *channel = ski_channel_at(job->arena, key);

    if (!key || !ski_addr_tag_readable(job, channel, sizeof *channel) ||
        ski_addr_tag_peek(&channel->key) != key ||
        (ski_job_is_distributed(job) &&
         ski_addr_tag_peek(&channel->tag) != channel_tag(job, channel)))
        return NULL;
    return channel;
}

static SKI_COLD _Noreturn void channel_misused(const struct ski_pe *self, const char *call)
{
    ski_misuse("%s: the channel was not created on PE %d, which calls, or has been destroyed%s",
               call, self->pe, ski_channel_former_hint(self));
}

static inline struct ski_channel *channel_of_caller(const struct ski_pe *self, const char *call,
                                                    skua_channel value)
{
    const struct ski_arena *arena   = self->pool.arena;
    struct ski_channel     *channel = ski_channel_at(arena, value.key);

    if (SKI_UNLIKELY(value.pe != self->pe || !value.key || !ski_arena_contains(arena, channel) ||
                     channel->key != value.key))
        channel_misused(self, call);
    return channel;
}

/* Returns memory for a record: all zero but its generation. */
static struct ski_channel *channel_new_record(struct ski_pe *self)
{
    struct ski_channel_pe *channels = ski_channel_pe(self);
    struct ski_channel    *channel  = channels->free;
    uint32_t               generation;

    if (channel) {
        channels->free = channel->next;
        generation     = channel->generation + 1;
    } else {
        channel    = ski_pool_alloc(&self->pool, sizeof *channel);
        generation = channels->generation + 1;
    }
    if (!channel)
        return NULL;
    memset(channel, 0, sizeof *channel);
    channel->generation = generation;
    return channel;
}

static uint64_t channel_key(const struct ski_pe *self, const struct ski_channel *channel)
{
    uint64_t position = ((uintptr_t)channel - self->pool.arena->base) / SKI_CACHE_LINE;
    uint64_t mask     = (UINT64_C(1) << (64 - SKI_CHANNEL_KEY_BITS)) - 1;
    uint64_t turn     = 1 + channel->generation % mask; /* not 0 */

    return turn << SKI_CHANNEL_KEY_BITS | position;
}

static const char *channel_copy_name(struct ski_pe *self, const char *name)
{
    char *copy = name ? ski_pool_alloc(&self->pool, strlen(name) + 1) : NULL;

    return copy ? strcpy(copy, name) : NULL;
}

static void channel_set_layout(struct ski_pe *self, struct ski_channel *channel,
                               const skua_layout *layout)
{
    if (layout->kind == SKUA_LAYOUT_CONTIGUOUS)
        return;
    channel->pattern =
        ski_pool_alloc(&self->pool, sizeof *channel->pattern + ski_layout_list_bytes(layout));
    if (!channel->pattern)
        ski_fatal("no memory for a channel: the arena is full; raise SKUA_ARENA_SIZE");
    ski_layout_assign(&channel->pattern->layout, layout);
    ski_layout_keep_list(&channel->pattern->layout, channel->pattern + 1);
    ski_copy_plan_make(&channel->pattern->unpack, &channel->pattern->layout, NULL);
}

static void channel_link(struct ski_pe *self, struct ski_channel *channel)
{
    struct ski_channel_pe *channels = ski_channel_pe(self);

    channel->next = channels->first;
    channel->link = &channels->first;
    if (channel->next)
        channel->next->link = &channel->next;
    channels->first = channel;
}

/* Allows senders to use zcopy: the program reads the data through a view, in the layout that it
 * gave. */
static bool channel_set_view(struct ski_pe *self, struct ski_channel *channel,
                             const skua_layout *layout)
{
    skua_layout *view = ski_pool_alloc(&self->pool, sizeof *view + ski_layout_list_bytes(layout));

    channel->view = view;
    if (!view)
        return false;
    ski_layout_assign(view, layout);
    ski_layout_keep_list(view, view + 1);
    return true;
}

/* The callback of a channel whose receiver wants none. */
static void channel_ignore(void *arg)
{
    (void)arg;
}

/* Creates a channel with a simplified layout of @p bytes that is not published yet.  Returns NULL,
 * and logs why, if it fails. */
static struct ski_channel *channel_create(struct ski_pe *self, const skua_layout *to, size_t bytes,
                                          skua_channel_fn fn, void *arg, const char *name)
{
    struct ski_channel *channel = channel_new_record(self);

    if (!channel)
        return NULL;
    channel->to      = to->at;
    channel->bytes   = bytes;
    channel->fn      = fn ? fn : channel_ignore;
    channel->arg     = arg;
    channel->polled  = true;
    channel->senders = 1;
    channel->pe      = self->pe;
    channel->home    = self->process;
    channel->process = ski_arena_contains(self->pool.arena, to->at) ? -1 : self->process;
    channel->name    = channel_copy_name(self, name);
    channel_set_layout(self, channel, to);
    channel_link(self, channel);
    return channel;
}

static void channel_free_part(struct ski_pe *self, const void *part)
{
    if (part)
        ski_pool_free(&self->pool, (void *)(uintptr_t)part);
}

static void channel_destroy(struct ski_pe *self, struct ski_channel *channel)
{
    ski_assert(channel->key != 0 || !channel->tag);
    ski_assert(*channel->link == channel);
    channel->key   = 0;
    *channel->link = channel->next;
    if (channel->next)
        channel->next->link = channel->link;
    channel_free_part(self, channel->pattern);
    channel_free_part(self, channel->view);
    channel_free_part(self, channel->name);
    channel->next              = ski_channel_pe(self)->free;
    ski_channel_pe(self)->free = channel;
}

static void channel_publish(struct ski_pe *self, struct ski_channel *channel, skua_channel *value)
{
    ski_assert(!channel->key && channel->pe == self->pe);
    channel->key = channel_key(self, channel);
    ski_assert(ski_channel_at(self->pool.arena, channel->key) == channel);
    channel->tag = channel_tag(self->job, channel);
    *value       = (skua_channel){self->pe, self->job->process[0].number, channel->key};
}

/* Checks the layout and creates a channel that is not published yet; *made is NULL on failure. */
static skua_status channel_create_checked(struct ski_pe *self, const char *call,
                                          const skua_layout *to, skua_channel_fn fn, void *arg,
                                          const char *name, struct ski_channel **made)
{
    skua_layout simple;
    size_t      bytes;
    skua_status status = ski_layout_check(call, to, true, &simple, &bytes);

    *made = status == SKUA_OK ? channel_create(self, &simple, bytes, fn, arg, name) : NULL;
    return status == SKUA_OK && !*made ? SKUA_ERR_NOMEM : status;
}

skua_status skua_channel_create(const skua_layout *to, skua_channel_fn fn, void *arg,
                                const char *name, skua_channel *channel)
{
    struct ski_pe      *self = SKI_SELF();
    struct ski_channel *made;
    skua_status         status = channel_create_checked(self, __func__, to, fn, arg, name, &made);

    if (made)
        channel_publish(self, made, channel);
    return status;
}

skua_status skua_channel_create_view(const skua_layout *to, skua_channel_fn fn, void *arg,
                                     const char *name, skua_channel *channel)
{
    struct ski_pe      *self = SKI_SELF();
    struct ski_channel *made;
    skua_status         status = channel_create_checked(self, __func__, to, fn, arg, name, &made);

    if (!made)
        return status;
    if (!channel_set_view(self, made, to)) {
        channel_destroy(self, made);
        return SKUA_ERR_NOMEM;
    }
    channel_publish(self, made, channel);
    return SKUA_OK;
}

const skua_layout *skua_channel_view(skua_channel value)
{
    const struct ski_channel *channel = channel_of_caller(SKI_SELF(), __func__, value);

    if (channel->zcopy)
        return &channel->zcopy->view;
    if (!channel->view)
        ski_misuse("%s: the channel was not created by skua_channel_create_view()", __func__);
    return channel->view;
}

/* Returns whether the buffer of a reduction holds its elements, of @p element bytes each,
 * aligned. */
static bool channel_reduction_fits(const skua_channel_reduction_def *def, size_t element)
{
    return def->to && def->count > 0 && def->count <= PTRDIFF_MAX / element &&
           (uintptr_t)def->to % (element < 8 ? element : 8) == 0;
}

skua_status skua_channel_create_reduction(const skua_channel_reduction_def *def,
                                          skua_channel                     *channel)
{
    struct ski_pe               *self      = SKI_SELF();
    const skua_update            update    = {def->op, def->type, NULL};
    struct ski_channel_reduction reduction = {.op = def->op, .type = def->type};
    skua_layout                  layout;
    struct ski_channel          *made;

    if (!ski_params_known(def->size, sizeof *def))
        return ski_params_refuse(__func__, "skua_channel_reduction_def", def->size, sizeof *def);
    reduction.fn = ski_accumulate_function(&update, &reduction.element);
    if (!reduction.fn || def->senders < 1 || !channel_reduction_fits(def, reduction.element))
        return ski_refuse(
            SKUA_ERR_INVAL,
            "%s: invalid reduction: %zu elements of %s, %d senders, operator %s, buffer %p",
            __func__, def->count, ski_type_name(def->type), def->senders, ski_op_name(def->op),
            def->to);
    layout = skua_layout_contiguous(def->to, def->count * reduction.element);
    made   = channel_create(self, &layout, layout.bytes, def->fn, def->arg, def->name);
    if (!made)
        return SKUA_ERR_NOMEM;
    made->reduces   = def->senders > 1; /* with one sender its data are the result */
    made->senders   = (uint32_t)def->senders;
    made->reduction = reduction;
    if (made->reduces)
        ski_channel_reduce_reset(made);
    channel_publish(self, made, channel);
    return SKUA_OK;
}

void skua_channel_destroy(skua_channel channel)
{
    struct ski_pe *self = SKI_SELF();

    channel_destroy(self, channel_of_caller(self, __func__, channel));
}

/* ---- arrivals --------------------------------------------------------------------- */

void ski_channel_unpack(struct ski_channel *channel, const char *from)
{
    if (channel->pattern)
        ski_copy_plan_run(&channel->pattern->unpack, channel->to, from);
    else
        ski_copy(channel->to, from, channel->bytes);
}

static uint64_t channel_arrived(const struct ski_channel *channel)
{
    return atomic_load_explicit(&channel->arrived, memory_order_relaxed);
}

/* Reports the oldest put that has not been reported. */
static inline void channel_report(struct ski_channel *channel)
{
    ski_assert(channel->reported < channel_arrived(channel));
    channel->polled = false;
    channel->reported++;
    channel->fn(channel->arg);
}

/* Counts a put whose data are in the buffer, and reports it if the program wants that. */
static inline void channel_count_arrival(struct ski_pe *self, struct ski_channel *channel)
{
    atomic_store_explicit(&channel->arrived, channel_arrived(channel) + 1, memory_order_relaxed);
    if (SKI_LIKELY(channel->polled) && SKI_LIKELY(!ski_pe_exiting(self)))
        channel_report(channel);
}

void ski_channel_count_arrival(struct ski_pe *self, struct ski_channel *channel)
{
    channel_count_arrival(self, channel);
}

/* Returns the channel of a cell, whose record may be free again; NULL: the cell is no doorbell. */
static inline struct ski_channel *channel_of_cell(const struct ski_pe   *self,
                                                  const struct ski_cell *cell)
{
    uint64_t key;

    if (!cell || cell->handler != SKI_HANDLER_CHANNEL || !(cell->flags & SKI_MSG_WAKEUP))
        return NULL;
    memcpy(&key, &cell->source, sizeof key);
    return ski_channel_at(self->pool.arena, key);
}

/* With many channels, each has left the cache since its last put: the records of the next doorbells
 * are prefetched while this one is handled. */
static inline void channel_prefetch(const struct ski_pe *self)
{
    const struct ski_cell    *cell = ski_reader_ahead_sc(&self->reader, AHEAD / 2);
    const struct ski_channel *near = channel_of_cell(self, cell), *far;

    if (!near)
        return;
    __builtin_prefetch(near->arg, 1);
    if (cell->bytes == SKI_DOORBELL(SKI_CHANNEL_ZCOPY))
        __builtin_prefetch(cell->message);
    far = channel_of_cell(self, ski_reader_ahead_sc(&self->reader, AHEAD));
    if (far)
        __builtin_prefetch(far, 1);
}

/* Helps a sender to copy; nothing has arrived yet. */
static SKI_COLD void channel_help(struct ski_pe *self, struct ski_coop *all)
{
    ski_pe_doorbell_answered(self);
    ski_coop_help(all);
}

/* Answers the doorbell that is next in the inbox: self->on_doorbell. */
static void channel_on_doorbell(struct ski_pe *self)
{
    const struct ski_cell *cell = self->reader.next;
    struct ski_channel    *channel;
    uint64_t               key;

    memcpy(&key, &cell->source, sizeof key);
    channel = ski_channel_at(self->pool.arena, key);
    if (SKI_UNLIKELY(channel->key != key)) {
        ski_pe_doorbell_answered(self);
        return;
    }
    if (SKI_UNLIKELY(cell->bytes == SKI_DOORBELL(SKI_CHANNEL_HELP))) {
        channel_help(self, (void *)cell->message);
        return;
    }
    if (cell->bytes <= SKI_CELL_DATA && SKI_LIKELY(!channel->pattern))
        ski_copy_small(channel->to, cell->data, cell->bytes);
    else if (cell->bytes == SKI_DOORBELL(SKI_CHANNEL_ZCOPY))
        channel->zcopy = cell->message;
    else if (cell->bytes == SKI_DOORBELL(SKI_CHANNEL_STAGED))
        ski_channel_unpack(channel, cell->message);
    else if (SKI_UNLIKELY(cell->bytes == SKI_DOORBELL(SKI_CHANNEL_COOP)))
        ski_coop_finish(cell->message);
    else if (cell->bytes) /* data in the cell, for a buffer that is not one block */
        ski_copy_plan_run(&channel->pattern->unpack, channel->to, (const char *)cell->data);
    ski_pe_doorbell_answered(self);
    channel_prefetch(self);
    channel_count_arrival(self, channel);
}

/* ---- doorbells of the PE itself -------------------------------------------------------- */

/* Takes the newest, whose data are in the cache, but now and then the oldest, which must not
 * starve. */
static inline struct ski_doorbell doorbell_queue_pop(struct ski_doorbell_queue *queue)
{
    uint32_t which = queue->turn++ % OLDEST ? --queue->end : queue->first++;

    return queue->at[which & (queue->room - 1)];
}

/* Answers one of the PE's own doorbells: self->on_own_doorbell. */
static void channel_on_own_doorbell(struct ski_pe *self)
{
    struct ski_doorbell_queue *queue    = &ski_channel_pe(self)->doorbells;
    struct ski_doorbell        doorbell = doorbell_queue_pop(queue);
    struct ski_channel        *channel;

    if (queue->first == queue->end)
        self->queue.events &= ~(uint32_t)SKI_EVENT_DOORBELLS;
    self->stats.received++;
    self->queue.pushed++;
    self->queue.popped++;
    channel = ski_channel_at(self->pool.arena, doorbell.key);
    if (SKI_UNLIKELY(channel->key != doorbell.key))
        return;
    channel->zcopy = doorbell.zcopy;
    channel_count_arrival(self, channel);
}

void ski_channel_send_head(struct ski_pe *self, int pe, const struct ski_channel_head *head)
{
    ski_msg_post(self, pe, SKI_HANDLER_CHANNEL,
                 ski_msg_copy(self, SKI_HANDLER_CHANNEL, head, sizeof *head));
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Returns whether the length of a message fits its kind and the channel. */
static bool channel_is_valid(const skua_msg *msg, const struct ski_channel_head *head,
                             const struct ski_channel *channel)
{
    size_t bytes = msg->bytes - sizeof *head;

    switch (head->kind) {
    case SKI_CHANNEL_DATA: return bytes == head->bytes && head->bytes == channel->bytes;
    case SKI_CHANNEL_STAGED:
    case SKI_CHANNEL_COOP:
    case SKI_CHANNEL_ZCOPY:
        return bytes == sizeof(char *) && ski_job_index(ski_self->job, msg->source) >= 0;
    default: return bytes == 0;
    }
}

/* Brings the data of a message into the buffer. Returns true if the put, or the reduction, is
 * complete. */
static bool channel_deliver(struct ski_channel *channel, const struct ski_channel_head *head)
{
    if (channel->reduces && head->kind == SKI_CHANNEL_DATA)
        return ski_channel_reduce(channel, (const char *)(head + 1));
    if (head->kind == SKI_CHANNEL_DATA)
        ski_channel_unpack(channel, (const char *)(head + 1));
    else if (head->kind == SKI_CHANNEL_STAGED)
        ski_channel_unpack(channel, *(char *const *)(head + 1));
    else if (head->kind == SKI_CHANNEL_COOP)
        ski_coop_finish(*(struct ski_coop *const *)(head + 1));
    else if (head->kind == SKI_CHANNEL_ZCOPY)
        channel->zcopy = *(struct ski_zcopy_desc *const *)(head + 1);
    return true;
}

/* Handles a put for a channel of this PE. */
static void channel_on_put(struct ski_pe *self, skua_msg *msg, struct ski_channel *channel)
{
    const struct ski_channel_head *head = skua_msg_data(msg);
    bool                           all;

    if (ski_config.checked_channels)
        ski_channel_check_arrival(channel, msg->source, head);
    if (!channel_is_valid(msg, head, channel))
        ski_misuse("channel %s from PE %d to PE %d: put %llu has %llu bytes, the channel %zu",
                   ski_channel_name(channel), msg->source, channel->pe,
                   (unsigned long long)head->put, (unsigned long long)head->bytes, channel->bytes);
    all = channel_deliver(channel, head);
    skua_msg_free(msg);
    if (all)
        channel_count_arrival(self, channel);
}

/* Handles a message about a channel of this PE; @p channel is NULL if it does not exist. */
static void channel_on_message(struct ski_pe *self, skua_msg *msg, struct ski_channel *channel)
{
    const struct ski_channel_head *head = skua_msg_data(msg);

    switch (head->kind) {
    case SKI_CHANNEL_OPENED: ski_on_channel_opened(self, msg, head, channel); break;
    case SKI_CHANNEL_POLLED:
        if (channel && channel->polled && channel_arrived(channel) != channel->reported) {
            skua_msg_free(msg);
            channel_report(channel);
            return;
        }
        break;
    default:
        if (channel) {
            channel_on_put(self, msg, channel);
            return;
        }
        if (ski_job_index(self->job, msg->source) <
            0) /* senders of this host have seen that it is destroyed */
            ski_channel_refuse_put(self, msg->source, head->key, head->bytes, NULL);
    }
    skua_msg_free(msg);
}

/* Returns whether a message that a PE sends only to itself comes from another PE. */
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
        ski_net_drop(self, msg);
        return;
    }
    switch (head->kind) {
    case SKI_CHANNEL_MULTICAST: ski_on_channel_multicast(msg); return;
    case SKI_CHANNEL_SENT: ski_channel_local_complete(self); break;
    case SKI_CHANNEL_REFUSED: ski_on_channel_refused(msg, head); break;
    default:
        channel = ski_channel_find(self->job, head->key);
        channel_on_message(self, msg, channel && channel->pe == self->pe ? channel : NULL);
        return;
    }
    skua_msg_free(msg);
}

/* ---- ready ------------------------------------------------------------------------- */

static void channel_release_zcopy(struct ski_channel *channel)
{
    struct ski_zcopy_desc *zcopy = channel->zcopy;

    if (SKI_UNLIKELY(ski_config.checked_channels))
        ski_channel_check_zcopy_release(channel);
    ski_assert(zcopy);
    channel->zcopy = NULL;
    ski_zcopy_desc_release(zcopy);
}

static inline void channel_mark(struct ski_channel *channel)
{
    if (SKI_UNLIKELY(channel->reduces))
        ski_channel_reduce_reset(channel);
    if (channel->zcopy)
        channel_release_zcopy(channel);
    if (SKI_UNLIKELY(ski_config.checked_channels))
        atomic_fetch_add_explicit(&channel->ready, 1, memory_order_release);
}

/* Not inside of the caller, which may be in the middle of something. */
static SKI_COLD void channel_report_later(struct ski_pe *self, const struct ski_channel *channel)
{
    ski_channel_send_head(
        self, self->pe,
        &(struct ski_channel_head){.key = channel->key, .kind = SKI_CHANNEL_POLLED});
}

static inline void channel_poll(struct ski_pe *self, struct ski_channel *channel)
{
    channel->polled = true;
    if (SKI_UNLIKELY(channel_arrived(channel) != channel->reported))
        channel_report_later(self, channel);
}

/* Returns whether to mark the channel takes more than nothing. */
static inline bool channel_needs_mark(const struct ski_channel *channel)
{
    return channel->reduces || channel->zcopy || SKI_UNLIKELY(ski_config.checked_channels);
}

static __attribute__((noinline)) void channel_mark_and_poll(struct ski_pe      *self,
                                                            struct ski_channel *channel)
{
    channel_mark(channel);
    channel_poll(self, channel);
}

void skua_channel_ready(skua_channel value)
{
    struct ski_pe      *self    = SKI_SELF();
    struct ski_channel *channel = channel_of_caller(self, __func__, value);

    if (channel_needs_mark(channel))
        channel_mark_and_poll(self, channel);
    else
        channel_poll(self, channel);
}

void skua_channel_mark(skua_channel channel)
{
    channel_mark(channel_of_caller(SKI_SELF(), __func__, channel));
}

void skua_channel_poll(skua_channel channel)
{
    struct ski_pe *self = SKI_SELF();

    channel_poll(self, channel_of_caller(self, __func__, channel));
}

uint64_t skua_channel_count(skua_channel channel)
{
    return channel_of_caller(SKI_SELF(), __func__, channel)->reported;
}

/* ---- life ----------------------------------------------------------------------------- */

void ski_channel_pe_begin(struct ski_pe *self)
{
    self->on_doorbell     = channel_on_doorbell;
    self->on_own_doorbell = channel_on_own_doorbell;
}

/* Records, layouts and names go with the arena, and so does what senders have there that were not
 * closed. */
void ski_channel_pe_end(struct ski_pe *self)
{
    self->on_doorbell     = NULL;
    self->on_own_doorbell = NULL;
    free(ski_channel_pe(self)->doorbells.at);
    ski_channel_pe(self)->doorbells = (struct ski_doorbell_queue){.at = NULL};
}
