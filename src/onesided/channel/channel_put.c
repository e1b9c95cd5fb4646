/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_put.c - the sender: opening channels, and the ways of a put (channel.h).
 *
 * Each way is a function that the sender points at, so a put does not ask which it is.
 *
 * Ordering.  What a put copies is in the receiver's memory before the stamp of the doorbell's
 * cell is: the release in ski_inbox_publish_mp(), which pairs with the acquire of the
 * receiver's look at the inbox, is all that is needed.  A doorbell does not wait for messages
 * that were sent before, and overtakes those that wait for room.
 */
#include "onesided/channel/channel.h"

#include <string.h>

#include "base/config.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/message/inbox_send.h"
#include "core/message/send_backlog.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/rma/rma_pe.h"
#include "transport/driver.h"

#define SPLIT_LEAST 8192 /* data from here on are sent to other hosts from where they are */

/* From here on the receiver is asked for help, with data that go straight, or that are staged. */
#define TOGETHER_LEAST ((size_t)384 << 10)
#define PIECES_LEAST   ((size_t)80 << 10)

#define WAKE_LEAST ((size_t)2 << 20)
#define WAKE_AHEAD ((size_t)1 << 20)

/* Staging memory of middle size has several places, used in turn: lines that the receiver read a
 * moment ago cost more to write than those of some puts before. */
#define PLACES_LEAST 2048
#define PLACES_BYTES 40960
#define PLACES_MOST  8

/* ---- doorbells --------------------------------------------------------------------- */

static inline struct ski_cell *reserve(skua_sender *sender, uint64_t *tail)
{
    if (SKI_UNLIKELY(!ski_inbox_reserve_mp(sender->inbox, sender->cells, &sender->credit, tail)))
        return NULL;
    return ski_inbox_cell(sender->inbox, sender->cells, *tail);
}

static SKI_COLD void wake(struct ski_pe *self, const skua_sender *sender)
{
    self->stats.wakes++;
    ski_host_wake(self->host, sender->index);
}

/* Fills in what all doorbells have, and rings. */
static inline void publish(struct ski_pe *self, const skua_sender *sender, struct ski_cell *cell,
                           uint64_t tail, size_t bytes)
{
    cell->handler = SKI_HANDLER_CHANNEL;
    cell->flags   = SKI_MSG_POKE;
    cell->bytes   = (uint8_t)bytes;
    memcpy(&cell->source, &sender->key, sizeof sender->key);
    self->stats.sent_inline++;
    if (ski_inbox_publish_mp(cell, tail))
        wake(self, sender);
}

/* A message with a head, and room for @p more bytes behind it. */
static skua_msg *new_message(struct ski_pe *self, const skua_sender *sender,
                             enum ski_channel_kind kind, size_t more)
{
    skua_msg                *msg  = skua_msg_alloc(sizeof(struct ski_channel_head) + more);
    struct ski_channel_head *head = skua_msg_data(msg);

    *head        = (struct ski_channel_head){sender->key, kind, 0, sender->bytes, sender->puts};
    msg->handler = SKI_HANDLER_CHANNEL;
    msg->source  = self->pe;
    return msg;
}

/* The inbox is full: the doorbell is a message that waits. */
static SKI_COLD void ring_later(struct ski_pe *self, const skua_sender *sender,
                                enum ski_channel_kind kind, const void *at)
{
    size_t    more = kind == SKI_CHANNEL_PLACED ? 0 : sizeof at;
    skua_msg *msg  = new_message(self, sender, kind, more);

    memcpy((struct ski_channel_head *)skua_msg_data(msg) + 1, &at, more);
    ski_pending_send(self, sender->pe, msg);
}

void ski_channel_ring(struct ski_pe *self, skua_sender *sender, enum ski_channel_kind kind,
                      void *at)
{
    uint64_t         tail;
    struct ski_cell *cell;

    if (!sender->inbox) {
        ski_bell_push(self, sender->key, at);
        return;
    }
    cell = reserve(sender, &tail);
    if (SKI_UNLIKELY(!cell)) {
        ring_later(self, sender, kind, at);
        return;
    }
    cell->message = at;
    publish(self, sender, cell, tail, kind == SKI_CHANNEL_PLACED ? 0 : SKI_BELL(kind));
}

