/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_recv.c - packets from other hosts: checked, put into order, queued.
 *
 * No field of a packet is trusted before the token of its sender, its lengths and its handler are
 * checked (packet.h).  An invalid packet is counted and dropped; the first few are logged.  If its
 * token is right its sequence number counts as received, since the packets after it would otherwise
 * wait forever.
 *
 * Packets of a peer are queued in the order of their sequence numbers; an out-of-order packet is
 * kept.  The next packet in order may deliver its data in place (struct ski_placement).  A small
 * one is copied out of the driver's memory, by the fast path recv_take_plain() if nothing is
 * special.  A packet for an object is no exception.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/memory.h"
#include "core/net/coalesce.h"
#include "core/net/peer.h"
#include "core/net/net.h"
#include "core/net/net_process.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/net/packet.h"

#define COMPLAINTS 10  /* invalid packets that are logged */
#define COPY_SMALL 128 /* bytes of data that are copied without a call */

void ski_net_reject(struct ski_pe *self, const char *format, ...)
{
    char     text[256];
    uint64_t n = ++self->stats.dropped_packets;
    va_list  args;

    if (n > COMPLAINTS)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ski_log(SKI_LOG_ERROR, "%s%s", text,
            n == COMPLAINTS ? " (no more of these will be logged)" : "");
}

void ski_net_drop(struct ski_pe *self, struct skua_msg *msg)
{
    ski_net_reject(
        self,
        "a message of %zu bytes from PE %d for %s was dropped: it is malformed, or not expected",
        msg->bytes, msg->source, ski_handler_name(msg->handler));
    ski_pool_free(&self->pool, msg);
}

/* Reports an invalid packet of @p peer; NULL: the sender has not proved its identity. */
static void recv_complain(struct ski_net_port *net, const struct ski_net_peer *peer, size_t bytes,
                          const char *wrong)
{
    char from[32] = "";

    if (peer)
        snprintf(from, sizeof from, " from PE %d", peer->pe);
    ski_net_reject(net->self, "a packet of %zu bytes%s was dropped: %s", bytes, from, wrong);
}

static bool recv_has_flag(uint32_t handler, unsigned flag)
{
    return handler < SKI_HANDLERS && ski_builtin[handler].flags & flag;
}

/* Queues the next packet in order; NULL: the packet was invalid. */
static void recv_deliver(struct ski_net_port *net, struct skua_msg *msg)
{
    if (!msg)
        return;
    ski_assert(msg->handler > 0 && msg->handler < net->handlers);
    net->self->stats.received++;
    net->self->counted += recv_has_flag(msg->handler, SKI_HANDLES_COUNTED);
    ski_queue_push(&net->self->queue, msg, msg->flags);
}

/* Keeps a packet until those before it have arrived. Returns false if it is kept already. */
static bool recv_keep_early(struct ski_net_peer *peer, struct skua_msg *msg, uint32_t sequence)
{
    struct ski_early_packet **at = &peer->early, *early;

    while (*at && (int32_t)((*at)->sequence - sequence) < 0)
        at = &(*at)->next;
    if (*at && (*at)->sequence == sequence)
        return false;
    ski_assert((int32_t)(sequence - peer->received) > 0);
    early  = ski_malloc(sizeof *early);
    *early = (struct ski_early_packet){*at, sequence, msg};
    *at    = early;
    return true;
}

/* Delivers the out-of-order packets that are now next in order. */
static void recv_deliver_early(struct ski_net_port *net, struct ski_net_peer *peer)
{
    while (peer->early && peer->early->sequence == peer->received) {
        struct ski_early_packet *early = peer->early;

        peer->early = early->next;
        peer->received++;
        recv_deliver(net, early->msg);
        free(early);
    }
}

/* Returns the peer that a packet comes from; NULL: its token does not prove that. */
static struct ski_net_peer *recv_sender(struct ski_net_port *net, const struct skua_msg *msg)
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

/* Delivers or keeps a packet, in the order of sending; @p msg is NULL if it was invalid. */
static void recv_in_order(struct ski_net_port *net, struct ski_net_peer *peer, struct skua_msg *msg,
                          uint32_t sequence, size_t bytes)
{
    if (SKI_LIKELY(sequence == peer->received)) {
        peer->received++;
        recv_deliver(net, msg);
        recv_deliver_early(net, peer);
    } else if (((int32_t)(sequence - peer->received) < 0 ||
                !recv_keep_early(peer, msg, sequence)) &&
               msg) {
        recv_complain(net, peer, bytes, "it has arrived before");
        ski_pool_free(&net->self->pool, msg);
    }
}

