/* SPDX-License-Identifier: Apache-2.0 */
/* net_send.c - see net.h. */
#include "core/net/net.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/net/coalesce.h"
#include "core/net/peer.h"
#include "core/pe/handler.h"
#include "core/net/packet.h"
#include "core/pe/pe.h"
#include "core/net/address_exchange.h"
#include "transport/secret.h"
#include "transport/select.h"

#define NAP_NS    UINT64_C(200000)     /* where a driver cannot wake us */
#define FLYING_NS UINT64_C(1000000)    /* while it holds packets of ours */
#define LOOK_NS   UINT64_C(1000000000) /* to see who is lost */
#define BURST_NS  UINT64_C(2000)       /* packets that follow each other so soon wait ...     */
#define HOLD_NS   UINT64_C(10000)      /* ... so long for others                              */

static struct {
    const struct ski_driver *driver;
    const struct ski_boot   *boot;
    struct ski_net           net;
    struct ski_net_port
            *port; /* of this process: its PEs, its progress thread, its external threads */
    int      count;
    uint64_t burst, hold; /* ticks */
    size_t   small;       /* bytes of a packet that is copied on arrival */
    size_t   bundle;      /* bytes of data, at most */
} here;

const struct ski_driver *ski_far_driver(void)
{
    return here.driver;
}

const char *ski_far_reason(skua_status_t status)
{
    return ski_driver_why()[0] ? ski_driver_why() : skua_status_str(status);
}

size_t ski_far_packet(void)
{
    return here.driver->packet ? here.driver->packet() : (size_t)1 << 20;
}

/* ---- connections ------------------------------------------------------------------ */

static struct ski_net_port *net_port_of(int pe)
{
    return &here.port[ski_port_number(here.boot->job, pe)];
}

static void connect_to(struct ski_net_port *net, struct ski_net_peer *peer)
{
    char         *address = ski_malloc(SKI_ADDRESS_MOST);
    size_t        bytes   = ski_ports_find(here.boot, here.driver, peer->pe, address);
    skua_status_t status;

    ski_driver_why()[0] = '\0';
    status = here.driver->connect(net->port, peer->pe, address, bytes, &peer->endpoint);
    free(address);
    if (status != SKUA_OK)
        ski_net_peer_lose(net, peer, ski_far_reason(status));
    else
        ski_log(SKI_LOG_INFO, "PE %d is reached through %s", peer->pe, here.driver->describe());
}

/* The peer with a PE; it need not be connected. */
static struct ski_net_peer *contact_with(struct ski_net_port *net, int pe)
{
    struct ski_net_peer *peer = ski_net_peer_find(net, pe);

    return SKI_LIKELY(peer != NULL) ? peer : ski_net_peer_add(net, pe);
}

struct ski_peer *ski_far_peer(struct ski_pe *self, int pe)
{
    struct ski_net_peer *peer = contact_with(self->net, pe);

    if (!peer->endpoint && !peer->lost)
        connect_to(self->net, peer);
    return peer->lost ? NULL : peer->endpoint;
}

/* ---- sending ------------------------------------------------------------------------ */

static void stamp(const struct ski_net_peer *peer, struct skua_msg *msg)
{
    msg->stamp.token    = peer->token_out;
    msg->stamp.sequence = peer->sent;
}

/* What lies in the half of the header that means nothing is nobody else's business. */
static void clear_half(struct skua_msg *msg)
{
    memset((char *)msg + SKI_PACKET_HALF, 0, ski_packet_left_out(msg));
}

/* Hands a packet to the driver, in the form that suits it. */
static skua_status_t send(struct ski_net_peer *peer, struct skua_msg *msg)
{
    size_t least = ski_packet_least(msg);

    if (least <= here.small)
        return here.driver->send(peer->endpoint, ski_packet_shorten(msg), least);
    clear_half(msg);
    return here.driver->send(peer->endpoint, msg, ski_msg_extent(msg));
}

