/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_send.c - packets to other hosts (net.h).
 *
 * A packet is handed to the driver at once, or waits in the backlog of its peer: for room in the
 * driver, or to be coalesced with others.  Backlogs are flushed in passes of the scheduler, before
 * the scheduler returns, and by later sends to that peer.  Order: a packet is sent directly only if
 * the backlog is empty, and it gets its sequence number when it is handed to the driver.
 */
#include "core/net/net.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/net/coalesce.h"
#include "core/net/net_process.h"
#include "core/net/peer.h"
#include "core/pe/handler.h"
#include "core/net/packet.h"
#include "core/pe/pe.h"
#include "core/net/address_exchange.h"
#include "transport/select.h"

#define EXTEND_LOOK     16    /* extensions of a packet between two reads of the clock */
#define BURST_MIN       8     /* packets in a row that make a burst                    */
#define NET_SPLIT_SHORT 16384 /* bytes of data up to which a split packet has its short form */

#define CONNECT_SECONDS 5 /* for which the first packet to a progress thread waits */

/* ---- connections ------------------------------------------------------------------ */

/* Returns whether @p pe is served by a progress thread, for which this PE may wait.  A progress
 * thread waits for no other. */
static bool net_is_answered(const struct ski_net_port *net, int pe)
{
    const struct ski_job *job = ski_net_here.boot->job;

    return ski_config.progress_thread && pe >= job->pes &&
           pe == ski_job_progress_pe(job, ski_job_process_of(job, pe)) &&
           net->self->pe != ski_job_progress_pe(job, net->self->process);
}

/* Makes sure that the first packets to a peer are sent although this PE may compute from now on. */
static void net_connect_wait(struct ski_net_port *net, const struct ski_net_peer *peer)
{
    if (ski_net_here.driver->connect_wait && net_is_answered(net, peer->pe))
        ski_net_here.driver->connect_wait(peer->endpoint, CONNECT_SECONDS);
}

static void net_connect(struct ski_net_port *net, struct ski_net_peer *peer)
{
    char  *address = ski_malloc(SKI_PORT_ADDRESS_MAX);
    size_t bytes   = ski_exchange_find(ski_net_here.boot, ski_net_here.driver, peer->pe, address);
    skua_status status;

    ski_driver_last_error()[0] = '\0';
    status = ski_net_here.driver->connect(net->port, peer->pe, address, bytes, &peer->endpoint);
    free(address);
    if (status != SKUA_OK) {
        ski_net_peer_mark_lost(net, peer, ski_net_reason(status));
        return;
    }
    ski_log(SKI_LOG_INFO, "PE %d is reached through %s", peer->pe, ski_net_here.driver->describe());
    net_connect_wait(net, peer);
}

/* Returns the peer for a PE, which need not be connected. */
static inline struct ski_net_peer *net_peer(struct ski_net_port *net, int pe)
{
    struct ski_net_peer *peer = net->last_target;

    if (SKI_LIKELY(peer && peer->pe == pe))
        return peer;
    peer                    = ski_net_peer_find(net, pe);
    return net->last_target = peer ? peer : ski_net_peer_add(net, pe);
}

void ski_net_run_two(struct ski_pe *self, void (*fn)(void *arg), void *first, void *second)
{
    const struct ski_driver *driver = ski_net_here.driver;

    if (driver->run_two) {
        driver->run_two(self->net->port, fn, first, second);
        return;
    }
    fn(first);
    fn(second);
}

struct ski_peer *ski_net_endpoint(struct ski_pe *self, int pe)
{
    struct ski_net_peer *peer = net_peer(self->net, pe);

    if (!peer->endpoint && !peer->lost)
        net_connect(self->net, peer);
    return peer->lost ? NULL : peer->endpoint;
}

/* ---- sending ------------------------------------------------------------------------ */

static void net_stamp(const struct ski_net_peer *peer, struct skua_msg *msg)
{
    msg->stamp.token    = peer->token_out;
    msg->stamp.sequence = peer->sent;
}

