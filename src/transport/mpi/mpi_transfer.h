/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_transfer.h - packets in flight: the requests of MPI that they consist of, from their start to
 * their end; and the data of ports and peers.
 *
 * A transfer is a packet that is being sent or received.  It consists of up to four requests: the
 * RTS, the first of two parts, and the blocks and the rest of a part that is larger than a message
 * of MPI may be.  A message has at most INT_MAX elements, so a part with more bytes takes two:
 * whole blocks of SKI_MPI_BLOCK bytes, and the rest.
 *
 * Invariants.  request[0..requests) of a port are active; each belongs to the transfer of[i], whose
 * `left` counts them.  When `left` becomes 0 the transfer ends, with an upcall.
 */
#ifndef SKI_MPI_TRANSFER_H
#define SKI_MPI_TRANSFER_H

#include <mpi.h>

#include "transport/driver.h"

/* The state that the ports of the process share; set by mpi.c. */
extern struct ski_mpi_net {
    struct ski_net  *net;
    MPI_Comm         first, packets, bulk;
    MPI_Datatype     block;    /* SKI_MPI_BLOCK bytes */
    int              tag_most; /* the largest tag */
    _Atomic uint32_t ports;    /* opened so far */
    _Atomic uint32_t tags;     /* used in bulk so far */
} ski_mpi_net;

#define SKI_MPI_BLOCK      (1 << 20)
#define SKI_MPI_EAGER_MAX  17408 /* the largest eager packet: 16 KiB, and the head of a message */
#define SKI_MPI_RECV_SLOTS 16    /* receives posted for eager packets, at most */
#define SKI_MPI_SENDS_MAX  64
#define SKI_MPI_RECVS_MAX  64
#define SKI_MPI_REQUESTS_MAX                                                                       \
    (4 * (SKI_MPI_SENDS_MAX + SKI_MPI_RECVS_MAX)) /* RTS, first part, blocks and rest */

/* The announcement of a packet (mpi_port.h has the format). */
struct ski_mpi_rts {
    uint64_t bytes;
    int32_t  tag, pe;
    uint64_t first;
};
_Static_assert(sizeof(struct ski_mpi_rts) < SKI_PACKET_MIN,
               "an RTS is told from packets by its size");

/* A packet in flight. */
struct ski_mpi_transfer {
    enum {
        SKI_MPI_TRANSFER_SEND,
        SKI_MPI_TRANSFER_RECV,
        SKI_MPI_TRANSFER_DROP,
        SKI_MPI_TRANSFER_HEAD,  /* receives the first of two parts, into `packet` */
        SKI_MPI_TRANSFER_DIRECT /* receives the second part where the runtime wants it */
    } kind;
    int                      left;  /* its requests that are not complete */
    int                      error; /* the error of any of them */
    int                      pe;    /* the PE of the other side */
    int                      rank;  /* the rank of the sender, of a receive */
    struct ski_peer         *peer;  /* the peer, of a send */
    bool                     sync;  /* a synchronous send, complete when it was received */
    bool                     split; /* a send whose end is reported by done() */
    void                    *packet;
    size_t                   bytes;
    size_t                   held;  /* of a send: bytes that are in memory of the runtime */
    size_t                   first; /* bytes of the first of two parts; 0: the packet is in one */
    char                    *rest;  /* the second part */
    void                    *cookie;
    struct ski_mpi_rts       announcement; /* sent, when it stays in place, or received */
    struct ski_mpi_transfer *next;         /* in the list of free ones */
};

/* A PE that packets are sent to. */
struct ski_peer {
    struct ski_port *port;
    int              pe, rank, number; /* the number of its port */
    int              error;            /* why the peer is lost, or MPI_SUCCESS */
    bool             reported;         /* lost() was called */
    unsigned         small;            /* eager packets sent, counted */
    unsigned         syncs;            /* synchronous sends in flight */
    unsigned         sends;            /* transfers to it ... */
    size_t           held_bytes;       /* ... and their bytes in memory of the runtime */
    struct ski_peer *next;
};

/* A port, with its receives for eager packets and its transfers. */
struct ski_port {
    int                       pe, number;
    const struct ski_upcalls *up;
    void                     *owner;
    bool                      closing;
    bool                      recv_failed; /* its receives have failed */
    bool                      has_lost;    /* lost peers are to be reported */
    bool                      took;        /* the last test found a message */
    unsigned                  oldest;      /* the first of the posted receives */
    unsigned                  posted;      /* their number */
    unsigned                  wanted;      /* the number that there should be */
    unsigned                  made;        /* persistent receives made (mpi_recv_restart()) */
    MPI_Request               receive[SKI_MPI_RECV_SLOTS];
    char                     *slots; /* SKI_MPI_RECV_SLOTS times SKI_MPI_EAGER_MAX bytes */
    struct ski_peer          *peers;
    struct ski_mpi_transfer  *free_send, *free_receive;
    unsigned                  sends; /* transfers to all peers */
    int                       requests;
    MPI_Request               request[SKI_MPI_REQUESTS_MAX];
    struct ski_mpi_transfer  *of[SKI_MPI_REQUESTS_MAX];
    int                       over[SKI_MPI_REQUESTS_MAX];
    MPI_Status                status[SKI_MPI_REQUESTS_MAX];
    struct ski_mpi_transfer   transfer[SKI_MPI_SENDS_MAX + SKI_MPI_RECVS_MAX];
    char                      begin[SKI_MPI_RECVS_MAX][SKI_DIRECT_HEAD]; /* first parts */
};

/** Records that @p peer is lost with @p error; ski_mpi_progress() reports it. */
void ski_mpi_peer_mark_lost(struct ski_peer *peer, int error);

/** Removes a transfer from @p list, which is not empty, and returns it without requests. */
struct ski_mpi_transfer *ski_mpi_transfer_get(struct ski_mpi_transfer **list);

/** Returns a transfer to @p list. */
void ski_mpi_transfer_put(struct ski_mpi_transfer **list, struct ski_mpi_transfer *t);

/** Records the result of an MPI call for a transfer: a request to wait for, or an error. */
void ski_mpi_track_request(struct ski_port *port, struct ski_mpi_transfer *t, int error,
                           MPI_Request request);

/** Begins to send or to receive the packet of a transfer, as its kind says.  MPI keeps the order of
 *  messages with the same tag. */
void ski_mpi_transfer_data(struct ski_port *port, struct ski_mpi_transfer *t, int rank, int tag);

/** Begins to receive the packet that t->announcement announces: its first part alone if it has
 *  two, and the runtime may have a place for the second; else all of it. */
void ski_mpi_recv_start(struct ski_port *port, struct ski_mpi_transfer *t);

/** Returns a transfer that sends to the list of free ones. */
void ski_mpi_send_put(struct ski_port *port, struct ski_mpi_transfer *t);

/** Ends a transfer whose requests are complete: calls the upcall for it and frees it. */
void ski_mpi_transfer_end(struct ski_port *port, struct ski_mpi_transfer *t);

/** Ends the transfers of a port whose requests are complete.  Returns the number of requests that
 *  have completed. */
unsigned ski_mpi_test_requests(struct ski_port *port);

#endif
