/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.c - a port is an endpoint, with a queue of completions, a table of addresses
 * and buffers that small packets land in.
 *
 * An address is a card, which both ends must agree on, and the endpoint's name.
 *
 * close() goes on until all that was sent is out, but not for longer than
 * net->peer_timeout; what arrives meanwhile is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/guard.h"
#include "transport/ofi/ofi.h"

/* What an address begins with: what both ends must agree on, as otherwise connections
 * would just not come up. */
struct card {
    char     provider[32];
    uint64_t limit; /* of rxm's; see choose.c */
};

/* ---- waiting --------------------------------------------------------------------------- */

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

/* ---- addresses --------------------------------------------------------------------- */

static struct card own_card(void)
{
    const char *limit = getenv(SKI_OFI_LIMIT);
    struct card card  = {.limit = limit ? strtoull(limit, NULL, 0) : 0};

    snprintf(card.provider, sizeof card.provider, "%s", ski_ofi.info->fabric_attr->prov_name);
    return card;
}

size_t ski_ofi_address(struct ski_port *port, void *to)
{
    struct card card  = own_card();
    size_t      bytes = SKI_ADDRESS_MOST - sizeof card;

    memcpy(to, &card, sizeof card);
    if (fi_getname(&port->ep->fid, (char *)to + sizeof card, &bytes) != 0)
        return 0;
    return sizeof card + bytes;
}

/* Of an address of @p bytes in all; zeros if it is too long to be one of TCP's. */
static void keep_name(struct sockaddr_storage *name, const char *from, size_t bytes)
{
    bytes -= bytes < sizeof(struct card) ? bytes : sizeof(struct card);
    if (bytes <= sizeof *name)
        memcpy(name, from, bytes);
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
    struct fi_av_attr attr = {.type = FI_AV_TABLE};
    int               error;

    if ((error = fi_endpoint(ski_ofi.domain, ski_ofi.info, &port->ep, port)) ||
        (error = fi_av_open(ski_ofi.domain, &attr, &port->av, NULL)) ||
        (error = open_queue(port)) || (error = fi_ep_bind(port->ep, &port->av->fid, 0)) ||
        (error = fi_ep_bind(port->ep, &port->cq->fid, FI_TRANSMIT | FI_RECV)))
        return error;
    return fi_enable(port->ep);
}

static int open_landings(struct ski_port *port)
{
    port->landings = malloc(SKI_OFI_LANDINGS * SKI_OFI_EAGER);
    if (!port->landings)
        return -FI_ENOMEM;
    for (size_t i = 0; i < SKI_OFI_LANDINGS; i++) {
        struct ski_ofi_op *op = ski_ofi_take(port, NULL, SKI_OFI_LANDING);

        if (!op)
            return -FI_ENOMEM;
        op->memory = (char *)port->landings + i * SKI_OFI_EAGER;
        op->bytes  = SKI_OFI_EAGER;
        if (!ski_ofi_post(port, op))
            return -FI_EAGAIN;
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
    char             address[SKI_ADDRESS_MOST];
    struct ski_port *made = calloc(1, sizeof *made);
    int              error;

    if (!made)
        return SKUA_ERR_NOMEM;
    made->up        = up;
    made->owner     = owner;
    made->pe        = pe;
    made->fd        = -1;
    made->again_end = &made->again;
    if ((error = open_endpoint(made)) || (error = open_landings(made))) {
        snprintf(ski_ofi.net->why(), SKI_WHY_MOST, "an endpoint of %s on %s (ports: %.40s): %s",
                 ski_ofi.info->fabric_attr->prov_name, ski_ofi.info->domain_attr->name,
                 ski_ofi.net->port_range, fi_strerror(-error));
        destroy(made);
        return SKUA_ERR_SYSTEM;
    }
    keep_name(&made->name, address + sizeof(struct card), ski_ofi_address(made, address));
    ski_guard_listens(&made->name);
    *port = made;
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

/* Whether the other end is like us; else logged. */
static bool is_alike(struct ski_port *port, int pe, const void *address, size_t bytes)
{
    char        own[SKI_ADDRESS_MOST];
    struct card card, ours = own_card();

    if (bytes != ski_ofi_address(port, own))
        return false;
    memcpy(&card, address, sizeof card);
    if (memcmp(&card, &ours, sizeof card) == 0)
        return true;
    ski_ofi.net->log(SKI_LOG_ERROR,
                     "PE %d uses libfabric's %.31s with " SKI_OFI_LIMIT "=%llu, PE %d %s with %llu",
                     pe, card.provider, (unsigned long long)card.limit, port->pe, ours.provider,
                     (unsigned long long)ours.limit);
    return false;
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
    struct ski_peer *made;

    if (!is_alike(port, pe, address, bytes))
        return SKUA_ERR_MISMATCH;
    made = calloc(1, sizeof *made);
    if (!made)
        return SKUA_ERR_NOMEM;
    if (fi_av_insert(port->av, (const char *)address + sizeof(struct card), 1, &made->address, 0,
                     NULL) != 1) {
        free(made);
        return SKUA_ERR_UNREACH;
    }
    keep_name(&made->name, (const char *)address + sizeof(struct card), bytes);
    made->port  = port;
    made->pe    = pe;
    made->next  = port->peers;
    port->peers = made;
    index_peer(port, made);
    *peer = made;
    return SKUA_OK;
}
