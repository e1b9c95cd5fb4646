/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi.h - what the files of the libfabric driver share.
 *
 *   choose.c    which provider, on which interface
 *   ofi.c       the process: fabric and domain; and the table of functions
 *   port.c      an endpoint a port
 *   packet.c    sending and receiving
 *   op.c        operations under way, and peers that do not answer
 *   onesided.c  puts, gets, atomics
 */
#ifndef SKI_OFI_H
#define SKI_OFI_H

#include <sys/socket.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "transport/driver.h"

#define SKI_OFI_RECV_BUFFERS 64              /* buffers that small packets land in, a port */
#define SKI_OFI_EAGER_MAX    ((size_t)16384) /* of how many bytes those are at most */

#define SKI_OFI_INJECT_MIN  24 /* bytes that a provider must be able to copy */
#define SKI_OFI_EAGER_LIMIT "FI_OFI_RXM_EAGER_LIMIT"

/* The process. */
struct ski_ofi {
    struct ski_net    *net;
    struct fi_info    *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    bool               rma, atomics; /* the provider has them */
    char               about[160];   /* what describe() says  */
};

extern struct ski_ofi ski_ofi;

enum ski_ofi_kind {
    SKI_OFI_RECV,      /* a receive buffer for a small packet            */
    SKI_OFI_INJECTED,  /* a send whose memory is not ours any more       */
    SKI_OFI_SEND,      /* a small packet                                 */
    SKI_OFI_RNDV_SEND, /* a large packet to a peer                       */
    SKI_OFI_RNDV_RECV, /* one from a peer                                */
    SKI_OFI_PUT,
    SKI_OFI_GET,
    SKI_OFI_ATOMIC,
    SKI_OFI_FREE /* in no use, or its owner has been told already */
};

/* Something that the provider does for us.  A completion names its context, which
 * comes first. */
struct ski_ofi_op {
    struct fi_context2    context;
    enum ski_ofi_kind     kind;
    bool                  dropped; /* a large packet that nobody has room for */
    bool                  quiet;   /* a put whose caller does not wait for it */
    struct ski_peer      *peer;    /* NULL: not known                         */
    void                 *memory;  /* of the packet, or landing               */
    size_t                bytes;
    uint64_t              tag;
    void                 *cookie;
    struct ski_ofi_epoch *epoch;
    uint64_t              value, compare, before, *result;
    unsigned              width;
    struct ski_ofi_op    *next; /* free, or to be posted again */
};

/* The puts between two flushes of a peer. */
struct ski_ofi_epoch {
    unsigned              open; /* not done yet                        */
    bool                  ends; /* by a flush, which wants the cookie  */
    void                 *cookie;
    struct ski_ofi_epoch *next;
};

struct ski_peer {
    struct ski_port        *port;
    int                     pe;
    fi_addr_t               address;
    unsigned                busy;       /* operations that end even if the peer does nothing  */
    unsigned                rndv_count; /* large packets under way, which end only with it    */
    bool                    reached;    /* something has got there                            */
    bool                    lost, reported;
    double                  refused, refused_at; /* seconds that it has been refusing; last when  */
    double                  lost_at;
    struct ski_ofi_epoch   *first, *last; /* the last one is not ended */
    struct ski_peer        *next;
    struct sockaddr_storage addr; /* if it has one of that kind */
    char                    reason[SKI_WHY_MOST];
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
    bool                      refused;    /* by a peer that is not connected, since progress() */
    bool                      has_lost;   /* a peer is lost: tell, or take back what it has    */
    unsigned                  in_flight;  /* operations but receives                           */
    unsigned                  rndv_count; /* of all peers                                      */
    uint32_t                  sequence;   /* of large packets                                  */
    double                    probed_at;  /* when peers were last asked for a sign of life     */
    double                    checked_at; /* at our sockets (transport/guard.h)               */
    struct sockaddr_storage   addr;
    struct ski_peer          *peers; /* all                                               */
    struct ski_peer         **by_pe; /* those of 0 .. pes - 1                             */
    int                       pes;
    struct ski_ofi_op        *free;
    struct ski_ofi_op       **blocks; /* of SKI_OFI_BLOCK operations each */
    size_t                    block_count;
    struct ski_ofi_op        *retry, **retry_end; /* refused by the provider; oldest first */
    void                     *recv_buffers;
};

