/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.c - a port is an endpoint, with a queue of completions and a table of
 * addresses.
 *
 * Packets of up to EAGER bytes are sent as they are.  They land one behind the
 * other in large buffers (FI_MULTI_RECV) and are copied out.  EAGER is what rxm
 * sends in one piece, too: more would be cut up and copied twice.
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
#include <time.h>
#include <unistd.h>

#include "transport/ofi/ofi.h"

#define EAGER         ((size_t)16384)
#define LANDING_BYTES (16 * EAGER)
#define BATCH         32
#define ASK_SECONDS   1.0

enum notice_kind { LARGE = 0x4c47, ASK = 0x4153 };

struct notice {
    uint32_t kind;
    int32_t  pe;
    uint64_t tag, bytes;
};

_Static_assert(sizeof(struct notice) < SKI_PACKET_LEAST, "notices are told from packets by size");

/* ---- handing to the provider ------------------------------------------------------- */

/* What may be refused now and must happen all the same. */
static ssize_t post(struct ski_port *port, struct ski_ofi_op *op)
{
    struct iovec  part = {op->memory, op->bytes};
    struct fi_msg many = {
        .msg_iov = &part, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &op->context};

    if (op->kind == SKI_OFI_LARGE_OUT)
        return fi_tsend(port->ep, op->memory, op->bytes, NULL, op->peer->address, op->tag,
                        &op->context);
    if (op->kind == SKI_OFI_LARGE_IN)
        return fi_trecv(port->ep, op->memory, op->bytes, NULL, FI_ADDR_UNSPEC, op->tag, 0,
                        &op->context);
    return fi_recvmsg(port->ep, &many, FI_MULTI_RECV);
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
static bool post_now_or_later(struct ski_port *port, struct ski_ofi_op *op)
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
        if (!post_now_or_later(port, op) && op->peer)
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
    post_now_or_later(port, op); /* a failure is told by sent() and lost() */
    return SKUA_PENDING;
}

skua_status_t ski_ofi_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    skua_status_t status;

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    if (peer->port->in_flight + 2 > ski_ofi.info->tx_attr->size)
        return SKUA_ERR_AGAIN;
    if (bytes > EAGER)
        return send_large(peer, packet, bytes);
    if (bytes > ski_ofi.info->tx_attr->inject_size)
        return send_small(peer, packet, bytes);
    status = send_copied(peer, packet, bytes);
    return status == SKUA_PENDING ? SKUA_OK : status;
}

/* Makes a connection that is dead show it: op.c. */
static void ask_for_life(struct ski_port *port)
{
    struct notice notice = {ASK, port->pe, 0, 0};
    double        now    = ski_ofi_seconds();

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
    void *room = find_room(port, bytes);

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
    post_now_or_later(port, op);
}

static void take_notice(struct ski_port *port, const void *from, size_t bytes)
{
    struct notice notice;

    if (bytes != sizeof notice)
        return;
    memcpy(&notice, from, sizeof notice);
    if (notice.kind == LARGE && notice.bytes > EAGER && notice.bytes <= PTRDIFF_MAX)
        expect_large(port, &notice);
}