/* Clears the half of the header that only messages to objects use: no uninitialised memory leaves
 * the host. */
static void net_clear_half(struct skua_msg *msg)
{
    memset((char *)msg + SKI_PACKET_HALF, 0, ski_packet_left_out(msg));
}

/* Hands a packet to the driver in its full form. */
static __attribute__((noinline)) skua_status net_send_full(struct ski_net_peer *peer,
                                                           struct skua_msg     *msg)
{
    net_clear_half(msg);
    return ski_net_here.driver->send(peer->endpoint, msg, ski_msg_extent(msg));
}

/* Hands a packet to the driver, in the form that suits it. */
static inline skua_status net_send(struct ski_net_peer *peer, struct skua_msg *msg)
{
    size_t least = ski_packet_least(msg);

    if (SKI_UNLIKELY(least > ski_net_here.small))
        return net_send_full(peer, msg);
    return ski_net_here.driver->send(peer->endpoint, ski_packet_shorten(msg), least);
}

/* Connects a peer that has no endpoint.  Returns whether it can be sent to. */
static SKI_COLD bool net_prepare(struct ski_net_port *net, struct ski_net_peer *peer)
{
    if (!peer->endpoint)
        net_connect(net, peer);
    return !peer->lost;
}

/* Sends a packet. Returns false if there is no room. */
static inline __attribute__((always_inline)) bool net_try_send(struct ski_net_port *net,
                                                               struct ski_net_peer *peer,
                                                               struct skua_msg     *msg)
{
    bool        coalesced = msg->handler == SKI_HANDLER_COALESCED; /* its packets have numbers */
    skua_status status;

    ski_assert(!net->self->thread); /* drivers need a large stack */
    if (SKI_UNLIKELY(!peer->endpoint || peer->lost) && !net_prepare(net, peer)) {
        ski_pool_free(&net->self->pool, msg);
        return true;
    }
    net_stamp(peer, msg);
    net->in_flight++; /* until recv_on_sent(), which send() may call */
    status = net_send(peer, msg);
    if (status != SKUA_PENDING)
        net->in_flight--;
    peer->full = status == SKUA_ERR_AGAIN;
    if (peer->full)
        return false;
    peer->sent += !coalesced;
    if (status != SKUA_PENDING)
        ski_pool_free(&net->self->pool, msg);
    if (status < 0)
        ski_net_peer_mark_lost(net, peer, ski_net_reason(status));
    return true;
}

/* Makes passes of the scheduler serve the backlog of a peer. */
static void net_list(struct ski_net_port *net, struct ski_net_peer *peer)
{
    if (peer->listed)
        return;
    peer->next_waiting = net->waiting;
    net->waiting       = peer;
    peer->listed       = true;
}

/* Appends a packet to the backlog of its peer, which is listed or will be flushed. */
static void net_append(struct ski_net_port *net, struct ski_net_peer *peer, struct skua_msg *msg)
{
    if (!peer->backlog.first)
        net->waiting_since = ski_ticks();
    peer->backlog_bytes += ski_coalesce_bytes(msg);
    peer->open_room = 0;
    ski_list_push(&peer->backlog, msg);
}

/* Keeps a packet in the backlog of its peer. */
static void net_keep(struct ski_net_port *net, struct ski_net_peer *peer, struct skua_msg *msg)
{
    net_append(net, peer, msg);
    net_list(net, peer);
    net->self->stats.backlogged++;
}

/* Returns how many bytes of the backlog, from its beginning, fit into one coalesced packet; 0:
 * fewer than two packets do. */
static size_t net_coalesced_bytes(const struct ski_net_peer *peer)
{
    size_t bytes = 0, count = 0;

    for (const struct skua_msg *msg = peer->backlog.first; msg; msg = msg->link, count++) {
        if (msg->handler == SKI_HANDLER_COALESCED || !ski_coalesce_allowed(msg) ||
            bytes + ski_coalesce_bytes(msg) > ski_net_here.coalesce)
            break;
        bytes += ski_coalesce_bytes(msg);
    }
    return count > 1 ? bytes : 0;
}

