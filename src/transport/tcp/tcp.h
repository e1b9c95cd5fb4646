/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - the TCP driver (transport/driver.h): packets over sockets, without a library.  The files
 * of the driver share these declarations.
 *
 * On Ethernet it is faster than libraries over TCP: a packet takes one system call on either side
 * (docs/decisions/0028-own-tcp.md).
 *
 *   tcp.c            the process: settings, and the table of functions
 *   tcp_port.c       ports: listening sockets, epoll, progress, close
 *   tcp_handshake.c  connections until they are open
 *   tcp_settle.c     which of two connections with a peer stays
 *   tcp_conn.c       open connections: receiving, and their end
 *   tcp_send.c       sending, and the queues of packets that wait
 *   tcp_assist.c     the progress thread sends from the queues of PEs that compute
 *   tcp_rail.c       several connections with a peer for large packets
 *   tcp_multipart.c  receiving such a packet
 *   tcp_io_thread.c  a thread that sends or receives on one of them beside the PE
 *   tcp_framing.c    packets in a stream of bytes
 *   tcp_record.c     authenticated and encrypted records, for security=auth and encrypt
 *   tcp_hub.c        a port that the PEs of a process share, for shared_connections (tcp_hub.h)
 *
 * A port has listening sockets, *listeners*, one for each address of the job's networks, and
 * connections with other ports.  Both directions of a connection are used, so that acknowledgements
 * travel with data.  epoll reports events of listeners and connections; the *hot* connection, which
 * received last, is read directly most of the time, which saves a system call.  Where data comes
 * from one connection after the other, epoll is asked each time.  A connection that stays hot
 * leaves epoll until another one is hot or the port sleeps: the kernel then need not record events
 * that nothing asks for, which takes a tenth of the time of a small packet.
 *
 * Both sides of a new connection prove that they know the secret of the job, each by answering a
 * nonce, fresh random numbers of the other side, so that recorded traffic proves nothing later.
 * Nothing else is read or sent before that.
 *
 *      hello     --> | "SkuaTC3" (8) | security (4) | from (4) | to (4) | rail (4) | nonce (16) |
 *      answer    <-- | nonce (16) | proof (16) |
 *      proof     --> | proof (16) |
 *
 * A proof is a keyed hash (secret.h) of the role of its sender, the setting security, both PEs, the
 * number of the rail (tcp_rail.c), which is 0 for the first connection of a pair, and both nonces.
 * So a proof that is reflected is invalid, and so is one for another connection, direction or
 * setting.  The connection is open for the initiator when it has received the answer, for the
 * responder when it has received the proof.  The keys of records are derived from the same words.
 *
 * If two ports connect to each other at the same time, the connection that the lower PE initiated
 * stays open, and the other one is closed when both sides have left it (tcp_settle.c).
 *
 * A packet is sent from the memory of the runtime.  What the kernel does not accept at once waits
 * in the send queue of the peer, whose length is bounded in packets and bytes, and is sent in
 * progress().
 */
#ifndef SKI_TCP_H
#define SKI_TCP_H

#include <assert.h>
#include <stdatomic.h>

#include "transport/driver.h"
#include "transport/sockaddrs.h"
#include "transport/tcp/tcp_io_thread.h"
#include "transport/tcp/tcp_record.h"
#include "transport/tcp/tcp_multipart.h"

/* The target of an epoll event: the first member of a listener or a connection, or the timer of
 * tcp_assist.c. */
struct ski_tcp_source {
    enum { SKI_TCP_LISTENER, SKI_TCP_CONN, SKI_TCP_ASSIST } kind;
    int fd;
};

#define SKI_TCP_MAGIC "SkuaTC3" /* changes with the protocol */

/* The first message of a handshake. */
struct ski_tcp_hello {
    char     magic[8];
    uint32_t security; /* enum ski_security */
    int32_t  from, to;
    uint32_t rail;
    uint64_t nonce[2];
};

/* The second message of a handshake. */
struct ski_tcp_answer {
    uint64_t nonce[2], proof[2];
};

/* The uses of a hash of the transcript: the proof of either side, or keys. */
enum ski_tcp_role { SKI_TCP_INITIATOR, SKI_TCP_RESPONDER, SKI_TCP_KEYS };

/* The words that proofs and keys of a connection are derived from; equal on both sides. */
struct ski_tcp_transcript {
    uint64_t role;
    uint32_t security;
    int32_t  from, to; /* the PEs of the initiator and of the responder */
    uint32_t rail;
    uint64_t nonce[4]; /* of the initiator, then of the responder        */
};

