/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.c - operations under way, and peers that do not answer.
 *
 * How a peer is found to be lost.  An operation that ends in an error says so at
 * once.  But rxm, the layer above tcp and verbs, keeps quiet in two cases:
 *   - It has no connection, or the peer has dropped it: it tries to connect for
 *     ever, and refuses what is sent meanwhile just as it does when it is short of
 *     room.  We tell the two apart by `busy': with nothing under way to the peer,
 *     and room in the port, a refusal means that there is no connection.  When
 *     that has lasted for net->peer_timeout, or for RECONNECT_SECONDS if there has
 *     been one before, the peer is lost; unless it is only too busy to take the
 *     connection: its kernel has, so there is one of TCP.
 *   - A large packet waits for the other side, which has died: it waits for ever.
 *     So as long as there are large packets we ask for a sign of life, a short
 *     message each ASK_SECONDS, and the case above applies (port.c).
 *
 * What was under way to a lost peer mostly comes back by itself, as errors.  After
 * GRACE_SECONDS we give the rest back to the runtime; such an operation stays
 * taken, as SKI_OFI_FREE, until the provider returns it or the port is closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/guard.h"
#include "transport/interface.h"
#include "transport/ofi/ofi.h"

#define RECONNECT_SECONDS 1.0
#define GRACE_SECONDS     1.0
#define LONGEST_GAP       0.1 /* seconds that one refusal can stand for */

double ski_ofi_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- operations ------------------------------------------------------------------ */

static bool is_large(const struct ski_ofi_op *op)
{
    return op->kind == SKI_OFI_LARGE_OUT || op->kind == SKI_OFI_LARGE_IN;
}

static bool is_receive(const struct ski_ofi_op *op)
{
    return op->kind == SKI_OFI_LANDING || op->kind == SKI_OFI_LARGE_IN;
}

/* By 1 or -1. */
static void count(struct ski_port *port, struct ski_ofi_op *op, int by)
{
    if (!is_receive(op))
        port->in_flight += (unsigned)by;
    if (!op->peer)
        return;
    if (is_large(op)) {
        op->peer->larges += (unsigned)by;
        port->larges += (unsigned)by;
    } else {
        op->peer->busy += (unsigned)by;
    }
}

static void push_free(struct ski_port *port, struct ski_ofi_op *op)
{
    op->kind   = SKI_OFI_FREE;
    op->peer   = NULL;
    op->next   = port->free;
    port->free = op;
}

SKI_COLD static void add_block(struct ski_port *port)
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
        push_free(port, &blocks[n][i]);
}

struct ski_ofi_op *ski_ofi_take(struct ski_port *port, struct ski_peer *peer,
                                enum ski_ofi_kind kind)
{
    struct ski_ofi_op *op;

    if (SKI_UNLIKELY(!port->free))
        add_block(port);
    op = port->free;
    if (!op)
        return NULL;
    port->free = op->next;
    op->kind   = kind;
    op->peer   = peer;
    op->next   = NULL;
    count(port, op, 1);
    return op;
}

void ski_ofi_give(struct ski_port *port, struct ski_ofi_op *op)
{
    if (op->kind != SKI_OFI_FREE)
        count(port, op, -1);
    push_free(port, op);
}

/* Gives back what room() gave. */
static void end_large_in(struct ski_port *port, struct ski_ofi_op *op, skua_status_t status)
{
    if (op->dropped)
        free(op->memory);
    else if (status == SKUA_OK)
        port->up->arrived(port->owner, op->memory, op->bytes);
    else
        port->up->spoilt(port->owner, op->memory);
}

/* Tells the owner, who is not told again. */
static void tell(struct ski_port *port, struct ski_ofi_op *op, skua_status_t status)
{
    switch (op->kind) {
    case SKI_OFI_SEND:
    case SKI_OFI_LARGE_OUT: port->up->sent(port->owner, op->memory); break;
    case SKI_OFI_LARGE_IN: end_large_in(port, op, status); break;
    case SKI_OFI_PUT:
    case SKI_OFI_GET:
    case SKI_OFI_ATOMIC: ski_ofi_one_sided_end(port, op, status); break;
    case SKI_OFI_LANDING:
    case SKI_OFI_COPIED: break;
    case SKI_OFI_FREE: return;
    }
    count(port, op, -1);
    op->kind = SKI_OFI_FREE;
    op->peer = NULL;
}

void ski_ofi_end(struct ski_port *port, struct ski_ofi_op *op, skua_status_t status)
{
    if (op->peer && status == SKUA_OK)
        op->peer->reached = true;
    tell(port, op, status);
    push_free(port, op);
}

static void say_failure(const struct ski_peer *peer, int error)
{
    char text[64];

    snprintf(ski_ofi.net->why(), SKI_WHY_MOST, SKI_NO_WAY,
             ski_address_text(&peer->name, text, sizeof text), ski_ofi.info->domain_attr->name,
             fi_strerror(error));
}

skua_status_t ski_ofi_began(struct ski_port *port, struct ski_ofi_op *op, ssize_t result)
{
    struct ski_peer *peer = op->peer;

    if (SKI_LIKELY(result == 0)) {
        peer->refused = 0;
        return SKUA_PENDING;
    }
    ski_ofi_give(port, op);
    if (result == -FI_EAGAIN) {
        ski_ofi_refused(peer);
        return SKUA_ERR_AGAIN;
    }
    say_failure(peer, (int)-result);
    ski_ofi_condemn(peer, ski_ofi.net->why());
    return SKUA_ERR_UNREACH;
}

/* ---- peers ------------------------------------------------------------------------ */

void ski_ofi_condemn(struct ski_peer *peer, const char *why)
{
    if (peer->lost)
        return;
    peer->lost            = true;
    peer->port->attention = true;
    snprintf(peer->why, sizeof peer->why, "%s", why);
}

static bool is_tcp(void)
{
    return strncmp(ski_ofi.info->fabric_attr->prov_name, "tcp", 3) == 0;
}

/* rxm keeps a broken connection to itself until something is sent; so the peers of a dead
 * one are told of here.  One that came in is of some peer of that host. */
static bool is_ours(void *arg, const struct sockaddr_storage *here,
                    const struct sockaddr_storage *there, bool dead)
{
    struct ski_port *port = arg;
    bool             in = ski_guard_same(here, &port->name), ours = in;

    for (struct ski_peer *peer = port->peers; peer; peer = peer->next) {
        bool its =
            in ? ski_guard_same_host(there, &peer->name) : ski_guard_same(there, &peer->name);

        ours = ours || its;
        if (its && dead)
            ski_ofi_condemn(peer, "its host does not answer any more");
    }
    return ours;
}

void ski_ofi_guard(struct ski_port *port, double now)
{
    double timeout = ski_ofi.net->peer_timeout;

    if (!ski_guard_is_time(&port->looked_at, now, timeout) || !is_tcp())
        return;
    ski_guard_look(timeout, is_ours, port);
    ski_guard_files(ski_ofi.net, NULL);
}

void ski_ofi_refused(struct ski_peer *peer)
{
    double now, gap, most = ski_ofi.net->peer_timeout;

    if (peer->busy > 0 || peer->port->in_flight >= ski_ofi.info->tx_attr->size / 2) {
        peer->refused = 0; /* short of room: what is under way will make some */
        return;
    }
    peer->port->refused = true;
    now                 = ski_ofi_seconds();
    gap                 = now - peer->refused_at;
    peer->refused_at    = now;
    peer->refused += gap < LONGEST_GAP ? gap : LONGEST_GAP;
    if (peer->reached && most > RECONNECT_SECONDS)
        most = RECONNECT_SECONDS;
    if (peer->refused <= most)
        return;
    if (is_tcp() && ski_guard_reaches(&peer->name))
        peer->refused = 0;
    else
        ski_ofi_condemn(peer, peer->reached ? "the connection broke" : "no connection comes up");
}

/* Calls @p visit for all operations of a peer that are under way. */
static void each_op(struct ski_peer *peer, void (*visit)(struct ski_port *, struct ski_ofi_op *))
{
    struct ski_port *port = peer->port;

    for (size_t b = 0; b < port->block_count; b++)
        for (int i = 0; i < SKI_OFI_BLOCK; i++)
            if (port->blocks[b][i].peer == peer)
                visit(port, &port->blocks[b][i]);
}

static void cancel(struct ski_port *port, struct ski_ofi_op *op)
{
    if (op->kind == SKI_OFI_LARGE_IN)
        fi_cancel(&port->ep->fid, &op->context);
}

static void take_back(struct ski_port *port, struct ski_ofi_op *op)
{
    tell(port, op, SKUA_ERR_UNREACH);
}

static void tell_lost(struct ski_peer *peer)
{
    peer->told    = true;
    peer->lost_at = ski_ofi_seconds();
    each_op(peer, cancel);
    if (!peer->port->closing)
        peer->port->up->lost(peer->port->owner, peer->pe, peer->why);
}

void ski_ofi_attend(struct ski_port *port)
{
    double now = ski_ofi_seconds();

    port->attention = false;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next) {
        if (!peer->lost)
            continue;
        if (!peer->told)
            tell_lost(peer);
        else if (now - peer->lost_at > GRACE_SECONDS)
            each_op(peer, take_back);
        if (peer->busy || peer->larges)
            port->attention = true;
    }
}
