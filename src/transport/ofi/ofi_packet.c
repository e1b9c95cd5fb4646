/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi_packet.c - sending and receiving packets.
 *
 * Packets of up to SKI_OFI_EAGER_MAX bytes are sent eagerly.  Each arrives in a receive buffer of
 * that size and is copied out.  rxm, too, sends this size in one piece; more would be split and
 * copied twice.  (Not into one large buffer with FI_MULTI_RECV: rxm 1.17 over tcp reports that such
 * a buffer is free while packets of other senders are still arriving in it.)
 *
 * A larger packet, in one part or two, is sent without a copy: first a control message, a
 * ready-to-send (RTS), then at once the packet as a tagged message.  The receiver allocates memory
 * when the RTS arrives and receives the tag there.  The provider moves the data when both sides are
 * known.
 *
 * On the wire, in the byte order of the sender:
 *     a packet            32 bytes or more, unchanged
 *     a control message   24 bytes: kind (4), PE of the sender (4), tag (8), bytes (8)
 * A tag is the PE of the sender and a sequence number, 24 bits each, as some providers have
 * only 48. A control message of the kind PROBE is ignored: that it could be sent is the answer.
 *
 * Every send is counted until its completion, injected ones too, so that close() knows when all
 * were sent, and ofi_op.c when a peer does not respond.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ofi/ofi.h"

#define OFI_CQ_BATCH      32
#define OFI_PROBE_SECONDS 1.0

enum ofi_control_kind { OFI_CONTROL_RTS = 0x4c47, OFI_CONTROL_PROBE = 0x4153 };

struct ofi_control {
    uint32_t kind;
    int32_t  pe;
    uint64_t tag, bytes;
};

_Static_assert(sizeof(struct ofi_control) < SKI_PACKET_MIN,
               "control messages are told from packets by size");
_Static_assert(sizeof(struct ofi_control) <= SKI_OFI_INJECT_MIN, "providers copy control messages");

/* ---- handing to the provider ------------------------------------------------------- */

/* Posts an operation that the provider may refuse now and that must happen later. */
static ssize_t ofi_post(struct ski_port *port, struct ski_ofi_op *op)
{
    if (op->kind == SKI_OFI_RNDV_SEND && op->rest) {
        struct iovec part[] = {{op->memory, op->bytes - op->rest_bytes},
                               {op->rest, op->rest_bytes}};

        return fi_tsendv(port->ep, part, NULL, 2, op->peer->address, op->tag, &op->context);
    }
    if (op->kind == SKI_OFI_RNDV_SEND)
        return fi_tsend(port->ep, op->memory, op->bytes, NULL, op->peer->address, op->tag,
                        &op->context);
    if (op->kind == SKI_OFI_RNDV_RECV)
        return fi_trecv(port->ep, op->memory, op->bytes, NULL, FI_ADDR_UNSPEC, op->tag, 0,
                        &op->context);
    return fi_recv(port->ep, op->memory, op->bytes, NULL, FI_ADDR_UNSPEC, &op->context);
}

static void ofi_queue_retry(struct ski_port *port, struct ski_ofi_op *op)
{
    assert(op->kind != SKI_OFI_FREE && !*port->retry_end);
    op->next         = NULL;
    *port->retry_end = op;
    port->retry_end  = &op->next;
}

SKI_COLD static void ofi_post_failed(struct ski_port *port, struct ski_ofi_op *op, ssize_t error)
{
    const char *reason = fi_strerror((int)-error);

    if (op->peer)
        ski_ofi_peer_mark_lost(op->peer, reason);
    else if (!port->closing)
        ski_ofi.net->log(SKI_LOG_ERROR, "libfabric does not take a receive buffer: %s", reason);
    ski_ofi_op_end(port, op, SKUA_ERR_UNREACH);
}