/* Sends a packet; false: there is no room. */
static bool try_send(struct ski_net_port *net, struct ski_net_peer *peer, struct skua_msg *msg)
{
    bool          bundle = msg->handler == SKI_HANDLER_BUNDLE; /* what is in it has been counted */
    skua_status_t status;

    if (SKI_UNLIKELY(!peer->endpoint))
        connect_to(net, peer);
    if (SKI_UNLIKELY(peer->lost)) {
        ski_pool_free(&net->self->pool, msg);
        return true;
    }
    stamp(peer, msg);
    status     = send(peer, msg);
    peer->full = status == SKUA_ERR_AGAIN;
    if (peer->full)
        return false;
    peer->sent += !bundle;
    if (status == SKUA_PENDING)
        net->in_flight++;
    else
        ski_pool_free(&net->self->pool, msg);
    if (status < 0)
        ski_net_peer_lose(net, peer, ski_far_reason(status));
    return true;
}

static void keep(struct ski_net_port *net, struct ski_net_peer *peer, struct skua_msg *msg)
{
    if (!peer->backlog.first)
        net->waiting_since = ski_ticks();
    if (!peer->listed) {
        peer->next_waiting = net->waiting;
        net->waiting       = peer;
        peer->listed       = true;
    }
    peer->backlog_bytes += ski_bundled_bytes(msg);
    ski_list_push(&peer->backlog, msg);
    net->self->stats.deferred++;
}

/* How many bytes of the backlog, from its beginning, go into one bundle; 0: it is not worth
 * it. */
static size_t bundle_bytes(const struct ski_net_peer *peer)
{
    size_t bytes = 0, count = 0;

    for (const struct skua_msg *msg = peer->backlog.first; msg; msg = msg->link, count++) {
        if (msg->handler == SKI_HANDLER_BUNDLE || !ski_may_be_bundled(msg) ||
            bytes + ski_bundled_bytes(msg) > here.bundle)
            break;
        bytes += ski_bundled_bytes(msg);
    }
    return count > 1 ? bytes : 0;
}

/* Puts a bundle in the place of what it holds.  That is stamped: its turn has come. */
static void bundle(struct ski_net_port *net, struct ski_net_peer *peer)
{
    size_t           bytes = bundle_bytes(peer), left = bytes;
    struct skua_msg *made = bytes ? ski_pool_alloc(&net->self->pool, sizeof *made + bytes) : NULL;
    char            *to   = (char *)(made + 1);

    if (!made)
        return;
    *made =
        (struct skua_msg){.bytes = bytes, .handler = SKI_HANDLER_BUNDLE, .source = net->self->pe};
    while (left > 0) {
        struct skua_msg *msg = ski_list_pop(&peer->backlog);
        char            *next;

        stamp(peer, msg);
        peer->sent++;
        next = ski_bundle_add(to, msg);
        left -= (size_t)(next - to);
        to = next;
        ski_pool_free(&net->self->pool, msg);
    }
    made->link          = peer->backlog.first;
    peer->backlog.first = made;
    if (!made->link)
        peer->backlog.last = &made->link;
}

/* Sends what waits for room, or for others; true when nothing is left of it. */
static bool flush(struct ski_net_port *net, struct ski_net_peer *peer)
{
    struct skua_msg *msg;

    while ((msg = peer->backlog.first)) {
        struct skua_msg *next;

        if (!peer->lost)
            bundle(net, peer);
        msg  = peer->backlog.first;
        next = msg->link;
        if (peer->lost)
            ski_pool_free(&net->self->pool, msg);
        else if (!try_send(net, peer, msg)) {
            msg->link = next; /* where the stamp was */
            return false;
        }
        peer->backlog.first = next;
    }
    ski_list_init(&peer->backlog);
    peer->backlog_bytes = 0;
    return true;
}