#define SKI_TCP_TRANSCRIPT_WORDS (sizeof(struct ski_tcp_transcript) / sizeof(uint64_t))

/* A connection. */
struct ski_tcp_conn {
    struct ski_tcp_source source;
    enum {
        SKI_TCP_CONNECTING,  /* the kernel connects it                                     */
        SKI_TCP_HANDSHAKE,   /* initiator: an answer is expected; responder: a hello       */
        SKI_TCP_AWAIT_PROOF, /* responder: the answer was sent, a proof is expected        */
        SKI_TCP_OPEN,
        SKI_TCP_CLOSED, /* freed at the end of progress() */
    } state;
    bool             initiator;      /* this side opened the connection                        */
    bool             wants_writable; /* epoll reports when it becomes writable                 */
    bool             end_sent;       /* the end of the outgoing stream was sent                */
    bool             outside_epoll;  /* it is hot, and epoll does not report its events        */
    bool             unwatched;      /* epoll does not report that it is readable: it is paused */
    bool             left;           /* its packets come before those of the kept one          */
    unsigned char    end_kind;       /* enum ski_frame_kind of that end; 0: it was not begun   */
    size_t           end_bytes;      /* bytes of it that were sent                             */
    int              pe;             /* the PE of the other side; -1: not authenticated yet    */
    unsigned         rail;           /* its number; 0: the connection of all but large packets */
    unsigned         early_polls;    /* events of a rail since it was read                     */
    int              error; /* of a call that failed, which the kernel reports once; 0: none   */
    struct ski_port *port;
    bool (*on_readable)(struct ski_tcp_conn *conn); /* handles an event; depends on the state  */
    struct ski_framing    in;
    struct ski_records   *records; /* NULL: the stream is sent as it is                        */
    struct ski_tcp_hello  hello;   /* the messages of the handshake, as sent or received so far */
    struct ski_tcp_answer answer;
    uint64_t              proof[2];
    size_t                got;        /* bytes received of the expected handshake message       */
    double                started;    /* when the connection was made                           */
    double                deadline;   /* of the handshake                                       */
    size_t                addr_index; /* initiator: which address of the peer it connects to    */
    struct ski_tcp_conn  *next, *next_in_bucket;
};

struct ski_tcp_divided;

/* A packet that the kernel has not accepted completely, or a part of one. */
struct ski_tcp_send_req {
    struct ski_tcp_send_req *next;
    uint64_t                 head[3]; /* of its frame ...                                       */
    size_t                   head_bytes; /* ... and the bytes of it                             */
    const void              *part[2]; /* the packet, and the rest of a split packet             */
    size_t                   bytes[2];
    size_t                   sent; /* bytes accepted, of the head and the parts                 */
    bool                     split;
    void                    *cookie;  /* of done(), if split                                    */
    struct ski_tcp_divided  *divided; /* the packet that this is a part of; NULL: it is whole   */
    struct ski_peer         *peer;    /* only of a request that is queued by another function   */
    void                    *owner;   /* the port that is told of the end, if ports share one    */
    void                    *to;      /* its peer, while that port is open                       */
};

#define SKI_TCP_RAILS_MAX  8                   /* rails of a peer, at most                  */
#define SKI_TCP_RAIL_BYTES ((size_t)128 << 10) /* bytes from which on a packet uses them    */
#define SKI_TCP_IO_BYTES   ((size_t)512 << 10) /* ... or one on the same network             */

/* A port that this port sends to. */
struct ski_peer {
    struct ski_port     *port;
    int                  pe;
    struct ski_tcp_conn *conn; /* used for sending; NULL: the peer closed its port, or is lost */
    bool                 lost; /* lost() was called                                         */
    bool                 slow_path; /* it is lost, or its connections have records          */
    struct ski_tcp_send_req *first, **last;
    unsigned                 waiting; /* packets in the send queue                              */
    size_t                   waiting_bytes; /* bytes of these packets                           */
    size_t                   held_bytes; /* those in memory of the runtime, but for parts       */
    unsigned                 stalls;    /* flushes in a row that sent nothing                     */
    bool                     queued;    /* in port->waiting                                       */
    bool                     unsettled; /* it sends on another connection after this packet    */
    struct ski_sockaddrs     addrs;
    size_t                   next_addr; /* the first address not tried yet                       */
    int                      error;     /* errno of the last attempt; 0: another port answered  */
    int                      retries;   /* attempts that were repeated                           */
    struct ski_peer         *next, *next_waiting, *next_in_bucket;

