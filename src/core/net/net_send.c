/* SPDX-License-Identifier: Apache-2.0 */
/* net_send.c - see net.h. */
#include "core/net/net.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/message/backpressure.h"
#include "core/net/coalesce.h"
#include "core/net/peer.h"
#include "core/pe/handler.h"
#include "core/net/deferred_ack.h"
#include "core/net/shutdown.h"
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
    struct ski_far          *far; /* of this process: its PEs, its helper, its guest */
    int                      count;
    uint64_t                 burst, hold; /* ticks */
    size_t                   small;       /* bytes of a packet that is copied on arrival */
    size_t                   bundle;      /* bytes of data, at most */
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

static struct ski_far *far_of(int pe)
{
    return &here.far[ski_port_number(here.boot->job, pe)];
}

static void connect_to(struct ski_far *far, struct ski_contact *contact)
{
    char         *address = ski_malloc(SKI_ADDRESS_MOST);
    size_t        bytes   = ski_ports_find(here.boot, here.driver, contact->pe, address);
    skua_status_t status;

    ski_driver_why()[0] = '\0';
    status = here.driver->connect(far->port, contact->pe, address, bytes, &contact->peer);
    free(address);
    if (status != SKUA_OK)
        ski_contact_lose(far, contact, ski_far_reason(status));
    else
        ski_log(SKI_LOG_INFO, "PE %d is reached through %s", contact->pe, here.driver->describe());
}

/* The contact with a PE; it need not be connected. */
static struct ski_contact *contact_with(struct ski_far *far, int pe)
{
    struct ski_contact *contact = ski_contact_find(far, pe);

    return SKI_LIKELY(contact != NULL) ? contact : ski_contact_add(far, pe);
}

struct ski_peer *ski_far_peer(struct ski_pe *self, int pe)
{
    struct ski_contact *contact = contact_with(self->far, pe);

    if (!contact->peer && !contact->lost)
        connect_to(self->far, contact);
    return contact->lost ? NULL : contact->peer;
}

/* ---- sending ------------------------------------------------------------------------ */

static void stamp(const struct ski_contact *contact, struct skua_msg *msg)
{
    msg->stamp.token    = contact->token_out;
    msg->stamp.sequence = contact->sent;
}

/* What lies in the half of the header that means nothing is nobody else's business. */
static void clear_half(struct skua_msg *msg)
{
    memset((char *)msg + SKI_PACKET_HALF, 0, ski_packet_left_out(msg));
}

/* Hands a packet to the driver, in the form that suits it. */
static skua_status_t send(struct ski_contact *contact, struct skua_msg *msg)
{
    size_t least = ski_packet_least(msg);

    if (least <= here.small)
        return here.driver->send(contact->peer, ski_packet_shorten(msg), least);
    clear_half(msg);
    return here.driver->send(contact->peer, msg, ski_msg_extent(msg));
}

/* Sends a packet; false: there is no room. */
static bool try_send(struct ski_far *far, struct ski_contact *contact, struct skua_msg *msg)
{
    bool          bundle = msg->handler == SKI_HANDLER_BUNDLE; /* what is in it has been counted */
    skua_status_t status;

    if (SKI_UNLIKELY(!contact->peer))
        connect_to(far, contact);
    if (SKI_UNLIKELY(contact->lost)) {
        ski_pool_free(&far->self->pool, msg);
        return true;
    }
    stamp(contact, msg);
    status        = send(contact, msg);
    contact->full = status == SKUA_ERR_AGAIN;
    if (contact->full)
        return false;
    contact->sent += !bundle;
    if (status == SKUA_PENDING)
        far->flying++;
    else
        ski_pool_free(&far->self->pool, msg);
    if (status < 0)
        ski_contact_lose(far, contact, ski_far_reason(status));
    return true;
}

static void keep(struct ski_far *far, struct ski_contact *contact, struct skua_msg *msg)
{
    if (!contact->backlog.first)
        far->waiting_since = ski_ticks();
    if (!contact->listed) {
        contact->next_waiting = far->waiting;
        far->waiting          = contact;
        contact->listed       = true;
    }
    contact->backlog_bytes += ski_bundled_bytes(msg);
    ski_list_push(&contact->backlog, msg);
    far->self->stats.deferred++;
}

