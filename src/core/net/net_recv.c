/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_recv.c - packets that come from other hosts: whose they are, whether they are what they
 * say, and whose turn it is.
 *
 * Nothing of a packet is believed before its sender's token, its lengths and its handler are
 * checked (packet.h).  What is wrong is counted, told a few times, and dropped; but if its sender
 * is who it says, its number is used up, or those behind it would wait for ever.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/net/coalesce.h"
#include "core/net/peer.h"
#include "core/net/net.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/net/packet.h"

#define COMPLAINTS 10   /* about wrong packets, then silence */
#define TAKE_LEAST 4096 /* a smaller packet is copied as fast as it is looked at */

void ski_far_wrong(struct ski_pe *self, const char *format, ...)
{
    char     text[256];
    uint64_t n = ++self->stats.wrong;
    va_list  args;

    if (n > COMPLAINTS)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ski_log(SKI_LOG_ERROR, "%s%s", text, n == COMPLAINTS ? " (no more of these will be told)" : "");
}

void ski_far_drop(struct ski_pe *self, struct skua_msg *msg)
{
    ski_far_wrong(self, "a message of %zu bytes from PE %d for %s was dropped: it makes no sense",
                  msg->bytes, msg->source, ski_handler_name(msg->handler));
    ski_pool_free(&self->pool, msg);
}

/* @p peer: where it comes from, or NULL if it does not prove that. */
static void complain(struct ski_net_port *net, const struct ski_net_peer *peer, size_t bytes,
                     const char *wrong)
{
    char from[32] = "";

    if (peer)
        snprintf(from, sizeof from, " from PE %d", peer->pe);
    ski_far_wrong(net->self, "a packet of %zu bytes%s was dropped: %s", bytes, from, wrong);
}

static bool recv_has_flag(uint32_t handler, unsigned flag)
{
    return handler < SKI_HANDLERS && ski_builtin[handler].flags & flag;
}

/* NULL: one that was wrong, and whose turn has come. */
static void deliver(struct ski_net_port *net, struct skua_msg *msg)
{
    if (!msg)
        return;
    net->self->stats.received++;
    net->self->counted += recv_has_flag(msg->handler, SKI_HANDLES_COUNTED);
    ski_queue_push(&net->self->queue, msg, msg->flags);
}

/* Keeps a packet until those before it are here; false: it is here already. */
static bool keep_early(struct ski_net_peer *peer, struct skua_msg *msg, uint32_t sequence)
{
    struct ski_early_packet **at = &peer->early, *early;

    while (*at && (int32_t)((*at)->sequence - sequence) < 0)
        at = &(*at)->next;
    if (*at && (*at)->sequence == sequence)
        return false;
    early  = ski_malloc(sizeof *early);
    *early = (struct ski_early_packet){*at, sequence, msg};
    *at    = early;
    return true;
}

/* What was waiting for the packet that has just been delivered. */
static void deliver_early(struct ski_net_port *net, struct ski_net_peer *peer)
{
    while (peer->early && peer->early->sequence == peer->received) {
        struct ski_early_packet *early = peer->early;

        peer->early = early->next;
        peer->received++;
        deliver(net, early->msg);
        free(early);
    }
}

/* The peer that a packet comes from, if it proves to come from there; else NULL. */
static struct ski_net_peer *sender_of(struct ski_net_port *net, const struct skua_msg *msg)
{
    const struct ski_job *job = net->self->job;
    struct ski_net_peer  *peer;

    peer = ski_net_peer_find(net, msg->source);
    if (SKI_UNLIKELY(!peer)) {
        if (msg->source < 0 || msg->source >= ski_job_all(job) ||
            ski_job_index(job, msg->source) >= 0 ||
            ski_packet_token(job->secret, msg->source, net->self->pe) != msg->stamp.token)
            return NULL;
        peer = ski_net_peer_add(net, msg->source);
    }
    return SKI_LIKELY(peer->token_in == msg->stamp.token) ? peer : NULL;
}

