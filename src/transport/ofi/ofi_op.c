/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi_op.c - operations in flight, and peers that do not answer.
 *
 * How a lost peer is detected.  An operation that ends in an error shows it at once.  But rxm, the
 * layer above tcp and verbs, reports nothing in three cases:
 *   - It has no connection, or the peer has closed it.  It then tries to connect forever, and
 *     refuses what is sent meanwhile just as it does when it is out of room.  `busy` tells the two
 *     apart: with no operation to the peer in flight, and room in the port, a refusal means that
 *     there is no connection.  When that has lasted for net->peer_timeout, or for
 *     OFI_RECONNECT_SECONDS if there was a connection before, the peer is lost; unless it is only
 *     too busy to accept, which the monitor of its process shows (transport/liveness.h).
 *   - Its host has vanished, and the kernel retransmits.  The monitor of the process detects it.
 *   - A large packet waits for the other side, which has died: it waits forever.  So while there
 *     are large packets, a short probe is sent every OFI_PROBE_SECONDS (ofi_packet.c), and the case
 *     above applies.
 *
 * Most operations to a lost peer end with an error.  After OFI_GRACE_SECONDS the rest is reported
 * to the runtime; such an operation keeps its entry, as SKI_OFI_FREE, until the provider returns it
 * or the port is closed.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seconds.h"
#include "transport/keepalive.h"
#include "transport/netif.h"
#include "transport/ofi/ofi.h"

#define OFI_RECONNECT_SECONDS 1.0
#define OFI_GRACE_SECONDS     1.0
#define OFI_REFUSAL_GAP_MAX   0.1 /* seconds that one refusal counts for, at most */

double ski_ofi_now(void)
{
    return ski_seconds(CLOCK_MONOTONIC);
}

/* ---- operations ------------------------------------------------------------------ */

static bool ofi_op_is_rndv(const struct ski_ofi_op *op)
{
    return op->kind == SKI_OFI_RNDV_SEND || op->kind == SKI_OFI_RNDV_RECV;
}

static bool ofi_op_is_receive(const struct ski_ofi_op *op)
{
    return op->kind == SKI_OFI_RECV || op->kind == SKI_OFI_RNDV_RECV;
}

/* Adds @p by, 1 or -1, to the counts of operations in flight. */
static void ofi_op_count(struct ski_port *port, struct ski_ofi_op *op, int by)
{
    if (!ofi_op_is_receive(op)) {
        assert(by > 0 || port->in_flight > 0);
        port->in_flight += (unsigned)by;
    }
    if (!op->peer)
        return;
    if (ofi_op_is_rndv(op)) {
        assert(by > 0 || (op->peer->rndv_count > 0 && port->rndv_count > 0));
        op->peer->rndv_count += (unsigned)by;
        port->rndv_count += (unsigned)by;
    } else {
        assert(by > 0 || op->peer->busy > 0);
        op->peer->busy += (unsigned)by;
    }
}

static void ofi_op_push_free(struct ski_port *port, struct ski_ofi_op *op)
{
    op->kind   = SKI_OFI_FREE;
    op->peer   = NULL;
    op->next   = port->free;
    port->free = op;
}

SKI_COLD static void ofi_op_add_block(struct ski_port *port)
{
    size_t              n      = port->block_count;
    struct ski_ofi_op **blocks = realloc(port->blocks, (n + 1) * sizeof *blocks);

    if (!blocks)
        return;
    port->blocks = blocks;
    blocks[n]    = calloc(SKI_OFI_BLOCK, sizeof **blocks);
    if (!blocks[n])
        return;
    port->block_count = n + 1;
    for (int i = 0; i < SKI_OFI_BLOCK; i++)
        ofi_op_push_free(port, &blocks[n][i]);
}

struct ski_ofi_op *ski_ofi_op_get(struct ski_port *port, struct ski_peer *peer,
                                  enum ski_ofi_kind kind)
{
    struct ski_ofi_op *op;

    if (SKI_UNLIKELY(!port->free))
        ofi_op_add_block(port);
    op = port->free;
    if (!op)
        return NULL;
    assert(op->kind == SKI_OFI_FREE && !op->peer && kind != SKI_OFI_FREE);
    port->free = op->next;
    op->kind   = kind;
    op->peer   = peer;
    op->next   = NULL;
    ofi_op_count(port, op, 1);
    return op;
}

void ski_ofi_op_put(struct ski_port *port, struct ski_ofi_op *op)
{
    if (op->kind != SKI_OFI_FREE)
        ofi_op_count(port, op, -1);
    ofi_op_push_free(port, op);
}

/* Delivers or aborts a large packet. */
static void ofi_op_end_rndv_recv(struct ski_port *port, struct ski_ofi_op *op, skua_status status)
{
    if (op->dropped)
        free(op->memory);
    else if (status == SKUA_OK)
        port->up->arrived(port->owner, op->memory, op->bytes);
    else
        port->up->abort(port->owner, op->memory);
}

/* Returns a packet in one part. */
static void ofi_op_end_send(struct ski_port *port, struct ski_ofi_op *op)
{
    assert(op->peer->held_bytes >= op->bytes);
    op->peer->held_bytes -= op->bytes;
    port->up->sent(port->owner, op->memory);
}

/* Returns a large packet, in one part or two. */
static void ofi_op_end_rndv_send(struct ski_port *port, struct ski_ofi_op *op, skua_status status)
{
    if (op->rest)
        port->up->done(port->owner, op->cookie, status);
    else
        ofi_op_end_send(port, op);
}

