/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_put.c - the sender: opens channels and does puts, by the paths of channel.h.
 *
 * The sender has a pointer to the function of its path, so that a put makes no decision.
 *
 * Ordering.  What a put copies is in the receiver's memory before the stamp of the doorbell's cell:
 * the release in ski_inbox_publish_mp(), which pairs with the acquire when the receiver polls its
 * inbox, is all that is needed.  A doorbell does not wait for messages that were sent before it,
 * and overtakes those that wait for room.
 */
#include "core/message/message.h"
#include "onesided/channel/channel.h"

#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/message/addr_tag.h"
#include "core/message/inbox_send.h"
#include "core/message/send_backlog.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/buffer/buffer.h"
#include "onesided/channel/channel_pe.h"
#include "onesided/rma/cma.h"
#include "onesided/rma/rma_pe.h"
#include "core/net/zcopy_send.h"

/* Bytes from which on the receiver is asked for help: with data that are copied directly, or
 * staged. */
#define COOP_DIRECT_MIN ((size_t)384 << 10)
#define COOP_STAGED_MIN ((size_t)80 << 10)

/* Bytes below which the system copies faster than both PEs together, where it does at all. */
#define ATTACH_MAX ((size_t)2 << 20)

/* Bytes from which on a receiver is woken before the end of a copy, and how many bytes before. */
#define WAKE_MIN   ((size_t)2 << 20)
#define WAKE_AHEAD ((size_t)1 << 20)

/* Bytes up to which the cell of the doorbell is reserved before the data are copied. */
#define CELL_FIRST_MAX ((size_t)4 << 10)

/* Staging memory of medium size has several slots, used in turn: cache lines that the receiver has
 * just read cost more to write than those of some puts before. */
#define SLOTS_MIN   2048
#define SLOTS_BYTES 40960
#define SLOTS_MAX   8

/* ---- doorbells --------------------------------------------------------------------- */

/* Reserves a cell of the receiver's inbox for a doorbell; NULL: the inbox is full. */
static inline struct ski_cell *doorbell_reserve(const struct ski_pe *self, skua_sender *sender,
                                                uint64_t *tail)
{
    return ski_inbox_reserve_in(self, sender->inbox, sender->cells, &sender->credit, tail);
}

static SKI_COLD void doorbell_wake(struct ski_pe *self, const skua_sender *sender)
{
    self->stats.wakeups++;
    ski_host_wake(self->host, sender->index);
}

/* Fills in what all doorbells have in common. */
static inline void doorbell_fill(struct ski_cell *cell, uint64_t key, size_t bytes)
{
    ski_assert(key != 0 && bytes <= UINT8_MAX);
    cell->handler = SKI_HANDLER_CHANNEL;
    cell->flags   = SKI_MSG_WAKEUP;
    cell->bytes   = (uint8_t)bytes;
    memcpy(&cell->source, &key, sizeof key);
}

/* Fills in the rest of a doorbell, and rings. */
static inline void doorbell_publish(struct ski_pe *self, const skua_sender *sender,
                                    struct ski_cell *cell, uint64_t tail, size_t bytes)
{
    doorbell_fill(cell, sender->key, bytes);
    self->stats.sent_inline++;
    if (ski_inbox_show(self, sender->inbox, cell, tail))
        doorbell_wake(self, sender);
}

/* Returns a message with a header, and room for @p more bytes after it. */
static skua_msg *channel_put_new_message(struct ski_pe *self, const skua_sender *sender,
                                         enum ski_channel_kind kind, size_t more)
{
    skua_msg                *msg  = skua_msg_alloc(sizeof(struct ski_channel_head) + more);
    struct ski_channel_head *head = skua_msg_data(msg);

    *head        = (struct ski_channel_head){sender->key, kind, 0, sender->bytes, sender->puts};
    msg->handler = SKI_HANDLER_CHANNEL;
    msg->source  = self->pe;
    return msg;
}