static void flush_all(struct ski_net_port *net)
{
    struct ski_net_peer **at = &net->waiting;

    while (*at) {
        struct ski_net_peer *peer = *at;
        if (flush(net, peer)) {
            peer->listed = false;
            *at          = peer->next_waiting;
        } else {
            at = &peer->next_waiting;
        }
    }
}

/* Whether nothing but sending and running messages was done since the last packet. */
static bool is_in_row(const struct ski_net_port *net, const struct ski_net_peer *peer)
{
    return peer->idle_epoch == net->idle_epoch;
}

/* Whether a packet waits a little for others: one that follows closely on another, of somebody
 * who will send it soon. */
static bool may_wait(const struct ski_net_port *net, const struct ski_net_peer *peer,
                     const struct skua_msg *msg, uint64_t now)
{
    return is_in_row(net, peer) && ski_ack_policy_expects(&net->sends) &&
           now - peer->sent_at < here.burst && ski_may_be_bundled(msg);
}

/* Whether what waits has waited enough for others when @p next comes. */
static bool is_time(const struct ski_net_port *net, const struct ski_net_peer *peer,
                    const struct skua_msg *next, uint64_t now)
{
    return peer->backlog_bytes + ski_bundled_bytes(next) > here.bundle ||
           now - net->waiting_since > here.hold;
}

/* Not on the small stack of a user thread, which libraries below might overrun. */
static void send_or_keep(struct ski_net_port *net, struct ski_net_peer *peer, struct skua_msg *msg,
                         uint64_t now)
{
    bool wait = may_wait(net, peer, msg, now);

    if (peer->backlog.first && !peer->full && (!wait || is_time(net, peer, msg, now)))
        flush(net, peer);
    if (wait || peer->backlog.first || !try_send(net, peer, msg))
        keep(net, peer, msg);
}

/* Returns whether packets wait for room.  Those of a user thread wait for the scheduler first,
 * which then finds out. */
static bool net_lacks_room(const struct ski_pe *self, const struct ski_net_peer *peer)
{
    return peer->backlog.first && (peer->full || self->thread) && !peer->lost;
}

bool ski_far_waits(struct ski_pe *self, int pe, uint64_t *moved)
{
    struct ski_net_peer *peer = ski_net_peer_find(self->net, pe);

    if (!self->thread)
        ski_far_progress(self); /* else the scheduler does, meanwhile */
    *moved = peer->sent;
    return net_lacks_room(self, peer);
}

bool ski_far_send(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    struct ski_net_port *net  = self->net;
    struct ski_net_peer *peer = contact_with(net, pe);
    uint64_t             now  = 0; /* reading the clock takes as long as all the rest here */

    if (net->sends.since || is_in_row(net, peer) || peer->backlog.first)
        now = ski_ticks();
    if (peer->lost) {
        ski_pool_free(&self->pool, msg);
        return false;
    }
    msg->source = self->pe;
    self->stats.sent_far++;
    if (net->sends.since)
        ski_ack_policy_return(&net->sends, now);
    if (self->thread)
        keep(net, peer, msg);
    else
        send_or_keep(net, peer, msg, now);
    peer->idle_epoch = net->idle_epoch;
    peer->sent_at    = ski_ticks();
    ski_ack_policy_leave(&net->sends, peer->sent_at);
    ski_deferred_ack_sent(&net->acks, self);
    return net_lacks_room(self, peer) && !net->progressing;
}

/* Whether a packet for @p peer would be sent at once. */
static bool is_open(const struct ski_net_port *net, const struct ski_net_peer *peer)
{
    return peer && peer->endpoint && !peer->lost && !peer->backlog.first && !net->self->thread;
}