/* Posts an operation. Returns false if it was queued for a retry. */
bool ski_ofi_post(struct ski_port *port, struct ski_ofi_op *op)
{
    ssize_t result = ofi_post(port, op);

    if (result == -FI_EAGAIN)
        ofi_queue_retry(port, op);
    else if (result != 0)
        ofi_post_failed(port, op, result);
    return result != -FI_EAGAIN;
}

/* Retries operations that the provider refused. */
static void ofi_post_retries(struct ski_port *port)
{
    struct ski_ofi_op *op = port->retry, *next;

    port->retry     = NULL;
    port->retry_end = &port->retry;
    for (; op; op = next) {
        next = op->next;
        if (op->kind == SKI_OFI_FREE || (op->peer && op->peer->lost)) {
            ski_ofi_op_end(port, op, SKUA_ERR_UNREACH);
            continue;
        }
        if (!ski_ofi_post(port, op) && op->peer)
            ski_ofi_peer_refused(op->peer);
    }
}

/* ---- sending ----------------------------------------------------------------------- */

/* Sends a few bytes, which the provider copies. */
static skua_status ofi_send_injected(struct ski_peer *peer, void *from, size_t bytes)
{
    struct ski_ofi_op *op      = ski_ofi_op_get(peer->port, peer, SKI_OFI_INJECTED);
    struct iovec       part    = {from, bytes};
    struct fi_msg      message = {.msg_iov = &part, .iov_count = 1, .addr = peer->address};

    assert(bytes <= ski_ofi.info->tx_attr->inject_size);
    if (!op)
        return SKUA_ERR_NOMEM;
    message.context = &op->context;
    return ski_ofi_op_started(peer->port, op,
                              fi_sendmsg(peer->port->ep, &message, FI_INJECT | FI_COMPLETION));
}

static skua_status ofi_send_eager(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_ofi_op *op = ski_ofi_op_get(peer->port, peer, SKI_OFI_SEND);
    skua_status        status;

    if (!op)
        return SKUA_ERR_NOMEM;
    op->memory = packet;
    op->bytes  = bytes;
    status     = ski_ofi_op_started(
            peer->port, op, fi_send(peer->port->ep, packet, bytes, NULL, peer->address, &op->context));
    if (SKI_LIKELY(status == SKUA_PENDING))
        peer->held_bytes += bytes;
    return status;
}

/* Announces a large packet and sends it.  *@p op has its memory; NULL: there is no operation. */
static skua_status ofi_send_rndv(struct ski_peer *peer, struct ski_ofi_op *op)
{
    struct ski_port   *port   = peer->port;
    uint32_t           pe     = (uint32_t)port->pe & 0xffffff;
    struct ofi_control notice = {OFI_CONTROL_RTS, port->pe,
                                 (uint64_t)pe << 24 | (port->sequence & 0xffffff), 0};
    skua_status        status;

    if (!op)
        return SKUA_ERR_NOMEM;
    notice.bytes = op->bytes;
    status       = ofi_send_injected(peer, &notice, sizeof notice);
    if (status != SKUA_PENDING) {
        ski_ofi_op_put(port, op);
        return status;
    }
    port->sequence++;
    op->tag = notice.tag;
    peer->held_bytes += op->rest ? 0 : op->bytes;
    assert(op->bytes > SKI_OFI_EAGER_MAX);
    ski_ofi_post(port, op); /* a failure is reported by sent() and lost() */
    return SKUA_PENDING;
}

/* Returns an operation that sends a large packet in one part or, if @p rest is not NULL, in two. */
static struct ski_ofi_op *ofi_rndv_op(struct ski_peer *peer, void *packet, size_t bytes,
                                      const void *rest, size_t rest_bytes)
{
    struct ski_ofi_op *op = ski_ofi_op_get(peer->port, peer, SKI_OFI_RNDV_SEND);

    if (!op)
        return NULL;
    op->memory     = packet;
    op->bytes      = bytes + rest_bytes;
    op->rest       = (void *)(uintptr_t)rest;
    op->rest_bytes = rest_bytes;
    return op;
}

