/* SPDX-License-Identifier: Apache-2.0 */
/* far.c - see far.h. */
#include "core/far.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/bundle.h"
#include "core/handler.h"
#include "core/late.h"
#include "core/leave.h"
#include "core/packet.h"
#include "core/pe.h"
#include "core/ports.h"
#include "transport/select.h"

#define NAP_NS     UINT64_C(200000)     /* where a driver cannot wake us */
#define FLYING_NS  UINT64_C(1000000)    /* while it holds packets of ours */
#define LOOK_NS    UINT64_C(1000000000) /* to see who is lost */
#define COMPLAINTS 10                   /* about wrong packets, then silence */
#define TAKE_LEAST 4096                 /* a smaller packet is copied as fast as it is looked at */
#define BURST_NS   UINT64_C(2000)       /* packets that follow each other so soon wait ...     */
#define HOLD_NS    UINT64_C(10000)      /* ... so long for others                              */

/* A packet that came before one that was sent before it. */
struct early {
    struct early    *next;
    uint32_t         sequence;
    struct skua_msg *msg;
};

/* A PE we talk to. */
struct contact {
    int32_t          pe;
    bool             lost;
    uint32_t         token_out, token_in;
    uint32_t         sent, received; /* sequence of the next packet each way */
    struct ski_peer *peer;           /* NULL: we have not sent to it         */
    struct ski_list  backlog;        /* waits for room, or for others        */
    size_t           backlog_bytes;  /* of it, about                         */
    bool             full;           /* it waits for room                    */
    bool             listed;         /* among those with a backlog           */
    uint64_t         sent_at;        /* ticks                                */
    uint64_t         lulls;          /* of the port by then                  */
    struct early    *early;          /* ascending                            */
    struct contact  *next_waiting;   /* of those with a backlog              */
};

/* The port of a PE. */
struct ski_far {
    struct ski_pe   *self; /* NULL before the PE begins and after it ends */
    struct ski_port *port;
    int              wait_fd, bell; /* -1: the driver cannot wake us */
    struct contact **table;         /* by PE, open addressing */
    uint32_t         room, count;
    struct contact  *waiting;
    uint64_t         waiting_since; /* ticks */
    uint64_t         lulls;         /* passes that found nothing else to do, counted */
    struct ski_trust trust;         /* to send, or run the scheduler, again */
    uint64_t         flying;        /* packets and operations that the driver still holds */
    uint64_t         operations;    /* the latter alone                                   */
};

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

/* ---- contacts --------------------------------------------------------------------- */

static uint32_t slot_of(const struct ski_far *far, int pe)
{
    return (uint32_t)pe * UINT32_C(0x9e3779b1) & (far->room - 1);
}

static struct contact *find(const struct ski_far *far, int pe)
{
    uint32_t slot = slot_of(far, pe);

    while (far->table[slot] && far->table[slot]->pe != pe)
        slot = (slot + 1) & (far->room - 1);
    return far->table[slot];
}

static void insert(struct ski_far *far, struct contact *contact)
{
    uint32_t slot = slot_of(far, contact->pe);

    while (far->table[slot])
        slot = (slot + 1) & (far->room - 1);
    far->table[slot] = contact;
}

static void grow(struct ski_far *far)
{
    struct contact **old = far->table;
    uint32_t         n   = far->room;

    far->room  = 2 * n;
    far->table = ski_calloc(far->room, sizeof *far->table);
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            insert(far, old[i]);
    free(old);
}

static struct contact *add(struct ski_far *far, int pe)
{
    const uint64_t *secret  = here.boot->job->secret;
    struct contact *contact = ski_calloc(1, sizeof *contact);

    contact->pe        = pe;
    contact->token_out = ski_packet_token(secret, far->self->pe, pe);
    contact->token_in  = ski_packet_token(secret, pe, far->self->pe);
    ski_list_init(&contact->backlog);
    if (2 * ++far->count > far->room)
        grow(far);
    insert(far, contact);
    return contact;
}

static void drop_contact(struct contact *contact)
{
    while (contact->early) {
        struct early *gone = contact->early;
        contact->early     = gone->next;
        free(gone);
    }
    free(contact); /* what is in its backlog goes with the arena */
}

/* ---- connections ------------------------------------------------------------------ */

static struct ski_far *far_of(int pe)
{
    return &here.far[ski_port_number(here.boot->job, pe)];
}

