/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - packets over TCP sockets of our own (transport/driver.h): what the files of the
 * driver share.
 *
 * Where hosts are joined by Ethernet this needs no library, and is faster than those that
 * use TCP too: a packet is one call of the system on either side (docs/decisions/
 * 0028-own-tcp.md).
 *
 * A port listens at its *doors*, one for each address of the job's networks, and has *links*,
 * connections with other ports (greet.c, link.c).  Both directions of a link are used, so that
 * acknowledgements travel with answers.  What happens at doors and links is told by epoll
 * (port.c); the link that was heard of last is asked directly most of the time, which is one
 * call less.  What comes over a link is a stream of packets (stream.h).
 *
 * Both sides of a new link prove that they know the secret of the job, each by an answer to fresh
 * random numbers of the other's, the nonces: so what was seen on the way proves nothing later.
 * Nothing else is read before that, and nothing sent.
 *
 *      hello     --> | "SkuaTC2" (8) | security (4) | from (4) | to (4) | 0 (4) | nonce (16) |
 *      answer    <-- | nonce (16) | proof (16) |
 *      proof     --> | proof (16) |
 *
 * A proof is a keyed hash (secret.h) of the role of its sender, the setting security, both PEs and
 * both nonces: an answer that is sent back is no proof, nor is one for another link, another
 * direction or another setting.  The side that begins opens the link with the answer, the other
 * with the proof.  Keys for records, where the setting asks for them, come from the same words.
 *
 * If two ports begin links to each other at the same time, both remain, and packets go by the one
 * that the lower PE began.
 *
 * A packet is sent from where it lies (send.c).  What the system does not take at once waits
 * in the queue of the peer, at most SENDS_MOST packets, and goes on in progress().
 */
#ifndef SKI_TCP_H
#define SKI_TCP_H

#include <stdatomic.h>

#include "transport/driver.h"
#include "transport/sockaddrs.h"
#include "transport/tcp/tcp_record.h"
#include "transport/tcp/tcp_framing.h"

/* What epoll tells of; first in what it is. */
struct ski_tcp_source {
    enum { SKI_TCP_LISTENER, SKI_TCP_CONN } kind;
    int fd;
};

#define SKI_TCP_MAGIC "SkuaTC2" /* changes with what follows */

struct ski_tcp_hello {
    char     magic[8];
    uint32_t security; /* enum ski_security */
    int32_t  from, to;
    uint32_t unused;
    uint64_t nonce[2];
};

struct ski_tcp_answer {
    uint64_t nonce[2], proof[2];
};

/* The side that begins a link, which proves; the other, which does; and, of neither, keys. */
enum ski_tcp_role { SKI_TCP_INITIATOR, SKI_TCP_RESPONDER, SKI_TCP_KEYS };

/* What is proved of a link, and what its keys belong to: both sides come to the same words. */
struct ski_tcp_transcript {
    uint64_t role;
    uint32_t security;
    int32_t  from, to; /* the side that begins, and the other */
    uint32_t unused;
    uint64_t nonce[4]; /* of the side that begins, and of the other */
};

#define SKI_TCP_TRANSCRIPT_WORDS (sizeof(struct ski_tcp_transcript) / sizeof(uint64_t))

struct ski_tcp_conn {
    struct ski_tcp_source source;
    enum {
        SKI_TCP_CONNECTING,  /* by the system                   */
        SKI_TCP_HANDSHAKE,   /* a hello is expected, or the answer to ours */
        SKI_TCP_AWAIT_PROOF, /* it has come in and been answered: its proof is expected */
        SKI_TCP_OPEN,
        SKI_TCP_CLOSED, /* closed; freed at the end of progress() */
    } state;
    bool             initiator;      /* we began it                                  */
    bool             wants_writable; /* epoll tells when it has room                 */
    bool             end_sent;       /* we have ended the stream                     */
    int              pe;             /* of the other side; -1: it has not proved yet */
    struct ski_port *port;
    bool (*on_readable)(struct ski_tcp_conn *conn); /* what is done when something happens at it */
    struct ski_framing    in;
    struct ski_records   *records; /* NULL: the stream goes as it is */
    struct ski_tcp_hello  hello;   /* sent, or as much as has come of it; so for the others */
    struct ski_tcp_answer answer;
    uint64_t              proof[2];
    size_t                got; /* of what is expected before it is open */
    double                started;
    double                deadline;   /* when it is too late for what it waits for, unless open */
    size_t                addr_index; /* of the peer, that it goes to, if it is ours */
    struct ski_tcp_conn  *next;
};