bool ski_far_send_split(struct ski_pe *self, int pe, struct skua_msg *msg, const void *rest,
                        size_t bytes, struct ski_far_done *done)
{
    struct ski_net_port *net  = self->net;
    struct ski_net_peer *peer = ski_net_peer_find(net, pe);
    skua_status_t        status;

    if (peer && peer->backlog.first && !peer->full && !self->thread)
        flush(net, peer);
    if (!is_open(net, peer))
        return false;
    stamp(peer, msg);
    clear_half(msg);
    ski_far_hold(self); /* until on_done() */
    status = here.driver->send_split(peer->endpoint, msg, ski_msg_extent(msg) - bytes, rest, bytes,
                                     done);
    if (status != SKUA_PENDING)
        ski_far_release(self);
    if (status == SKUA_ERR_AGAIN || status == SKUA_ERR_UNSUPPORTED)
        return false;
    peer->sent++;
    self->stats.sent_far++;
    if (status != SKUA_PENDING)
        done->fn(done, status);
    if (status < 0)
        ski_net_peer_lose(net, peer, skua_status_str(status));
    ski_deferred_ack_sent(&net->acks, self);
    return true;
}

bool ski_far_progress(struct ski_pe *self)
{
    struct ski_net_port *net = self->net;
    bool                 some;

    if (SKI_UNLIKELY(net->waiting != NULL))
        flush_all(net);
    net->progressing++;
    some = here.driver->progress(net->port) > 0;
    net->progressing--;
    return some;
}

bool ski_far_progressing(const struct ski_pe *self)
{
    return self->net->progressing > 0;
}

void ski_far_pass(struct ski_pe *self, bool progress)
{
    struct ski_net_port *net  = self->net;
    bool                 idle = self->queue.pushed == self->queue.popped;

    ski_deferred_ack_pass(&net->acks, self, idle);
    if (net->sends.since)
        ski_ack_policy_return(&net->sends, ski_ticks());
    if (SKI_UNLIKELY(net->waiting && ski_ticks() - net->waiting_since > here.hold)) {
        flush_all(net);
        net->waiting_since = ski_ticks(); /* what is left waits for room */
    }
    net->idle_epoch += self->queue.pushed == self->queue.popped;
    if (progress)
        ski_far_progress(self);
}

void ski_far_leave(struct ski_pe *self)
{
    ski_deferred_ack_leave(&self->net->acks, self);
    if (SKI_UNLIKELY(self->net->waiting != NULL))
        flush_all(self->net);
}

void ski_net_defer_ack(struct ski_pe *self, void (*all)(struct ski_pe *self))
{
    self->net->acks.send = all;
}

void ski_far_hold(struct ski_pe *self)
{
    self->net->in_flight++;
    self->net->operations++;
}

void ski_far_release(struct ski_pe *self)
{
    self->net->in_flight--;
    self->net->operations--;
}

bool ski_net_will_send(const struct ski_pe *self)
{
    return self->net && (self->net->operations > 0 || self->net->acks.send);
}

bool ski_far_quiet(const struct ski_pe *self)
{
    return !self->net || (!self->net->waiting && self->net->in_flight == 0);
}

/* ---- sleeping ----------------------------------------------------------------------- */

void ski_far_sleep(struct ski_pe *self, uint64_t ns)
{
    struct ski_net_port *net        = self->net;
    struct ski_job      *until_exit = ski_pe_exiting(self) ? NULL : self->job; /* not again */

    if (net->waiting && ns > NAP_NS)
        ns = NAP_NS;
    else if (net->in_flight && ns > FLYING_NS) /* the driver may want to go on with them */
        ns = FLYING_NS;
    else if (net->count > 0 && ns > LOOK_NS) /* drivers look at their peers in progress() */
        ns = LOOK_NS;
    if (net->wait_fd < 0)
        ski_host_sleep(self->host, until_exit, self->index, &self->reader,
                       ns < NAP_NS ? ns : NAP_NS);
    else if (here.driver->arm(net->port))
        ski_host_sleep_at(self->host, until_exit, self->index, &self->reader, net->bell,
                          net->wait_fd, ns);
}

/* ---- life --------------------------------------------------------------------------- */