/* How many bytes of the backlog, from its beginning, go into one bundle; 0: it is not worth
 * it. */
static size_t bundle_bytes(const struct ski_contact *contact)
{
    size_t bytes = 0, count = 0;

    for (const struct skua_msg *msg = contact->backlog.first; msg; msg = msg->link, count++) {
        if (msg->handler == SKI_HANDLER_BUNDLE || !ski_may_be_bundled(msg) ||
            bytes + ski_bundled_bytes(msg) > here.bundle)
            break;
        bytes += ski_bundled_bytes(msg);
    }
    return count > 1 ? bytes : 0;
}

/* Puts a bundle in the place of what it holds.  That is stamped: its turn has come. */
static void bundle(struct ski_far *far, struct ski_contact *contact)
{
    size_t           bytes = bundle_bytes(contact), left = bytes;
    struct skua_msg *made = bytes ? ski_pool_alloc(&far->self->pool, sizeof *made + bytes) : NULL;
    char            *to   = (char *)(made + 1);

    if (!made)
        return;
    *made =
        (struct skua_msg){.bytes = bytes, .handler = SKI_HANDLER_BUNDLE, .source = far->self->pe};
    while (left > 0) {
        struct skua_msg *msg = ski_list_pop(&contact->backlog);
        char            *next;

        stamp(contact, msg);
        contact->sent++;
        next = ski_bundle_add(to, msg);
        left -= (size_t)(next - to);
        to = next;
        ski_pool_free(&far->self->pool, msg);
    }
    made->link             = contact->backlog.first;
    contact->backlog.first = made;
    if (!made->link)
        contact->backlog.last = &made->link;
}

/* Sends what waits for room, or for others; true when nothing is left of it. */
static bool flush(struct ski_far *far, struct ski_contact *contact)
{
    struct skua_msg *msg;

    while ((msg = contact->backlog.first)) {
        struct skua_msg *next;

        if (!contact->lost)
            bundle(far, contact);
        msg  = contact->backlog.first;
        next = msg->link;
        if (contact->lost)
            ski_pool_free(&far->self->pool, msg);
        else if (!try_send(far, contact, msg)) {
            msg->link = next; /* where the stamp was */
            return false;
        }
        contact->backlog.first = next;
    }
    ski_list_init(&contact->backlog);
    contact->backlog_bytes = 0;
    return true;
}

static void flush_all(struct ski_far *far)
{
    struct ski_contact **at = &far->waiting;

    while (*at) {
        struct ski_contact *contact = *at;
        if (flush(far, contact)) {
            contact->listed = false;
            *at             = contact->next_waiting;
        } else {
            at = &contact->next_waiting;
        }
    }
}

/* Whether nothing but sending and running messages was done since the last packet. */
static bool is_in_row(const struct ski_far *far, const struct ski_contact *contact)
{
    return contact->lulls == far->lulls;
}

/* Whether a packet waits a little for others: one that follows closely on another, of somebody
 * who will send it soon. */
static bool may_wait(const struct ski_far *far, const struct ski_contact *contact,
                     const struct skua_msg *msg, uint64_t now)
{
    return is_in_row(far, contact) && ski_trusted(&far->trust) &&
           now - contact->sent_at < here.burst && ski_may_be_bundled(msg);
}

/* Whether what waits has waited enough for others when @p next comes. */
static bool is_time(const struct ski_far *far, const struct ski_contact *contact,
                    const struct skua_msg *next, uint64_t now)
{
    return contact->backlog_bytes + ski_bundled_bytes(next) > here.bundle ||
           now - far->waiting_since > here.hold;
}

/* Not on the small stack of a user thread, which libraries below might overrun. */
static void send_or_keep(struct ski_far *far, struct ski_contact *contact, struct skua_msg *msg,
                         uint64_t now)
{
    bool wait = may_wait(far, contact, msg, now);

    if (contact->backlog.first && !contact->full && (!wait || is_time(far, contact, msg, now)))
        flush(far, contact);
    if (wait || contact->backlog.first || !try_send(far, contact, msg))
        keep(far, contact, msg);
}

