/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi_port.c - a port is an endpoint with a completion queue, an address vector, and receive
 * buffers for small packets.
 *
 * The address of a port is what both ends must agree on, where its process can be monitored, and
 * the name of the endpoint.
 *
 * close() makes progress until all packets were sent, for at most net->peer_timeout; packets that
 * arrive meanwhile are dropped.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/ofi/ofi.h"

/* The first part of an address: what both ends must agree on, since otherwise connections would
 * fail without a reason.  The addresses to monitor the process at follow (transport/liveness.h). */
struct ofi_address_head {
    char     provider[32];
    uint64_t limit; /* of rxm: see ofi_provider.c */
};

/* ---- waiting --------------------------------------------------------------------------- */

int ski_ofi_wait_fd(struct ski_port *port)
{
    return port->fd;
}

bool ski_ofi_arm(struct ski_port *port)
{
    struct fid *queue = &port->cq->fid;

    if (port->refused || port->retry || port->has_lost)
        return false; /* no event would wake the PE */
    return fi_trywait(ski_ofi.fabric, &queue, 1) == FI_SUCCESS;
}

/* ---- addresses --------------------------------------------------------------------- */

static struct ofi_address_head ofi_own_address_head(void)
{
    const char             *limit = getenv(SKI_OFI_EAGER_LIMIT);
    struct ofi_address_head head  = {.limit = limit ? strtoull(limit, NULL, 0) : 0};

    snprintf(head.provider, sizeof head.provider, "%s", ski_ofi.info->fabric_attr->prov_name);
    return head;
}

size_t ski_ofi_address(struct ski_port *port, void *to)
{
    struct ofi_address_head head = ofi_own_address_head();
    size_t                  at   = sizeof head, bytes;

    memcpy(to, &head, sizeof head);
    at += ski_sockaddrs_pack(ski_liveness_addrs(), (char *)to + at);
    bytes = SKI_PORT_ADDRESS_MAX - at;
    if (fi_getname(&port->ep->fid, (char *)to + at, &bytes) != 0)
        return 0;
    return at + bytes;
}

/* ---- ports ----------------------------------------------------------------------------- */

/* Opens the completion queue, with a descriptor to wait for if the provider supports one. */
static int ofi_open_cq(struct ski_port *port)
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

static int ofi_open_endpoint(struct ski_port *port)
{
    struct fi_av_attr attr = {.type = FI_AV_TABLE};
    int               error;

    if ((error = fi_endpoint(ski_ofi.domain, ski_ofi.info, &port->ep, port)) ||
        (error = fi_av_open(ski_ofi.domain, &attr, &port->av, NULL)) ||
        (error = ofi_open_cq(port)) || (error = fi_ep_bind(port->ep, &port->av->fid, 0)) ||
        (error = fi_ep_bind(port->ep, &port->cq->fid, FI_TRANSMIT | FI_RECV)))
        return error;
    return fi_enable(port->ep);
}

/* Allocates and posts the receive buffers of a port. */
static int ofi_post_recv_buffers(struct ski_port *port)
{
    port->recv_buffers = malloc(SKI_OFI_RECV_BUFFERS * SKI_OFI_EAGER_MAX);
    if (!port->recv_buffers)
        return -FI_ENOMEM;
    for (size_t i = 0; i < SKI_OFI_RECV_BUFFERS; i++) {
        struct ski_ofi_op *op = ski_ofi_op_get(port, NULL, SKI_OFI_RECV);

        if (!op)
            return -FI_ENOMEM;
        op->memory = (char *)port->recv_buffers + i * SKI_OFI_EAGER_MAX;
        op->bytes  = SKI_OFI_EAGER_MAX;
        if (!ski_ofi_post(port, op))
            return -FI_EAGAIN;
    }
    return 0;
}

static void ofi_free_peers(struct ski_port *port)
{
    for (struct ski_peer *peer = port->peers, *next; peer; peer = next) {
        next = peer->next;
        for (struct ski_ofi_epoch *epoch = peer->first, *after; epoch; epoch = after) {
            after = epoch->next;
            free(epoch);
        }
        ski_liveness_unmonitor(peer->monitor);
        free(peer);
    }
    free(port->by_pe);
}

