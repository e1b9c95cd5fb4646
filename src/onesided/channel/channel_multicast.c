/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_multicast.c - one put for several channels.
 *
 * Receivers of this host get the data as from a sender of their own.  Those of others are
 * grouped by host: one packet goes to a host, to one of the receivers there, which hands it to the
 * others.  Where there are more hosts than a node of the spanning trees has children
 * (SKUA_TREE_ARITY) a packet stands for several hosts, and whoever gets it sends it on:
 *
 *      | head | count | channel ... | data |
 *
 * The channels are ordered by host, those of the host that it goes to first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/channel/channel.h"

struct ski_many {
    skua_sender **near; /* to those of this host */
    size_t        nears;
    skua_channel *far; /* those of others, by host */
    size_t        fars;
};

/* A packet, without its data. */
struct packet {
    struct ski_channel_head head;
    uint64_t                count;
    skua_channel            channel[];
};

static size_t packet_bytes(size_t count)
{
    return sizeof(struct packet) + count * sizeof(skua_channel);
}

/* ---- sending ---------------------------------------------------------------------------- */

/* Where the host of the channel at @p at ends, in a list that ends at @p end. */
static const skua_channel *host_end(const skua_channel *at, const skua_channel *end)
{
    const skua_channel *next = at;

    while (next < end && next->host == at->host)
        next++;
    return next;
}

static size_t hosts_in(const skua_channel *at, const skua_channel *end)
{
    size_t hosts = 0;

    for (; at < end; at = host_end(at, end))
        hosts++;
    return hosts;
}

/* A packet for the channels from @p at to @p end, with data that @p path packs. */
static void send_packet(struct ski_pe *self, const skua_channel *at, const skua_channel *end,
                        const struct ski_channel_head *head, const struct ski_path *path,
                        const char *from)
{
    size_t         count  = (size_t)(end - at);
    skua_msg      *msg    = skua_msg_alloc(packet_bytes(count) + path->bytes);
    struct packet *packet = skua_msg_data(msg);

    packet->head  = *head;
    packet->count = count;
    memcpy(packet->channel, at, count * sizeof *at);
    ski_path_copy(path, (char *)packet + packet_bytes(count), from);
    msg->handler = SKI_HANDLER_CHANNEL;
    msg->source  = self->pe;
    ski_msg_post(self, at->pe, SKI_HANDLER_CHANNEL, msg);
}

/* To all hosts of a list: to each its packet, or to as many as the arity, for all. */
static void send_all(struct ski_pe *self, const skua_channel *at, const skua_channel *end,
                     const struct ski_channel_head *head, const struct ski_path *path,
                     const char *from)
{
    size_t hosts = hosts_in(at, end), children = ski_config.tree_arity;

    for (size_t i = 0; at < end; i++) {
        const skua_channel *part = at;
        size_t share = hosts <= children ? 1 : hosts * (i + 1) / children - hosts * i / children;

        while (share-- > 0)
            at = host_end(at, end);
        send_packet(self, part, at, head, path, from);
    }
}

static void put_many(skua_sender *sender, const char *from)
{
    struct ski_pe          *self = SKI_SELF();
    const struct ski_many  *many = sender->many;
    struct ski_channel_head head = {
        .kind = SKI_CHANNEL_MANY, .bytes = sender->bytes, .put = ++sender->puts};

    if (many->fars > 0)
        send_all(self, many->far, many->far + many->fars, &head, &sender->path, from);
    for (size_t i = 0; i < many->nears; i++)
        many->near[i]->put(many->near[i], from);
}

/* ---- arriving ---------------------------------------------------------------------------- */

static bool is_sound(const struct ski_pe *self, const skua_msg *msg, const struct packet *packet)
{
    if (msg->bytes < sizeof *packet || packet->count == 0 || packet->count >= msg->bytes ||
        packet->head.bytes >= msg->bytes ||
        msg->bytes != packet_bytes(packet->count) + packet->head.bytes)
        return false;
    for (uint64_t i = 0; i < packet->count; i++)
        if ((uint32_t)packet->channel[i].pe >= (uint32_t)self->pes)
            return false;
    return packet->channel[0].pe == self->pe;
}

/* To a channel of this host, from the packet. */
static void hand_over(struct ski_pe *self, skua_channel to, const struct packet *packet,
                      const char *data, int source)
{
    skua_sender sender = {.bytes = packet->head.bytes, .puts = packet->head.put, .once = true};

    sender.layout = skua_layout_of(data, sender.bytes);
    if (ski_job_index(self->job, to.pe) < 0 ||
        ski_sender_aim(self, "skua_channel_put", &sender, to) != SKUA_OK)
        return; /* it was deleted, or that has been said */
    if (ski_config.checked_channels)
        ski_check_put(&sender, source);
    sender.put(&sender, data);
}

void ski_on_channel_many(skua_msg *msg)
{
    struct ski_pe       *self   = ski_self;
    const struct packet *packet = skua_msg_data(msg);
    const skua_channel  *at     = packet->channel, *end, *here;
    const char          *data;
    skua_layout          block;
    struct ski_path      path;

    if (!is_sound(self, msg, packet)) {
        ski_far_drop(self, msg);
        return;
    }
    end   = at + packet->count;
    here  = host_end(at, end);
    data  = (const char *)end;
    block = skua_layout_of(data, packet->head.bytes);
    ski_path_make(&path, NULL, &block);
    if (here < end)
        send_all(self, here, end, &packet->head, &path, data);
    for (; at < here; at++)
        hand_over(self, *at, packet, data, msg->source);
    skua_msg_free(msg);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int by_host(const void *a, const void *b)
{
    const skua_channel *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->pe > y->pe) - (x->pe < y->pe);
}

void ski_many_close(struct ski_pe *self, skua_sender *sender)
{
    struct ski_many *many = sender->many;

    (void)self;
    for (size_t i = 0; i < many->nears; i++)
        skua_channel_close(many->near[i]);
    free(many->near);
    free(many->far);
    free(many);
}

/* Sorts the channels into those of this host, which are opened, and others; false: one cannot
 * be. */
static bool divide(struct ski_pe *self, struct ski_many *many, const skua_channel *channels,
                   size_t count, const skua_layout *from, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        bool known = channels[i].pe >= 0 && channels[i].pe < self->pes;

        if (known && ski_job_index(self->job, channels[i].pe) < 0) {
            many->far[many->fars++] = channels[i];
            ski_channel_tell_opened(self, channels[i].pe, channels[i].key, bytes);
            continue;
        }
        many->near[many->nears] = skua_channel_open(channels[i], from);
        if (!many->near[many->nears])
            return false;
        many->nears++;
    }
    qsort(many->far, many->fars, sizeof *many->far, by_host);
    return true;
}

skua_sender *skua_channel_open_many(const skua_channel *channels, size_t count,
                                    const skua_layout *from)
{
    struct ski_pe *self   = SKI_SELF();
    skua_sender   *sender = ski_sender_new(__func__, from);

    if (!sender)
        return NULL;
    sender->put  = put_many;
    sender->pe   = -1;
    sender->many = ski_calloc(1, sizeof *sender->many);
    ski_path_make(&sender->path, NULL, &sender->layout);
    sender->many->near = ski_calloc(count + 1, sizeof *sender->many->near);
    sender->many->far  = ski_calloc(count + 1, sizeof *sender->many->far);
    if (divide(self, sender->many, channels, count, from, sender->bytes))
        return sender;
    skua_channel_close(sender);
    return NULL;
}