/* Returns whether packets wait for room.  Those of a user thread wait for the scheduler first,
 * which then finds out. */
static bool far_lacks_room(const struct ski_pe *self, const struct ski_contact *contact)
{
    return contact->backlog.first && (contact->full || self->thread) && !contact->lost;
}

/* Tries to send what waits for a PE; in a user thread the scheduler does, meanwhile. */
static bool far_waits(struct ski_pe *self, int pe, uint64_t *moved)
{
    struct ski_contact *contact = ski_contact_find(self->far, pe);

    if (!self->thread)
        ski_far_progress(self);
    *moved = contact->sent;
    return far_lacks_room(self, contact);
}

/* Returns whether the sender of a message for @p handler is to wait for @p contact. */
static bool far_holds_back(struct ski_pe *self, const struct ski_contact *contact, uint32_t handler)
{
    return far_lacks_room(self, contact) && !self->far->progressing &&
           ski_backpressure_sender(self, handler);
}

void ski_far_send(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    struct ski_far     *far     = self->far;
    struct ski_contact *contact = contact_with(far, pe);
    uint32_t            handler = msg->handler;
    uint64_t            now     = 0; /* reading the clock takes as long as all the rest here */

    if (far->trust.since || is_in_row(far, contact) || contact->backlog.first)
        now = ski_ticks();
    if (contact->lost) {
        ski_pool_free(&self->pool, msg);
        return;
    }
    msg->source = self->pe;
    self->stats.sent_far++;
    if (far->trust.since)
        ski_trust_back(&far->trust, now);
    if (self->thread)
        keep(far, contact, msg);
    else
        send_or_keep(far, contact, msg, now);
    contact->lulls   = far->lulls;
    contact->sent_at = ski_ticks();
    ski_trust_out(&far->trust, contact->sent_at);
    ski_late_sent(self);
    if (SKI_UNLIKELY(far_holds_back(self, contact, handler)))
        ski_backpressure_wait(self, pe, far_waits);
}

/* Whether a packet for @p contact would be sent at once. */
static bool is_open(const struct ski_far *far, const struct ski_contact *contact)
{
    return contact && contact->peer && !contact->lost && !contact->backlog.first &&
           !far->self->thread;
}

bool ski_far_send_split(struct ski_pe *self, int pe, struct skua_msg *msg, const void *rest,
                        size_t bytes, struct ski_far_done *done)
{
    struct ski_far     *far     = self->far;
    struct ski_contact *contact = ski_contact_find(far, pe);
    skua_status_t       status;

    if (contact && contact->backlog.first && !contact->full && !self->thread)
        flush(far, contact);
    if (!is_open(far, contact))
        return false;
    stamp(contact, msg);
    clear_half(msg);
    ski_far_hold(self); /* until on_done() */
    status =
        here.driver->send_split(contact->peer, msg, ski_msg_extent(msg) - bytes, rest, bytes, done);
    if (status != SKUA_PENDING)
        ski_far_release(self);
    if (status == SKUA_ERR_AGAIN || status == SKUA_ERR_UNSUPPORTED)
        return false;
    contact->sent++;
    self->stats.sent_far++;
    if (status != SKUA_PENDING)
        done->fn(done, status);
    if (status < 0)
        ski_contact_lose(far, contact, skua_status_str(status));
    ski_late_sent(self);
    return true;
}

bool ski_far_progress(struct ski_pe *self)
{
    struct ski_far *far = self->far;
    bool            some;

    if (SKI_UNLIKELY(far->waiting != NULL))
        flush_all(far);
    far->progressing++;
    some = here.driver->progress(far->port) > 0;
    far->progressing--;
    return some;
}

bool ski_far_progressing(const struct ski_pe *self)
{
    return self->far->progressing > 0;
}

void ski_far_pass(struct ski_pe *self, bool progress)
{
    struct ski_far *far = self->far;

    if (far->trust.since)
        ski_trust_back(&far->trust, ski_ticks());
    if (SKI_UNLIKELY(far->waiting && ski_ticks() - far->waiting_since > here.hold)) {
        flush_all(far);
        far->waiting_since = ski_ticks(); /* what is left waits for room */
    }
    far->lulls += self->queue.pushed == self->queue.popped;
    if (progress)
        ski_far_progress(self);
}