static void landed(struct ski_port *port, struct ski_ofi_op *op,
                   const struct fi_cq_data_entry *entry)
{
    if (entry->flags & FI_RECV && entry->len >= SKI_PACKET_LEAST)
        take_packet(port, entry->buf, entry->len);
    else if (entry->flags & FI_RECV)
        take_notice(port, entry->buf, entry->len);
    if (entry->flags & FI_MULTI_RECV) /* it is full */
        post_now_or_later(port, op);
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

SKI_COLD static void failed(struct ski_port *port)
{
    struct fi_cq_err_entry error = {0};
    struct ski_ofi_op     *op;
    char                   why[96];

    if (fi_cq_readerr(port->cq, &error, 0) != 1)
        return;
    op = error.op_context;
    fi_cq_strerror(port->cq, error.prov_errno, error.err_data, why, sizeof why);
    if (!op || op->kind == SKI_OFI_LANDING) {
        ski_ofi.net->log(SKI_LOG_DEBUG, "libfabric: a receive failed: %s (%s)",
                         fi_strerror(error.err), why);
        if (op && !port->closing && (error.flags & FI_MULTI_RECV || error.err == FI_ECANCELED))
            post_now_or_later(port, op);
        return;
    }
    if (op->peer && error.err != FI_ETRUNC)
        ski_ofi_condemn(op->peer, fi_strerror(error.err));
    ski_ofi_end(port, op, SKUA_ERR_UNREACH);
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
    if (n <= 0 && port->larges)
        ask_for_life(port);
    return n > 0 ? (unsigned)n : n == -FI_EAVAIL;
}

int ski_ofi_wait_fd(struct ski_port *port)
{
    return port->fd;
}

bool ski_ofi_arm(struct ski_port *port)
{
    struct fid *queue = &port->cq->fid;

    if (port->refused || port->again || port->attention)
        return false; /* nothing that happens would wake us */
    return fi_trywait(ski_ofi.fabric, &queue, 1) == FI_SUCCESS;
}

/* ---- ports ----------------------------------------------------------------------------- */

/* The queue, with a descriptor to wait for if the provider has that. */
static int open_queue(struct ski_port *port)
{
    struct fi_cq_attr attr  = {.format   = FI_CQ_FORMAT_DATA,
                               .size     = 2 * ski_ofi.info->tx_attr->size,
                               .wait_obj = FI_WAIT_FD};
    int               error = fi_cq_open(ski_ofi.domain, &attr, &port->cq, NULL);

    if (error) {
        attr.wait_obj = FI_WAIT_NONE;
        return fi_cq_open(ski_ofi.domain, &attr, &port->cq, NULL);
    }
    if (fi_control(&port->cq->fid, FI_GETWAIT, &port->fd) != 0)
        port->fd = -1;
    return 0;
}

static int open_endpoint(struct ski_port *port)
{
    struct fi_av_attr attr  = {.type = FI_AV_TABLE};
    size_t            least = EAGER;
    int               error;

    if ((error = fi_endpoint(ski_ofi.domain, ski_ofi.info, &port->ep, port)) ||
        (error = fi_av_open(ski_ofi.domain, &attr, &port->av, NULL)) ||
        (error = open_queue(port)) || (error = fi_ep_bind(port->ep, &port->av->fid, 0)) ||
        (error = fi_ep_bind(port->ep, &port->cq->fid, FI_TRANSMIT | FI_RECV)) ||
        (error = fi_setopt(&port->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                           sizeof least)))
        return error;
    return fi_enable(port->ep);
}

static int open_landings(struct ski_port *port)
{
    port->landings = malloc(SKI_OFI_LANDINGS * LANDING_BYTES);
    if (!port->landings)
        return -FI_ENOMEM;
    for (size_t i = 0; i < SKI_OFI_LANDINGS; i++) {
        struct ski_ofi_op *op = ski_ofi_take(port, NULL, SKI_OFI_LANDING);
        ssize_t            error;

        if (!op)
            return -FI_ENOMEM;
        op->memory = (char *)port->landings + i * LANDING_BYTES;
        op->bytes  = LANDING_BYTES;
        error      = post(port, op);
        if (error)
            return (int)error;
    }
    return 0;
}

static void free_peers(struct ski_port *port)
{
    for (struct ski_peer *peer = port->peers, *next; peer; peer = next) {
        next = peer->next;
        for (struct ski_ofi_span *span = peer->first, *after; span; span = after) {
            after = span->next;
            free(span);
        }
        free(peer);
    }
    free(port->by_pe);
}

/* Whatever there is of it. */
static void destroy(struct ski_port *port)
{
    if (port->ep)
        fi_close(&port->ep->fid);
    for (size_t b = 0; b < port->block_count; b++) {
        for (int i = 0; i < SKI_OFI_BLOCK; i++)
            if (port->blocks[b][i].kind != SKI_OFI_FREE)
                ski_ofi_end(port, &port->blocks[b][i], SKUA_ERR_UNREACH);
    }
    if (port->cq)
        fi_close(&port->cq->fid);
    if (port->av)
        fi_close(&port->av->fid);
    free_peers(port);
    for (size_t b = 0; b < port->block_count; b++)
        free(port->blocks[b]);
    free(port->blocks);
    free(port->landings);
    free(port);
}

skua_status_t ski_ofi_open(int pe, const struct ski_upcalls *up, void *owner,
                           struct ski_port **port)
{
    struct ski_port *new = calloc(1, sizeof *new);
    int error;

    if (!new)
        return SKUA_ERR_NOMEM;
    new->up        = up;
    new->owner     = owner;
    new->pe        = pe;
    new->fd        = -1;
    new->again_end = &new->again;
    if ((error = open_endpoint(new)) || (error = open_landings(new))) {
        snprintf(ski_ofi.net->why, sizeof ski_ofi.net->why,
                 "an endpoint of %s on %s (ports: %.40s): %s", ski_ofi.info->fabric_attr->prov_name,
                 ski_ofi.info->domain_attr->name, ski_ofi.net->port_range, fi_strerror(-error));
        destroy(new);
        return SKUA_ERR_SYSTEM;
    }
    *port = new;
    return SKUA_OK;
}

void ski_ofi_close(struct ski_port *port)
{
    static const struct timespec nap      = {0, 50000};
    double                       deadline = ski_ofi_seconds() + ski_ofi.net->peer_timeout;

    port->closing = true;
    while (port->in_flight && ski_ofi_seconds() < deadline)
        if (!ski_ofi_progress(port))
            nanosleep(&nap, NULL);
    /* A connection that is closed with something unread in it is reset, and what we
     * have just sent may be lost with it. */
    for (int i = 0; i < 1000 && ski_ofi_progress(port); i++)
        ;
    destroy(port);
}

size_t ski_ofi_address(struct ski_port *port, void *to)
{
    size_t bytes = SKI_ADDRESS_MOST;

    return fi_getname(&port->ep->fid, to, &bytes) == 0 ? bytes : 0;
}

/* Makes by_pe[pe]; it is only for finding out whether a sender lives, so that being
 * short of memory is no failure. */
static void index_peer(struct ski_port *port, struct ski_peer *peer)
{
    struct ski_peer **bigger;
    int               n = 2 * peer->pe + 16;

    if (peer->pe < 0 || peer->pe > 1 << 24)
        return;
    if (peer->pe >= port->pes) {
        bigger = realloc(port->by_pe, (size_t)n * sizeof *bigger);
        if (!bigger)
            return;
        memset(bigger + port->pes, 0, (size_t)(n - port->pes) * sizeof *bigger);
        port->by_pe = bigger;
        port->pes   = n;
    }
    port->by_pe[peer->pe] = peer;
}

skua_status_t ski_ofi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                              struct ski_peer **peer)
{
    char own[SKI_ADDRESS_MOST];
    struct ski_peer *new;

    if (bytes != ski_ofi_address(port, own))
        return SKUA_ERR_INVAL;
    new = calloc(1, sizeof *new);
    if (!new)
        return SKUA_ERR_NOMEM;
    if (fi_av_insert(port->av, address, 1, &new->address, 0, NULL) != 1) {
        free(new);
        return SKUA_ERR_UNREACH;
    }
    new->port   = port;
    new->pe     = pe;
    new->next   = port->peers;
    port->peers = new;
    index_peer(port, new);
    *peer = new;
    return SKUA_OK;
}