/* The inbox is full: the doorbell becomes a message that waits. */
static SKI_COLD void doorbell_by_message(struct ski_pe *self, const skua_sender *sender,
                                         enum ski_channel_kind kind, const void *at)
{
    size_t    more = kind == SKI_CHANNEL_PLACED ? 0 : sizeof at;
    skua_msg *msg  = channel_put_new_message(self, sender, kind, more);

    memcpy((struct ski_channel_head *)skua_msg_data(msg) + 1, &at, more);
    ski_send_backlog_add(self, sender->pe, msg);
}

void ski_channel_ring(struct ski_pe *self, skua_sender *sender, enum ski_channel_kind kind,
                      void *at)
{
    uint64_t         tail;
    struct ski_cell *cell;

    if (!sender->inbox) {
        ski_doorbell_push(self, sender->key, at);
        return;
    }
    cell = doorbell_reserve(self, sender, &tail);
    if (SKI_UNLIKELY(!cell)) {
        doorbell_by_message(self, sender, kind, at);
        return;
    }
    cell->message = at;
    doorbell_publish(self, sender, cell, tail, kind == SKI_CHANNEL_PLACED ? 0 : SKI_DOORBELL(kind));
}

void ski_channel_ask_help(struct ski_pe *self, skua_sender *sender, struct ski_coop *all)
{
    uint64_t         tail;
    struct ski_cell *cell = doorbell_reserve(self, sender, &tail);

    if (!cell)
        return;
    cell->message = (void *)all;
    doorbell_publish(self, sender, cell, tail, SKI_DOORBELL(SKI_CHANNEL_HELP));
}

/* ---- paths --------------------------------------------------------------------------- */

/* Performs a put by message. */
static void channel_put_message(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();
    skua_msg      *msg  = channel_put_new_message(self, sender, SKI_CHANNEL_DATA, sender->bytes);

    ski_copy_plan_run(&sender->plan, (char *)((struct ski_channel_head *)skua_msg_data(msg) + 1),
                      from);
    ski_msg_post(self, sender->pe, SKI_HANDLER_CHANNEL, msg);
}

/* Sends the data in the doorbell.  Inlined for one block, and for data that are packed. */
static inline __attribute__((always_inline)) void channel_put_in_cell(skua_sender *sender,
                                                                      const char *from, bool packed)
{
    struct ski_pe   *self = SKI_SELF();
    uint64_t         tail;
    struct ski_cell *cell = doorbell_reserve(self, sender, &tail);

    ski_assert(sender->bytes <= SKI_CELL_DATA);
    if (SKI_UNLIKELY(!cell)) {
        channel_put_message(sender, from);
        return;
    }
    if (packed)
        ski_copy_plan_run(&sender->plan, (char *)cell->data, from);
    else
        ski_copy_small(cell->data, from, sender->bytes);
    doorbell_publish(self, sender, cell, tail, sender->bytes);
}

static void channel_put_inline(skua_sender *sender, const char *from)
{
    channel_put_in_cell(sender, from, false);
}

/* Sends the data in the doorbell, in a ring whose sole producer is this PE.  What it uses of the
 * sender is in variables: as far as the compiler knows, a store into the cell could change it. */
static void channel_put_inline_sole(skua_sender *sender, const char *from)
{
    struct ski_pe    *self  = SKI_SELF();
    struct ski_inbox *inbox = sender->inbox;
    uint64_t          key   = sender->key, tail;
    size_t            bytes = sender->bytes;
    struct ski_cell  *cell =
        ski_inbox_try_reserve_sp(inbox, sender->cells, &sender->credit, SKI_CELL_SLOTS, &tail);

    if (SKI_UNLIKELY(!cell)) {
        channel_put_inline(sender, from);
        return;
    }
    ski_copy_small(cell->data, from, bytes);
    doorbell_fill(cell, key, bytes);
    self->stats.sent_inline++;
    if (ski_inbox_publish_sp(inbox, cell, tail))
        doorbell_wake(self, sender);
}