/* Replaces packets at the beginning of the backlog by one that holds them.  They are stamped now,
 * since they leave next. */
static void net_coalesce(struct ski_net_port *net, struct ski_net_peer *peer)
{
    size_t           bytes = net_coalesced_bytes(peer), left = bytes;
    struct skua_msg *made = bytes ? ski_pool_alloc(&net->self->pool, sizeof *made + bytes) : NULL;
    char            *to   = (char *)(made + 1);

    if (!made)
        return;
    *made = (struct skua_msg){
        .bytes = bytes, .handler = SKI_HANDLER_COALESCED, .source = net->self->pe};
    while (left > 0) {
        struct skua_msg *msg = ski_list_pop(&peer->backlog);
        char            *next;

        net_stamp(peer, msg);
        peer->sent++;
        next = ski_coalesce_add(to, msg);
        left -= (size_t)(next - to);
        to = next;
        ski_pool_free(&net->self->pool, msg);
    }
    ski_assert(to == (char *)(made + 1) + bytes);
    made->link          = peer->backlog.first;
    peer->backlog.first = made;
    if (!made->link)
        peer->backlog.last = &made->link;
}

/* Sends the backlog of a peer. Returns true if nothing is left of it. */
static bool net_flush(struct ski_net_port *net, struct ski_net_peer *peer)
{
    struct skua_msg *msg;

    peer->open_room = 0;
    while ((msg = peer->backlog.first)) {
        struct skua_msg *next;

        if (!peer->lost)
            net_coalesce(net, peer);
        msg  = peer->backlog.first;
        next = msg->link;
        if (peer->lost)
            ski_pool_free(&net->self->pool, msg);
        else if (!net_try_send(net, peer, msg)) {
            msg->link = next; /* where the stamp was */
            return false;
        }
        peer->backlog.first = next;
    }
    ski_assert(!peer->full || peer->lost);
    ski_list_init(&peer->backlog);
    peer->backlog_bytes = 0;
    return true;
}

/* Sends all backlogs; what is left of them waits for room. */
static void net_flush_all(struct ski_net_port *net)
{
    struct ski_net_peer **at = &net->waiting;

    net->from_thread = net->urgent = false;
    while (*at) {
        struct ski_net_peer *peer = *at;
        if (net_flush(net, peer)) {
            peer->listed = false;
            *at          = peer->next_waiting;
        } else {
            at = &peer->next_waiting;
        }
    }
}

/* Returns whether the PE only sent and ran messages since its last packet to @p peer. */
static bool net_follows_closely(const struct ski_pe *self, const struct ski_net_peer *peer)
{
    return peer->idle_epoch == self->progress.empty;
}

/* Returns whether a packet waits for others: it follows another closely, and the PE is expected to
 * send, or to flush, soon. */
static inline __attribute__((always_inline)) bool net_may_wait(const struct ski_pe       *self,
                                                               const struct ski_net_peer *peer,
                                                               const struct skua_msg     *msg,
                                                               uint64_t                   now)
{
    return net_follows_closely(self, peer) &&
           (ski_ack_policy_expects(&self->net->sends) || peer->patient) &&
           now - peer->sent_at < ski_net_here.burst && ski_coalesce_allowed(msg);
}

/* Returns whether the backlog must be flushed before @p next: it is long enough, or old enough. */
static bool net_waited_enough(const struct ski_net_port *net, const struct ski_net_peer *peer,
                              const struct skua_msg *next, uint64_t now)
{
    return peer->backlog_bytes + ski_coalesce_bytes(next) > ski_net_here.coalesce ||
           now - net->waiting_since > ski_net_here.hold;
}

