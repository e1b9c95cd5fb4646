/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.c - sending and receiving.
 *
 * Packets of up to SKI_OFI_EAGER bytes are sent as they are.  They land in buffers of
 * that size, one each, and are copied out.  That is what rxm sends in one piece, too:
 * more would be cut up and copied twice.  (Not in one large buffer, FI_MULTI_RECV: rxm
 * 1.17 over tcp says that such a buffer is free while packets of other senders are still
 * on the way into it.)
 *
 * A larger packet is sent without a copy: first a notice of it, then at once the
 * packet, as a tagged message; the receiver finds room when the notice comes, and
 * receives the tag there.  The provider moves the data when both are known.
 *
 * On the wire, in the order of the sender's bytes:
 *     a packet    32 bytes or more, unchanged
 *     a notice    24 bytes: kind (4), PE of the sender (4), tag (8), bytes (8)
 * A tag is the sender's PE and a sequence number, 24 bits each, as some providers
 * have only 48.  A notice that asks for a sign of life, kind ASK, is ignored: that
 * it could be sent is the answer.
 *
 * Every send is counted until its completion, copied ones too, so that close()
 * knows when all are out and op.c knows when a peer is deaf.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ofi/ofi.h"

#define BATCH       32
#define ASK_SECONDS 1.0

enum notice_kind { LARGE = 0x4c47, ASK = 0x4153 };

struct notice {
    uint32_t kind;
    int32_t  pe;
    uint64_t tag, bytes;
};

_Static_assert(sizeof(struct notice) < SKI_PACKET_LEAST, "notices are told from packets by size");
_Static_assert(sizeof(struct notice) <= SKI_OFI_INJECT, "providers copy notices");

/* ---- handing to the provider ------------------------------------------------------- */

/* What may be refused now and must happen all the same. */
static ssize_t post(struct ski_port *port, struct ski_ofi_op *op)
{
    if (op->kind == SKI_OFI_LARGE_OUT)
        return fi_tsend(port->ep, op->memory, op->bytes, NULL, op->peer->address, op->tag,
                        &op->context);
    if (op->kind == SKI_OFI_LARGE_IN)
        return fi_trecv(port->ep, op->memory, op->bytes, NULL, FI_ADDR_UNSPEC, op->tag, 0,
                        &op->context);
    return fi_recv(port->ep, op->memory, op->bytes, NULL, FI_ADDR_UNSPEC, &op->context);
}

static void queue_again(struct ski_port *port, struct ski_ofi_op *op)
{
    op->next         = NULL;
    *port->again_end = op;
    port->again_end  = &op->next;
}

SKI_COLD static void post_failed(struct ski_port *port, struct ski_ofi_op *op, ssize_t error)
{
    const char *why = fi_strerror((int)-error);

    if (op->peer)
        ski_ofi_condemn(op->peer, why);
    else if (!port->closing)
        ski_ofi.net->log(SKI_LOG_ERROR, "libfabric does not take a receive buffer: %s", why);
    ski_ofi_end(port, op, SKUA_ERR_UNREACH);
}

/* False: later. */
bool ski_ofi_post(struct ski_port *port, struct ski_ofi_op *op)
{
    ssize_t result = post(port, op);

    if (result == -FI_EAGAIN)
        queue_again(port, op);
    else if (result != 0)
        post_failed(port, op, result);
    return result != -FI_EAGAIN;
}

/* Tries once what was refused. */
static void post_again(struct ski_port *port)
{
    struct ski_ofi_op *op = port->again, *next;

    port->again     = NULL;
    port->again_end = &port->again;
    for (; op; op = next) {
        next = op->next;
        if (op->kind == SKI_OFI_FREE || (op->peer && op->peer->lost)) {
            ski_ofi_end(port, op, SKUA_ERR_UNREACH);
            continue;
        }
        if (!ski_ofi_post(port, op) && op->peer)
            ski_ofi_refused(op->peer);
    }
}

/* ---- sending ----------------------------------------------------------------------- */