/* Frees all parts of a port, which may be incomplete. */
static void ofi_port_destroy(struct ski_port *port)
{
    if (port->ep)
        fi_close(&port->ep->fid);
    for (size_t b = 0; b < port->block_count; b++) {
        for (int i = 0; i < SKI_OFI_BLOCK; i++)
            if (port->blocks[b][i].kind != SKI_OFI_FREE)
                ski_ofi_op_end(port, &port->blocks[b][i], SKUA_ERR_UNREACH);
    }
    assert(port->in_flight == 0 && port->rndv_count == 0);
    if (port->cq)
        fi_close(&port->cq->fid);
    if (port->av)
        fi_close(&port->av->fid);
    ofi_free_peers(port);
    for (size_t b = 0; b < port->block_count; b++)
        free(port->blocks[b]);
    free(port->blocks);
    free(port->recv_buffers);
    free(port);
}

skua_status ski_ofi_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **port)
{
    struct ski_port *made = calloc(1, sizeof *made);
    int              error;

    if (!made)
        return SKUA_ERR_NOMEM;
    made->up        = up;
    made->owner     = owner;
    made->pe        = pe;
    made->fd        = -1;
    made->retry_end = &made->retry;
    if ((error = ofi_open_endpoint(made)) || (error = ofi_post_recv_buffers(made))) {
        snprintf(ski_ofi.net->last_error(), SKI_REASON_MAX,
                 "an endpoint of %s on %s (ports: %.40s): %s", ski_ofi.info->fabric_attr->prov_name,
                 ski_ofi.info->domain_attr->name, ski_ofi.net->port_range, fi_strerror(-error));
        ofi_port_destroy(made);
        return SKUA_ERR_SYSTEM;
    }
    ski_liveness_port_opened(pe);
    ski_ofi_mem_add_port(made);
    *port = made;
    return SKUA_OK;
}

void ski_ofi_close(struct ski_port *port)
{
    static const struct timespec nap      = {0, 50000};
    double                       deadline = ski_ofi_now() + ski_ofi.net->peer_timeout;

    port->closing = true;
    while (port->in_flight && ski_ofi_now() < deadline)
        if (!ski_ofi_progress(port))
            nanosleep(&nap, NULL);
    /* A connection that is closed with unread data is reset, and packets just sent may be lost. */
    for (int i = 0; i < 1000 && ski_ofi_progress(port); i++)
        ;
    ski_liveness_port_closed(port->pe);
    ski_ofi_mem_remove_port(port);
    ofi_port_destroy(port);
}

/* Returns whether the other end is compatible; otherwise logs why not. */
static bool ofi_is_compatible(struct ski_port *port, int pe, const void *address, size_t bytes)
{
    char                    own[SKI_PORT_ADDRESS_MAX];
    struct ofi_address_head head, ours = ofi_own_address_head();

    if (bytes != ski_ofi_address(port, own))
        return false;
    memcpy(&head, address, sizeof head);
    if (memcmp(&head, &ours, sizeof head) == 0)
        return true;
    ski_ofi.net->log(SKI_LOG_ERROR,
                     "PE %d uses libfabric's %.31s with " SKI_OFI_EAGER_LIMIT
                     "=%llu, PE %d %s with %llu",
                     pe, head.provider, (unsigned long long)head.limit, port->pe, ours.provider,
                     (unsigned long long)ours.limit);
    return false;
}

/* Sets by_pe[pe], which only serves to find out whether a sender lives, so a lack of memory is not
 * a failure. */
static void ofi_index_peer(struct ski_port *port, struct ski_peer *peer)
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

skua_status ski_ofi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                            struct ski_peer **peer)
{
    const char          *name = (const char *)address + sizeof(struct ofi_address_head);
    struct ski_sockaddrs addrs;
    struct ski_peer     *made;

    if (!ofi_is_compatible(port, pe, address, bytes))
        return SKUA_ERR_MISMATCH;
    name += ski_sockaddrs_unpack(&addrs, name, bytes - sizeof(struct ofi_address_head));
    if (addrs.count != ski_liveness_addrs()->count)
        return SKUA_ERR_MISMATCH;
    made = calloc(1, sizeof *made);
    if (!made)
        return SKUA_ERR_NOMEM;
    if (fi_av_insert(port->av, name, 1, &made->address, 0, NULL) != 1) {
        free(made);
        return SKUA_ERR_UNREACH;
    }
    made->addrs   = addrs;
    made->monitor = ski_liveness_monitor(&addrs);
    made->port    = port;
    made->pe      = pe;
    made->next    = port->peers;
    port->peers   = made;
    ofi_index_peer(port, made);
    *peer = made;
    return SKUA_OK;
}