/* Not called on the small stack of a user thread, which libraries below might overrun. */
static inline __attribute__((always_inline)) void net_send_or_keep(struct ski_pe       *self,
                                                                   struct ski_net_peer *peer,
                                                                   struct skua_msg     *msg,
                                                                   uint64_t             now)
{
    struct ski_net_port *net  = self->net;
    bool                 wait = net_may_wait(self, peer, msg, now);

    if (peer->backlog.first && !peer->full && (!wait || net_waited_enough(net, peer, msg, now)))
        net_flush(net, peer);
    if (wait || peer->backlog.first || !net_try_send(net, peer, msg))
        net_keep(net, peer, msg);
}

/* Makes the next pass of the scheduler serve the port. */
static void net_ask_for_pass(struct ski_pe *self)
{
    self->queue.events |= SKI_EVENT_NET;
}

/* Returns whether packets wait for room.  Those of a user thread wait for the scheduler, which
 * sends them: they count as well. */
static bool net_lacks_room(const struct ski_pe *self, const struct ski_net_peer *peer)
{
    return peer->backlog.first && (peer->full || !peer->endpoint || self->thread) && !peer->lost;
}

bool ski_net_waits(struct ski_pe *self, int pe, uint64_t arg, uint64_t *moved)
{
    struct ski_net_peer *peer = ski_net_peer_find(self->net, pe);

    (void)arg;
    if (!self->thread)
        ski_net_progress(self); /* else the scheduler does, meanwhile */
    *moved = peer->sent;
    return net_lacks_room(self, peer);
}

/* Returns whether @p msg waits as the last packet for @p peer. */
static bool net_waits_last(const struct ski_net_peer *peer, const struct skua_msg *msg)
{
    return peer->backlog.first && peer->backlog.last == &msg->link;
}

void *ski_net_extend(struct ski_pe *self, int pe, size_t bytes)
{
    struct ski_net_port *net  = self->net;
    struct ski_net_peer *peer = ski_net_peer_find(net, pe);
    struct skua_msg     *last;
    char                *room;

    if (!peer || peer->open_room < bytes || peer->backlog_bytes + bytes > ski_net_here.coalesce)
        return NULL;
    if (++peer->extended % EXTEND_LOOK == 0) {
        peer->sent_at = ski_ticks();
        if (peer->sent_at - net->waiting_since > ski_net_here.patience) {
            peer->open_room = 0; /* the packet that follows sends the backlog */
            return NULL;
        }
    }
    last =
        (struct skua_msg *)(void *)((char *)peer->backlog.last - offsetof(struct skua_msg, link));
    room = (char *)(last + 1) + last->bytes;
    last->bytes += bytes;
    peer->open_room -= bytes;
    peer->backlog_bytes += bytes;
    return room;
}

bool ski_net_joins_burst(struct ski_pe *self, int pe)
{
    struct ski_net_port *net  = self->net;
    struct ski_net_peer *peer = ski_net_peer_find(net, pe);

    if (!peer)
        return false;
    if (net_follows_closely(self, peer) && ski_ticks() - peer->sent_at < ski_net_here.burst)
        peer->burst++;
    else
        peer->burst = 0;
    return peer->backlog.first || peer->burst >= BURST_MIN;
}

/* Sends a small packet with the acknowledgements for its receiver piggybacked.  Returns false, and
 * sends nothing, if there are none. */
static bool net_send_with_acks(struct ski_net_port *net, struct ski_net_peer *peer,
                               struct skua_msg *msg)
{
    struct skua_msg *acks = NULL;

    if (peer->took || peer->full || !ski_coalesce_allowed(msg))
        return false;
    peer->acks = false;
    acks       = ski_deferred_ack_take(&net->acks, net->self, peer->pe);
    if (!acks)
        return false;
    net->self->stats.sent_net++;
    net_append(net, peer, msg);
    net_append(net, peer, acks);
    if (!net_flush(net, peer))
        net_list(net, peer);
    return true;
}