    /* Rails: connections for parts of large packets. */
    unsigned         number; /* of this rail; 0: the peer itself                  */
    struct ski_peer *main;   /* the peer that this is a rail of; NULL: it is none */
    struct ski_peer *rail[SKI_TCP_RAILS_MAX]; /* by number, from 1 on; or NULL     */
    bool             rails_opened;
    bool             io_rail;       /* rail 1 is on the network of rail 0, for the I/O thread */
    uint64_t         multiparts;    /* packets that were divided so far                  */
    size_t           divided_bytes; /* held of packets of which a part waits          */
};

#define SKI_TCP_SCRATCH    ((size_t)128 << 10) /* bytes that one call receives into `scratch` */
#define SKI_TCP_BUCKETS    64
#define SKI_TCP_HOT_MISSES 2 /* receives in a row from changing connections: others will follow */
#define SKI_TCP_HOT_STAYS  8 /* polls of epoll after which a connection that stays hot leaves it */

struct ski_port {
    int                       pe;
    const struct ski_upcalls *up;
    void                     *owner;
    int                       epoll;
    struct ski_sockaddrs      addrs;
    struct ski_tcp_source     listener[SKI_SOCKADDRS_MAX]; /* one for each address              */
    struct ski_tcp_conn      *conns;
    struct ski_tcp_conn      *closed; /* connections to be freed                                */
    struct ski_tcp_conn      *hot;    /* the connection that received last                      */
    unsigned                  hot_misses;  /* receives in a row from another one than `hot`      */
    struct ski_tcp_conn      *hot_before;  /* `hot` at the last poll of epoll, only to compare  */
    unsigned                  hot_stays;   /* polls of epoll since `hot` was another one         */
    bool                      recv_paused; /* open connections are written, and not read        */
    unsigned                  left;        /* number of connections with `left`                 */
    struct ski_peer          *peers;
    struct ski_peer          *bucket[SKI_TCP_BUCKETS];      /* peers by their PEs               */
    struct ski_tcp_conn      *conn_bucket[SKI_TCP_BUCKETS]; /* connections whose PE is known    */
    struct ski_peer          *waiting; /* peers with packets that can be sent, or never can     */
    unsigned                  unsent;  /* packets in all send queues                            */
    struct ski_tcp_send_req  *spare;
    void *const              *owners; /* by the number in a frame; NULL: frames have none        */
    size_t                    owner_count;
    void (*on_sent)(struct ski_tcp_send_req *out); /* takes over a request that is complete; NULL:
                                                      sent() or done() is called */
    unsigned              polls;                   /* calls of progress() since epoll was polled */
    unsigned              refused;                 /* connections refused                        */
    unsigned              unauthenticated;     /* accepted connections that are not authenticated */
    bool                  accept_paused;       /* epoll does not report listeners ...        */
    double                accept_paused_until; /* ... until then                             */
    bool                  short_of_files;      /* a lack of descriptors was logged           */
    double                checked_at;          /* when connections were last checked         */
    char                 *scratch;             /* SKI_TCP_SCRATCH bytes                      */
    struct ski_multiparts multiparts;          /* packets that arrive in parts               */
    struct ski_io_thread *io;                  /* NULL: none was needed, or there is none    */
    bool                  io_refused;          /* it could not be started, or was stopped    */

    /* What the progress thread sends (tcp_assist.c). */
    bool             assisted;     /* it sends for this port                                 */
    bool             offered;      /* the send queues were offered, and not taken back       */
    _Atomic unsigned queue_owner;  /* enum assist_owner                                      */
    _Atomic unsigned flushes;      /* offers after a flush, so far                           */
    unsigned         flushes_seen; /* by the progress thread                                 */
    struct ski_port *next_assisted;
};

/* The process. */
struct ski_tcp {
    struct ski_net *net;
    const char     *interfaces;      /* the result of ski_netif_resolve()                        */
    _Atomic size_t  unauthenticated; /* unauthenticated connections of all ports                 */
    _Atomic double close_deadline; /* shared by ports that are closed in a row; 0: none is closed */
    char           text[128], shared_text[192]; /* what describe() returns                      */
};

extern struct ski_tcp ski_tcp;

/** The driver whose ports share the connections of their process (tcp_hub.c). */
extern const struct ski_driver ski_tcp_hub_driver;

