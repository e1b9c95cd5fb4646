/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_multicast.c - one put for several channels.
 *
 * Receivers of this host get the data as from a sender of their own.  Those of other hosts are
 * grouped by host: one packet goes to one receiver of a host, which passes it to the others there.
 * If there are more hosts than a node of the spanning trees has children (SKUA_TREE_ARITY), a
 * packet is for several hosts, and the PE that gets it forwards it:
 *
 *      | struct ski_channel_head | count | channel ... | data |
 *
 * The channels are ordered by host, those of the receiving host first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/channel/channel.h"

struct ski_channel_multicast {
    skua_sender **local; /* senders to channels of this host */
    size_t        locals;
    skua_channel *remote; /* channels of other hosts, by host */
    size_t        remotes;
};

/* A packet, without its data. */
struct multicast_packet {
    struct ski_channel_head head;
    uint64_t                count;
    skua_channel            channel[];
};

static size_t multicast_packet_bytes(size_t count)
{
    return sizeof(struct multicast_packet) + count * sizeof(skua_channel);
}

/* ---- sending ---------------------------------------------------------------------------- */

/* Returns the end of the channels of one host, from @p at in a list that ends at @p end. */
static const skua_channel *multicast_host_end(const skua_channel *at, const skua_channel *end)
{
    const skua_channel *next = at;

    while (next < end && next->host == at->host)
        next++;
    return next;
}

static size_t multicast_hosts(const skua_channel *at, const skua_channel *end)
{
    size_t hosts = 0;

    for (; at < end; at = multicast_host_end(at, end))
        hosts++;
    return hosts;
}

/* Sends a packet for the channels from @p at to @p end, with data that @p plan packs. */
static void multicast_send(struct ski_pe *self, const skua_channel *at, const skua_channel *end,
                           const struct ski_channel_head *head, const struct ski_copy_plan *plan,
                           const char *from)
{
    size_t                   count  = (size_t)(end - at);
    skua_msg                *msg    = skua_msg_alloc(multicast_packet_bytes(count) + plan->bytes);
    struct multicast_packet *packet = skua_msg_data(msg);

    ski_assert(count > 0 && head->bytes == plan->bytes);
    packet->head  = *head;
    packet->count = count;
    memcpy(packet->channel, at, count * sizeof *at);
    ski_copy_plan_run(plan, (char *)packet + multicast_packet_bytes(count), from);
    msg->handler = SKI_HANDLER_CHANNEL;
    msg->source  = self->pe;
    ski_msg_post(self, at->pe, SKI_HANDLER_CHANNEL, msg);
}

/* Sends a packet to each host of a list, or to as many as the arity, which forward it. */
static void multicast_send_all(struct ski_pe *self, const skua_channel *at, const skua_channel *end,
                               const struct ski_channel_head *head,
                               const struct ski_copy_plan *plan, const char *from)
{
    size_t hosts = multicast_hosts(at, end), children = ski_config.tree_arity;

    ski_assert(children > 0);
    for (size_t i = 0; at < end; i++) {
        const skua_channel *part = at;
        size_t share = hosts <= children ? 1 : hosts * (i + 1) / children - hosts * i / children;

        while (share-- > 0)
            at = multicast_host_end(at, end);
        ski_assert(part < at && at <= end);
        multicast_send(self, part, at, head, plan, from);
    }
}

static void multicast_put(skua_sender *sender, const char *from)
{
    struct ski_pe                      *self      = SKI_SELF();
    const struct ski_channel_multicast *multicast = sender->multicast;
    struct ski_channel_head             head      = {
                         .kind = SKI_CHANNEL_MULTICAST, .bytes = sender->bytes, .put = ++sender->puts};

    if (multicast->remotes > 0)
        multicast_send_all(self, multicast->remote, multicast->remote + multicast->remotes, &head,
                           &sender->plan, from);
    for (size_t i = 0; i < multicast->locals; i++)
        multicast->local[i]->put(multicast->local[i], from);
}

/* ---- arriving ---------------------------------------------------------------------------- */