/* In the order of sending. */
static void take_turn(struct ski_net_port *net, struct ski_net_peer *peer, struct skua_msg *msg,
                      uint32_t sequence, size_t bytes)
{
    if (SKI_LIKELY(sequence == peer->received)) {
        peer->received++;
        deliver(net, msg);
        deliver_early(net, peer);
    } else if (((int32_t)(sequence - peer->received) < 0 || !keep_early(peer, msg, sequence)) &&
               msg) {
        complain(net, peer, bytes, "it has come before");
        ski_pool_free(&net->self->pool, msg);
    }
}

/* A packet of its own, or out of a bundle. */
static void accept(struct ski_net_port *net, struct skua_msg *msg, size_t bytes)
{
    const char          *wrong    = ski_packet_wrong(net->self->job, net->handlers, msg, bytes);
    struct ski_net_peer *peer     = sender_of(net, msg);
    uint32_t             sequence = msg->stamp.sequence;

    if (SKI_UNLIKELY(!wrong && msg->handler == SKI_HANDLER_BUNDLE))
        wrong = "a bundle came in a bundle";
    if (SKI_UNLIKELY(!wrong && ski_pe_hidden(net->self) &&
                     !recv_has_flag(msg->handler, SKI_HANDLES_HIDDEN)))
        wrong = "it is for a PE that takes no such packets";
    if (SKI_UNLIKELY(wrong || !peer)) {
        complain(net, peer, bytes,
                 wrong ? wrong : "its sender does not know the secret of the job");
        ski_pool_free(&net->self->pool, msg);
        msg = NULL;
    }
    if (SKI_LIKELY(peer != NULL))
        take_turn(net, peer, msg, sequence, bytes);
}

static void *on_room(void *owner, size_t bytes)
{
    struct ski_net_port *net = owner;
    void                *room;

    if (!net->self)
        return NULL;
    if (bytes < SKI_PACKET_HALF) {
        complain(net, NULL, bytes, "it is too short");
        return NULL;
    }
    room = ski_pool_alloc(&net->self->pool, bytes);
    if (!room) /* those behind it would wait for it for ever */
        ski_fatal("no memory for a packet of %zu bytes that has come: the arena is full (do "
                  "messages come faster than they are run?); raise SKUA_ARENA_SIZE",
                  bytes);
    return room;
}

/* ---- in-place delivery ------------------------------------------------------------------ */

static const struct ski_placement *recv_placements[SKI_HANDLERS];

void ski_net_set_placement(uint32_t handler, const struct ski_placement *placement)
{
    ski_assert(handler < SKI_HANDLERS);
    recv_placements[handler] = placement;
}

/* How packets of a handler are delivered in place; NULL: they are not. */
static const struct ski_placement *recv_placement(const struct ski_pe *self, uint32_t handler)
{
    if (ski_pe_hidden(self) && !recv_has_flag(handler, SKI_HANDLES_HIDDEN))
        return NULL;
    return handler < SKI_HANDLERS ? recv_placements[handler] : NULL;
}

static size_t recv_place(struct ski_pe *self, const struct skua_msg *head, const char *data,
                         void **to)
{
    const struct ski_placement *placement = recv_placement(self, head->handler);

    return placement && placement->place ? placement->place(self, head, data, to) : 0;
}

static struct skua_msg *recv_placed(struct ski_pe *self, const struct skua_msg *head,
                                    const char *data, bool whole)
{
    const struct ski_placement *placement = recv_placement(self, head->handler);

    return placement && placement->placed ? placement->placed(self, head, data, whole) : NULL;
}

/* Copies the data of a packet that is all there to its place.  Returns the message that is left, or
 * NULL: it is received as any other. */
static struct skua_msg *recv_take(struct ski_pe *self, const struct skua_msg *head,
                                  const char *data)
{
    const struct ski_placement *placement = recv_placement(self, head->handler);
    void                       *to;
    size_t                      bytes;

    if (placement && placement->take)
        return placement->take(self, head, data);
    bytes = recv_place(self, head, data, &to);
    if (bytes == 0)
        return NULL;
    ski_assert(bytes <= head->bytes);
    memcpy(to, data + head->bytes - bytes, bytes);
    return recv_placed(self, head, data, true);
}

/* A packet in the driver's memory: its data may go straight to where it belongs, and what is
 * left of it takes its turn.  One that comes early, or is wrong, comes in as others do. */