/* A few bytes, which the provider copies. */
static skua_status_t send_copied(struct ski_peer *peer, void *from, size_t bytes)
{
    struct ski_ofi_op *op      = ski_ofi_take(peer->port, peer, SKI_OFI_COPIED);
    struct iovec       part    = {from, bytes};
    struct fi_msg      message = {.msg_iov = &part, .iov_count = 1, .addr = peer->address};

    if (!op)
        return SKUA_ERR_NOMEM;
    message.context = &op->context;
    return ski_ofi_began(peer->port, op,
                         fi_sendmsg(peer->port->ep, &message, FI_INJECT | FI_COMPLETION));
}

static skua_status_t send_small(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_ofi_op *op = ski_ofi_take(peer->port, peer, SKI_OFI_SEND);

    if (!op)
        return SKUA_ERR_NOMEM;
    op->memory = packet;
    return ski_ofi_began(peer->port, op,
                         fi_send(peer->port->ep, packet, bytes, NULL, peer->address, &op->context));
}

static skua_status_t send_large(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_port   *port   = peer->port;
    uint32_t           pe     = (uint32_t)port->pe & 0xffffff;
    struct notice      notice = {LARGE, port->pe, (uint64_t)pe << 24 | (port->sequence & 0xffffff),
                                 bytes};
    struct ski_ofi_op *op     = ski_ofi_take(port, peer, SKI_OFI_LARGE_OUT);
    skua_status_t      status;

    if (!op)
        return SKUA_ERR_NOMEM;
    status = send_copied(peer, &notice, sizeof notice);
    if (status != SKUA_PENDING) {
        ski_ofi_give(port, op);
        return status;
    }
    port->sequence++;
    op->memory = packet;
    op->bytes  = bytes;
    op->tag    = notice.tag;
    ski_ofi_post(port, op); /* a failure is told by sent() and lost() */
    return SKUA_PENDING;
}

/* What one peer has under way must leave as much for the others, or a peer that computes
 * would stop them all. */
static bool is_crowded(const struct ski_peer *peer)
{
    size_t room = ski_ofi.info->tx_attr->size, taken = peer->port->in_flight;

    return taken + 2 > room || peer->busy + peer->larges > room - taken;
}

skua_status_t ski_ofi_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    skua_status_t status;

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    if (is_crowded(peer))
        return SKUA_ERR_AGAIN;
    if (bytes > ski_ofi.info->ep_attr->max_msg_size)
        return SKUA_ERR_INVAL;
    if (bytes > SKI_OFI_EAGER)
        return send_large(peer, packet, bytes);
    if (bytes > ski_ofi.info->tx_attr->inject_size)
        return send_small(peer, packet, bytes);
    status = send_copied(peer, packet, bytes);
    return status == SKUA_PENDING ? SKUA_OK : status;
}

/* Makes a connection that is dead show it: op.c. */
static void ask_for_life(struct ski_port *port, double now)
{
    struct notice notice = {ASK, port->pe, 0, 0};

    if (now - port->asked_at < ASK_SECONDS)
        return;
    port->asked_at = now;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next) {
        if (!peer->larges || peer->lost)
            continue;
        if (send_copied(peer, &notice, sizeof notice) == SKUA_ERR_AGAIN)
            port->asked_at = 0; /* each refusal counts */
    }
}

/* ---- receiving ----------------------------------------------------------------------- */

static struct ski_peer *peer_of(struct ski_port *port, int pe)
{
    return pe >= 0 && pe < port->pes ? port->by_pe[pe] : NULL;
}

static void *find_room(struct ski_port *port, size_t bytes)
{
    return port->closing ? NULL : port->up->room(port->owner, bytes);
}

static void take_packet(struct ski_port *port, const void *from, size_t bytes)
{
    void *room;

    if (!port->closing && port->up->taken && port->up->taken(port->owner, from, bytes))
        return;
    room = find_room(port, bytes);
    if (!room)
        return;
    memcpy(room, from, bytes);
    port->up->arrived(port->owner, room, bytes);
}

/* What nobody has room for is received all the same, or the sender would wait; as
 * far as there is memory, and the rest is cut off. */
