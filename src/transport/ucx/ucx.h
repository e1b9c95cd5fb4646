/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucx.h - the UCX driver (transport/driver.h).  The files of the driver share these declarations.
 *
 *   ucx.c           the process: one context, its settings, and the table of functions
 *   ucx_port.c      one worker for each port, one endpoint for each peer
 *   ucx_packet.c    packets as active messages without a header
 *   ucx_fragment.c  large packets over TCP
 *   ucx_rma.c       puts, gets, atomics
 *
 * UCX moves large packets by rendezvous, from the memory of the sender straight to what alloc()
 * returned; over TCP they are sent as fragments.  Endpoints report errors, so a lost peer is
 * noticed.
 *
 * UCX calls back with a request, which holds struct ski_ucx_request, and a pointer of the driver:
 * the packet, or the cookie.  A request that is complete when the call returns has neither.
 *
 * Over TCP, UCX relies on the kernel to detect that a host is gone, which may take a quarter of an
 * hour if data are not acknowledged; UCX's keepalive is for idle connections.  So the process of a
 * peer is monitored (transport/liveness.h), and the endpoint of a peer whose host falls silent is
 * closed with UCP_EP_CLOSE_FLAG_FORCE, which ends its operations.  The addresses to monitor a
 * process at precede UCX's own address in the address of a port.
 */
#ifndef SKI_UCX_H
#define SKI_UCX_H

#include <pthread.h>
#include <ucp/api/ucp.h>

#include "transport/driver.h"
#include "transport/liveness.h"
#include "transport/sockaddrs.h"
#include "transport/ucx/ucx_fragment.h"

#define SKI_UCX_AM_PACKET 1 /* the id of the active message of a packet */

struct ski_port {
    ucp_worker_h              worker;
    const struct ski_upcalls *up;
    void                     *owner;
    struct ski_peer          *peers;
    unsigned                  events; /* upcalls since progress() was called */
    struct ski_fragments      fragments;
    bool                      has_broken; /* a broken peer is to be given up */
    double                    checked_at;
    pthread_t                 opener;
    struct ski_port          *next; /* the next port of the process */
};

struct ski_peer {
    struct ski_port     *port;
    ucp_ep_h             ep;
    int                  pe;
    bool                 shared; /* reached through shared memory alone */
    struct ski_ucx_held  held;
    bool                 by_tcp;
    bool                 lost;    /* reported; its endpoint may be NULL, then it is closed */
    ucs_status_t         broken;  /* why only a part of a packet could be sent, or UCS_OK */
    struct ski_monitor  *monitor; /* with TCP alone */
    struct ski_sockaddrs addrs;
    struct ski_peer     *next;
};

/* The data of the driver in a request of UCX. */
struct ski_ucx_request {
    struct ski_port *port;
    struct ski_peer *peer;  /* of a send */
    size_t           bytes; /* of the packet */
};

struct ski_ucx {
    ucp_context_h    context;
    struct ski_net  *net;
    char             text[128];
    bool             has_adapter;
    pthread_mutex_t  lock; /* guards the list of ports */
    struct ski_port *ports;
};

extern struct ski_ucx ski_ucx;

/** Converts a status of UCX. */
skua_status ski_ucx_status(ucs_status_t status);

/** Converts a status of UCX and writes the error text: what failed, and why. */
skua_status ski_ucx_failed(const char *what, ucs_status_t status);

/** Returns the interfaces to be used. */
const char *ski_ucx_interfaces(const struct ski_net *net);

/** Returns whether @p wanted ports of the range are free. */
bool ski_ucx_check_ports(struct ski_net *net, int wanted);

/** Receives a packet: the handler of its active message. */
ucs_status_t ski_ucx_on_packet(void *arg, const void *header, size_t header_bytes, void *data,
                               size_t bytes, const ucp_am_recv_param_t *param);

/* The calls of the driver. */
skua_status ski_ucx_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **out);
void        ski_ucx_close(struct ski_port *port);
size_t      ski_ucx_address(struct ski_port *port, void *to);
skua_status ski_ucx_connect(struct ski_port *port, int pe, const void *to, size_t bytes,
                            struct ski_peer **out);
unsigned    ski_ucx_progress(struct ski_port *port);
int         ski_ucx_wait_fd(struct ski_port *port);
bool        ski_ucx_arm(struct ski_port *port);
skua_status ski_ucx_send(struct ski_peer *peer, void *packet, size_t bytes);
skua_status ski_ucx_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie);
bool        ski_ucx_rma_offload(void);
skua_status ski_ucx_mem_reg(void *base, size_t bytes, struct ski_driver_mem **out);
void        ski_ucx_mem_dereg(struct ski_driver_mem *memory);
size_t      ski_ucx_rkey_pack(struct ski_driver_mem *memory, void *to);
skua_status ski_ucx_rkey_unpack(struct ski_peer *peer, const void *from, size_t bytes,
                                struct ski_driver_rkey **out);
void        ski_ucx_rkey_destroy(struct ski_driver_rkey *key);
skua_status ski_ucx_put(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie);
skua_status ski_ucx_get(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie);
skua_status ski_ucx_atomic(struct ski_peer *peer, enum ski_net_op op, unsigned bytes,
                           uint64_t value, uint64_t *result, uint64_t remote,
                           struct ski_driver_rkey *key, void *cookie);
skua_status ski_ucx_flush(struct ski_peer *peer, void *cookie);
bool        ski_ucx_fence(struct ski_peer *peer);

#endif