static bool multicast_is_valid(const struct ski_pe *self, const skua_msg *msg,
                               const struct multicast_packet *packet)
{
    if (msg->bytes < sizeof *packet || packet->count == 0 || packet->count >= msg->bytes ||
        packet->head.bytes >= msg->bytes ||
        msg->bytes != multicast_packet_bytes(packet->count) + packet->head.bytes)
        return false;
    for (uint64_t i = 0; i < packet->count; i++)
        if ((uint32_t)packet->channel[i].pe >= (uint32_t)self->pes)
            return false;
    return packet->channel[0].pe == self->pe;
}

/* Delivers the data of a packet to a channel of this host. */
static void multicast_deliver(struct ski_pe *self, skua_channel to,
                              const struct multicast_packet *packet, const char *data, int source)
{
    skua_sender sender = {.bytes = packet->head.bytes, .puts = packet->head.put, .once = true};

    sender.layout = skua_layout_contiguous(data, sender.bytes);
    if (ski_job_index(self->job, to.pe) < 0 ||
        ski_sender_select(self, "skua_channel_put", &sender, to) != SKUA_OK)
        return; /* destroyed: there is nothing to deliver to; or the error was logged */
    if (ski_config.checked_channels)
        ski_channel_check_put(&sender, source);
    sender.put(&sender, data);
}

void ski_on_channel_multicast(skua_msg *msg)
{
    struct ski_pe                 *self   = ski_self;
    const struct multicast_packet *packet = skua_msg_data(msg);
    const skua_channel            *at     = packet->channel, *end, *here;
    const char                    *data;
    skua_layout                    block;
    struct ski_copy_plan           plan;

    if (!multicast_is_valid(self, msg, packet)) {
        ski_net_drop(self, msg);
        return;
    }
    end  = at + packet->count;
    here = multicast_host_end(at, end);
    data = (const char *)end;
    ski_assert(at < here && here <= end);
    block = skua_layout_contiguous(data, packet->head.bytes);
    ski_copy_plan_make(&plan, NULL, &block);
    if (here < end)
        multicast_send_all(self, here, end, &packet->head, &plan, data);
    for (; at < here; at++)
        multicast_deliver(self, *at, packet, data, msg->source);
    skua_msg_free(msg);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int multicast_by_host(const void *a, const void *b)
{
    const skua_channel *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->pe > y->pe) - (x->pe < y->pe);
}

void ski_channel_multicast_close(skua_sender *sender)
{
    struct ski_channel_multicast *multicast = sender->multicast;

    for (size_t i = 0; i < multicast->locals; i++)
        skua_channel_close(multicast->local[i]);
    free(multicast->local);
    free(multicast->remote);
    free(multicast);
}

/* Opens the channels of this host and collects the others. Returns false if one cannot be opened.
 */
static bool multicast_open(struct ski_pe *self, struct ski_channel_multicast *multicast,
                           const skua_channel *channels, size_t count, const skua_layout *from,
                           size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        bool known = channels[i].pe >= 0 && channels[i].pe < self->pes;

        if (known && ski_job_index(self->job, channels[i].pe) < 0) {
            multicast->remote[multicast->remotes++] = channels[i];
            ski_channel_tell_opened(self, channels[i].pe, channels[i].key, bytes);
            continue;
        }
        multicast->local[multicast->locals] = skua_channel_open(channels[i], from);
        if (!multicast->local[multicast->locals])
            return false;
        multicast->locals++;
    }
    qsort(multicast->remote, multicast->remotes, sizeof *multicast->remote, multicast_by_host);
    return true;
}

skua_sender *skua_channel_open_many(const skua_channel *channels, size_t count,
                                    const skua_layout *from)
{
    struct ski_pe *self   = SKI_SELF();
    skua_sender   *sender = ski_sender_new(__func__, from);

    if (!sender)
        return NULL;
    sender->put       = multicast_put;
    sender->pe        = -1;
    sender->multicast = ski_calloc(1, sizeof *sender->multicast);
    ski_copy_plan_make(&sender->plan, NULL, &sender->layout);
    sender->multicast->local  = ski_calloc(count + 1, sizeof *sender->multicast->local);
    sender->multicast->remote = ski_calloc(count + 1, sizeof *sender->multicast->remote);
    if (multicast_open(self, sender->multicast, channels, count, from, sender->bytes))
        return sender;
    skua_channel_close(sender);
    return NULL;
}