/* Returns whether a peer must wait: it leaves as much room to others as it uses, or a peer that
 * computes would stop them all. */
static bool ofi_is_crowded(const struct ski_peer *peer)
{
    size_t room = ski_ofi.info->tx_attr->size, taken = peer->port->in_flight;

    return taken + 2 > room || peer->busy + peer->rndv_count > room - taken;
}

skua_status ski_ofi_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    skua_status status;

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    if (ofi_is_crowded(peer) || peer->held_bytes >= SKI_HELD_MAX)
        return SKUA_ERR_AGAIN;
    if (bytes > ski_ofi.info->ep_attr->max_msg_size)
        return SKUA_ERR_INVAL;
    if (bytes > SKI_OFI_EAGER_MAX)
        return ofi_send_rndv(peer, ofi_rndv_op(peer, packet, bytes, NULL, 0));
    if (bytes > ski_ofi.info->tx_attr->inject_size)
        return ofi_send_eager(peer, packet, bytes);
    status = ofi_send_injected(peer, packet, bytes);
    return status == SKUA_PENDING ? SKUA_OK : status;
}

skua_status ski_ofi_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie)
{
    size_t             all = bytes + rest_bytes;
    struct ski_ofi_op *op;

    if (all <= SKI_OFI_EAGER_MAX || ski_ofi.info->tx_attr->iov_limit < 2 ||
        all > ski_ofi.info->ep_attr->max_msg_size)
        return SKUA_ERR_UNSUPPORTED;
    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    if (ofi_is_crowded(peer))
        return SKUA_ERR_AGAIN;
    op = ofi_rndv_op(peer, packet, bytes, rest, rest_bytes);
    if (op)
        op->cookie = cookie;
    return ofi_send_rndv(peer, op);
}

/* Sends a probe to peers with large packets in flight, so that a dead connection shows (ofi_op.c).
 */
static void ofi_probe_peers(struct ski_port *port, double now)
{
    struct ofi_control notice = {OFI_CONTROL_PROBE, port->pe, 0, 0};

    if (now - port->probed_at < OFI_PROBE_SECONDS)
        return;
    port->probed_at = now;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next) {
        if (!peer->rndv_count || peer->lost)
            continue;
        if (ofi_send_injected(peer, &notice, sizeof notice) == SKUA_ERR_AGAIN)
            port->probed_at = 0; /* so that each refusal counts */
    }
}

/* ---- receiving ----------------------------------------------------------------------- */

static struct ski_peer *ofi_peer_find(struct ski_port *port, int pe)
{
    return pe >= 0 && pe < port->pes ? port->by_pe[pe] : NULL;
}

static void *ofi_alloc(struct ski_port *port, size_t bytes)
{
    return port->closing ? NULL : port->up->alloc(port->owner, bytes);
}

static void ofi_on_packet(struct ski_port *port, const void *from, size_t bytes)
{
    void *room;

    if (!port->closing && port->up->recv_inline && port->up->recv_inline(port->owner, from, bytes))
        return;
    room = ofi_alloc(port, bytes);
    if (!room)
        return;
    memcpy(room, from, bytes);
    port->up->arrived(port->owner, room, bytes);
}

/* Receives a large packet. One that the runtime drops is received all the same, as far as there is
 * memory, or the sender would wait. */
static void ofi_on_rts(struct ski_port *port, const struct ofi_control *notice)
{
    struct ski_ofi_op *op =
        ski_ofi_op_get(port, ofi_peer_find(port, notice->pe), SKI_OFI_RNDV_RECV);

    if (!op)
        return;
    op->memory  = ofi_alloc(port, notice->bytes);
    op->dropped = !op->memory;
    if (op->dropped)
        op->memory = malloc(notice->bytes);
    op->bytes = op->memory ? notice->bytes : 0;
    op->tag   = notice->tag;
    ski_ofi_post(port, op);
}

