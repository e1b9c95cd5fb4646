/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi.h - the libfabric driver (transport/driver.h).  The files of the driver share these
 * declarations.
 *
 *   ofi.c           the process: fabric and domain; and the table of functions
 *   ofi_provider.c  which provider, on which interface
 *   ofi_port.c      one endpoint for each port
 *   ofi_packet.c    sending and receiving packets
 *   ofi_op.c        operations in flight, and peers that do not answer
 *   ofi_mem.c       registered memory and its keys
 *   ofi_rma.c       puts, gets, atomics
 */
#ifndef SKI_OFI_H
#define SKI_OFI_H

#include <pthread.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "transport/driver.h"
#include "transport/liveness.h"

#define SKI_OFI_RECV_BUFFERS 64              /* receive buffers of a port */
#define SKI_OFI_EAGER_MAX    ((size_t)16384) /* the size of each: the largest eager packet */

#define SKI_OFI_INJECT_MIN  24 /* bytes that a provider must be able to inject, at least */
#define SKI_OFI_EAGER_LIMIT "FI_OFI_RXM_EAGER_LIMIT"

/* The process. */
struct ski_ofi {
    struct ski_net    *net;
    struct fi_info    *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    bool               rma, atomics; /* supported by the provider */
    char               about[160];   /* the result of describe() */

    pthread_mutex_t        lock; /* guards the two lists, which only FI_MR_ENDPOINT needs */
    struct ski_port       *ports;
    struct ski_driver_mem *memory;
};

extern struct ski_ofi ski_ofi;

/* The kinds of operations. */
enum ski_ofi_kind {
    SKI_OFI_RECV,      /* a receive buffer for a small packet            */
    SKI_OFI_INJECTED,  /* a send that the provider has copied */
    SKI_OFI_SEND,      /* a send of a small packet */
    SKI_OFI_RNDV_SEND, /* a send of a large packet */
    SKI_OFI_RNDV_RECV, /* a receive of a large packet */
    SKI_OFI_PUT,
    SKI_OFI_GET,
    SKI_OFI_ATOMIC,
    SKI_OFI_FREE /* not in use, or its end was reported */
};

/* An operation of the provider. A completion has a pointer to the context, the first member. */
struct ski_ofi_op {
    struct fi_context2 context;
    enum ski_ofi_kind  kind;
    bool               dropped; /* a large packet that the runtime does not want */
    bool               quiet;   /* an injected put, which needs no done() */
    struct ski_peer   *peer;    /* NULL: unknown */
    void              *memory;  /* the packet, or the receive buffer */
    size_t             bytes;
    void              *rest; /* of a large packet: the last bytes, which are elsewhere, or NULL */
    size_t             rest_bytes;
    uint64_t           tag;
    void              *cookie;
    struct ski_ofi_epoch *epoch;
    uint64_t              value, compare, before, *result;
    unsigned              width;
    struct ski_ofi_op    *next; /* in the list of free ones, or of those to retry */
};

/* The puts between two flushes of a peer. */
struct ski_ofi_epoch {
    unsigned              open; /* puts in flight */
    bool                  ends; /* a flush waits for it */
    void                 *cookie;
    struct ski_ofi_epoch *next;
};

struct ski_peer {
    struct ski_port *port;
    int              pe;
    fi_addr_t        address;
    unsigned         busy; /* operations in flight that end even if the peer makes no progress */
    unsigned         rndv_count; /* large packets in flight, which end only if it does */
    size_t           held_bytes; /* of packets in flight whose memory is the runtime's */
    bool             reached;    /* an operation to it has succeeded */
    bool             lost, reported;
    double refused, refused_at; /* seconds of refusals so far, and the time of the last one */
    double lost_at;
    struct ski_ofi_epoch *first, *last; /* the last one has not ended */
    struct ski_peer      *next;
    struct ski_monitor   *monitor; /* of its process, with provider tcp */
    struct ski_sockaddrs  addrs;   /* to monitor its process at */
    char                  reason[SKI_REASON_MAX];
};

struct ski_port {
    const struct ski_upcalls *up;
    void                     *owner;
    int                       pe;
    struct fid_ep            *ep;
    struct fid_cq            *cq;
    struct fid_av            *av;
    int                       fd;
    bool                      closing;
    bool                refused;    /* a peer that is not connected has refused since progress() */
    bool                has_lost;   /* a lost peer is to be reported, or has operations in flight */
    unsigned            in_flight;  /* operations other than receives */
    unsigned            rndv_count; /* large packets in flight, of all peers */
    uint32_t            sequence;   /* number of the next large packet */
    double              probed_at;  /* when peers were last probed */
    double              checked_at; /* when the processes of peers were last checked */
    struct ski_peer    *peers;      /* all peers */
    struct ski_peer   **by_pe;      /* by number, for 0 .. pes - 1 */
    int                 pes;
    struct ski_ofi_op  *free;
    struct ski_ofi_op **blocks; /* arrays of SKI_OFI_BLOCK operations */
    size_t              block_count;
    struct ski_ofi_op  *retry, **retry_end; /* operations that the provider refused, oldest first */
    void               *recv_buffers;
    struct ski_port    *next; /* the next port of the process */
};