/** Returns a monotonic time in seconds, accurate to some milliseconds. */
double ski_tcp_now(void);

/** Adds @p by to the number of unauthenticated connections of a port and of the process. */
static inline void ski_tcp_count_unauthenticated(struct ski_port *port, int by)
{
    assert(by >= 0 || port->unauthenticated > 0);
    port->unauthenticated += (unsigned)by;
    atomic_fetch_add(&ski_tcp.unauthenticated, (size_t)(ptrdiff_t)by);
}

/* ---- connections (tcp_conn.c) ------------------------------------------------------ */

/** Makes epoll report when a socket is readable. */
bool ski_tcp_epoll_add(struct ski_port *port, struct ski_tcp_source *source);

/** Sets whether epoll also reports when a connection is writable. */
void ski_tcp_want_writable(struct ski_tcp_conn *conn, bool ask);

/** Sets whether epoll reports events of a connection; only the hot one may be left out.  Returns
 * false if the system refuses that. */
bool ski_tcp_conn_use_epoll(struct ski_tcp_conn *conn, bool use);

/** Makes a connection of the socket @p fd, in the handshake.  Returns NULL, with @p fd closed, if
 *  memory is exhausted. */
struct ski_tcp_conn *ski_tcp_conn_new(struct ski_port *port, int fd, int pe);

/** Sets the PE at the other side of a connection, once it is known. */
void ski_tcp_conn_set_pe(struct ski_tcp_conn *conn, int pe);

/** Returns the connections of a port among which those to @p pe are. */
static inline struct ski_tcp_conn **ski_tcp_conn_bucket(struct ski_port *port, int pe)
{
    return &port->conn_bucket[(unsigned)pe % SKI_TCP_BUCKETS];
}

/** Returns whether packets may be sent on a connection. */
static inline bool ski_tcp_can_send(const struct ski_tcp_conn *conn)
{
    return conn->state == SKI_TCP_OPEN && !conn->end_kind;
}

/** Closes a connection; ski_tcp_conns_reap() frees it. */
void ski_tcp_conn_close(struct ski_tcp_conn *conn);

/** Frees the connections that were closed. */
void ski_tcp_conns_reap(struct ski_port *port);

/** Handles an event of a connection.  Returns whether there was anything to do. */
static inline bool ski_tcp_on_readable(struct ski_tcp_conn *conn)
{
    return conn->on_readable(conn);
}

/** Ends connections that are dead, and handshakes that are past their deadline. */
void ski_tcp_conns_check(struct ski_port *port);

/** Reports that a peer is lost, and completes all packets that wait for it. */
void ski_tcp_peer_lost(struct ski_peer *peer, const char *reason);

/** Adds a peer to a port. */
void ski_tcp_peer_add(struct ski_port *port, struct ski_peer *peer);

/** Returns the peer with the number @p pe, or NULL if the port has not connected to it. */
struct ski_peer *ski_tcp_peer_find(const struct ski_port *port, int pe);

/** Returns the peer that is sent to on a connection, a rail for that of one; or NULL. */
struct ski_peer *ski_tcp_peer_of(const struct ski_tcp_conn *conn);

/** Makes epoll not report, until they continue, that connections are readable whose streams are
 *  paused: the port would not sleep. */
void ski_tcp_unwatch_paused(struct ski_port *port);

/** Lets a connection receive as it must after a part of a packet has begun or ended. */
void ski_tcp_multipart_changed(struct ski_framing *in);

/** Lets an open connection receive packets. */
void ski_tcp_conn_receive(struct ski_tcp_conn *conn);

/* ---- connections that are not open yet (tcp_handshake.c) ---------------------------- */

/** Accepts connections at a listener.  Returns whether there were any. */
bool ski_tcp_accept(struct ski_port *port, int listener);

/** Handles an event of a connection that the kernel was connecting. */
bool ski_tcp_on_connected(struct ski_tcp_conn *conn);

/** Handles an event of a connection that expects a message of the handshake. */
bool ski_tcp_on_handshake(struct ski_tcp_conn *conn);

/** Makes the records of a connection, if the setting requires them and it has none, once both
 * nonces are known.  Returns false if that fails. */
bool ski_tcp_conn_secure(struct ski_tcp_conn *conn);

/** Returns whether an accepted connection has not proved yet that it belongs to the job. */
static inline bool ski_tcp_is_unauthenticated(const struct ski_tcp_conn *conn)
{
    return !conn->initiator &&
           (conn->state == SKI_TCP_HANDSHAKE || conn->state == SKI_TCP_AWAIT_PROOF);
}