static skua_status_t open_port(struct ski_net_port *net, int pe)
{
    skua_status_t status;

    ski_driver_why()[0] = '\0';
    status              = here.driver->open(pe, &ski_far_upcalls, net, &net->port);
    if (status != SKUA_OK)
        return ski_fail(status, "PE %d cannot use the network through %s: %s", pe,
                        here.driver->name, ski_far_reason(status));
    net->wait_fd = here.driver->wait_fd(net->port);
    net->bell    = net->wait_fd < 0
                       ? -1
                       : ski_bell_open(here.boot->job->host, ski_job_index(here.boot->job, pe));
    net->room    = 16;
    net->table   = ski_calloc(net->room, sizeof *net->table);
    return net->wait_fd >= 0 && net->bell < 0 ? SKUA_ERR_SYSTEM : SKUA_OK;
}

skua_status_t ski_far_open(const struct ski_boot *boot)
{
    struct ski_job   *job    = boot->job;
    skua_status_t     status = SKUA_OK;
    int               pes    = ski_job_pes_of(job, boot->process);
    struct ski_port **ports;

    if (!ski_job_spread(job))
        return SKUA_OK;
    here.boot  = boot;
    here.count = pes + 2;
    here.port  = ski_calloc((size_t)here.count, sizeof *here.port);
    here.net   = (struct ski_net){.process      = boot->process,
                                  .processes    = job->processes,
                                  .ports        = here.count,
                                  .one_host     = job->one_host,
                                  .interfaces   = ski_config.interfaces,
                                  .port_range   = ski_config.ports,
                                  .peer_timeout = ski_config.peer_timeout,
                                  .log          = ski_log_write,
                                  .security     = (enum ski_security)ski_config.security,
                                  .prove        = ski_secret_prove,
                                  .derive       = ski_secret_derive,
                                  .why          = ski_driver_why};
    status     = ski_secret_begin(here.net.security, job->secret, &here.net.crypto);
    if (status != SKUA_OK)
        return status;
    here.driver = ski_driver_select(&here.net);
    if (!here.driver)
        return SKUA_ERR_UNREACH;
    here.small  = here.driver->small();
    here.bundle = here.small - sizeof(struct skua_msg);
    here.burst  = ski_ns_to_ticks(BURST_NS);
    here.hold   = ski_ns_to_ticks(HOLD_NS);
    ports       = ski_calloc((size_t)here.count, sizeof *ports);
    for (int i = 0; status == SKUA_OK && i < here.count; i++)
        status = open_port(&here.port[i], i < pes ? ski_job_first_pe(job, boot->process) + i
                                                  : ski_job_helper(job, boot->process) + i - pes);
    for (int i = 0; i < here.count; i++)
        ports[i] = here.port[i].port;
    if (status == SKUA_OK)
        status = ski_ports_tell(boot, here.driver, ports, here.count);
    free(ports);
    return status;
}

void ski_far_close(void)
{
    if (!here.driver)
        return;
    for (int i = 0; i < here.count; i++) {
        struct ski_net_port *net = &here.port[i];

        here.driver->close(net->port);
        if (net->bell >= 0)
            close(net->bell);
        for (uint32_t j = 0; j < net->room; j++)
            if (net->table[j])
                ski_net_peer_free(net->table[j]);
        free(net->table);
    }
    here.driver->stop();
    here.driver = NULL;
    free(here.port);
}

void ski_far_begin(struct ski_pe *self)
{
    if (!here.driver)
        return;
    self->net           = net_port_of(self->pe);
    self->net->self     = self;
    self->net->handlers = ski_pe_hidden(self) ? SKI_HANDLERS : ski_handlers.count;
    self->net->sends    = ski_ack_policy_make(ski_ns_to_ticks((uint64_t)(ski_config.linger * 1e3)));
    self->net->acks     = (struct ski_deferred_ack){.policy = self->net->sends};
    self->queue.attention |= SKI_ATTEND_FAR;
}

void ski_far_end(struct ski_pe *self)
{
    if (self->net)
        self->net->self = NULL;
}