static void lose(struct ski_far *far, struct contact *contact, const char *why)
{
    if (contact->lost)
        return;
    contact->lost = true;
    ski_peer_lost(far->self, contact->pe, why);
}

static void connect_to(struct ski_far *far, struct contact *contact)
{
    char         *address = ski_malloc(SKI_ADDRESS_MOST);
    size_t        bytes   = ski_ports_find(here.boot, here.driver, contact->pe, address);
    skua_status_t status;

    ski_driver_why()[0] = '\0';
    status = here.driver->connect(far->port, contact->pe, address, bytes, &contact->peer);
    free(address);
    if (status != SKUA_OK)
        lose(far, contact, ski_far_reason(status));
    else
        ski_log(SKI_LOG_INFO, "PE %d is reached through %s", contact->pe, here.driver->describe());
}

/* The contact with a PE; it need not be connected. */
static struct contact *contact_with(struct ski_far *far, int pe)
{
    struct contact *contact = find(far, pe);

    return SKI_LIKELY(contact != NULL) ? contact : add(far, pe);
}

struct ski_peer *ski_far_peer(struct ski_pe *self, int pe)
{
    struct contact *contact = contact_with(self->far, pe);

    if (!contact->peer && !contact->lost)
        connect_to(self->far, contact);
    return contact->lost ? NULL : contact->peer;
}

/* ---- sending ------------------------------------------------------------------------ */

static void stamp(const struct contact *contact, struct skua_msg *msg)
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
static skua_status_t send(struct contact *contact, struct skua_msg *msg)
{
    size_t least = ski_packet_least(msg);

    if (least <= here.small)
        return here.driver->send(contact->peer, ski_packet_shorten(msg), least);
    clear_half(msg);
    return here.driver->send(contact->peer, msg, ski_msg_extent(msg));
}

/* Sends a packet; false: there is no room. */
static bool try_send(struct ski_far *far, struct contact *contact, struct skua_msg *msg)
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
        lose(far, contact, ski_far_reason(status));
    return true;
}

static void keep(struct ski_far *far, struct contact *contact, struct skua_msg *msg)
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
static size_t bundle_bytes(const struct contact *contact)
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
static void bundle(struct ski_far *far, struct contact *contact)
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
static bool flush(struct ski_far *far, struct contact *contact)
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
    struct contact **at = &far->waiting;

    while (*at) {
        struct contact *contact = *at;
        if (flush(far, contact)) {
            contact->listed = false;
            *at             = contact->next_waiting;
        } else {
            at = &contact->next_waiting;
        }
    }
}

/* Whether nothing but sending and running messages was done since the last packet. */
static bool is_in_row(const struct ski_far *far, const struct contact *contact)
{
    return contact->lulls == far->lulls;
}

/* Whether a packet waits a little for others: one that follows closely on another, of somebody
 * who will send it soon. */
static bool may_wait(const struct ski_far *far, const struct contact *contact,
                     const struct skua_msg *msg, uint64_t now)
{
    return is_in_row(far, contact) && ski_trusted(&far->trust) &&
           now - contact->sent_at < here.burst && ski_may_be_bundled(msg);
}

/* Whether what waits has waited enough for others when @p next comes. */
static bool is_time(const struct ski_far *far, const struct contact *contact,
                    const struct skua_msg *next, uint64_t now)
{
    return contact->backlog_bytes + ski_bundled_bytes(next) > here.bundle ||
           now - far->waiting_since > here.hold;
}

/* Not on the small stack of a user thread, which libraries below might overrun. */
static void send_or_keep(struct ski_far *far, struct contact *contact, struct skua_msg *msg,
                         uint64_t now)
{
    bool wait = may_wait(far, contact, msg, now);

    if (contact->backlog.first && !contact->full && (!wait || is_time(far, contact, msg, now)))
        flush(far, contact);
    if (wait || contact->backlog.first || !try_send(far, contact, msg))
        keep(far, contact, msg);
}

void ski_far_send(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    struct ski_far *far     = self->far;
    struct contact *contact = contact_with(far, pe);
    uint64_t        now     = 0; /* reading the clock takes as long as all the rest here */

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
}

/* Whether a packet for @p contact would be sent at once. */
static bool is_open(const struct ski_far *far, const struct contact *contact)
{
    return contact && contact->peer && !contact->lost && !contact->backlog.first &&
           !far->self->thread;
}

