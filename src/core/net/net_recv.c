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
#include "core/collective/broadcast.h"
#include "core/net/coalesce.h"
#include "core/net/peer.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/net/packet.h"
#include "core/collective/reduction.h"

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

/* @p contact: where it comes from, or NULL if it does not prove that. */
static void complain(struct ski_far *far, const struct ski_contact *contact, size_t bytes,
                     const char *wrong)
{
    char from[32] = "";

    if (contact)
        snprintf(from, sizeof from, " from PE %d", contact->pe);
    ski_far_wrong(far->self, "a packet of %zu bytes%s was dropped: %s", bytes, from, wrong);
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
static bool keep_early(struct ski_contact *contact, struct skua_msg *msg, uint32_t sequence)
{
    struct ski_ahead **at = &contact->early, *early;

    while (*at && (int32_t)((*at)->sequence - sequence) < 0)
        at = &(*at)->next;
    if (*at && (*at)->sequence == sequence)
        return false;
    early  = ski_malloc(sizeof *early);
    *early = (struct ski_ahead){*at, sequence, msg};
    *at    = early;
    return true;
}

/* What was waiting for the packet that has just been delivered. */
static void deliver_early(struct ski_far *far, struct ski_contact *contact)
{
    while (contact->early && contact->early->sequence == contact->received) {
        struct ski_ahead *early = contact->early;

        contact->early = early->next;
        contact->received++;
        deliver(far, early->msg);
        free(early);
    }
}

/* The contact that a packet comes from, if it proves to come from there; else NULL. */
static struct ski_contact *sender_of(struct ski_far *far, const struct skua_msg *msg)
{
    const struct ski_job *job = far->self->job;
    struct ski_contact   *contact;

    contact = ski_contact_find(far, msg->source);
    if (SKI_UNLIKELY(!contact)) {
        if (msg->source < 0 || msg->source >= ski_job_all(job) ||
            ski_job_index(job, msg->source) >= 0 ||
            ski_packet_token(job->secret, msg->source, far->self->pe) != msg->stamp.token)
            return NULL;
        contact = ski_contact_add(far, msg->source);
    }
    return SKI_LIKELY(contact->token_in == msg->stamp.token) ? contact : NULL;
}

/* In the order of sending. */
static void take_turn(struct ski_far *far, struct ski_contact *contact, struct skua_msg *msg,
                      uint32_t sequence, size_t bytes)
{
    if (SKI_LIKELY(sequence == contact->received)) {
        contact->received++;
        deliver(far, msg);
        deliver_early(far, contact);
    } else if (((int32_t)(sequence - contact->received) < 0 ||
                !keep_early(contact, msg, sequence)) &&
               msg) {
        complain(far, contact, bytes, "it has come before");
        ski_pool_free(&far->self->pool, msg);
    }
}

/* Whether a PE that programs do not see takes packets of this kind: it serves memory, and has
 * neither objects nor handlers. */
static bool far_hidden_takes(uint32_t handler)
{
    return handler == SKI_HANDLER_REQUEST || handler == SKI_HANDLER_SERVED ||
           handler == SKI_HANDLER_AGREE || handler == SKI_HANDLER_LOCK;
}

/* A packet of its own, or out of a bundle. */
static void accept(struct ski_far *far, struct skua_msg *msg, size_t bytes)
{
    const char         *wrong    = ski_packet_wrong(far->self->job, far->handlers, msg, bytes);
    struct ski_contact *contact  = sender_of(far, msg);
    uint32_t            sequence = msg->stamp.sequence;

    if (SKI_UNLIKELY(!wrong && msg->handler == SKI_HANDLER_BUNDLE))
        wrong = "a bundle came in a bundle";
    if (SKI_UNLIKELY(!wrong && ski_pe_hidden(far->self) && !far_hidden_takes(msg->handler)))
        wrong = "it is for a PE that takes no such packets";
    if (SKI_UNLIKELY(wrong || !contact)) {
        complain(far, contact, bytes,
                 wrong ? wrong : "its sender does not know the secret of the job");
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
        complain(far, NULL, bytes, "it is too short");
        return NULL;
    }
    room = ski_pool_alloc(&far->self->pool, bytes);
    if (!room) /* those behind it would wait for it for ever */
        ski_fatal("no memory for a packet of %zu bytes that has come: the arena is full (do "
                  "messages come faster than they are run?); raise SKUA_ARENA_SIZE",
                  bytes);
    return room;
}

/* ---- data that goes to its place ------------------------------------------------------- */

/* Data of collectives belongs to where the runtime keeps it, that of other kinds to where the layer
 * above says. */
static size_t far_place_data(struct ski_pe *self, const struct skua_msg *head, const char *data,
                             void **to)
{
    if (ski_pe_hidden(self) && !far_hidden_takes(head->handler))
        return 0;
    switch (head->handler) {
    case SKI_HANDLER_BROADCAST_SEGMENT: return ski_segment_place(self, head, data, to);
    case SKI_HANDLER_RESULT: return ski_result_place(self, head, data, to);
    default: return self->place ? self->place(self, head, data, to) : 0;
    }
}

static struct skua_msg *far_placed_data(struct ski_pe *self, const struct skua_msg *head,
                                        const char *data, bool whole)
{
    switch (head->handler) {
    case SKI_HANDLER_BROADCAST_SEGMENT: return ski_segment_placed(self, head, data, whole);
    case SKI_HANDLER_RESULT: return ski_result_placed(self, data, whole);
    default: return self->placed ? self->placed(self, head, data, whole) : NULL;
    }
}

/* Copies the data of a packet that is all there to its place.  Returns the message that is left, or
 * NULL: it is received as any other. */
static struct skua_msg *far_take_data(struct ski_pe *self, const struct skua_msg *head,
                                      const char *data)
{
    void  *to;
    size_t bytes;

    if (head->handler != SKI_HANDLER_BROADCAST_SEGMENT && head->handler != SKI_HANDLER_RESULT)
        return self->take ? self->take(self, head, data) : NULL;
    bytes = far_place_data(self, head, data, &to);
    if (bytes == 0)
        return NULL;
    memcpy(to, data + head->bytes - bytes, bytes);
    return far_placed_data(self, head, data, true);
}

/* A packet in the driver's memory: its data may go straight to where it belongs, and what is
 * left of it takes its turn.  One that comes early, or is wrong, comes in as others do. */
static bool take(struct ski_far *far, const struct skua_msg *head, const char *data, size_t bytes)
{
    struct ski_contact *contact = sender_of(far, head);
    struct skua_msg    *left;

    if (!contact || head->stamp.sequence != contact->received)
        return false;
    left = far_take_data(far->self, head, data);
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
static bool look(const struct ski_far *far, const char *packet, size_t bytes, size_t head,
                 struct skua_msg *msg)
{
    memset(msg, 0, sizeof *msg);
    memcpy(msg, packet, head);
    return !ski_packet_wrong(far->self->job, far->handlers, msg, bytes - head + sizeof *msg);
}

/* One of a bundle, or alone. */
static void unpack_one(struct ski_far *far, const char *packet, size_t bytes)
{
    size_t          head = ski_packet_head_bytes(packet, bytes);
    struct skua_msg msg;

    if (SKI_UNLIKELY(head == 0))
        complain(far, NULL, bytes, "it is too short");
    else if (bytes < TAKE_LEAST || !look(far, packet, bytes, head, &msg) ||
             !take(far, &msg, packet + head, bytes))
        copy_in(far, packet, bytes, head);
}

/* The data of a bundle; @p data is aligned or not. */
static void unpack(struct ski_far *far, const struct skua_msg *head, const char *data)
{
    const char *end = data + head->bytes, *packet;
    size_t      bytes;

    if (!sender_of(far, head)) {
        complain(far, NULL, head->bytes, "its sender does not know the secret of the job");
        return;
    }
    while (data < end && (packet = ski_bundle_look(data, end, &bytes))) {
        unpack_one(far, packet, bytes);
        data = packet - sizeof(uint64_t) + ski_bundle_slot(bytes);
    }
    if (data != end)
        complain(far, sender_of(far, head), head->bytes, "it is a bundle of no packets");
}

/* Whether a packet is a bundle, which is taken apart. */
static bool take_bundle(struct ski_far *far, const char *packet, size_t bytes, size_t head)
{
    struct skua_msg msg;
    uint16_t        handler;

    memcpy(&handler, packet + offsetof(struct skua_msg, handler), sizeof handler);
    if (SKI_LIKELY(handler != SKI_HANDLER_BUNDLE) || !look(far, packet, bytes, head, &msg))
        return false;
    unpack(far, &msg, packet + head);
    return true;
}

/* A plain packet whose turn it is; false: it is to be looked at as any other. */
static bool take_plain(struct ski_far *far, const struct skua_msg *half, const char *packet)
{
    struct ski_pe      *self    = far->self;
    struct ski_contact *contact = ski_contact_find(far, half->source);
    struct skua_msg    *msg;

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
    if (SKI_LIKELY(ski_packet_is_plain(&half, bytes, far->handlers) && bytes < TAKE_LEAST &&
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

/* The contact of a packet whose turn it is, and its header; NULL: it is any other. */
static struct ski_contact *in_turn(struct ski_far *far, const char *packet, size_t bytes,
                                   size_t *head, struct skua_msg *msg)
{
    struct ski_contact *contact = NULL;

    *head = ski_packet_head_bytes(packet, bytes);
    if (*head > 0 && look(far, packet, bytes, *head, msg))
        contact = sender_of(far, msg);
    return contact && msg->stamp.sequence == contact->received ? contact : NULL;
}

static size_t on_place(void *owner, const void *packet, size_t bytes, void **to)
{
    struct ski_far *far = owner;
    struct skua_msg msg;
    size_t          head;

    _Static_assert(SKI_PLACE_HEAD >= sizeof msg + SKI_PLACE_DATA, "what is looked at is there");
    if (!far->self || !in_turn(far, packet, bytes, &head, &msg) ||
        msg.bytes != bytes - head) /* something is behind its data */
        return 0;
    return far_place_data(far->self, &msg, (const char *)packet + head, to);
}

/* Its turn it still is: those behind it wait. */
static void on_placed(void *owner, const void *packet, size_t bytes, bool whole)
{
    struct ski_far     *far = owner;
    struct ski_contact *contact;
    struct skua_msg     msg, *left;
    size_t              head;

    if (!far->self)
        return;
    contact = in_turn(far, packet, bytes, &head, &msg);
    left    = far_placed_data(far->self, &msg, (const char *)packet + head, whole);
    if (left && contact)
        take_turn(far, contact, left, msg.stamp.sequence, bytes);
    else if (left)
        ski_pool_free(&far->self->pool, left);
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
    struct ski_far     *far     = owner;
    struct ski_contact *contact = ski_contact_find(far, pe);

    if (far->self && contact)
        ski_contact_lose(far, contact, why);
}

const struct ski_upcalls ski_far_upcalls = {on_room, on_arrived, on_spoilt, on_sent,  on_done,
                                            on_lost, on_taken,   on_place,  on_placed};
