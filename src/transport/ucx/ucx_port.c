/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_port.c - ports and peers: see ucx.h. */
#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seconds.h"
#include "transport/keepalive.h"
#include "transport/netif.h"
#include "transport/ucx/ucx.h"

#define UCX_CLOSE_SECONDS 5

/* Returns the time in seconds, accurate to some milliseconds; progress() calls it each time. */
static double ucx_now(void)
{
    return ski_seconds(CLOCK_MONOTONIC_COARSE);
}

static void ucx_port_link(struct ski_port *port)
{
    port->opener = pthread_self();
    pthread_mutex_lock(&ski_ucx.lock);
    port->next    = ski_ucx.ports;
    ski_ucx.ports = port;
    pthread_mutex_unlock(&ski_ucx.lock);
}

static void ucx_port_unlink(struct ski_port *port)
{
    struct ski_port **at = &ski_ucx.ports;

    pthread_mutex_lock(&ski_ucx.lock);
    while (*at != port) {
        assert(*at); /* an open port is in the list */
        at = &(*at)->next;
    }
    *at = port->next;
    pthread_mutex_unlock(&ski_ucx.lock);
}

/* Makes the worker of a port, with the handlers of packets and fragments. */
static skua_status ucx_open_worker(struct ski_port *port, int pe)
{
    ucp_worker_params_t    params  = {.field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                      .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                    UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id  = SKI_UCX_AM_PACKET,
                                      .cb  = ski_ucx_on_packet,
                                      .arg = port};
    ucs_status_t           status  = ucp_worker_create(ski_ucx.context, &params, &port->worker);

    if (status != UCS_OK)
        return ski_ucx_failed("cannot create a worker (is the interface up?)", status);
    status = ucp_worker_set_am_recv_handler(port->worker, &handler);
    if (status == UCS_OK)
        status = ski_fragments_open(&port->fragments, port->worker, pe, port->up, port->owner);
    if (status == UCS_OK)
        return SKUA_OK;
    ucp_worker_destroy(port->worker);
    return ski_ucx_failed("a worker does not support active messages", status);
}

skua_status ski_ucx_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **out)
{
    struct ski_port *port = calloc(1, sizeof *port);
    skua_status      status;

    if (!port)
        return SKUA_ERR_NOMEM;
    port->up    = up;
    port->owner = owner;
    status      = ski_ucx_check_ports(ski_ucx.net, 1) ? ucx_open_worker(port, pe) : SKUA_ERR_SYSTEM;
    if (status != SKUA_OK) {
        free(port);
        return status;
    }
    ucx_port_link(port);
    *out = port;
    return SKUA_OK;
}

/* Makes progress on all ports that this thread has opened; no other thread uses them while it
 * closes one. */
static void ucx_progress_all(void)
{
    pthread_mutex_lock(&ski_ucx.lock);
    for (struct ski_port *port = ski_ucx.ports; port; port = port->next)
        if (pthread_equal(port->opener, pthread_self()))
            ucp_worker_progress(port->worker);
    pthread_mutex_unlock(&ski_ucx.lock);
}

/* Makes progress until UCX has completed @p request, or until the deadline. */
static void ucx_wait_request(void *request, double until)
{
    if (!UCS_PTR_IS_PTR(request))
        return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS && ucx_now() < until) {
        ucx_progress_all();
        sched_yield();
    }
    ucp_request_free(request);
}

/* Closes a port. What an endpoint waits for may depend on a port of another process whose thread
 * closes another port first and waits for one of this thread: hence ucx_progress_all(). */
void ski_ucx_close(struct ski_port *port)
{
    ucp_request_param_t gently = {0};
    ucp_request_param_t force  = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                  .flags        = UCP_EP_CLOSE_FLAG_FORCE};
    double              until  = ucx_now() + UCX_CLOSE_SECONDS;

    ucx_wait_request(ucp_worker_flush_nbx(port->worker, &gently), until);
    for (struct ski_peer *peer = port->peers, *next; peer; peer = next) {
        next = peer->next;
        if (peer->ep)
            ucx_wait_request(ucp_ep_close_nbx(peer->ep, ucx_now() < until ? &gently : &force),
                             until + 1);
        ski_liveness_unmonitor(peer->monitor);
        free(peer);
    }
    ucx_port_unlink(port);
    ucp_worker_destroy(port->worker);
    ski_fragments_abort(&port->fragments, -1);
    free(port);
}

size_t ski_ucx_address(struct ski_port *port, void *to)
{
    size_t         addrs = ski_sockaddrs_pack(ski_liveness_addrs(), to);
    ucp_address_t *mine;
    size_t         bytes;

    if (ucp_worker_get_address(port->worker, &mine, &bytes) != UCS_OK)
        return 0;
    if (addrs + bytes <= SKI_PORT_ADDRESS_MAX)
        memcpy((char *)to + addrs, mine, bytes);
    else
        addrs = bytes = 0;
    ucp_worker_release_address(port->worker, mine);
    return addrs + bytes;
}