struct ski_driver_rkey {
    uint64_t base, bytes, key;
};

/* ---- ofi_provider.c ---- */

/** Returns whether the provider is tcp, which relies on the kernel to find that a host is gone. */
bool ski_ofi_is_tcp(void);

/** Selects the best provider for @p net. On failure net->last_error() has the reason. */
skua_status ski_ofi_provider_select(struct ski_net *net, struct fi_info **info);

/* ---- ofi_op.c ---- */

#define SKI_OFI_BLOCK 64

/** Takes a free operation and counts it as in flight. Returns NULL if memory is exhausted. */
struct ski_ofi_op *ski_ofi_op_get(struct ski_port *port, struct ski_peer *peer,
                                  enum ski_ofi_kind kind);

/** Returns an operation to the free ones without a report. */
void ski_ofi_op_put(struct ski_port *port, struct ski_ofi_op *op);

/** Returns the status of a call of libfabric that started @p op: SKUA_PENDING, or an error, and
 *  then frees the operation. */
skua_status ski_ofi_op_started(struct ski_port *port, struct ski_ofi_op *op, ssize_t result);

/** Reports the end of an operation to its owner and frees it. */
void ski_ofi_op_end(struct ski_port *port, struct ski_ofi_op *op, skua_status status);

/** Marks a peer as lost; progress() reports it. */
void ski_ofi_peer_mark_lost(struct ski_peer *peer, const char *reason);

/** Records that the provider refused an operation, for want of room or of a connection. */
void ski_ofi_peer_refused(struct ski_peer *peer);

/** Reports lost peers and, after a while, the end of their operations. Called while @p
 *  port->has_lost. */
void ski_ofi_handle_lost(struct ski_port *port);

/** Marks peers as lost whose hosts no longer respond, if a check is due. */
void ski_ofi_check_peers(struct ski_port *port, double now);

/** Returns a monotonic time in seconds. */
double ski_ofi_now(void);

/* ---- ofi_packet.c ---- */

/** Posts a receive or a large packet. Returns false if progress() will retry it. */
bool ski_ofi_post(struct ski_port *port, struct ski_ofi_op *op);

skua_status ski_ofi_send(struct ski_peer *peer, void *packet, size_t bytes);
skua_status ski_ofi_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie);
unsigned    ski_ofi_progress(struct ski_port *port);

/* ---- ofi_port.c ---- */

skua_status ski_ofi_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **port);
void        ski_ofi_close(struct ski_port *port);
size_t      ski_ofi_address(struct ski_port *port, void *to);
skua_status ski_ofi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                            struct ski_peer **peer);
int         ski_ofi_wait_fd(struct ski_port *port);
bool        ski_ofi_arm(struct ski_port *port);

/* ---- ofi_mem.c ---- */

/** Adds a port to those that memory is registered for. */
void ski_ofi_mem_add_port(struct ski_port *port);

/** Ends the access to memory through a port, before its endpoint is closed. */
void ski_ofi_mem_remove_port(struct ski_port *port);

skua_status ski_ofi_mem_reg(void *base, size_t bytes, struct ski_driver_mem **memory);
void        ski_ofi_mem_dereg(struct ski_driver_mem *memory);
size_t      ski_ofi_rkey_pack(struct ski_driver_mem *memory, void *to);
skua_status ski_ofi_rkey_unpack(struct ski_peer *peer, const void *from, size_t bytes,
                                struct ski_driver_rkey **key);
void        ski_ofi_rkey_destroy(struct ski_driver_rkey *key);

/* ---- ofi_rma.c ---- */

skua_status ski_ofi_put(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie);
skua_status ski_ofi_get(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie);
skua_status ski_ofi_atomic(struct ski_peer *peer, enum ski_net_op op, unsigned bytes,
                           uint64_t value, uint64_t *result, uint64_t remote,
                           struct ski_driver_rkey *key, void *cookie);
skua_status ski_ofi_flush(struct ski_peer *peer, void *cookie);

/** Reports the end of a put, get or atomic. */
void ski_ofi_rma_end(struct ski_port *port, struct ski_ofi_op *op, skua_status status);

#endif