/* Checks and queues a packet that is in a message of the pool. */
static void recv_accept(struct ski_net_port *net, struct skua_msg *msg, size_t bytes)
{
    const char          *wrong    = ski_packet_error(net->self->job, net->handlers, msg, bytes);
    struct ski_net_peer *peer     = recv_sender(net, msg);
    uint32_t             sequence = msg->stamp.sequence;

    if (SKI_UNLIKELY(!wrong && msg->handler == SKI_HANDLER_COALESCED))
        wrong = "it is a coalesced packet inside of another";
    if (SKI_UNLIKELY(!wrong && ski_pe_hidden(net->self) &&
                     !recv_has_flag(msg->handler, SKI_HANDLES_HIDDEN)))
        wrong = "its handler does not run on the hidden PE that it was sent to";
    if (SKI_UNLIKELY(wrong || !peer)) {
        recv_complain(net, peer, bytes,
                      wrong ? wrong : "its sender does not know the secret of the job");
        ski_pool_free(&net->self->pool, msg);
        msg = NULL;
    }
    if (SKI_LIKELY(peer != NULL))
        recv_in_order(net, peer, msg, sequence, bytes);
}

static void *recv_on_alloc(void *owner, size_t bytes)
{
    struct ski_net_port *net = owner;
    void                *room;

    if (!net->self)
        return NULL;
    if (bytes < SKI_PACKET_HALF) {
        recv_complain(net, NULL, bytes, "it is too short");
        return NULL;
    }
    room = ski_pool_alloc(&net->self->pool, bytes);
    if (!room) /* packets after it would wait forever */
        ski_fatal("no memory for a packet of %zu bytes that has arrived: the arena is full (do "
                  "messages come faster than they are run?); raise SKUA_ARENA_SIZE",
                  bytes);
    return room;
}

/* ---- in-place delivery ------------------------------------------------------------------ */

static const struct ski_placement *recv_placements[SKI_HANDLERS], *recv_entry_placement;

struct skua_msg ski_net_nothing_left;

void ski_net_set_placement(uint32_t handler, const struct ski_placement *placement)
{
    ski_assert(handler < SKI_HANDLERS);
    recv_placements[handler] = placement;
}

void ski_net_set_entry_placement(const struct ski_placement *placement)
{
    recv_entry_placement = placement;
}

/* Returns how packets of a handler are delivered in place; NULL: they are not. */
static const struct ski_placement *recv_placement(const struct ski_pe *self, uint32_t handler)
{
    if (ski_pe_hidden(self) && !recv_has_flag(handler, SKI_HANDLES_HIDDEN))
        return NULL;
    return handler < SKI_HANDLERS ? recv_placements[handler] : recv_entry_placement;
}