/* Reports the end of an operation to its owner, once. */
static void ofi_op_report(struct ski_port *port, struct ski_ofi_op *op, skua_status status)
{
    switch (op->kind) {
    case SKI_OFI_SEND: ofi_op_end_send(port, op); break;
    case SKI_OFI_RNDV_SEND: ofi_op_end_rndv_send(port, op, status); break;
    case SKI_OFI_RNDV_RECV: ofi_op_end_rndv_recv(port, op, status); break;
    case SKI_OFI_PUT:
    case SKI_OFI_GET:
    case SKI_OFI_ATOMIC: ski_ofi_rma_end(port, op, status); break;
    case SKI_OFI_RECV:
    case SKI_OFI_INJECTED: break;
    case SKI_OFI_FREE: return;
    }
    ofi_op_count(port, op, -1);
    op->kind = SKI_OFI_FREE;
    op->peer = NULL;
}

void ski_ofi_op_end(struct ski_port *port, struct ski_ofi_op *op, skua_status status)
{
    if (op->peer && status == SKUA_OK)
        op->peer->reached = true;
    ofi_op_report(port, op, status);
    ofi_op_push_free(port, op);
}

static void ofi_op_explain(const struct ski_peer *peer, int error)
{
    char text[128];

    snprintf(ski_ofi.net->last_error(), SKI_REASON_MAX, SKI_NO_ROUTE,
             ski_sockaddrs_text(&peer->addrs, true, text, sizeof text),
             ski_ofi.info->domain_attr->name, fi_strerror(error));
}

skua_status ski_ofi_op_started(struct ski_port *port, struct ski_ofi_op *op, ssize_t result)
{
    struct ski_peer *peer = op->peer;

    assert(op->kind != SKI_OFI_FREE && peer && result <= 0);
    if (SKI_LIKELY(result == 0)) {
        peer->refused = 0;
        return SKUA_PENDING;
    }
    ski_ofi_op_put(port, op);
    if (result == -FI_EAGAIN) {
        ski_ofi_peer_refused(peer);
        return SKUA_ERR_AGAIN;
    }
    ofi_op_explain(peer, (int)-result);
    ski_ofi_peer_mark_lost(peer, ski_ofi.net->last_error());
    return SKUA_ERR_UNREACH;
}

/* ---- peers ------------------------------------------------------------------------ */

void ski_ofi_peer_mark_lost(struct ski_peer *peer, const char *reason)
{
    if (peer->lost)
        return;
    peer->lost           = true;
    peer->port->has_lost = true;
    snprintf(peer->reason, sizeof peer->reason, "%s", reason);
}

void ski_ofi_check_peers(struct ski_port *port, double now)
{
    if (!ski_keepalive_is_due(&port->checked_at, now, ski_ofi.net->peer_timeout) ||
        !ski_ofi_is_tcp())
        return;
    ski_liveness_check();
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next)
        if (ski_liveness_state(peer->monitor, peer->pe) == SKI_LIVENESS_SILENT)
            ski_ofi_peer_mark_lost(peer, "its host no longer responds");
}

void ski_ofi_peer_refused(struct ski_peer *peer)
{
    double now, gap, most = ski_ofi.net->peer_timeout;

    if (peer->busy > 0 || peer->port->in_flight >= ski_ofi.info->tx_attr->size / 2) {
        peer->refused = 0; /* out of room, which operations in flight will make */
        return;
    }
    peer->port->refused = true;
    now                 = ski_ofi_now();
    gap                 = now - peer->refused_at;
    peer->refused_at    = now;
    peer->refused += gap < OFI_REFUSAL_GAP_MAX ? gap : OFI_REFUSAL_GAP_MAX;
    if (peer->reached && most > OFI_RECONNECT_SECONDS)
        most = OFI_RECONNECT_SECONDS;
    if (peer->refused <= most)
        return;
    if (ski_liveness_state(peer->monitor, peer->pe) == SKI_LIVENESS_ALIVE)
        peer->refused = 0;
    else
        ski_ofi_peer_mark_lost(peer, peer->reached ? "the connection broke"
                                                   : "no connection could be established");
}

/* Calls @p visit for all operations of a peer in flight. */
static void ofi_op_each(struct ski_peer *peer,
                        void (*visit)(struct ski_port *, struct ski_ofi_op *))
{
    struct ski_port *port = peer->port;

    for (size_t b = 0; b < port->block_count; b++)
        for (int i = 0; i < SKI_OFI_BLOCK; i++)
            if (port->blocks[b][i].peer == peer)
                visit(port, &port->blocks[b][i]);
}

static void ofi_op_cancel(struct ski_port *port, struct ski_ofi_op *op)
{
    if (op->kind == SKI_OFI_RNDV_RECV)
        fi_cancel(&port->ep->fid, &op->context);
}

static void ofi_op_reclaim(struct ski_port *port, struct ski_ofi_op *op)
{
    ofi_op_report(port, op, SKUA_ERR_UNREACH);
}

static void ofi_peer_report_lost(struct ski_peer *peer)
{
    assert(peer->lost && !peer->reported);
    peer->reported = true;
    peer->lost_at  = ski_ofi_now();
    ofi_op_each(peer, ofi_op_cancel);
    if (!peer->port->closing)
        peer->port->up->lost(peer->port->owner, peer->pe, peer->reason);
}

void ski_ofi_handle_lost(struct ski_port *port)
{
    double now = ski_ofi_now();

    port->has_lost = false;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next) {
        if (!peer->lost)
            continue;
        if (!peer->reported)
            ofi_peer_report_lost(peer);
        else if (now - peer->lost_at > OFI_GRACE_SECONDS)
            ofi_op_each(peer, ofi_op_reclaim);
        if (peer->busy || peer->rndv_count)
            port->has_lost = true;
    }
}