/** Handles a handshake that is past its deadline. */
void ski_tcp_on_deadline(struct ski_tcp_conn *conn);

/** Connects to the next address of a peer, or of a rail, or waits for the answer at another one.
 *  Returns false if none is left. */
bool ski_tcp_try_next(struct ski_peer *peer);

/** Ends a connection whose handshake failed with @p error, and tries the next address of the peer.
 */
void ski_tcp_conn_fail(struct ski_tcp_conn *conn, int error);

/** Sets whether epoll leaves listeners out (tcp_port.c). */
void ski_tcp_pause_accept(struct ski_port *port, bool accept_paused);

/* ---- two connections with a peer (tcp_settle.c) --------------------------------------- */

/** If two connections with @p pe are open for rail @p rail, leaves the one that does not stay. */
void ski_tcp_settle(struct ski_port *port, int pe, unsigned rail);

/** Ends the outgoing stream of a connection.  Returns false if there was no room for the end: it is
 *  to be called again, and nothing else is sent. */
bool ski_tcp_send_end(struct ski_tcp_conn *conn, enum ski_frame_kind kind);

/* ---- sending (tcp_send.c) ------------------------------------------------------------ */

/** Returns the bytes of a packet that are in memory of the runtime: the rest of a split packet is
 *  where the program has it.  Parts of a packet have none: all of it is held until the last one is
 *  sent (divided_bytes). */
static inline size_t ski_tcp_send_req_held(const struct ski_tcp_send_req *out)
{
    if (out->divided)
        return 0;
    return out->split ? out->bytes[0] : out->bytes[0] + out->bytes[1];
}

/** Returns whether a packet to the peer has been sent in part, or waits in a record.  Packets that
 *  the progress thread has sent have been completed (ski_tcp_sendq_complete_sent()). */
static inline bool ski_tcp_mid_packet(const struct ski_peer *peer)
{
    const struct ski_records *records = peer->conn ? peer->conn->records : NULL;

    return peer->first && (peer->first->sent > 0 || (records && ski_records_wait(records)));
}

/** Writes as much of @p parts as the kernel accepts, in records if the connection has them. Returns
 *  the number of bytes written.  A record counts only when it was written completely; until then
 *  the next call must be for the same bytes.  If the result is 0, errno is EAGAIN unless the
 *  connection is broken. */
size_t ski_tcp_write(struct ski_tcp_conn *conn, struct iovec *part, size_t parts);

/** Sends from the queues of all peers.  Returns whether anything was sent. */
bool ski_tcp_sendq_flush(struct ski_port *port);

/** Sends a packet, or as much of it as the kernel accepts, and queues a copy of the request for the
 *  rest.  Returns what send() of driver.h does. */
skua_status ski_tcp_send_start(struct ski_peer *peer, struct ski_tcp_send_req *out);

/** Sends a packet as ski_tcp_send_start() does, with less work if it is small. */
skua_status ski_tcp_send_one(struct ski_peer *peer, struct ski_tcp_send_req *out);

/** Queues a request from malloc(), whatever the length of the queue; the next flush sends it.  For
 *  a lost peer it is completed at once. */
void ski_tcp_sendq_append(struct ski_tcp_send_req *out);

/** Returns whether the queue of a peer is to accept no further packets. */
bool ski_tcp_sendq_is_full(const struct ski_peer *peer);

/** Writes at most @p most bytes of the packets that wait for a peer, and removes none of them from
 *  the queue.  Returns whether anything was written; *@p more is set to whether there is more to
 *  send on its connection, which is not broken. */
bool ski_tcp_sendq_write_ahead(struct ski_peer *peer, size_t most, bool *more);

/** Completes the packets that ski_tcp_sendq_write_ahead() has sent, and settles peers whose switch
 *  to another connection waited for them.  Returns the number of packets. */
unsigned ski_tcp_sendq_complete_sent(struct ski_port *port);

/** Sends from the queue of a peer with an open connection.  Returns whether anything was sent. */
bool ski_tcp_sendq_flush_peer(struct ski_peer *peer);

/** Sends from the queues of two rails of a peer with open connections, at the same time if the port
 *  has an I/O thread.  Returns whether anything was sent. */
bool ski_tcp_sendq_flush_two(struct ski_peer *rail, struct ski_peer *other);

/** Makes epoll report when packets that wait can be sent. */
void ski_tcp_want_writable_all(struct ski_port *port);