static bool take(struct ski_net_port *net, const struct skua_msg *head, const char *data,
                 size_t bytes)
{
    struct ski_net_peer *peer = sender_of(net, head);
    struct skua_msg     *left;

    if (!peer || head->stamp.sequence != peer->received)
        return false;
    left = recv_take(net->self, head, data);
    if (left)
        take_turn(net, peer, left, head->stamp.sequence, bytes);
    return left != NULL;
}

/* A packet that lies elsewhere, aligned or not, with @p head bytes of its header. */
static void copy_in(struct ski_net_port *net, const char *packet, size_t bytes, size_t head)
{
    size_t           whole = bytes - head + sizeof(struct skua_msg);
    struct skua_msg *msg   = on_room(net, whole);

    if (!msg)
        return;
    memcpy(msg, packet, SKI_PACKET_HALF);
    memcpy((char *)(msg + 1) - (head - SKI_PACKET_HALF), packet + SKI_PACKET_HALF,
           bytes - SKI_PACKET_HALF);
    accept(net, msg, whole);
}

/* One that is worth it: @p msg is room for its header; false: it is wrong. */
static bool look(const struct ski_net_port *net, const char *packet, size_t bytes, size_t head,
                 struct skua_msg *msg)
{
    memset(msg, 0, sizeof *msg);
    memcpy(msg, packet, head);
    return !ski_packet_wrong(net->self->job, net->handlers, msg, bytes - head + sizeof *msg);
}

/* One of a bundle, or alone. */
static void unpack_one(struct ski_net_port *net, const char *packet, size_t bytes)
{
    size_t          head = ski_packet_head_bytes(packet, bytes);
    struct skua_msg msg;

    if (SKI_UNLIKELY(head == 0))
        complain(net, NULL, bytes, "it is too short");
    else if (bytes < TAKE_LEAST || !look(net, packet, bytes, head, &msg) ||
             !take(net, &msg, packet + head, bytes))
        copy_in(net, packet, bytes, head);
}

/* The data of a bundle; @p data is aligned or not. */
static void unpack(struct ski_net_port *net, const struct skua_msg *head, const char *data)
{
    const char *end = data + head->bytes, *packet;
    size_t      bytes;

    if (!sender_of(net, head)) {
        complain(net, NULL, head->bytes, "its sender does not know the secret of the job");
        return;
    }
    while (data < end && (packet = ski_bundle_look(data, end, &bytes))) {
        unpack_one(net, packet, bytes);
        data = packet - sizeof(uint64_t) + ski_bundle_slot(bytes);
    }
    if (data != end)
        complain(net, sender_of(net, head), head->bytes, "it is a bundle of no packets");
}

/* Whether a packet is a bundle, which is taken apart. */
static bool take_bundle(struct ski_net_port *net, const char *packet, size_t bytes, size_t head)
{
    struct skua_msg msg;
    uint16_t        handler;

    memcpy(&handler, packet + offsetof(struct skua_msg, handler), sizeof handler);
    if (SKI_LIKELY(handler != SKI_HANDLER_BUNDLE) || !look(net, packet, bytes, head, &msg))
        return false;
    unpack(net, &msg, packet + head);
    return true;
}

/* A plain packet whose turn it is; false: it is to be looked at as any other. */
static bool take_plain(struct ski_net_port *net, const struct skua_msg *half, const char *packet)
{
    struct ski_pe       *self = net->self;
    struct ski_net_peer *peer = ski_net_peer_find(net, half->source);
    struct skua_msg     *msg;

    if (!peer || peer->token_in != half->stamp.token || peer->received != half->stamp.sequence ||
        peer->early)
        return false;
    msg = ski_pool_at_hand(&self->pool, sizeof *msg + half->bytes);
    if (SKI_UNLIKELY(!msg))
        return false;
    memcpy(msg, half, SKI_PACKET_HALF);
    memcpy(msg + 1, packet + SKI_PACKET_HALF, half->bytes);
    peer->received++;
    self->stats.received++;
    ski_queue_push(&self->queue, msg, 0);
    return true;
}