/* Returns whether a packet that has been sent to @p peer had acknowledgements in it, and forgets
 * that. */
static bool net_took_acks(struct ski_net_peer *peer)
{
    bool took = peer->took;

    peer->took = false;
    return took;
}

/* A packet has been sent at @p now with the acknowledgements for its receiver.  Those for others
 * wait through an absence that continues. */
static void net_acks_went(struct ski_net_port *net, uint64_t now)
{
    if (net->acks.oldest)
        ski_ack_policy_leave(&net->acks.policy, now);
}

/* ski_net_send_open() to a peer that is not lost, in copies: most packets are sent with no @p room,
 * and no acknowledgements wait for their receivers. */
static inline __attribute__((always_inline)) bool net_send_to(struct ski_pe       *self,
                                                              struct ski_net_peer *peer,
                                                              struct skua_msg *msg, size_t room,
                                                              uint64_t now, bool acks)
{
    struct ski_net_port *net  = self->net;
    bool                 took = false; /* acknowledgements are piggybacked */

    if (room > 0)
        peer->patient = peer->burst >= BURST_MIN;
    msg->source = self->pe;
    self->stats.sent_net++;
    if (net->sends.since)
        ski_ack_policy_return(&net->sends, now);
    if (self->thread) {
        net_keep(net, peer, msg);
        net->from_thread = true;
    } else if (!acks || !(took = net_send_with_acks(net, peer, msg)))
        net_send_or_keep(self, peer, msg, now);
    if (room > 0) {
        peer->patient = false;
        if (net_waits_last(peer, msg))
            peer->open_room = room;
    }
    peer->idle_epoch = self->progress.empty;
    peer->sent_at    = ski_ticks();
    ski_ack_policy_leave(&net->sends, peer->sent_at);
    if (!acks || !(took | net_took_acks(peer)))
        ski_deferred_ack_sent(&net->acks, self);
    else
        net_acks_went(net, peer->sent_at);
    ski_progress_expect(&self->progress);
    net_ask_for_pass(self);
    return net_lacks_room(self, peer) && !net->progressing;
}

/* Returns whether a packet for @p peer would be sent at once. */
static bool net_is_open(const struct ski_net_port *net, const struct ski_net_peer *peer)
{
    return peer && peer->endpoint && !peer->lost && !peer->backlog.first && !net->self->thread;
}

/* ---- messages with data elsewhere ------------------------------------------------------ */

static ski_net_zcopy_send_fn *net_zcopy_send;

void ski_net_set_zcopy_send(ski_net_zcopy_send_fn *fn)
{
    net_zcopy_send = fn;
}

bool ski_net_announce_zcopy(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    struct ski_net_peer *peer = ski_net_peer_find(self->net, pe);

    if (!net_is_open(self->net, peer) || !ski_net_here.driver->receives_direct)
        return false;
    if (peer->zcopy < UINT8_MAX)
        peer->zcopy++;
    msg->announced = 1;
    return true;
}

/* Returns the message to be sent in place of @p msg; NULL: @p msg has been sent.  The count of a
 * message that is never sent stays: packets to the peer then take the slow path. */
static struct skua_msg *net_send_zcopy(struct ski_pe *self, struct ski_net_peer *peer,
                                       struct skua_msg *msg)
{
    struct skua_msg *left = net_zcopy_send(self, peer->pe, msg);

    if (left != msg || !msg->announced)
        peer->zcopy--;
    return left;
}

/* Sends a packet to a peer that is lost, that acknowledgements may wait for, or that a message was
 * made for whose data are elsewhere. */
static __attribute__((noinline)) bool net_send_unusual(struct ski_pe       *self,
                                                       struct ski_net_peer *peer,
                                                       struct skua_msg *msg, size_t room,
                                                       uint64_t now)
{
    if (peer->lost) {
        ski_pool_free(&self->pool, msg);
        return false;
    }
    if (peer->zcopy && msg->announced && !(msg = net_send_zcopy(self, peer, msg)))
        return false;
    return net_send_to(self, peer, msg, room, now, true);
}