/* A packet that the system has not taken yet, or a part of it. */
struct ski_tcp_send_req {
    struct ski_tcp_send_req *next;
    uint64_t                 head;
    const void              *part[2]; /* the packet, and the rest of one that is split */
    size_t                   bytes[2];
    size_t                   sent; /* of all, with the head          */
    bool                     split;
    void                    *cookie; /* of done(), if it is split    */
};

struct ski_peer {
    struct ski_port         *port;
    int                      pe;
    struct ski_tcp_conn     *conn; /* by which we send; NULL: it has closed its port, or is lost */
    bool                     lost; /* that has been told */
    bool                     slow_path; /* it is lost, or its links have records */
    struct ski_tcp_send_req *first, **last;
    unsigned                 waiting; /* packets in the queue                    */
    unsigned                 stalls;  /* times that nothing of it went           */
    bool                     queued;  /* among those with a queue                */
    struct ski_sockaddrs     addrs;
    size_t                   next_addr; /* of the names  */
    int                      error;     /* of the last; 0: somebody else is there */
    int                      retries;   /* how often one was tried again          */
    struct ski_peer         *next, *next_waiting;
};

#define SKI_TCP_SCRATCH ((size_t)128 << 10) /* bytes that are received at once */

struct ski_port {
    int                       pe;
    const struct ski_upcalls *up;
    void                     *owner;
    int                       epoll;
    struct ski_sockaddrs      addrs;
    struct ski_tcp_source     listener[SKI_SOCKADDRS_MAX]; /* one for each name */
    struct ski_tcp_conn      *conns;
    struct ski_tcp_conn      *closed; /* to be freed        */
    struct ski_tcp_conn      *hot;    /* heard of last      */
    struct ski_peer          *peers;
    struct ski_peer          *waiting; /* those with a queue */
    struct ski_tcp_send_req  *spare;
    unsigned                  polls;
    unsigned                  refused;             /* that were refused      */
    unsigned                  unauthenticated;     /* links that came in     */
    bool                      accept_paused;       /* the doors are, ...     */
    double                    accept_paused_until; /* ... as long as that    */
    bool                      short_of_files;
    double                    checked_at;
    char                     *scratch;
};

struct ski_tcp {
    struct ski_net *net;
    const char     *interfaces;      /* that are meant */
    _Atomic size_t  unauthenticated; /* links that came in, of all ports */
    _Atomic double  close_deadline;  /* for ports that are closed one after the other; 0: none is */
    char            text[128];
};

extern struct ski_tcp ski_tcp;

/** Seconds, to some milliseconds. */
double ski_tcp_now(void);

/** Links of a port that have not proved who they are become more, or fewer. */
static inline void ski_tcp_count_unauthenticated(struct ski_port *port, int by)
{
    port->unauthenticated += (unsigned)by;
    atomic_fetch_add(&ski_tcp.unauthenticated, (size_t)(ptrdiff_t)by);
}

/* ---- links that are open (link.c) -------------------------------------------------- */

/** Have epoll tell what comes to a socket. */
bool ski_tcp_epoll_add(struct ski_port *port, struct ski_tcp_source *source);

/** Have it tell, too, when a link has room; or not any more. */
void ski_tcp_want_writable(struct ski_tcp_conn *conn, bool ask);

/** A link on the socket @p fd, not open yet; NULL: there is no memory, and that was closed. */
struct ski_tcp_conn *ski_tcp_conn_new(struct ski_port *port, int fd, int pe);

/** Close it.  Those that are over are freed by bury(). */
void ski_tcp_conn_close(struct ski_tcp_conn *conn);
void ski_tcp_conns_reap(struct ski_port *port);