/* ---- choose.c ---- */

/** The best that libfabric has for @p net, in *@p info; or net->last_error(). */
skua_status_t ski_ofi_provider_select(struct ski_net *net, struct fi_info **info);

/* ---- op.c ---- */

#define SKI_OFI_BLOCK 64

/** A free operation, or NULL. */
struct ski_ofi_op *ski_ofi_op_get(struct ski_port *port, struct ski_peer *peer,
                                  enum ski_ofi_kind kind);
void               ski_ofi_op_put(struct ski_port *port, struct ski_ofi_op *op);

/** Say how a call of libfabric that began @p op went: SKUA_PENDING, or why not, and
 *  then the operation is free. */
skua_status_t ski_ofi_op_started(struct ski_port *port, struct ski_ofi_op *op, ssize_t result);

/** It is over: tell its owner, and free it. */
void ski_ofi_op_end(struct ski_port *port, struct ski_ofi_op *op, skua_status_t status);

/** The peer is lost; progress() will say so. */
void ski_ofi_peer_mark_lost(struct ski_peer *peer, const char *reason);

/** The provider has refused for want of room, or of a connection. */
void ski_ofi_peer_refused(struct ski_peer *peer);

/** Tell of lost peers; after a while take back what was under way to them.  With
 *  @p port->attention. */
void ski_ofi_handle_lost(struct ski_port *port);

/** Shut connections down that are dead; now and then. */
void ski_ofi_check_sockets(struct ski_port *port, double now);

double ski_ofi_now(void);

/* ---- packet.c ---- */

/** Hand what must happen to the provider, a large packet or a receive; now (true) or
 *  in progress(). */
bool ski_ofi_post(struct ski_port *port, struct ski_ofi_op *op);

skua_status_t ski_ofi_send(struct ski_peer *peer, void *packet, size_t bytes);
unsigned      ski_ofi_progress(struct ski_port *port);

/* ---- port.c ---- */

skua_status_t ski_ofi_open(int pe, const struct ski_upcalls *up, void *owner,
                           struct ski_port **port);
void          ski_ofi_close(struct ski_port *port);
size_t        ski_ofi_address(struct ski_port *port, void *to);
skua_status_t ski_ofi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                              struct ski_peer **peer);
int           ski_ofi_wait_fd(struct ski_port *port);
bool          ski_ofi_arm(struct ski_port *port);

/* ---- onesided.c ---- */

skua_status_t ski_ofi_mem_reg(void *base, size_t bytes, struct ski_memory **memory);
void          ski_ofi_mem_dereg(struct ski_memory *memory);
size_t        ski_ofi_rkey_pack(struct ski_memory *memory, void *to);
skua_status_t ski_ofi_rkey_unpack(struct ski_peer *peer, const void *from, size_t bytes,
                                  struct ski_key **key);
void          ski_ofi_rkey_destroy(struct ski_key *key);
skua_status_t ski_ofi_put(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                          struct ski_key *key, void *cookie);
skua_status_t ski_ofi_get(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                          struct ski_key *key, void *cookie);
skua_status_t ski_ofi_atomic(struct ski_peer *peer, enum ski_net_op op, unsigned bytes,
                             uint64_t value, uint64_t *result, uint64_t remote, struct ski_key *key,
                             void *cookie);
skua_status_t ski_ofi_flush(struct ski_peer *peer, void *cookie);

/** A put, get or atomic is over. */
void ski_ofi_rma_end(struct ski_port *port, struct ski_ofi_op *op, skua_status_t status);

#endif