void ski_channel_ask(struct ski_pe *self, skua_sender *sender, struct ski_together *all)
{
    uint64_t         tail;
    struct ski_cell *cell = reserve(sender, &tail);

    if (!cell)
        return;
    cell->message = (void *)all;
    publish(self, sender, cell, tail, SKI_BELL(SKI_CHANNEL_HELP));
}

/* ---- the ways ------------------------------------------------------------------------ */

static void put_cell(skua_sender *sender, const char *from)
{
    struct ski_pe   *self = SKI_SELF();
    uint64_t         tail;
    struct ski_cell *cell = reserve(sender, &tail);

    if (SKI_UNLIKELY(!cell)) {
        ski_put_message(sender, from);
        return;
    }
    ski_copy_small(cell->data, from, sender->bytes);
    publish(self, sender, cell, tail, sender->bytes);
}

/* The same for a few bytes that lie apart. */
static void put_cell_packed(skua_sender *sender, const char *from)
{
    struct ski_pe   *self = SKI_SELF();
    uint64_t         tail;
    struct ski_cell *cell = reserve(sender, &tail);

    if (SKI_UNLIKELY(!cell)) {
        ski_put_message(sender, from);
        return;
    }
    ski_path_copy(&sender->path, (char *)cell->data, from);
    publish(self, sender, cell, tail, sender->bytes);
}

/* A receiver that has nothing else to do falls asleep while so much is copied, and takes as long
 * to wake up as the end of it takes to copy: it is told before. */
static SKI_COLD void copy_and_wake(struct ski_pe *self, const skua_sender *sender, const char *from)
{
    size_t before = sender->bytes - WAKE_AHEAD;

    ski_copy(sender->to, from, before);
    if (sender->pe != self->pe)
        ski_msg_poke(self, sender->pe);
    ski_copy(sender->to + before, from + before, WAKE_AHEAD);
}