/* Returns why a peer is lost, for the user. */
static const char *ucx_lost_reason(ucs_status_t status)
{
    switch (status) {
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_TIMED_OUT: return "it no longer responds";
    case UCS_ERR_CONNECTION_RESET: return "the connection broke";
    case UCS_ERR_UNREACHABLE: return "no route leads there";
    default: return ucs_status_string(status);
    }
}

static void ucx_peer_lost(struct ski_peer *peer, const char *reason)
{
    peer->lost = true;
    peer->port->events++;
    ski_fragments_abort(&peer->port->fragments, peer->pe);
    peer->port->up->lost(peer->port->owner, peer->pe, reason);
}

static void ucx_on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct ski_peer *peer = arg;

    (void)ep;
    ucx_peer_lost(peer, ucx_lost_reason(status));
}

/* Gives a peer up and closes its endpoint; UCX then ends all its operations. */
static void ucx_peer_give_up(struct ski_peer *peer, const char *reason)
{
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags        = UCP_EP_CLOSE_FLAG_FORCE};
    void               *request;

    assert(!peer->lost && peer->ep);
    ucx_peer_lost(peer, reason);
    request  = ucp_ep_close_nbx(peer->ep, &force);
    peer->ep = NULL;
    if (UCS_PTR_IS_PTR(request))
        ucp_request_free(request);
}

/* Checks whether the hosts of all peers answer. */
SKI_COLD static void ucx_check_peers(struct ski_port *port)
{
    ski_liveness_check();
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next)
        if (!peer->lost && ski_liveness_state(peer->monitor, peer->pe) == SKI_LIVENESS_SILENT)
            ucx_peer_give_up(peer, "its host no longer responds");
}

/* Gives up peers to which only a part of a packet was sent. */
SKI_COLD static void ucx_check_broken(struct ski_port *port)
{
    port->has_broken = false;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next)
        if (!peer->lost && peer->broken != UCS_OK)
            ucx_peer_give_up(peer, ucx_lost_reason(peer->broken));
}

/* Writes which addresses cannot be reached. */
static void ucx_no_route(const struct ski_sockaddrs *addrs, ucs_status_t status)
{
    char list[128];

    snprintf(ski_ucx.net->last_error(), SKI_REASON_MAX, SKI_NO_ROUTE,
             ski_sockaddrs_text(addrs, ski_ucx.net->one_host, list, sizeof list),
             ski_ucx_interfaces(ski_ucx.net), ucs_status_string(status));
}

skua_status ski_ucx_connect(struct ski_port *port, int pe, const void *to, size_t bytes,
                            struct ski_peer **out)
{
    struct ski_peer *peer   = calloc(1, sizeof *peer);
    ucp_ep_params_t  params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                             UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                             UCP_EP_PARAM_FIELD_ERR_HANDLER,
                               .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
                               .err_handler = {ucx_on_error, peer}};
    ucs_status_t     status;
    size_t           addrs = peer ? ski_sockaddrs_unpack(&peer->addrs, to, bytes) : 0;

    if (addrs == 0 || addrs >= bytes) {
        free(peer);
        return SKUA_ERR_INVAL;
    }
    peer->port     = port;
    peer->pe       = pe;
    peer->next     = port->peers;
    params.address = (const ucp_address_t *)((const char *)to + addrs);
    status         = ucp_ep_create(port->worker, &params, &peer->ep);
    if (status == UCS_ERR_UNREACHABLE) { /* through shared memory alone, which reports no errors */
        params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
        peer->shared    = true;
        status          = ucp_ep_create(port->worker, &params, &peer->ep);
    }
    if (status != UCS_OK) {
        ucx_no_route(&peer->addrs, status);
        free(peer);
        return ski_ucx_status(status);
    }
    peer->by_tcp  = !peer->shared && !ski_ucx.has_adapter;
    peer->monitor = peer->by_tcp ? ski_liveness_monitor(&peer->addrs) : NULL;
    port->peers   = peer;
    *out          = peer;
    return SKUA_OK;
}

unsigned ski_ucx_progress(struct ski_port *port)
{
    unsigned n;

    assert(port->worker);
    port->events = port->fragments.events = 0;
    if (SKI_UNLIKELY(port->has_broken))
        ucx_check_broken(port);
    n = ucp_worker_progress(port->worker) + port->events + port->fragments.events;
    if (n == 0 && ski_keepalive_is_due(&port->checked_at, ucx_now(), ski_ucx.net->peer_timeout))
        ucx_check_peers(port);
    return n;
}

int ski_ucx_wait_fd(struct ski_port *port)
{
    int fd;
    return ucp_worker_get_efd(port->worker, &fd) == UCS_OK ? fd : -1;
}

bool ski_ucx_arm(struct ski_port *port)
{
    return ucp_worker_arm(port->worker) == UCS_OK;
}