static void channel_put_inline_packed(skua_sender *sender, const char *from)
{
    channel_put_in_cell(sender, from, true);
}

/* A receiver that has nothing else to do falls asleep during so large a copy, and takes as long to
 * wake up as the last part takes to copy: it is woken before that part. */
static SKI_COLD void channel_put_copy_and_wake(struct ski_pe *self, const skua_sender *sender,
                                               const char *from)
{
    size_t before = sender->bytes - WAKE_AHEAD;

    ski_assert(sender->bytes >= WAKE_AHEAD);
    ski_copy(sender->to, from, before);
    if (sender->pe != self->pe)
        ski_inbox_wakeup(self, sender->pe);
    ski_copy(sender->to + before, from + before, WAKE_AHEAD);
}

/* Reserves the cell of the doorbell, then copies.  The other way round, an atomic add that waits
 * for earlier stores (x86-64) would wait for the cache lines of the data before the line of the
 * cell is requested.  Messages of other PEs to the receiver wait behind the cell, so the data must
 * be few. Returns false if the inbox is full. */
static bool channel_put_cell_first(struct ski_pe *self, skua_sender *sender, const char *from)
{
    uint64_t         tail;
    struct ski_cell *cell = doorbell_reserve(self, sender, &tail);

    if (SKI_UNLIKELY(!cell))
        return false;
    ski_prefetch_write(cell);
    memcpy(sender->to, from, sender->bytes);
    cell->message = NULL;
    doorbell_publish(self, sender, cell, tail, 0);
    return true;
}