/* Handles a control message, which comes from the network and is checked. */
static void ofi_on_control(struct ski_port *port, const void *from, size_t bytes)
{
    struct ofi_control notice;

    if (bytes != sizeof notice)
        return;
    memcpy(&notice, from, sizeof notice);
    if (notice.kind == OFI_CONTROL_RTS && notice.bytes > SKI_OFI_EAGER_MAX &&
        notice.bytes <= PTRDIFF_MAX && notice.tag >> 24 == ((uint32_t)notice.pe & 0xffffff))
        ofi_on_rts(port, &notice);
}

static void ofi_on_recv(struct ski_port *port, struct ski_ofi_op *op,
                        const struct fi_cq_data_entry *entry)
{
    assert(entry->len <= SKI_OFI_EAGER_MAX);
    if (entry->len >= SKI_PACKET_MIN)
        ofi_on_packet(port, op->memory, entry->len);
    else
        ofi_on_control(port, op->memory, entry->len);
    ski_ofi_post(port, op);
}

/* ---- completions --------------------------------------------------------------------- */

static void ofi_on_completion(struct ski_port *port, const struct fi_cq_data_entry *entry)
{
    struct ski_ofi_op *op = entry->op_context;
    bool               cut;

    if (op->kind == SKI_OFI_RECV) {
        ofi_on_recv(port, op, entry);
        return;
    }
    cut = op->kind == SKI_OFI_RNDV_RECV && entry->len != op->bytes;
    ski_ofi_op_end(port, op, cut ? SKUA_ERR_RANGE : SKUA_OK);
}

/* Formats the error of libfabric, and that of the provider if it differs. */
static void ofi_format_error(struct ski_port *port, const struct fi_cq_err_entry *error, char *to,
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

/* Logs a failed receive and posts its buffer again. */
static void ofi_recv_failed(struct ski_port *port, struct ski_ofi_op *op, const char *reason)
{
    ski_ofi.net->log(SKI_LOG_DEBUG, "libfabric: a receive failed: %s", reason);
    if (op && !port->closing)
        ski_ofi_post(port, op);
}

SKI_COLD static void ofi_on_error(struct ski_port *port)
{
    struct fi_cq_err_entry error = {0};
    struct ski_ofi_op     *op;
    char                   reason[96];

    if (fi_cq_readerr(port->cq, &error, 0) != 1)
        return;
    op = error.op_context;
    ofi_format_error(port, &error, reason, sizeof reason);
    if (!op || op->kind == SKI_OFI_RECV) {
        ofi_recv_failed(port, op, reason);
        return;
    }
    if (op->peer && error.err != FI_ETRUNC)
        ski_ofi_peer_mark_lost(op->peer, reason);
    ski_ofi_op_end(port, op, SKUA_ERR_UNREACH);
}

/* Checks peers when no completion was found. */
static void ofi_check_idle(struct ski_port *port)
{
    double now = ski_ofi_now();

    if (port->rndv_count)
        ofi_probe_peers(port, now);
    ski_ofi_check_peers(port, now);
}

unsigned ski_ofi_progress(struct ski_port *port)
{
    struct fi_cq_data_entry entry[OFI_CQ_BATCH];
    ssize_t                 n = fi_cq_read(port->cq, entry, OFI_CQ_BATCH);

    port->refused = false;
    for (ssize_t i = 0; i < n; i++)
        ofi_on_completion(port, &entry[i]);
    if (SKI_UNLIKELY(n == -FI_EAVAIL))
        ofi_on_error(port);
    if (SKI_UNLIKELY(port->retry != NULL))
        ofi_post_retries(port);
    if (SKI_UNLIKELY(port->has_lost))
        ski_ofi_handle_lost(port);
    if (n <= 0)
        ofi_check_idle(port);
    return n > 0 ? (unsigned)n : n == -FI_EAVAIL;
}