static inline __attribute__((always_inline)) bool net_send_as(struct ski_pe *self, int pe,
                                                              struct skua_msg *msg, size_t room)
{
    struct ski_net_port *net  = self->net;
    struct ski_net_peer *peer = net_peer(net, pe);
    uint64_t             now  = 0; /* reading the clock takes as long as all the rest here */

    if (net->sends.since || net_follows_closely(self, peer) || peer->backlog.first)
        now = ski_ticks();
    if (SKI_UNLIKELY(peer->unusual))
        return net_send_unusual(self, peer, msg, room, now);
    return net_send_to(self, peer, msg, room, now, false);
}

bool ski_net_send(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    return net_send_as(self, pe, msg, 0);
}

bool ski_net_send_open(struct ski_pe *self, int pe, struct skua_msg *msg, size_t room)
{
    return net_send_as(self, pe, msg, room);
}

/* Returns where the packet of a message begins whose last @p bytes of data are elsewhere.  It has
 * its short form, with which a receiver does less, if it is likely to be copied on arrival. */
static const char *net_split_begin(struct skua_msg *msg, size_t bytes)
{
    if (bytes < NET_SPLIT_SHORT)
        return ski_packet_shorten(msg);
    net_clear_half(msg);
    return (const char *)msg;
}

bool ski_net_send_split(struct ski_pe *self, int pe, struct skua_msg *msg, const void *rest,
                        size_t bytes, struct ski_net_done *done)
{
    struct ski_net_port *net  = self->net;
    struct ski_net_peer *peer = ski_net_peer_find(net, pe);
    const char          *begin, *end = (const char *)msg + ski_msg_extent(msg) - bytes;
    skua_status          status;

    if (peer && peer->backlog.first && !peer->full && !self->thread)
        net_flush(net, peer);
    if (!net_is_open(net, peer))
        return false;
    net_stamp(peer, msg);
    begin = net_split_begin(msg, bytes);
    ski_net_op_begin(self); /* until recv_on_done() */
    status = ski_net_here.driver->send_split(peer->endpoint, (void *)(uintptr_t)begin,
                                             (size_t)(end - begin), rest, bytes, done);
    if (status != SKUA_PENDING)
        ski_net_op_end(self);
    if (status == SKUA_ERR_AGAIN || status == SKUA_ERR_UNSUPPORTED)
        return false;
    peer->sent++;
    self->stats.sent_net++;
    if (status != SKUA_PENDING)
        done->fn(done, status);
    if (status < 0)
        ski_net_peer_mark_lost(net, peer, skua_status_str(status));
    if (net_took_acks(peer))
        net_acks_went(net, ski_ticks());
    else
        ski_deferred_ack_sent(&net->acks, self);
    return true;
}

bool ski_net_split_moves(void)
{
    return ski_net_here.driver->split_move != NULL;
}

void ski_net_split_move(struct ski_pe *self, int pe, struct ski_net_done *done, const void *rest,
                        void *to)
{
    ski_net_here.driver->split_move(ski_net_peer_find(self->net, pe)->endpoint, done, rest, to);
}

bool ski_net_progress(struct ski_pe *self)
{
    struct ski_net_port *net = self->net;
    bool                 some;

    if (SKI_UNLIKELY(net->waiting != NULL))
        net_flush_all(net);
    net->progressing++;
    ski_assert(net->self == self && !self->thread);
    some = ski_net_here.driver->progress(net->port) > 0;
    net->progressing--;
    return some;
}

bool ski_net_progressing(const struct ski_pe *self)
{
    return self->net->progressing > 0;
}