void ski_channel_put_block(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    if (sender->inbox && sender->bytes <= CELL_FIRST_MAX &&
        channel_put_cell_first(self, sender, from))
        return;
    if (SKI_UNLIKELY(sender->bytes >= WAKE_MIN))
        channel_put_copy_and_wake(self, sender, from);
    else
        ski_copy(sender->to, from, sender->bytes);
    ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

/* The first put of a sender may be the first to touch the pages of the buffer.  Behind a reserved
 * cell all messages to the receiver would wait for them, so it copies first.  Checks and zcopy may
 * have replaced the path. */
static void channel_put_first_block(skua_sender *sender, const char *from)
{
    struct ski_pe      *self    = SKI_SELF();
    ski_channel_put_fn *paths[] = {&sender->put, &sender->copied, &sender->unchecked};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (*paths[i] == channel_put_first_block)
            *paths[i] = ski_channel_put_block;
    ski_copy(sender->to, from, sender->bytes);
    ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

/* Copies a few bytes, to a channel of the same PE. */
static void channel_put_own_small(skua_sender *sender, const char *from)
{
    ski_copy_small(sender->to, from, sender->bytes);
    ski_doorbell_push(SKI_SELF(), sender->key, NULL);
}

static void channel_put_strided(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    ski_copy_plan_run(&sender->plan, sender->to, from);
    ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

/* At most one put is in flight, so the slot before the last one is free as well. */
static void channel_put_staged(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    sender->slot = sender->slot + 1 < sender->slots ? sender->slot + 1 : 0;
    sender->to   = sender->staging + sender->slot * SKI_STAGE_BYTES(sender->bytes);
    ski_assert(sender->slot < sender->slots);
    ski_copy_plan_run(&sender->plan, sender->to, from);
    ski_channel_ring(self, sender, SKI_CHANNEL_STAGED, sender->to);
}

static uint32_t sender_staging_slots(size_t bytes)
{
    size_t slots = SLOTS_BYTES / bytes;

    if (bytes < SLOTS_MIN || slots == 0)
        return 1;
    return (uint32_t)(slots < SLOTS_MAX ? slots : SLOTS_MAX);
}

/* The system copies into memory that only the receiver reaches.  If the receiver has destroyed the
 * channel, or the system cannot access that memory any more, the data go in a message, which the
 * receiver judges. */
static void channel_put_attached(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();
    int            pid  = ski_job_pid(self->job, sender->pe);

    if (ski_addr_tag_peek(&sender->channel->key) == sender->key &&
        ski_cma_try_write(pid, sender->to, from, sender->bytes))
        ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
    else
        channel_put_message(sender, from);
}

/* Allocates staging memory and returns the path through it: by message if there is no memory, or if
 * the sender is used once, since its end could not be detected. */
static ski_channel_put_fn sender_alloc_staging(struct ski_pe *self, skua_sender *sender)
{
    size_t bytes = SKI_STAGE_BYTES(sender->bytes);

    ski_copy_plan_make(&sender->plan, NULL, &sender->layout);
    sender->slots   = sender_staging_slots(sender->bytes);
    sender->staging = sender->once ? NULL : ski_pool_alloc(&self->pool, bytes * sender->slots);
    sender->to      = sender->staging;
    return sender->staging ? channel_put_staged : channel_put_message;
}

/* ---- between hosts ------------------------------------------------------------------------ */

bool ski_channel_zcopy_send(struct ski_pe *self, skua_sender *sender, skua_msg *msg, size_t header,
                            const char *from)
{
    sender->sending++; /* it may be complete before the call returns */
    ski_rma_pe(self)->at_driver++;
    if (ski_zcopy_send(self, sender->pe, msg, header, from, sender->bytes, ski_channel_send_done,
                       sender))
        return true;
    ski_assert(sender->sending > 0 && ski_rma_pe(self)->at_driver > 0);
    sender->sending--;
    ski_rma_pe(self)->at_driver--;
    skua_msg_free(msg);
    return false;
}

/* Sends the data of a put in checked mode from the program's memory, or copied if that is not
 * possible now. */
static void channel_put_checked_zcopy_send(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();
    skua_msg      *msg =
        channel_put_new_message(self, sender, SKI_CHANNEL_DATA, sizeof(struct ski_zcopy_send));
    struct ski_channel_head *head = skua_msg_data(msg);

    head->sum = ski_channel_check_sum(from, sender->bytes);
    if (!ski_channel_zcopy_send(self, sender, msg, sizeof *head, from))
        channel_put_message(sender, from);
}

/* ---- choosing a path ------------------------------------------------------------------------ */

static void sender_select_message(skua_sender *sender)
{
    ski_copy_plan_make(&sender->plan, NULL, &sender->layout);
    sender->put = channel_put_message;
}

/* Selects the path to another host. */
static void sender_select_packet(skua_sender *sender)
{
    ski_copy_plan_make(&sender->plan, NULL, &sender->layout);
    if (!ski_config.checked_channels)
        sender->put = ski_channel_packet_path(sender);
    else
        sender->put = ski_channel_packet_is_zcopy_send(sender) ? channel_put_checked_zcopy_send
                                                               : channel_put_message;
}

/* Returns whether this process reaches the buffer of @p channel by load and store: it is in the
 * arena (process is -1), or in this process. */
static bool sender_reaches(const struct ski_pe *self, const struct ski_channel *channel)
{
    return channel->process < 0 || channel->process == self->process;
}

/* Makes the receiver help with the copy into @p to, if there is memory to coordinate that. */
static void sender_select_coop(struct ski_pe *self, skua_sender *sender, char *to, char *staging)
{
    sender->coop = ski_coop_new(self, to, staging, sender->bytes);
    if (sender->coop)
        sender->put = ski_channel_put_coop;
}

/* Selects a path into memory that this process reaches. */
static void sender_select_direct(struct ski_pe *self, skua_sender *sender,
                                 const struct ski_channel *channel)
{
    skua_layout block = skua_layout_contiguous(channel->to, channel->bytes);

    sender->to = channel->to;
    ski_copy_plan_make(&sender->plan, channel->pattern ? &channel->pattern->layout : &block,
                       &sender->layout);
    if (sender->plan.kind != SKI_COPY_BLOCK)
        sender->put = channel_put_strided;
    else
        sender->put = sender->inbox || sender->bytes > SKI_CELL_DATA ? ski_channel_put_block
                                                                     : channel_put_own_small;
    if (sender->put == ski_channel_put_block && sender->inbox && !sender->once &&
        sender->bytes >= COOP_DIRECT_MIN)
        sender_select_coop(self, sender, sender->to, NULL);
    if (sender->put == ski_channel_put_block && sender->inbox && sender->bytes <= CELL_FIRST_MAX)
        sender->put = channel_put_first_block;
}

/* Returns whether one copy by the system takes less time than one into staging memory and one out
 * of it, and the system allows it. */
static bool sender_attaches(const struct ski_pe *self, const skua_sender *sender,
                            const struct ski_channel *channel)
{
    int pid = ski_job_pid(self->job, channel->pe);

    return !SKI_CMA_SLOW && ski_config.direct && ski_config.cma && !channel->pattern &&
           sender->bytes < ATTACH_MAX &&
           ski_zcopy_pays(self, channel->pe, channel->to, sender->bytes) &&
           ski_cma_reaches(pid, channel->to);
}

/* Selects a path into memory that only the receiver reaches. */
static void sender_select_staged(struct ski_pe *self, skua_sender *sender,
                                 const struct ski_channel *channel)
{
    ski_copy_plan_make(&sender->plan, NULL, &sender->layout);
    if (sender->plan.kind == SKI_COPY_BLOCK && sender_attaches(self, sender, channel)) {
        sender->to  = channel->to;
        sender->put = channel_put_attached;
        return;
    }
    sender->put = sender_alloc_staging(self, sender);
    if (sender->put == channel_put_staged && !channel->pattern &&
        sender->plan.kind == SKI_COPY_BLOCK && sender->bytes >= COOP_STAGED_MIN)
        sender_select_coop(self, sender, channel->to, sender->staging);
}

static void sender_select_inline(const struct ski_pe *self, skua_sender *sender)
{
    ski_copy_plan_make(&sender->plan, NULL, &sender->layout);
    if (sender->plan.kind != SKI_COPY_BLOCK)
        sender->put = channel_put_inline_packed;
    else
        sender->put = self->sole ? channel_put_inline_sole : channel_put_inline;
}

static void sender_select_reduce(struct ski_pe *self, skua_sender *sender,
                                 const struct ski_channel *channel)
{
    if (!sender_reaches(self, channel)) {
        sender_select_message(sender);
        return;
    }
    sender->put = ski_channel_put_reduce;
    if (sender->layout.kind != SKUA_LAYOUT_CONTIGUOUS && /* reductions need one block */
        sender_alloc_staging(self, sender) == channel_put_message)
        sender_select_message(sender);
}

/* Selects the path to a channel of this host. */
static void sender_select_host(struct ski_pe *self, skua_sender *sender,
                               struct ski_channel *channel)
{
    bool own = channel->pe == self->pe;

    sender->channel = channel;
    sender->inbox   = own ? NULL : ski_inbox_at(self, (size_t)sender->index);
    sender->cells   = self->reader.cells;
    ski_assert(channel->bytes == sender->bytes);
    if (ski_config.channels == SKI_CHANNELS_MESSAGE)
        sender_select_message(sender);
    else if (channel->reduces)
        sender_select_reduce(self, sender, channel);
    else if (sender->bytes <= SKI_CELL_DATA && !own)
        sender_select_inline(self, sender);
    else if (sender_reaches(self, channel))
        sender_select_direct(self, sender, channel);
    else
        sender_select_staged(self, sender, channel);
    if (sender->wants_zcopy && channel->view)
        ski_sender_use_zcopy(self, sender, channel);
}

skua_status ski_sender_select(struct ski_pe *self, const char *call, skua_sender *sender,
                              skua_channel value)
{
    struct ski_channel *channel;

    if (value.pe < 0 || value.pe >= self->pes || !value.key)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the argument is not a channel", call);
    sender->key   = value.key;
    sender->pe    = value.pe;
    sender->index = ski_job_index(self->job, value.pe);
    if (sender->index < 0) {
        sender_select_packet(sender);
        if (!sender->known)
            ski_channel_tell_opened(self, value.pe, value.key, sender->bytes);
        return SKUA_OK;
    }
    channel = ski_channel_find(self->job, value.key);
    if (!channel || channel->pe != value.pe)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the channel of PE %d was destroyed%s", call,
                          value.pe, ski_channel_former_hint(self));
    if (channel->bytes != sender->bytes)
        return ski_channel_check_size(self, call, sender, channel);
    sender_select_host(self, sender, channel);
    return SKUA_OK;
}

/* Frees what a sender has in the arena. */
static void sender_drop(struct ski_pe *self, skua_sender *sender)
{
    if (sender->staging)
        ski_pool_free(&self->pool, sender->staging);
    if (sender->zcopy)
        ski_pool_free(&self->pool, sender->zcopy);
    if (sender->coop)
        ski_pool_free(&self->pool, sender->coop);
    sender->staging = NULL;
    sender->zcopy   = NULL;
    sender->coop    = NULL;
}

/* ---- the calls ------------------------------------------------------------------------------ */

void ski_sender_free(skua_sender *sender)
{
    free(sender->list);
    free(sender);
}

skua_sender *ski_sender_new(const char *call, const skua_layout *from)
{
    skua_sender *sender = ski_calloc_line(sizeof *sender);

    if (ski_layout_check(call, from, false, &sender->layout, &sender->bytes) != SKUA_OK) {
        free(sender);
        return NULL;
    }
    if (ski_layout_has_list(&sender->layout)) {
        sender->list = ski_malloc(ski_layout_list_bytes(&sender->layout));
        ski_layout_keep_list(&sender->layout, sender->list);
    }
    sender->from = from->at;
    return sender;
}

/* Opens a channel.  Returns NULL if it cannot be opened, which is logged. */
static skua_sender *sender_open(const char *call, skua_channel channel, const skua_layout *from,
                                bool wants_zcopy, bool known)
{
    struct ski_pe *self   = ski_pe_of_caller(call);
    skua_sender   *sender = ski_sender_new(call, from);

    if (!sender)
        return NULL;
    sender->wants_zcopy = wants_zcopy;
    sender->known       = known;
    if (ski_sender_select(self, call, sender, channel) != SKUA_OK) {
        ski_sender_free(sender);
        return NULL;
    }
    if (ski_config.checked_channels)
        ski_channel_check_add(self, sender);
    return sender;
}

skua_sender *skua_channel_open(skua_channel channel, const skua_layout *from)
{
    return sender_open(__func__, channel, from, false, false);
}

skua_sender *skua_channel_lend(skua_channel channel, const skua_layout *from)
{
    return sender_open(__func__, channel, from, true, false);
}

skua_sender *ski_channel_open_known(skua_channel channel, const skua_layout *from)
{
    return sender_open("skua_object_channel_open", channel, from, false, true);
}

void skua_channel_put(skua_sender *sender)
{
    sender->put(sender, sender->from);
}

void skua_channel_put_from(skua_sender *sender, const void *at)
{
    sender->put(sender, at);
}

void skua_channel_close(skua_sender *sender)
{
    struct ski_pe *self = SKI_SELF();

    if (!sender)
        return;
    if (sender->unchecked)
        ski_channel_check_remove(self, sender);
    if (sender->multicast)
        ski_channel_multicast_close(sender);
    if (!ski_channel_local_close(self, sender))
        return;
    sender_drop(self, sender);
    ski_sender_free(sender);
}