/** Something happened at a link; true if there was anything to it. */
static inline bool ski_tcp_on_readable(struct ski_tcp_conn *conn)
{
    return conn->on_readable(conn);
}

/** Links that wait too long, and those that are dead. */
void ski_tcp_conns_check(struct ski_port *port);

/** A peer is lost, for that reason: that is told, and everything given back that waits for it. */
void ski_tcp_peer_lost(struct ski_peer *peer, const char *reason);

/** The peer that a PE is; NULL: we have not connected to it. */
struct ski_peer *ski_tcp_peer_find(const struct ski_port *port, int pe);

/* ---- links that are not open yet (greet.c) ----------------------------------------- */

/** Somebody is at a door; true if it was let in. */
bool ski_tcp_accept(struct ski_port *port, int listener);

/** Something happened at a link that the system connects. */
bool ski_tcp_on_connected(struct ski_tcp_conn *conn);

/** Something happened at a link whose hello, answer or proof is awaited. */
bool ski_tcp_on_handshake(struct ski_tcp_conn *conn);

/** Make the records of a link, if the setting asks for them and it has none, once both nonces are
 *  known; false: that failed. */
bool ski_tcp_conn_secure(struct ski_tcp_conn *conn);

/** Whether a link has come in and not proved yet whose it is. */
static inline bool ski_tcp_is_unauthenticated(const struct ski_tcp_conn *conn)
{
    return !conn->initiator &&
           (conn->state == SKI_TCP_HANDSHAKE || conn->state == SKI_TCP_AWAIT_PROOF);
}

/** Something happened at a link that is open (link.c): without records, or with them. */
bool ski_tcp_on_packets(struct ski_tcp_conn *conn);
bool ski_tcp_on_records(struct ski_tcp_conn *conn);

/** It has waited too long; it has failed. */
void ski_tcp_on_deadline(struct ski_tcp_conn *conn);
void ski_tcp_conn_fail(struct ski_tcp_conn *conn, int error);

/** Have epoll not tell of who is at the doors (port.c); or again. */
void ski_tcp_pause_accept(struct ski_port *port, bool accept_paused);

/* ---- queues (send.c) ------------------------------------------------------------- */

/** Whether a packet has left in part by the link of its peer, or waits there in a record. */
static inline bool ski_tcp_mid_packet(const struct ski_peer *peer)
{
    const struct ski_records *records = peer->conn ? peer->conn->records : NULL;

    return peer->first && (peer->first->sent > 0 || (records && ski_records_wait(records)));
}

/** Give the system what it takes of @p parts, in records if the link has them; how many bytes of
 *  them have left.  Where a record has left in part, none of it counts, and the next call must be
 *  for the same bytes. */
size_t ski_tcp_write(struct ski_tcp_conn *conn, struct iovec *part, size_t parts);

/** Send what waits; true if some of it went. */
bool ski_tcp_sendq_flush(struct ski_port *port);

/** Have epoll tell when there is room for what waits. */
void ski_tcp_want_writable_all(struct ski_port *port);

/** Give everything back that waits for a peer. */
void ski_tcp_sendq_clear(struct ski_peer *peer);

/* ---- the calls of the driver ------------------------------------------------------ */

skua_status_t ski_tcp_open(int pe, const struct ski_upcalls *up, void *owner,
                           struct ski_port **out);
void          ski_tcp_close(struct ski_port *port);
size_t        ski_tcp_address(struct ski_port *port, void *to);
skua_status_t ski_tcp_connect(struct ski_port *port, int pe, const void *to, size_t bytes,
                              struct ski_peer **out);
skua_status_t ski_tcp_send(struct ski_peer *peer, void *packet, size_t bytes);
skua_status_t ski_tcp_send_split(struct ski_peer *peer, void *packet, size_t bytes,
                                 const void *rest, size_t rest_bytes, void *cookie);
unsigned      ski_tcp_progress(struct ski_port *port);
int           ski_tcp_wait_fd(struct ski_port *port);
bool          ski_tcp_arm(struct ski_port *port);

#endif