/* Any other. */
static bool take_packet(struct ski_net_port *net, const char *packet, size_t bytes)
{
    size_t head = ski_packet_head_bytes(packet, bytes);

    if (head == 0)
        return false;
    if (take_bundle(net, packet, bytes, head))
        return true;
    if (head == sizeof(struct skua_msg) && bytes < TAKE_LEAST)
        return false;
    if (bytes < TAKE_LEAST)
        copy_in(net, packet, bytes, head);
    else
        unpack_one(net, packet, bytes);
    return true;
}

static bool on_taken(void *owner, const void *packet, size_t bytes)
{
    struct ski_net_port *net = owner;
    struct skua_msg      half;

    if (SKI_UNLIKELY(!net->self || bytes < SKI_PACKET_HALF))
        return false;
    memcpy(&half, packet, SKI_PACKET_HALF);
    if (SKI_LIKELY(ski_packet_is_plain(&half, bytes, net->handlers) && bytes < TAKE_LEAST &&
                   take_plain(net, &half, packet)))
        return true;
    return take_packet(net, packet, bytes);
}

/* In short form only from a driver that has not offered it before. */
static void on_arrived(void *owner, void *packet, size_t bytes)
{
    struct ski_net_port *net = owner;
    struct skua_msg     *msg = packet;

    if (!net->self) /* it goes with the arena */
        return;
    if ((msg->handler == SKI_HANDLER_BUNDLE || ski_packet_is_short(msg, bytes)) &&
        on_taken(net, packet, bytes))
        ski_pool_free(&net->self->pool, packet);
    else
        accept(net, msg, bytes);
}

/* The peer of a packet whose turn it is, and its header; NULL: it is any other. */
static struct ski_net_peer *in_turn(struct ski_net_port *net, const char *packet, size_t bytes,
                                    size_t *head, struct skua_msg *msg)
{
    struct ski_net_peer *peer = NULL;

    *head = ski_packet_head_bytes(packet, bytes);
    if (*head > 0 && look(net, packet, bytes, *head, msg))
        peer = sender_of(net, msg);
    return peer && msg->stamp.sequence == peer->received ? peer : NULL;
}

static size_t on_place(void *owner, const void *packet, size_t bytes, void **to)
{
    struct ski_net_port *net = owner;
    struct skua_msg      msg;
    size_t               head;

    _Static_assert(SKI_PLACE_HEAD >= sizeof msg + SKI_PLACE_DATA, "what is looked at is there");
    if (!net->self || !in_turn(net, packet, bytes, &head, &msg) ||
        msg.bytes != bytes - head) /* something is behind its data */
        return 0;
    return recv_place(net->self, &msg, (const char *)packet + head, to);
}

/* Its turn it still is: those behind it wait. */
static void on_placed(void *owner, const void *packet, size_t bytes, bool whole)
{
    struct ski_net_port *net = owner;
    struct ski_net_peer *peer;
    struct skua_msg      msg, *left;
    size_t               head;

    if (!net->self)
        return;
    peer = in_turn(net, packet, bytes, &head, &msg);
    left = recv_placed(net->self, &msg, (const char *)packet + head, whole);
    if (left && peer)
        take_turn(net, peer, left, msg.stamp.sequence, bytes);
    else if (left)
        ski_pool_free(&net->self->pool, left);
}

static void on_spoilt(void *owner, void *packet)
{
    struct ski_net_port *net = owner;

    if (net->self)
        ski_pool_free(&net->self->pool, packet);
}

static void on_sent(void *owner, void *packet)
{
    struct ski_net_port *net = owner;
    void                *msg = ski_packet_message(packet);

    net->in_flight--;
    if (net->self) /* else it goes with the arena */
        ski_pool_free(&net->self->pool, msg);
}

static void on_done(void *owner, void *cookie, skua_status_t status)
{
    struct ski_net_port *net  = owner;
    struct ski_far_done *done = cookie;

    net->in_flight--;
    net->operations--;
    if (net->self) /* else nobody is there any more to be told */
        done->fn(done, status);
}

static void on_lost(void *owner, int pe, const char *why)
{
    struct ski_net_port *net  = owner;
    struct ski_net_peer *peer = ski_net_peer_find(net, pe);

    if (net->self && peer)
        ski_net_peer_lose(net, peer, why);
}

const struct ski_upcalls ski_far_upcalls = {on_room, on_arrived, on_spoilt, on_sent,  on_done,
                                            on_lost, on_taken,   on_place,  on_placed};
