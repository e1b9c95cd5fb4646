/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_packet.c - puts to other hosts: one packet, with no more than the key before the data.
 *
 *      | key (8) | data |
 *
 * The length of the packet says how many bytes there are.  Large data in one block are sent without
 * a copy; others are copied after the key.
 *
 * The receiver handles a packet like a doorbell: before its queue.  The driver receives the data of
 * a large packet directly into the buffer, and a small packet is copied there out of the driver's
 * memory; the doorbell is then one of the PE's own (doorbell_queue.c), since no code of the program
 * runs within the driver.  A packet that was out of order, or that the driver has received into a
 * message, is an expedited message, which also bypasses the queue.
 *
 * In checked mode puts have the longer header of channel.h, with the number of the put and a
 * checksum.
 */
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/net/zcopy_send.h"
#include "core/pe/handler.h"
#include "onesided/channel/channel.h"
#include "onesided/channel/channel_pe.h"

#define PACKET_ZCOPY_MIN 8192 /* bytes that are sent to other hosts without a copy */

/* ---- the sender ------------------------------------------------------------------------------ */

/* Returns a packet with its key, and room for @p more bytes after it. */
static skua_msg *channel_packet_new(struct ski_pe *self, const skua_sender *sender, size_t more)
{
    skua_msg *msg = skua_msg_alloc(sizeof sender->key + more);

    ski_assert(sender->key != 0);
    memcpy(skua_msg_data(msg), &sender->key, sizeof sender->key);
    msg->handler = SKI_HANDLER_CHANNEL_PUT;
    msg->flags |= SKI_MSG_EXPEDITED;
    msg->source = self->pe;
    return msg;
}

static void channel_packet_put_copied(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();
    skua_msg      *msg  = channel_packet_new(self, sender, sender->bytes);

    ski_copy_plan_run(&sender->plan, (char *)skua_msg_data(msg) + sizeof sender->key, from);
    ski_msg_post(self, sender->pe, SKI_HANDLER_CHANNEL_PUT, msg);
}

/* Sends the data of a put from the program's memory, or copied if that is not possible now. */
static void channel_packet_put_zcopy_send(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();
    skua_msg      *msg  = channel_packet_new(self, sender, sizeof(struct ski_zcopy_send));

    if (!ski_channel_zcopy_send(self, sender, msg, sizeof sender->key, from))
        channel_packet_put_copied(sender, from);
}

bool ski_channel_packet_is_zcopy_send(const skua_sender *sender)
{
    return sender->plan.kind == SKI_COPY_BLOCK && sender->bytes >= PACKET_ZCOPY_MIN &&
           ski_zcopy_send_supported();
}

ski_channel_put_fn ski_channel_packet_path(const skua_sender *sender)
{
    return ski_channel_packet_is_zcopy_send(sender) ? channel_packet_put_zcopy_send
                                                    : channel_packet_put_copied;
}

/* ---- the receiver ---------------------------------------------------------------------------- */

/* Finds a channel by the key of a packet.  A record stays a record (channel.h): once its tag has
 * been checked, which takes as long as all the rest here, only the key is compared. */
static struct ski_channel *channel_packet_lookup(const struct ski_pe *self, uint64_t key)
{
    struct ski_channel  *channel  = ski_channel_at(self->pool.arena, key);
    struct ski_channel **verified = &ski_channel_pe(self)->verified[key % SKI_CHANNEL_VERIFIED];

    if (SKI_LIKELY(*verified == channel))
        return channel->key == key && channel->pe == self->pe ? channel : NULL;
    channel = ski_channel_find(self->job, key);
    if (!channel || channel->pe != self->pe)
        return NULL;
    *verified = channel;
    return channel;
}

/* Returns the channel of @p self that a packet names at @p data, which need not be aligned; NULL:
 * there is none, or the packet does not have the size of its data. */
static struct ski_channel *channel_packet_find(const struct ski_pe *self, const skua_msg *head,
                                               const char *data)
{
    struct ski_channel *channel;
    uint64_t            key;

    memcpy(&key, data, sizeof key);
    channel = channel_packet_lookup(self, key);
    return channel && head->bytes == sizeof key + channel->bytes ? channel : NULL;
}

/* Returns the channel whose buffer a packet may fill within the driver; NULL: none.  Only the
 * thread of the PE rings its doorbells.  A reduction reads the data, and wants them aligned. */
static struct ski_channel *channel_packet_in_driver(const struct ski_pe *self, const skua_msg *head,
                                                    const char *data)
{
    struct ski_channel *channel;

    if (self != ski_self || ski_pe_exiting(self) || ski_config.checked_channels)
        return NULL;
    channel = channel_packet_find(self, head, data);
    return channel && !channel->reduces ? channel : NULL;
}

static skua_msg *channel_packet_take(struct ski_pe *self, const skua_msg *head, const char *data)
{
    struct ski_channel *channel = channel_packet_in_driver(self, head, data);

    if (!channel)
        return NULL;
    ski_channel_unpack(channel, data + sizeof channel->key);
    ski_doorbell_push_arrived(self, channel->key);
    return &ski_net_nothing_left;
}

static size_t channel_packet_place(struct ski_pe *self, const skua_msg *head, const char *data,
                                   void **to)
{
    struct ski_channel *channel = channel_packet_in_driver(self, head, data);

    if (!channel || channel->pattern)
        return 0;
    *to = channel->to;
    return channel->bytes;
}

/* A channel that was destroyed meanwhile has no doorbell: its key is then rejected. */
static skua_msg *channel_packet_placed(struct ski_pe *self, const skua_msg *head, const char *data,
                                       bool whole)
{
    uint64_t key;

    (void)head;
    if (!whole)
        return NULL;
    memcpy(&key, data, sizeof key);
    ski_doorbell_push_arrived(self, key);
    return &ski_net_nothing_left;
}

const struct ski_placement ski_channel_placement = {
    .place      = channel_packet_place,
    .placed     = channel_packet_placed,
    .take       = channel_packet_take,
    .small      = true,
    .until_exit = true,
};

/* The packet has arrived as a message, whose data are aligned. */
static void channel_packet_deliver(struct ski_pe *self, skua_msg *msg, struct ski_channel *channel)
{
    const char *data = (const char *)skua_msg_data(msg) + sizeof channel->key;
    bool        all  = true;

    ski_assert(msg->bytes == sizeof channel->key + channel->bytes && channel->pe == self->pe);
    if (channel->reduces)
        all = ski_channel_reduce(channel, data);
    else
        ski_channel_unpack(channel, data);
    skua_msg_free(msg);
    if (all)
        ski_channel_count_arrival(self, channel);
}

void ski_on_channel_put(skua_msg *msg)
{
    struct ski_pe      *self    = ski_self;
    struct ski_channel *channel = channel_packet_find(self, msg, skua_msg_data(msg));
    uint64_t            key;

    if (channel) {
        channel_packet_deliver(self, msg, channel);
        return;
    }
    memcpy(&key, skua_msg_data(msg), sizeof key);
    ski_channel_refuse_put(self, msg->source, key, msg->bytes - sizeof key,
                           channel_packet_lookup(self, key));
    skua_msg_free(msg);
}