bool ski_far_send_split(struct ski_pe *self, int pe, struct skua_msg *msg, const void *rest,
                        size_t bytes, struct ski_far_done *done)
{
    struct ski_far *far     = self->far;
    struct contact *contact = find(far, pe);
    skua_status_t   status;

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
        lose(far, contact, skua_status_str(status));
    ski_late_sent(self);
    return true;
}

bool ski_far_progress(struct ski_pe *self)
{
    struct ski_far *far = self->far;

    if (SKI_UNLIKELY(far->waiting != NULL))
        flush_all(far);
    return here.driver->progress(far->port) > 0;
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

/* ---- receiving ---------------------------------------------------------------------- */

static void complain(struct ski_far *far, size_t bytes, const char *wrong)
{
    uint64_t n = ++far->self->stats.wrong;

    if (n <= COMPLAINTS)
        ski_log(SKI_LOG_ERROR, "a packet of %zu bytes%s was dropped: %s", bytes,
                n == COMPLAINTS ? " (no more of these will be told)" : "", wrong);
}

/* NULL: one that was wrong, and whose turn has come. */
static void deliver(struct ski_far *far, struct skua_msg *msg)
{
    if (!msg)
        return;
    far->self->stats.received++;
    far->self->unserved += msg->handler == SKI_HANDLER_REQUEST;
    ski_queue_push(&far->self->queue, msg, msg->flags);
}

/* Keeps a packet until those before it are here; false: it is here already. */
static bool keep_early(struct contact *contact, struct skua_msg *msg, uint32_t sequence)
{
    struct early **at = &contact->early, *early;

    while (*at && (int32_t)((*at)->sequence - sequence) < 0)
        at = &(*at)->next;
    if (*at && (*at)->sequence == sequence)
        return false;
    early  = ski_malloc(sizeof *early);
    *early = (struct early){*at, sequence, msg};
    *at    = early;
    return true;
}

/* What was waiting for the packet that has just been delivered. */
static void deliver_early(struct ski_far *far, struct contact *contact)
{
    while (contact->early && contact->early->sequence == contact->received) {
        struct early *early = contact->early;

        contact->early = early->next;
        contact->received++;
        deliver(far, early->msg);
        free(early);
    }
}

/* The contact that a packet comes from, if it proves to come from there; else NULL. */
static struct contact *sender_of(struct ski_far *far, const struct skua_msg *msg)
{
    const struct ski_job *job = here.boot->job;
    struct contact       *contact;

    contact = find(far, msg->source);
    if (SKI_UNLIKELY(!contact)) {
        if (msg->source < 0 || msg->source >= ski_job_all(job) ||
            ski_job_index(job, msg->source) >= 0 ||
            ski_packet_token(job->secret, msg->source, far->self->pe) != msg->stamp.token)
            return NULL;
        contact = add(far, msg->source);
    }
    return SKI_LIKELY(contact->token_in == msg->stamp.token) ? contact : NULL;
}

/* In the order of sending. */
static void take_turn(struct ski_far *far, struct contact *contact, struct skua_msg *msg,
                      uint32_t sequence, size_t bytes)
{
    if (SKI_LIKELY(sequence == contact->received)) {
        contact->received++;
        deliver(far, msg);
        deliver_early(far, contact);
    } else if (((int32_t)(sequence - contact->received) < 0 ||
                !keep_early(contact, msg, sequence)) &&
               msg) {
        complain(far, bytes, "it has come before");
        ski_pool_free(&far->self->pool, msg);
    }
}

/* A packet of its own, or out of a bundle. */
static void accept(struct ski_far *far, struct skua_msg *msg, size_t bytes)
{
    const char     *wrong    = ski_packet_wrong(here.boot->job, ski_handlers.count, msg, bytes);
    struct contact *contact  = sender_of(far, msg);
    uint32_t        sequence = msg->stamp.sequence;

    if (SKI_UNLIKELY(!wrong && msg->handler == SKI_HANDLER_BUNDLE))
        wrong = "a bundle came in a bundle";
    if (SKI_UNLIKELY(wrong || !contact)) {
        complain(far, bytes, wrong ? wrong : "its sender does not know the secret of the job");
        ski_pool_free(&far->self->pool, msg);
        msg = NULL;
    }
    if (SKI_LIKELY(contact != NULL))
        take_turn(far, contact, msg, sequence, bytes);
}

static void *on_room(void *owner, size_t bytes)
{
    struct ski_far *far = owner;
    void           *room;

    if (!far->self)
        return NULL;
    if (bytes < SKI_PACKET_HALF) {
        complain(far, bytes, "it is too short");
        return NULL;
    }
    room = ski_pool_alloc(&far->self->pool, bytes);
    if (!room) /* those behind it would wait for it for ever */
        ski_fatal("no memory for a packet of %zu bytes that has come: the arena is full (do "
                  "messages come faster than they are run?); raise SKUA_ARENA_SIZE",
                  bytes);
    return room;
}

/* A packet in the driver's memory: its data may go straight to where it belongs, and what is
 * left of it takes its turn.  One that comes early, or is wrong, comes in as others do. */
static bool take(struct ski_far *far, const struct skua_msg *head, const char *data, size_t bytes)
{
    struct contact  *contact = sender_of(far, head);
    struct skua_msg *left;

    if (!far->self->take || !contact || head->stamp.sequence != contact->received)
        return false;
    left = far->self->take(far->self, head, data);
    if (left)
        take_turn(far, contact, left, head->stamp.sequence, bytes);
    return left != NULL;
}

/* A packet that lies elsewhere, aligned or not, with @p head bytes of its header. */
static void copy_in(struct ski_far *far, const char *packet, size_t bytes, size_t head)
{
    size_t           whole = bytes - head + sizeof(struct skua_msg);
    struct skua_msg *msg   = on_room(far, whole);

    if (!msg)
        return;
    memcpy(msg, packet, SKI_PACKET_HALF);
    memcpy((char *)(msg + 1) - (head - SKI_PACKET_HALF), packet + SKI_PACKET_HALF,
           bytes - SKI_PACKET_HALF);
    accept(far, msg, whole);
}

/* One that is worth it: @p msg is room for its header; false: it is wrong. */
static bool look(const char *packet, size_t bytes, size_t head, struct skua_msg *msg)
{
    memset(msg, 0, sizeof *msg);
    memcpy(msg, packet, head);
    return !ski_packet_wrong(here.boot->job, ski_handlers.count, msg, bytes - head + sizeof *msg);
}

/* One of a bundle, or alone. */
static void unpack_one(struct ski_far *far, const char *packet, size_t bytes)
{
    size_t          head = ski_packet_head_bytes(packet, bytes);
    struct skua_msg msg;

    if (SKI_UNLIKELY(head == 0))
        complain(far, bytes, "it is too short");
    else if (bytes < TAKE_LEAST || !look(packet, bytes, head, &msg) ||
             !take(far, &msg, packet + head, bytes))
        copy_in(far, packet, bytes, head);
}

/* The data of a bundle; @p data is aligned or not. */
static void unpack(struct ski_far *far, const struct skua_msg *head, const char *data)
{
    const char *end = data + head->bytes, *packet;
    size_t      bytes;

    if (!sender_of(far, head)) {
        complain(far, head->bytes, "its sender does not know the secret of the job");
        return;
    }
    while (data < end && (packet = ski_bundle_look(data, end, &bytes))) {
        unpack_one(far, packet, bytes);
        data = packet - sizeof(uint64_t) + ski_bundle_slot(bytes);
    }
    if (data != end)
        complain(far, head->bytes, "it is a bundle of no packets");
}

/* Whether a packet is a bundle, which is taken apart. */
static bool take_bundle(struct ski_far *far, const char *packet, size_t bytes, size_t head)
{
    struct skua_msg msg;
    uint16_t        handler;

    memcpy(&handler, packet + offsetof(struct skua_msg, handler), sizeof handler);
    if (SKI_LIKELY(handler != SKI_HANDLER_BUNDLE) || !look(packet, bytes, head, &msg))
        return false;
    unpack(far, &msg, packet + head);
    return true;
}

/* A plain packet whose turn it is; false: it is to be looked at as any other. */
static bool take_plain(struct ski_far *far, const struct skua_msg *half, const char *packet)
{
    struct ski_pe   *self    = far->self;
    struct contact  *contact = find(far, half->source);
    struct skua_msg *msg;

    if (!contact || contact->token_in != half->stamp.token ||
        contact->received != half->stamp.sequence || contact->early)
        return false;
    msg = ski_pool_at_hand(&self->pool, sizeof *msg + half->bytes);
    if (SKI_UNLIKELY(!msg))
        return false;
    memcpy(msg, half, SKI_PACKET_HALF);
    memcpy(msg + 1, packet + SKI_PACKET_HALF, half->bytes);
    contact->received++;
    self->stats.received++;
    ski_queue_push(&self->queue, msg, 0);
    return true;
}

/* Any other. */
static bool take_packet(struct ski_far *far, const char *packet, size_t bytes)
{
    size_t head = ski_packet_head_bytes(packet, bytes);

    if (head == 0)
        return false;
    if (take_bundle(far, packet, bytes, head))
        return true;
    if (head == sizeof(struct skua_msg) && bytes < TAKE_LEAST)
        return false;
    if (bytes < TAKE_LEAST)
        copy_in(far, packet, bytes, head);
    else
        unpack_one(far, packet, bytes);
    return true;
}

static bool on_taken(void *owner, const void *packet, size_t bytes)
{
    struct ski_far *far = owner;
    struct skua_msg half;

    if (SKI_UNLIKELY(!far->self || bytes < SKI_PACKET_HALF))
        return false;
    memcpy(&half, packet, SKI_PACKET_HALF);
    if (SKI_LIKELY(ski_packet_is_plain(&half, bytes, ski_handlers.count) && bytes < TAKE_LEAST &&
                   take_plain(far, &half, packet)))
        return true;
    return take_packet(far, packet, bytes);
}

/* In short form only from a driver that has not offered it before. */
static void on_arrived(void *owner, void *packet, size_t bytes)
{
    struct ski_far  *far = owner;
    struct skua_msg *msg = packet;

    if (!far->self) /* it goes with the arena */
        return;
    if ((msg->handler == SKI_HANDLER_BUNDLE || ski_packet_is_short(msg, bytes)) &&
        on_taken(far, packet, bytes))
        ski_pool_free(&far->self->pool, packet);
    else
        accept(far, msg, bytes);
}

static void on_spoilt(void *owner, void *packet)
{
    struct ski_far *far = owner;

    if (far->self)
        ski_pool_free(&far->self->pool, packet);
}

static void on_sent(void *owner, void *packet)
{
    struct ski_far *far = owner;
    void           *msg = ski_packet_message(packet);

    far->flying--;
    if (far->self) /* else it goes with the arena */
        ski_pool_free(&far->self->pool, msg);
}

static void on_done(void *owner, void *cookie, skua_status_t status)
{
    struct ski_far      *far  = owner;
    struct ski_far_done *done = cookie;

    far->flying--;
    far->operations--;
    if (far->self) /* else nobody is there any more to be told */
        done->fn(done, status);
}

static void on_lost(void *owner, int pe, const char *why)
{
    struct ski_far *far     = owner;
    struct contact *contact = find(far, pe);

    if (far->self && contact)
        lose(far, contact, why);
}

static const struct ski_upcalls upcalls = {on_room, on_arrived, on_spoilt, on_sent,
                                           on_done, on_lost,    on_taken};

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
    status              = here.driver->open(pe, &upcalls, far, &far->port);
    if (status != SKUA_OK)
        return ski_refuse(status, "PE %d cannot use the network through %s: %s", pe,
                          here.driver->name, ski_far_reason(status));
    far->wait_fd = here.driver->wait_fd(far->port);
    far->bell =
        far->wait_fd < 0 ? -1 : ski_bell_open(here.boot->job, ski_job_index(here.boot->job, pe));
    far->room  = 16;
    far->table = ski_calloc(far->room, sizeof *far->table);
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
    here.boot   = boot;
    here.count  = pes + 2;
    here.far    = ski_calloc((size_t)here.count, sizeof *here.far);
    here.net    = (struct ski_net){.process      = boot->process,
                                   .processes    = job->processes,
                                   .ports        = here.count,
                                   .one_host     = job->one_host,
                                   .interfaces   = ski_config.interfaces,
                                   .port_range   = ski_config.ports,
                                   .peer_timeout = ski_config.peer_timeout,
                                   .log          = ski_log_write,
                                   .why          = ski_driver_why};
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
                drop_contact(far->table[j]);
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
    self->far        = far_of(self->pe);
    self->far->self  = self;
    self->far->trust = ski_trust(ski_ns_to_ticks((uint64_t)(ski_config.linger * 1e3)));
    self->queue.attention |= SKI_ATTEND_FAR;
}

void ski_far_end(struct ski_pe *self)
{
    if (self->far)
        self->far->self = NULL;
}