void ski_net_defer_ack(struct ski_pe *self, int pe, const struct ski_deferred_ack_calls *calls,
                       bool relaxed)
{
    struct ski_net_peer *peer = ski_net_peer_find(self->net, pe);

    ski_assert(self->net && calls);
    self->net->acks.calls = calls;
    self->net->acks.awaited |= !relaxed;
    if (peer)
        peer->acks = true;
    net_ask_for_pass(self);
}

void ski_net_acks_taken(struct ski_pe *self, int pe, bool more)
{
    struct ski_net_peer *peer = ski_net_peer_find(self->net, pe);

    ski_assert(peer);
    peer->acks = false;
    peer->took = true;
    ski_deferred_ack_taken(&self->net->acks, self, more);
}

void ski_net_reply_runs(struct ski_pe *self)
{
    if (self->net)
        ski_deferred_ack_uncount(&self->net->acks);
}

void ski_net_op_begin(struct ski_pe *self)
{
    self->net->in_flight++;
    self->net->operations++;
    ski_progress_expect(&self->progress);
}

void ski_net_op_end(struct ski_pe *self)
{
    ski_assert(self->net->operations > 0 && self->net->in_flight >= self->net->operations);
    self->net->in_flight--;
    self->net->operations--;
}

bool ski_net_will_send(const struct ski_pe *self)
{
    return self->net && (self->net->operations > 0 || self->net->acks.calls);
}

uint64_t ski_net_in_flight(const struct ski_pe *self)
{
    return self->net ? self->net->in_flight : 0;
}

bool ski_net_drained(const struct ski_pe *self)
{
    return !self->net || (!self->net->waiting && self->net->in_flight == 0);
}

bool ski_net_all_sent(const struct ski_pe *self)
{
    return !self->net || (!self->net->waiting && self->net->in_flight == self->net->operations);
}

/* ---- the progress source ------------------------------------------------------------ */

/* Returns whether packets of a user thread wait only for a pass of the scheduler, since the PE is
 * not expected to send more soon. */
static bool net_thread_waits(const struct ski_net_port *net)
{
    return net->from_thread && !ski_ack_policy_expects(&net->sends);
}

bool ski_net_urge(struct ski_pe *self, bool now)
{
    struct ski_net_port *net = self->net;

    if (!net || !net->waiting || !(now || net_thread_waits(net)))
        return false;
    net->urgent = true;
    net_ask_for_pass(self);
    return true;
}

/* Returns whether a pass sends what waits. */
static bool net_pass_flushes(const struct ski_net_port *net)
{
    return net->urgent || net_thread_waits(net) ||
           ski_ticks() - net->waiting_since > ski_net_here.hold;
}

/* Sends what has waited long enough for others.  Returns whether something still waits. */
static bool net_pass(struct ski_pe *self, bool idle)
{
    struct ski_net_port *net = self->net;

    ski_deferred_ack_pass(&net->acks, self, idle);
    if (net->sends.since)
        ski_ack_policy_return(&net->sends, ski_ticks());
    if (SKI_UNLIKELY(net->waiting && net_pass_flushes(net))) {
        net_flush_all(net);
        net->waiting_since = ski_ticks(); /* what is left waits for room */
    }
    return net->waiting || net->acks.calls;
}

/* A driver that holds packets or operations is polled as often as one that has just been used: they
 * may need its progress. */
static bool net_poll(struct ski_pe *self)
{
    if (self->net->in_flight > 0)
        ski_progress_expect(&self->progress);
    return ski_net_progress(self);
}

/* Flushes backlogs before the scheduler returns to its caller. */
static void net_leave(struct ski_pe *self)
{
    struct ski_net_port *net = self->net;

    ski_deferred_ack_leave(&net->acks, self);
    if (SKI_UNLIKELY(net->waiting != NULL))
        net_flush_all(net);
    if (SKI_UNLIKELY(net->waiting || net->acks.policy.since))
        net_ask_for_pass(self);
}

const struct ski_progress_source ski_net_source = {net_pass, net_poll, net_leave, ski_net_sleep};