/** Lets the next flush send the packets that wait for a peer, after its connection has changed. */
void ski_tcp_sendq_list(struct ski_peer *peer);

/** Completes all packets that wait for a peer without sending them. */
void ski_tcp_sendq_clear(struct ski_peer *peer);

/* ---- the progress thread (tcp_assist.c) ------------------------------------------------ */

/** Lets the progress thread of the process, if there is one, send for a new port; or, if this is
 *  the port of that thread, for all others.  Returns false if the system refuses that. */
bool ski_tcp_assist_open(struct ski_port *port);

/** Ends what ski_tcp_assist_open() began. */
void ski_tcp_assist_close(struct ski_port *port);

/** Takes the send queues back from the progress thread; it may be writing, and is waited for. */
void ski_tcp_assist_take_back(struct ski_port *port);

/** Takes the send queues back if they were offered, in each call of a port that uses them. */
static inline void ski_tcp_assist_take(struct ski_port *port)
{
    if (port->offered)
        ski_tcp_assist_take_back(port);
}

/** Offers the send queues to the progress thread, at the end of such a call.  @p flushed: the call
 *  has sent what the kernel accepted, or epoll reports when there is room. */
void ski_tcp_assist_offer(struct ski_port *port, bool flushed);

/** Sends for the ports whose PEs are not in the driver; called by the progress thread after an
 *  event.  Returns whether anything was sent. */
bool ski_tcp_assist_all(struct ski_port *port);

/* ---- rails (tcp_rail.c) --------------------------------------------------------------- */

/** Sends a packet in parts on the rails of a peer.  Returns what send() of driver.h does, or
 *  SKUA_ERR_UNSUPPORTED: the packet must be sent like any other. */
skua_status ski_tcp_send_divided(struct ski_peer *peer, const struct ski_tcp_send_req *whole);

/** Returns the I/O thread of a port, started for the first large packet; NULL: there is none. */
struct ski_io_thread *ski_tcp_io(struct ski_port *port);

/** run_two() of driver.h: the I/O thread makes the second call, if the port has one already. */
void ski_tcp_run_two(struct ski_port *port, void (*fn)(void *arg), void *first, void *second);

/** Counts a part of a packet that was sent completely.  Returns true if that was the last one:
 *  @p divided is freed, and *@p whole is the packet. */
bool ski_tcp_part_sent(struct ski_tcp_divided *divided, struct ski_tcp_send_req *whole);

/** Returns the cookie of the split packet that a part belongs to. */
void *ski_tcp_divided_cookie(const struct ski_tcp_divided *divided);

/** Leaves out a rail that cannot be opened. */
void ski_tcp_rail_give_up(struct ski_peer *rail);

/** Ends the rails of a peer that is lost. */
void ski_tcp_rails_lost(struct ski_peer *peer);

/** Frees the rails of a peer. */
void ski_tcp_rails_free(struct ski_peer *peer);

/** Logs that the connection of a rail is open. */
void ski_tcp_rail_log(const struct ski_tcp_conn *conn);

/** Returns why a connection broke, with its rail and network interface if it has a rail; the text
 *  may be in @p to. */
const char *ski_tcp_rail_reason(const struct ski_tcp_conn *conn, const char *reason, char *to,
                                size_t size);

/* ---- the calls of the driver ------------------------------------------------------ */

/** Returns the deadline of close().  Ports that are closed in a row share it, so that a silent host
 *  delays the process once. */
double ski_tcp_close_deadline(void);

skua_status ski_tcp_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **out);
void        ski_tcp_close(struct ski_port *port);
size_t      ski_tcp_address(struct ski_port *port, void *to);
skua_status ski_tcp_connect(struct ski_port *port, int pe, const void *to, size_t bytes,
                            struct ski_peer **out);
void        ski_tcp_connect_wait(struct ski_peer *peer, double seconds);
skua_status ski_tcp_send(struct ski_peer *peer, void *packet, size_t bytes);
skua_status ski_tcp_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie);
void        ski_tcp_split_move(struct ski_peer *peer, void *cookie, const void *rest, void *to);
unsigned    ski_tcp_progress(struct ski_port *port);
int         ski_tcp_wait_fd(struct ski_port *port);
bool        ski_tcp_arm(struct ski_port *port);
void        ski_tcp_stop(void);
size_t      ski_tcp_preferred_packet(void);
size_t      ski_tcp_eager_max(void);

#endif