void ski_far_leave(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->far->waiting != NULL))
        flush_all(self->far);
}

void ski_far_hold(struct ski_pe *self)
{
    self->far->flying++;
    self->far->operations++;
}

void ski_far_release(struct ski_pe *self)
{
    self->far->flying--;
    self->far->operations--;
}

bool ski_far_operating(const struct ski_pe *self)
{
    return self->far && self->far->operations > 0;
}

bool ski_far_quiet(const struct ski_pe *self)
{
    return !self->far || (!self->far->waiting && self->far->flying == 0);
}

/* ---- sleeping ----------------------------------------------------------------------- */

void ski_far_sleep(struct ski_pe *self, uint64_t ns)
{
    struct ski_far *far        = self->far;
    struct ski_job *until_exit = ski_pe_exiting(self) ? NULL : self->job; /* not again */

    if (far->waiting && ns > NAP_NS)
        ns = NAP_NS;
    else if (far->flying && ns > FLYING_NS) /* the driver may want to go on with them */
        ns = FLYING_NS;
    else if (far->count > 0 && ns > LOOK_NS) /* drivers look at their peers in progress() */
        ns = LOOK_NS;
    if (far->wait_fd < 0)
        ski_host_sleep(self->host, until_exit, self->index, &self->reader,
                       ns < NAP_NS ? ns : NAP_NS);
    else if (here.driver->arm(far->port))
        ski_host_sleep_at(self->host, until_exit, self->index, &self->reader, far->bell,
                          far->wait_fd, ns);
}

/* ---- life --------------------------------------------------------------------------- */

static skua_status_t open_port(struct ski_far *far, int pe)
{
    skua_status_t status;

    ski_driver_why()[0] = '\0';
    status              = here.driver->open(pe, &ski_far_upcalls, far, &far->port);
    if (status != SKUA_OK)
        return ski_fail(status, "PE %d cannot use the network through %s: %s", pe,
                        here.driver->name, ski_far_reason(status));
    far->wait_fd = here.driver->wait_fd(far->port);
    far->bell    = far->wait_fd < 0
                       ? -1
                       : ski_bell_open(here.boot->job->host, ski_job_index(here.boot->job, pe));
    far->room    = 16;
    far->table   = ski_calloc(far->room, sizeof *far->table);
    return far->wait_fd >= 0 && far->bell < 0 ? SKUA_ERR_SYSTEM : SKUA_OK;
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
    here.far   = ski_calloc((size_t)here.count, sizeof *here.far);
    here.net   = (struct ski_net){.process      = boot->process,
                                  .processes    = job->processes,
                                  .ports        = here.count,
                                  .one_host     = job->one_host,
                                  .interfaces   = ski_config.net_interfaces,
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
        status = open_port(&here.far[i], i < pes ? ski_job_first_pe(job, boot->process) + i
                                                 : ski_job_helper(job, boot->process) + i - pes);
    for (int i = 0; i < here.count; i++)
        ports[i] = here.far[i].port;
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
        struct ski_far *far = &here.far[i];

        here.driver->close(far->port);
        if (far->bell >= 0)
            close(far->bell);
        for (uint32_t j = 0; j < far->room; j++)
            if (far->table[j])
                ski_contact_drop(far->table[j]);
        free(far->table);
    }
    here.driver->stop();
    here.driver = NULL;
    free(here.far);
}

void ski_far_begin(struct ski_pe *self)
{
    if (!here.driver)
        return;
    self->far           = far_of(self->pe);
    self->far->self     = self;
    self->far->handlers = ski_pe_hidden(self) ? SKI_HANDLERS : ski_handlers.count;
    self->far->trust    = ski_trust(ski_ns_to_ticks((uint64_t)(ski_config.ack_delay * 1e3)));
    self->queue.attention |= SKI_ATTEND_FAR;
}

void ski_far_end(struct ski_pe *self)
{
    if (self->far)
        self->far->self = NULL;
}