static void expect_large(struct ski_port *port, const struct notice *notice)
{
    struct ski_ofi_op *op = ski_ofi_take(port, peer_of(port, notice->pe), SKI_OFI_LARGE_IN);

    if (!op)
        return;
    op->memory  = find_room(port, notice->bytes);
    op->dropped = !op->memory;
    if (op->dropped)
        op->memory = malloc(notice->bytes);
    op->bytes = op->memory ? notice->bytes : 0;
    op->tag   = notice->tag;
    ski_ofi_post(port, op);
}

/* What it says is checked: it comes from the network. */
static void take_notice(struct ski_port *port, const void *from, size_t bytes)
{
    struct notice notice;

    if (bytes != sizeof notice)
        return;
    memcpy(&notice, from, sizeof notice);
    if (notice.kind == LARGE && notice.bytes > SKI_OFI_EAGER && notice.bytes <= PTRDIFF_MAX &&
        notice.tag >> 24 == ((uint32_t)notice.pe & 0xffffff))
        expect_large(port, &notice);
}

static void landed(struct ski_port *port, struct ski_ofi_op *op,
                   const struct fi_cq_data_entry *entry)
{
    if (entry->len >= SKI_PACKET_LEAST)
        take_packet(port, op->memory, entry->len);
    else
        take_notice(port, op->memory, entry->len);
    ski_ofi_post(port, op);
}

/* ---- completions --------------------------------------------------------------------- */

static void completed(struct ski_port *port, const struct fi_cq_data_entry *entry)
{
    struct ski_ofi_op *op = entry->op_context;
    bool               cut;

    if (op->kind == SKI_OFI_LANDING) {
        landed(port, op, entry);
        return;
    }
    cut = op->kind == SKI_OFI_LARGE_IN && entry->len != op->bytes;
    ski_ofi_end(port, op, cut ? SKUA_ERR_RANGE : SKUA_OK);
}

/* The reason of a failure: libfabric's, and the provider's if it has another. */
static void describe_error(struct ski_port *port, const struct fi_cq_err_entry *error, char *to,
                           size_t size)
{
    const char *common =
        error->err == FI_ECANCELED ? "the connection broke" : fi_strerror(error->err);
    char        own[64];
    const char *text =
        fi_cq_strerror(port->cq, error->prov_errno, error->err_data, own, sizeof own);

    if (error->err != FI_ECANCELED && text && *text && strcmp(text, common) != 0)
        snprintf(to, size, "%s (%s)", common, text);
    else
        snprintf(to, size, "%s", common);
}

/* The buffer waits for the next one. */
static void landing_failed(struct ski_port *port, struct ski_ofi_op *op, const char *why)
{
    ski_ofi.net->log(SKI_LOG_DEBUG, "libfabric: a receive failed: %s", why);
    if (op && !port->closing)
        ski_ofi_post(port, op);
}

SKI_COLD static void failed(struct ski_port *port)
{
    struct fi_cq_err_entry error = {0};
    struct ski_ofi_op     *op;
    char                   why[96];

    if (fi_cq_readerr(port->cq, &error, 0) != 1)
        return;
    op = error.op_context;
    describe_error(port, &error, why, sizeof why);
    if (!op || op->kind == SKI_OFI_LANDING) {
        landing_failed(port, op, why);
        return;
    }
    if (op->peer && error.err != FI_ETRUNC)
        ski_ofi_condemn(op->peer, why);
    ski_ofi_end(port, op, SKUA_ERR_UNREACH);
}

/* Nothing has happened: is all well? */
static void watch(struct ski_port *port)
{
    double now = ski_ofi_seconds();

    if (port->larges)
        ask_for_life(port, now);
    ski_ofi_guard(port, now);
}

unsigned ski_ofi_progress(struct ski_port *port)
{
    struct fi_cq_data_entry entry[BATCH];
    ssize_t                 n = fi_cq_read(port->cq, entry, BATCH);

    port->refused = false;
    for (ssize_t i = 0; i < n; i++)
        completed(port, &entry[i]);
    if (SKI_UNLIKELY(n == -FI_EAVAIL))
        failed(port);
    if (SKI_UNLIKELY(port->again != NULL))
        post_again(port);
    if (SKI_UNLIKELY(port->attention))
        ski_ofi_attend(port);
    if (n <= 0)
        watch(port);
    return n > 0 ? (unsigned)n : n == -FI_EAVAIL;
}
