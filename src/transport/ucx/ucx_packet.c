/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_packet.c - sending and receiving packets: see ucx.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ucx/ucx.h"

#define UCX_SENDS_MAX                                                                              \
    1024 /* packets to a peer that UCX holds, at most; each costs 300 bytes beside it */

/* ---- receiving --------------------------------------------------------------------- */

static void ucx_on_received(void *request, ucs_status_t status, size_t bytes, void *packet)
{
    struct ski_ucx_request *request_data = request;
    struct ski_port        *port         = request_data->port;

    (void)bytes;
    port->events++;
    if (status == UCS_OK)
        port->up->arrived(port->owner, packet, request_data->bytes);
    else
        port->up->abort(port->owner, packet);
    ucp_request_free(request);
}

/* Receives a large packet by rendezvous. UCX drops the data if it is not requested. */
static ucs_status_t ucx_recv_rndv(struct ski_port *port, void *data, size_t bytes)
{
    ucp_request_param_t     param  = {.op_attr_mask =
                                          UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                      .cb.recv_am = ucx_on_received};
    void                   *packet = port->up->alloc(port->owner, bytes);
    struct ski_ucx_request *request;

    if (!packet)
        return UCS_OK;
    param.user_data = packet;
    request         = ucp_am_recv_data_nbx(port->worker, data, packet, bytes, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        if (UCS_PTR_STATUS(request) == UCS_OK)
            port->up->arrived(port->owner, packet, bytes);
        else
            port->up->abort(port->owner, packet);
        return UCS_OK;
    }
    *request = (struct ski_ucx_request){.port = port, .bytes = bytes};
    return UCS_INPROGRESS;
}

ucs_status_t ski_ucx_on_packet(void *arg, const void *header, size_t header_bytes, void *data,
                               size_t bytes, const ucp_am_recv_param_t *param)
{
    struct ski_port *port = arg;
    void            *packet;

    (void)header, (void)header_bytes;
    port->events++;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return ucx_recv_rndv(port, data, bytes);
    if (port->up->recv_inline && port->up->recv_inline(port->owner, data, bytes))
        return UCS_OK;
    packet = port->up->alloc(port->owner, bytes);
    if (packet) {
        memcpy(packet, data, bytes);
        port->up->arrived(port->owner, packet, bytes);
    }
    return UCS_OK;
}

/* ---- sending ------------------------------------------------------------------------- */

static void ucx_on_sent(void *request, ucs_status_t status, void *packet)
{
    struct ski_ucx_request *request_data = request;
    struct ski_port        *port         = request_data->port;

    (void)status; /* a failure is reported by on_error() */
    port->events++;
    ski_ucx_held_remove(&request_data->peer->held, request_data->bytes);
    port->up->sent(port->owner, packet);
    ucp_request_free(request);
}

/* A packet that was sent in part ends with its peer, in the next call of progress(). */
static skua_status ucx_send_fragments(struct ski_peer *peer, void *packet, size_t bytes)
{
    ucs_status_t status = ski_fragments_send(&peer->port->fragments, peer->ep, &peer->held, packet,
                                             bytes, &peer->broken);

    if (SKI_UNLIKELY(peer->broken != UCS_OK))
        peer->port->has_broken = true;
    return UCS_STATUS_IS_ERR(status) ? ski_ucx_failed("cannot send a packet", status)
                                     : ski_ucx_status(status);
}

skua_status ski_ucx_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    ucp_request_param_t     param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                     UCP_OP_ATTR_FIELD_USER_DATA |
                                                     UCP_OP_ATTR_FIELD_FLAGS,
                                     .flags     = peer->by_tcp ? UCP_AM_SEND_FLAG_EAGER : 0,
                                     .cb.send   = ucx_on_sent,
                                     .user_data = packet};
    struct ski_ucx_request *request;

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    if (peer->held.packets >= UCX_SENDS_MAX || peer->held.bytes >= SKI_HELD_MAX)
        return SKUA_ERR_AGAIN; /* UCX has no limit */
    if (peer->by_tcp && bytes > SKI_FRAGMENT_BYTES)
        return ucx_send_fragments(peer, packet, bytes);
    request = ucp_am_send_nbx(peer->ep, SKI_UCX_AM_PACKET, NULL, 0, packet, bytes, &param);
    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request) == UCS_OK
                   ? SKUA_OK
                   : ski_ucx_failed("cannot send a packet", UCS_PTR_STATUS(request));
    *request = (struct ski_ucx_request){.port = peer->port, .peer = peer, .bytes = bytes};
    ski_ucx_held_add(&peer->held, bytes);
    return SKUA_PENDING;
}

/* What UCX reads, and the callback needs, until a split packet is sent. */
struct ucx_split {
    struct ski_port *port;
    void            *cookie;
    ucp_dt_iov_t     part[2];
};

static void ucx_on_split_sent(void *request, ucs_status_t status, void *arg)
{
    struct ucx_split *split = arg;

    (void)status; /* a failure is reported by on_error() */
    split->port->events++;
    split->port->up->done(split->port->owner, split->cookie, SKUA_OK);
    free(split);
    ucp_request_free(request);
}

/* Over TCP both parts are sent from where they are; other transports would have to register them.
 */
skua_status ski_ucx_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie)
{
    ucp_request_param_t param = {.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                     UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE,
                                 .flags    = UCP_AM_SEND_FLAG_EAGER,
                                 .datatype = UCP_DATATYPE_IOV,
                                 .cb.send  = ucx_on_split_sent};
    struct ucx_split   *split;
    void               *request;

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    if (!peer->by_tcp || bytes + rest_bytes > SKI_FRAGMENT_BYTES)
        return SKUA_ERR_UNSUPPORTED;
    split = malloc(sizeof *split);
    if (!split)
        return SKUA_ERR_AGAIN;
    *split = (struct ucx_split){
        peer->port, cookie, {{packet, bytes}, {(void *)(uintptr_t)rest, rest_bytes}}};
    param.user_data = split;
    request         = ucp_am_send_nbx(peer->ep, SKI_UCX_AM_PACKET, NULL, 0, split->part, 2, &param);
    if (UCS_PTR_IS_PTR(request))
        return SKUA_PENDING;
    free(split);
    return ski_ucx_status(UCS_PTR_STATUS(request));
}