void ski_put_block(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    if (SKI_UNLIKELY(sender->bytes >= WAKE_LEAST))
        copy_and_wake(self, sender, from);
    else
        ski_copy(sender->to, from, sender->bytes);
    ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

/* A few bytes, to a channel of our own PE. */
static void put_small(skua_sender *sender, const char *from)
{
    ski_copy_small(sender->to, from, sender->bytes);
    ski_bell_push(SKI_SELF(), sender->key, NULL);
}

static void put_shape(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    ski_path_copy(&sender->path, sender->to, from);
    ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}

/* One put at most is on its way, so the place before the last is free as well. */
static void put_staged(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    sender->place = sender->place + 1 < sender->places ? sender->place + 1 : 0;
    sender->to    = sender->staging + sender->place * SKI_STAGE_BYTES(sender->bytes);
    ski_path_copy(&sender->path, sender->to, from);
    ski_channel_ring(self, sender, SKI_CHANNEL_STAGED, sender->to);
}

/* The data are sent from where they are; or a copy of them. */
void ski_put_message(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();
    skua_msg      *msg  = new_message(self, sender, SKI_CHANNEL_DATA, sender->bytes);

    ski_path_copy(&sender->path, (char *)((struct ski_channel_head *)skua_msg_data(msg) + 1), from);
    ski_msg_post(self, sender->pe, SKI_HANDLER_CHANNEL, msg);
}

static uint32_t places_for(size_t bytes)
{
    size_t places = PLACES_BYTES / bytes;

    if (bytes < PLACES_LEAST || places == 0)
        return 1;
    return (uint32_t)(places < PLACES_MOST ? places : PLACES_MOST);
}

/* The way through the receiver; in messages, where there is no memory to be had, or where
 * nobody would know when to give it back. */
static ski_put_fn through_receiver(struct ski_pe *self, skua_sender *sender)
{
    size_t bytes = SKI_STAGE_BYTES(sender->bytes);

    ski_path_make(&sender->path, NULL, &sender->layout);
    sender->places  = places_for(sender->bytes);
    sender->staging = sender->once ? NULL : ski_pool_alloc(&self->pool, bytes * sender->places);
    sender->to      = sender->staging;
    return sender->staging ? put_staged : ski_put_message;
}

/* ---- between hosts ------------------------------------------------------------------------ */

/* A message whose data are sent from the user's memory. */
struct split {
    struct ski_far_done done; /* first */
    struct ski_pe      *self;
    skua_sender        *sender;
    skua_msg           *msg;
};

static void split_over(struct ski_far_done *done, skua_status_t status)
{
    struct split split = *(struct split *)done;

    (void)status; /* who is lost is told by others */
    ski_pool_free(&split.self->pool, split.msg);
    ski_channel_sent(split.self, split.sender);
}

/* The end of the message is where its data would begin; what we note about it lies there. */
static bool send_split(struct ski_pe *self, skua_sender *sender, const char *from)
{
    skua_msg *msg = new_message(self, sender, SKI_CHANNEL_DATA, sizeof(struct split));
    struct ski_channel_head *head  = skua_msg_data(msg);
    struct split            *split = (void *)(head + 1);

    msg->bytes = sizeof *head + sender->bytes;
    head->sum  = ski_config.checked_channels ? ski_check_sum(from, sender->bytes) : 0;
    *split     = (struct split){{split_over}, self, sender, msg};
    sender->sending++; /* it may be over before the call returns */
    ski_origin_of(self)->at_driver++;
    if (ski_far_send_split(self, sender->pe, msg, from, sender->bytes, &split->done))
        return true;
    sender->sending--;
    ski_origin_of(self)->at_driver--;
    skua_msg_free(msg);
    return false;
}

static void put_split(skua_sender *sender, const char *from)
{
    if (!send_split(SKI_SELF(), sender, from))
        ski_put_message(sender, from);
}

/* ---- choosing ------------------------------------------------------------------------------- */

static void aim_by_message(skua_sender *sender)
{
    ski_path_make(&sender->path, NULL, &sender->layout);
    sender->put = sender->index < 0 && sender->path.kind == SKI_PATH_BLOCK &&
                          sender->bytes >= SPLIT_LEAST && ski_far_driver()->send_split
                      ? put_split
                      : ski_put_message;
}

static bool reaches(const struct ski_pe *self, const struct ski_channel *channel)
{
    return channel->process < 0 || channel->process == self->process;
}

/* Into memory that we reach. */
static void aim_directly(struct ski_pe *self, skua_sender *sender,
                         const struct ski_channel *channel)
{
    skua_layout block = skua_layout_of(channel->to, channel->bytes);

    sender->to = channel->to;
    ski_path_make(&sender->path, channel->pattern ? &channel->pattern->layout : &block,
                  &sender->layout);
    if (sender->path.kind != SKI_PATH_BLOCK)
        sender->put = put_shape;
    else
        sender->put = sender->inbox || sender->bytes > SKI_CELL_DATA ? ski_put_block : put_small;
    if (sender->put == ski_put_block && sender->inbox && !sender->once &&
        sender->bytes >= TOGETHER_LEAST)
        sender->together = ski_together_new(self, sender->to, NULL, sender->bytes);
    if (sender->together)
        sender->put = ski_put_together;
}

/* Into memory that only the receiver reaches. */
static void aim_at_staging(struct ski_pe *self, skua_sender *sender,
                           const struct ski_channel *channel)
{
    sender->put = through_receiver(self, sender);
    if (sender->put == put_staged && !channel->pattern && sender->path.kind == SKI_PATH_BLOCK &&
        sender->bytes >= PIECES_LEAST)
        sender->together = ski_together_new(self, channel->to, sender->staging, sender->bytes);
    if (sender->together)
        sender->put = ski_put_together;
}

static void aim_at_cell(skua_sender *sender)
{
    ski_path_make(&sender->path, NULL, &sender->layout);
    sender->put = sender->path.kind == SKI_PATH_BLOCK ? put_cell : put_cell_packed;
}

static void aim_to_combine(struct ski_pe *self, skua_sender *sender,
                           const struct ski_channel *channel)
{
    if (!reaches(self, channel)) {
        aim_by_message(sender);
        return;
    }
    sender->put = ski_put_combined;
    if (sender->layout.levels > 0 && /* sums are of blocks */
        through_receiver(self, sender) == ski_put_message)
        aim_by_message(sender);
}

static void aim_near(struct ski_pe *self, skua_sender *sender, struct ski_channel *channel)
{
    bool own = channel->pe == self->pe;

    sender->channel = channel;
    sender->inbox   = own ? NULL : ski_host_inbox(self->host, sender->index);
    sender->cells   = self->reader.cells;
    if (ski_config.channels == SKI_CHANNELS_MESSAGE)
        aim_by_message(sender);
    else if (channel->combines)
        aim_to_combine(self, sender, channel);
    else if (sender->bytes <= SKI_CELL_DATA && !own)
        aim_at_cell(sender);
    else if (reaches(self, channel))
        aim_directly(self, sender, channel);
    else
        aim_at_staging(self, sender, channel);
    if (sender->lends && channel->view)
        ski_sender_lend(self, sender, channel);
}

skua_status_t ski_sender_aim(struct ski_pe *self, const char *call, skua_sender *sender,
                             skua_channel value)
{
    struct ski_channel *channel;

    if (value.pe < 0 || value.pe >= self->pes || !value.key)
        return ski_refuse(SKUA_ERR_INVAL, "%s: this is no channel", call);
    sender->key   = value.key;
    sender->pe    = value.pe;
    sender->index = ski_job_index(self->job, value.pe);
    if (sender->index < 0) {
        aim_by_message(sender);
        ski_channel_tell_opened(self, value.pe, value.key, sender->bytes);
        return SKUA_OK;
    }
    channel = ski_channel_find(self->job, value.key);
    if (!channel || channel->pe != value.pe)
        return ski_refuse(SKUA_ERR_INVAL, "%s: a channel of PE %d that was deleted", call,
                          value.pe);
    if (channel->bytes != sender->bytes)
        return ski_check_size(self, call, sender, channel);
    aim_near(self, sender, channel);
    return SKUA_OK;
}

void ski_sender_drop(struct ski_pe *self, skua_sender *sender)
{
    if (sender->staging)
        ski_pool_free(&self->pool, sender->staging);
    if (sender->lent)
        ski_pool_free(&self->pool, sender->lent);
    if (sender->together)
        ski_pool_free(&self->pool, sender->together);
    sender->staging  = NULL;
    sender->lent     = NULL;
    sender->together = NULL;
}

/* ---- the calls ----------------------------------------------------------------------------------
 */

skua_sender *ski_sender_new(const char *call, const skua_layout *from)
{
    skua_sender *sender = ski_calloc_line(sizeof *sender);

    if (ski_layout_check(call, from, false, &sender->layout, &sender->bytes) != SKUA_OK) {
        free(sender);
        return NULL;
    }
    sender->from = from->at;
    return sender;
}

static skua_sender *open_channel(const char *call, skua_channel channel, const skua_layout *from,
                                 bool lends)
{
    struct ski_pe *self   = SKI_SELF();
    skua_sender   *sender = ski_sender_new(call, from);

    if (!sender)
        return NULL;
    sender->lends = lends;
    if (ski_sender_aim(self, call, sender, channel) != SKUA_OK) {
        free(sender);
        return NULL;
    }
    if (ski_config.checked_channels)
        ski_check_sender(self, sender);
    return sender;
}

skua_sender *skua_channel_open(skua_channel channel, const skua_layout *from)
{
    return open_channel(__func__, channel, from, false);
}

skua_sender *skua_channel_lend(skua_channel channel, const skua_layout *from)
{
    return open_channel(__func__, channel, from, true);
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
        ski_check_no_more(self, sender);
    if (sender->many)
        ski_many_close(self, sender);
    if (!ski_channel_unlocal(self, sender))
        return;
    ski_sender_drop(self, sender);
    free(sender);
}