/* Returns the message to run of what placed() or take() returned; NULL: there is none. */
static struct skua_msg *recv_to_run(struct skua_msg *left)
{
    return left == &ski_net_nothing_left ? NULL : left;
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

/* Copies the data of a packet that has arrived completely to its destination.  Returns the message
 * to run, or NULL: it is received like any other. */
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

/* Delivers a packet in the driver's memory in place, if it is the next in order and its handler
 * supports that.  Returns false if it has done nothing. */
static bool recv_take_packet_inplace(struct ski_net_port *net, const struct skua_msg *head,
                                     const char *data, size_t bytes)
{
    struct ski_net_peer *peer = recv_sender(net, head);
    struct skua_msg     *left;

    if (!peer || head->stamp.sequence != peer->received)
        return false;
    left = recv_take(net->self, head, data);
    if (left)
        recv_in_order(net, peer, recv_to_run(left), head->stamp.sequence, bytes);
    return left != NULL;
}

/* Delivers a packet of any size in the driver's memory in place: its handler accepts small ones, it
 * has the short form, and it is the next in order.  Returns false if it has done nothing. */
static bool recv_take_small(struct ski_net_port *net, const struct skua_msg *half,
                            const char *packet, size_t bytes)
{
    const struct ski_placement *placement = recv_placement(net->self, half->handler);
    struct ski_net_peer        *peer;
    struct skua_msg            *left;

    if (SKI_LIKELY(!placement || !placement->small))
        return false;
    peer = ski_net_peer_find(net, half->source);
    if (half->bytes != bytes - SKI_PACKET_HALF || half->bit_room || half->bit_words ||
        half->flags & ~SKI_MSG_SPECIAL || half->bytes < ski_builtin[half->handler].least || !peer ||
        peer->token_in != half->stamp.token || peer->received != half->stamp.sequence)
        return false;
    left = placement->take(net->self, half, packet + SKI_PACKET_HALF);
    if (left)
        recv_in_order(net, peer, recv_to_run(left), half->stamp.sequence, bytes);
    return left != NULL;
}

/* Copies a packet in the driver's memory, aligned or not, with @p head bytes of its header. */
static void recv_copy(struct ski_net_port *net, const char *packet, size_t bytes, size_t head)
{
    size_t           whole = bytes - head + sizeof(struct skua_msg);
    struct skua_msg *msg   = recv_on_alloc(net, whole);

    if (!msg)
        return;
    ski_assert(head >= SKI_PACKET_HALF && head <= sizeof *msg && bytes >= head);
    memcpy(msg, packet, SKI_PACKET_HALF);
    memcpy((char *)(msg + 1) - (head - SKI_PACKET_HALF), packet + SKI_PACKET_HALF,
           bytes - SKI_PACKET_HALF);
    recv_accept(net, msg, whole);
}

/* Copies the header of a packet to @p msg.  Returns false if the packet is invalid. */
static bool recv_check_head(const struct ski_net_port *net, const char *packet, size_t bytes,
                            size_t head, struct skua_msg *msg)
{
    memset(msg, 0, sizeof *msg);
    memcpy(msg, packet, head);
    return !ski_packet_error(net->self->job, net->handlers, msg, bytes - head + sizeof *msg);
}

/* Returns the peer that has sent the next packet in order, if no earlier one is kept; NULL: the
 * slow path handles the packet. */
static inline struct ski_net_peer *recv_plain_peer(struct ski_net_port   *net,
                                                   const struct skua_msg *half)
{
    struct ski_net_peer *peer = net->last_source;

    if (SKI_UNLIKELY(!peer || peer->pe != half->source))
        peer = ski_net_peer_find(net, half->source);
    if (!peer || peer->token_in != half->stamp.token || peer->received != half->stamp.sequence ||
        peer->early)
        return NULL;
    return net->last_source = peer;
}

/* Copies data that is mostly short. */
static inline void recv_copy_data(void *to, const char *from, size_t bytes)
{
    if (bytes <= COPY_SMALL)
        ski_copy_small(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* The fast path: copies a plain packet, the next in order, with @p head bytes of its header.
 * Returns false if it has done nothing. */
static inline __attribute__((always_inline)) bool recv_take_plain(struct ski_net_port   *net,
                                                                  const struct skua_msg *half,
                                                                  const char *packet, size_t head)
{
    struct ski_pe       *self = net->self;
    struct ski_net_peer *peer = recv_plain_peer(net, half);
    struct skua_msg     *msg;

    if (!peer)
        return false;
    msg = ski_pool_cached(&self->pool, sizeof *msg + half->bytes);
    if (SKI_UNLIKELY(!msg))
        return false;
    memcpy(msg, packet, head);
    recv_copy_data(msg + 1, packet + head, half->bytes);
    ski_assert(half->handler >= SKI_HANDLERS);
    peer->received++;
    self->stats.received++;
    ski_queue_push(&self->queue, msg, 0);
    return true;
}

/* The fast path of a packet for an object, whose index is in the second half of its header. */
static bool recv_take_plain_object(struct ski_net_port *net, const struct skua_msg *half,
                                   const char *packet)
{
    uint64_t target;

    memcpy(&target, packet + offsetof(struct skua_msg, target), sizeof target);
    return ski_target_bytes(target) <= SKI_MSG_INDEX_BYTES &&
           recv_take_plain(net, half, packet, sizeof *half);
}

/* The fast path of packets in the driver's memory, aligned or not.  Returns false if it has
 * done nothing. */
static inline bool recv_take_short(struct ski_net_port *net, const char *packet, size_t bytes)
{
    struct skua_msg half;

    if (SKI_UNLIKELY(bytes < SKI_PACKET_HALF || bytes >= SKI_PLACE_MIN))
        return false;
    memcpy(&half, packet, SKI_PACKET_HALF);
    if (ski_packet_is_plain(&half, bytes, net->handlers))
        return recv_take_plain(net, &half, packet, SKI_PACKET_HALF);
    return ski_packet_is_plain_object(&half, bytes, net->handlers) &&
           recv_take_plain_object(net, &half, packet);
}

/* Receives a packet in the driver's memory, alone or out of a coalesced one. */
static __attribute__((noinline)) void recv_split_one(struct ski_net_port *net, const char *packet,
                                                     size_t bytes)
{
    size_t          head;
    struct skua_msg msg;

    if (recv_take_short(net, packet, bytes))
        return;
    head = ski_packet_head_bytes(packet, bytes);
    if (SKI_UNLIKELY(head == 0)) {
        recv_complain(net, NULL, bytes, "it is too short");
        return;
    }
    memcpy(&msg, packet, SKI_PACKET_HALF);
    if (recv_take_small(net, &msg, packet, bytes))
        return;
    if (bytes < SKI_PLACE_MIN || !recv_check_head(net, packet, bytes, head, &msg) ||
        !recv_take_packet_inplace(net, &msg, packet + head, bytes))
        recv_copy(net, packet, bytes, head);
}

/* Receives the packets in the data of a coalesced one; @p data is aligned or not. */
static void recv_split(struct ski_net_port *net, const struct skua_msg *head, const char *data)
{
    const char *end = data + head->bytes, *packet;
    size_t      bytes;

    if (!recv_sender(net, head)) {
        recv_complain(net, NULL, head->bytes, "its sender does not know the secret of the job");
        return;
    }
    while (data < end && (packet = ski_coalesce_next(data, end, &bytes))) {
        recv_split_one(net, packet, bytes);
        data = packet - sizeof(uint64_t) + ski_coalesce_slot(bytes);
    }
    if (data != end)
        recv_complain(net, recv_sender(net, head), head->bytes,
                      "it is a coalesced packet, but not of packets");
}

/* Splits a packet if it is a coalesced one. Returns false if it is not. */
static bool recv_take_coalesced(struct ski_net_port *net, const char *packet, size_t bytes,
                                size_t head)
{
    struct skua_msg msg;
    uint16_t        handler;

    memcpy(&handler, packet + offsetof(struct skua_msg, handler), sizeof handler);
    if (SKI_LIKELY(handler != SKI_HANDLER_COALESCED) ||
        !recv_check_head(net, packet, bytes, head, &msg))
        return false;
    recv_split(net, &msg, packet + head);
    return true;
}

/* The slow path of a packet in the driver's memory.  Returns false if the driver must copy it. */
static __attribute__((noinline)) bool recv_take_any(struct ski_net_port *net, const char *packet,
                                                    size_t bytes)
{
    size_t head = ski_packet_head_bytes(packet, bytes);

    if (head == 0)
        return false;
    if (recv_take_coalesced(net, packet, bytes, head))
        return true;
    if (head == sizeof(struct skua_msg) && bytes < SKI_PLACE_MIN)
        return false;
    if (bytes < SKI_PLACE_MIN)
        recv_copy(net, packet, bytes, head);
    else
        recv_split_one(net, packet, bytes);
    return true;
}

static bool recv_on_inline(void *owner, const void *packet, size_t bytes)
{
    struct ski_net_port *net = owner;
    struct skua_msg      half;

    if (SKI_UNLIKELY(!net->self))
        return false;
    if (SKI_LIKELY(recv_take_short(net, packet, bytes)))
        return true;
    if (bytes < SKI_PACKET_HALF)
        return false;
    memcpy(&half, packet, SKI_PACKET_HALF);
    return recv_take_small(net, &half, packet, bytes) || recv_take_any(net, packet, bytes);
}

/* A packet in a message of the pool.  It has its short form only if the driver did not call
 * recv_on_inline() before. */
static void recv_on_arrived(void *owner, void *packet, size_t bytes)
{
    struct ski_net_port *net = owner;
    struct skua_msg     *msg = packet;

    if (!net->self) /* it goes with the arena */
        return;
    if ((msg->handler == SKI_HANDLER_COALESCED || ski_packet_is_short(msg, bytes)) &&
        recv_on_inline(net, packet, bytes))
        ski_pool_free(&net->self->pool, packet);
    else
        recv_accept(net, msg, bytes);
}

/* Returns the peer of the next packet in order, and copies its header to @p msg; NULL: it is not
 * the next, or is invalid. */
static struct ski_net_peer *recv_peer_in_turn(struct ski_net_port *net, const char *packet,
                                              size_t bytes, size_t *head, struct skua_msg *msg)
{
    struct ski_net_peer *peer = NULL;

    *head = ski_packet_head_bytes(packet, bytes);
    if (*head > 0 && recv_check_head(net, packet, bytes, *head, msg))
        peer = recv_sender(net, msg);
    return peer && msg->stamp.sequence == peer->received ? peer : NULL;
}

/* Returns whether the driver may receive packets of a handler at their destination: it asks before
 * each write whether that is still there, or the destination stays. */
static bool recv_may_place(const struct ski_pe *self, uint32_t handler)
{
    const struct ski_placement *placement = recv_placement(self, handler);

    return !ski_net_here.driver->keeps_direct ||
           (placement && !placement->until_exit && !placement->moved);
}

static size_t recv_on_place(void *owner, const void *packet, size_t bytes, void **to)
{
    struct ski_net_port *net = owner;
    struct skua_msg      msg;
    size_t               head;

    _Static_assert(SKI_DIRECT_HEAD >= sizeof msg + SKI_PLACE_DATA, "what is looked at is there");
    if (!net->self || !recv_peer_in_turn(net, packet, bytes, &head, &msg) ||
        msg.bytes != bytes - head || /* words or a tail follow the data */
        !recv_may_place(net->self, msg.handler))
        return 0;
    return recv_place(net->self, &msg, (const char *)packet + head, to);
}

static bool recv_on_continues(void *owner, const void *packet, void **to)
{
    const struct ski_net_port  *net = owner;
    const struct ski_placement *placement;
    struct skua_msg             half;

    if (!net->self)
        return false;
    memcpy(&half, packet, SKI_PACKET_HALF);
    placement = recv_placement(net->self, half.handler);
    if (!placement || (placement->until_exit && ski_job_exiting(net->self->job)))
        return false;
    if (placement->moved)
        *to = placement->moved(net->self, &half);
    return *to != NULL;
}

/* The packet is still the next in order: those after it are kept.  If it was skipped since the job
 * ends, its sequence number counts as received: packets that end the job come after it. */
static void recv_on_placed(void *owner, const void *packet, size_t bytes, bool whole)
{
    struct ski_net_port *net = owner;
    struct ski_net_peer *peer;
    struct skua_msg      msg, *left;
    size_t               head;

    if (!net->self)
        return;
    peer = recv_peer_in_turn(net, packet, bytes, &head, &msg);
    left = recv_placed(net->self, &msg, (const char *)packet + head, whole);
    if (peer && (whole || ski_job_exiting(net->self->job)))
        recv_in_order(net, peer, recv_to_run(left), msg.stamp.sequence, bytes);
    else if (left && recv_to_run(left))
        ski_pool_free(&net->self->pool, left);
}

static void recv_on_abort(void *owner, void *packet)
{
    struct ski_net_port *net = owner;

    if (net->self)
        ski_pool_free(&net->self->pool, packet);
}

static void recv_on_sent(void *owner, void *packet)
{
    struct ski_net_port *net = owner;
    void                *msg = ski_packet_message(packet);

    ski_assert(net->in_flight > net->operations);
    net->in_flight--;
    if (net->self) /* else it goes with the arena */
        ski_pool_free(&net->self->pool, msg);
}

static void recv_on_done(void *owner, void *cookie, skua_status status)
{
    struct ski_net_port *net  = owner;
    struct ski_net_done *done = cookie;

    ski_assert(net->operations > 0 && net->in_flight >= net->operations);
    net->in_flight--;
    net->operations--;
    if (net->self) /* else the PE has ended */
        done->fn(done, status);
}

static void recv_on_lost(void *owner, int pe, const char *why)
{
    struct ski_net_port *net  = owner;
    struct ski_net_peer *peer = ski_net_peer_find(net, pe);

    if (net->self && peer)
        ski_net_peer_mark_lost(net, peer, why);
}

const struct ski_upcalls ski_net_upcalls = {
    recv_on_alloc, recv_on_arrived, recv_on_abort, recv_on_sent,   recv_on_done,
    recv_on_lost,  recv_on_inline,  recv_on_place, recv_on_placed, recv_on_continues};
