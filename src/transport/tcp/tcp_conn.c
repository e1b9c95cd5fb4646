/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_conn.c - connections, and what is received on open ones: see tcp.h.
 *
 * A side that closes its port, or leaves a connection for another one, ends its stream first
 * (tcp_settle.c).  So a connection that breaks without that means that the peer is lost, even if
 * packets are sent on another connection.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/arch.h"
#include "transport/keepalive.h"
#include "transport/tcp/tcp.h"

#define TCP_FOLLOW_BYTES ((size_t)4 << 10) /* bytes received after a large packet, at most */
#define TCP_COLD_MIN                                                                               \
    ((size_t)2 << 20)      /* bytes of a packet whose memory is likely not in the cache */
#define TCP_EARLY_POLLS 64 /* events of a rail without a packet until it is read */
#define TCP_DIRECT_RECV_MAX                                                                        \
    ((size_t)512 << 10) /* bytes received before other connections have their turn */

/* ---- parts of packets ---------------------------------------------------------------- */

/* Returns whether a connection is not read until other streams have completed its packet.  One with
 * records is, as a record may hold more than the part. */
static bool tcp_conn_is_paused(const struct ski_tcp_conn *conn)
{
    return conn->in.paused && !conn->records;
}

/* Returns whether a connection with @p pe is open on which parts of packets may arrive. */
static bool tcp_parts_may_arrive(struct ski_port *port, int pe)
{
    const struct ski_tcp_conn *conn = *ski_tcp_conn_bucket(port, pe);

    while (conn && (conn->pe != pe || conn->state != SKI_TCP_OPEN || conn->in.ended ||
                    tcp_conn_is_paused(conn)))
        conn = conn->next_in_bucket;
    return conn != NULL;
}

/* Sets a deadline for the proofs of connections that claim to be of @p pe.  Returns whether there
 * are any. */
static bool tcp_claims_limit(struct ski_port *port, int pe)
{
    bool any = false;

    for (struct ski_tcp_conn *conn = port->conns; conn; conn = conn->next)
        if (conn->state == SKI_TCP_AWAIT_PROOF && conn->hello.from == pe) {
            if (isinf(conn->deadline))
                conn->deadline = ski_tcp_now() + ski_tcp.net->peer_timeout;
            any = true;
        }
    return any;
}

/* Aborts the packets from @p pe whose other parts never arrive, after a stream of it has ended or
 * is paused: a port that is closed may have no time for all its parts.  A connection whose proof is
 * awaited is open for the other side, and may bring parts; a sender proves itself before it sends
 * them, so from now on the proof has a deadline: a stranger that claims to be @p pe does not keep
 * packets waiting for longer.  When such a connection is closed, packets are looked at again. */
static void tcp_parts_abort(struct ski_port *port, int pe)
{
    if (port->multiparts.list && !tcp_parts_may_arrive(port, pe) && !tcp_claims_limit(port, pe))
        ski_multiparts_abort(&port->multiparts, pe);
}

/* ---- life --------------------------------------------------------------------------- */

bool ski_tcp_epoll_add(struct ski_port *port, struct ski_tcp_source *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

    return epoll_ctl(port->epoll, EPOLL_CTL_ADD, source->fd, &event) == 0;
}

/* Returns what epoll is to report of a connection. */
static struct epoll_event tcp_conn_events(struct ski_tcp_conn *conn, bool writable)
{
    uint32_t readable = conn->unwatched ? 0 : EPOLLIN;

    return (struct epoll_event){.events   = writable ? readable | EPOLLOUT : readable,
                                .data.ptr = conn};
}

void ski_tcp_want_writable(struct ski_tcp_conn *conn, bool ask)
{
    struct epoll_event event;

    if (conn->wants_writable == ask || !ski_tcp_conn_use_epoll(conn, true))
        return;
    event = tcp_conn_events(conn, ask);
    if (epoll_ctl(conn->port->epoll, EPOLL_CTL_MOD, conn->source.fd, &event) == 0)
        conn->wants_writable = ask;
}

bool ski_tcp_conn_use_epoll(struct ski_tcp_conn *conn, bool use)
{
    struct epoll_event event;
    int                how = use ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;

    assert(use || (conn == conn->port->hot && !conn->wants_writable));
    if (conn->outside_epoll == !use)
        return true;
    event = tcp_conn_events(conn, false);
    if (epoll_ctl(conn->port->epoll, how, conn->source.fd, &event) != 0)
        return false;
    conn->outside_epoll = !use;
    return true;
}

struct ski_tcp_conn *ski_tcp_conn_new(struct ski_port *port, int fd, int pe)
{
    struct ski_tcp_conn *conn = malloc(sizeof *conn);
    int                  on   = 1;

    if (!conn) {
        close(fd);
        return NULL;
    }
    *conn = (struct ski_tcp_conn){.source      = {SKI_TCP_CONN, fd},
                                  .state       = SKI_TCP_HANDSHAKE,
                                  .pe          = -1,
                                  .port        = port,
                                  .on_readable = ski_tcp_on_handshake,
                                  .in          = {.up          = port->up,
                                                  .owner       = port->owner,
                                                  .owners      = port->owners,
                                                  .owner_count = port->owner_count},
                                  .started     = ski_tcp_now()};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    conn->next  = port->conns;
    port->conns = conn;
    if (pe >= 0)
        ski_tcp_conn_set_pe(conn, pe);
    return conn;
}

void ski_tcp_conn_set_pe(struct ski_tcp_conn *conn, int pe)
{
    struct ski_tcp_conn **bucket = ski_tcp_conn_bucket(conn->port, pe);

    assert(conn->pe < 0 && pe >= 0);
    conn->pe             = pe;
    conn->next_in_bucket = *bucket;
    *bucket              = conn;
}

/* Removes a connection from those whose PE is known. */
static void tcp_conn_leave_bucket(struct ski_tcp_conn *conn)
{
    struct ski_tcp_conn **at = ski_tcp_conn_bucket(conn->port, conn->pe);

    if (conn->pe < 0)
        return;
    while (*at != conn) {
        assert(*at);
        at = &(*at)->next_in_bucket;
    }
    *at = conn->next_in_bucket;
}

void ski_tcp_peer_add(struct ski_port *port, struct ski_peer *peer)
{
    struct ski_peer **bucket = &port->bucket[(unsigned)peer->pe % SKI_TCP_BUCKETS];

    peer->next           = port->peers;
    port->peers          = peer;
    peer->next_in_bucket = *bucket;
    *bucket              = peer;
}

struct ski_peer *ski_tcp_peer_find(const struct ski_port *port, int pe)
{
    struct ski_peer *peer = port->bucket[(unsigned)pe % SKI_TCP_BUCKETS];

    while (peer && peer->pe != pe)
        peer = peer->next_in_bucket;
    return peer;
}

struct ski_peer *ski_tcp_peer_of(const struct ski_tcp_conn *conn)
{
    struct ski_peer *peer = ski_tcp_peer_find(conn->port, conn->pe);

    assert(conn->rail < SKI_TCP_RAILS_MAX);
    return peer && conn->rail > 0 ? peer->rail[conn->rail] : peer;
}

/* Handles an event of a connection that is closed, or must not be read. */
static bool tcp_conn_on_nothing(struct ski_tcp_conn *conn)
{
    (void)conn;
    return false;
}

/* The connection is freed later, since epoll may already have reported it. */
void ski_tcp_conn_close(struct ski_tcp_conn *conn)
{
    struct ski_port      *port  = conn->port;
    struct ski_tcp_conn **at    = &port->conns;
    bool                  claim = conn->state == SKI_TCP_AWAIT_PROOF;

    assert(conn->state != SKI_TCP_CLOSED);
    if (ski_tcp_is_unauthenticated(conn))
        ski_tcp_count_unauthenticated(port, -1);
    while (*at != conn) {
        assert(*at); /* a connection that is not closed is in the list of its port */
        at = &(*at)->next;
    }
    tcp_conn_leave_bucket(conn);
    *at          = conn->next;
    conn->next   = port->closed;
    port->closed = conn;
    if (port->hot == conn)
        port->hot = NULL;
    port->left -= conn->left;
    /* A child of fork() may hold the socket, too; then close() alone would not end it. */
    epoll_ctl(port->epoll, EPOLL_CTL_DEL, conn->source.fd, NULL);
    if (conn->state == SKI_TCP_OPEN)
        shutdown(conn->source.fd, SHUT_RDWR);
    conn->state       = SKI_TCP_CLOSED;
    conn->on_readable = tcp_conn_on_nothing;
    close(conn->source.fd);
    ski_framing_close(&conn->in);
    if (claim)
        tcp_parts_abort(port, conn->hello.from);
    ski_tcp_pause_accept(port, false); /* another connection may be accepted */
}

void ski_tcp_conns_reap(struct ski_port *port)
{
    while (port->closed) {
        struct ski_tcp_conn *conn = port->closed;

        assert(conn->state == SKI_TCP_CLOSED && conn->port == port);
        port->closed = conn->next;
        ski_records_drop(conn->records);
        free(conn);
    }
}

/* ---- ends ------------------------------------------------------------------------------ */

static void tcp_conns_close_to(struct ski_port *port, int pe)
{
    for (struct ski_tcp_conn *conn = *ski_tcp_conn_bucket(port, pe), *next; conn; conn = next) {
        next = conn->next_in_bucket;
        if (conn->pe == pe)
            ski_tcp_conn_close(conn);
    }
}

void ski_tcp_peer_lost(struct ski_peer *peer, const char *reason)
{
    if (peer->main)
        peer = peer->main;
    peer->conn      = NULL;
    peer->lost      = true;
    peer->slow_path = true;
    tcp_conns_close_to(peer->port, peer->pe);
    peer->port->up->lost(peer->port->owner, peer->pe, reason);
    ski_tcp_sendq_clear(peer);
    ski_tcp_rails_lost(peer);
}

/* Ends all connections with the other side of one that broke.  There is no peer if this port has
 * not sent to it; the other side notices that its connections are closed. */
static void tcp_other_side_lost(struct ski_tcp_conn *conn, const char *reason)
{
    struct ski_peer *peer = ski_tcp_peer_find(conn->port, conn->pe);

    if (peer && !peer->lost)
        ski_tcp_peer_lost(peer, reason);
    else
        tcp_conns_close_to(conn->port, conn->pe);
}

/* Returns whether a connection that is closed now carried all that it had to: the cases are in
 * tcp_settle.c. */
static bool tcp_conn_is_complete(const struct ski_tcp_conn *conn, const struct ski_peer *peer)
{
    if (peer && peer->conn == conn && ski_tcp_mid_packet(peer))
        return false; /* the rest of the packet would be nonsense on another connection */
    return (conn->in.ended && !conn->in.invalid) ||
           (conn->end_sent && conn->end_kind == SKI_FRAME_END);
}

/* Ends a connection that was open. */
static void tcp_conn_end(struct ski_tcp_conn *conn, const char *reason)
{
    struct ski_peer *peer     = ski_tcp_peer_of(conn);
    bool             complete = tcp_conn_is_complete(conn, peer);
    char             text[SKI_REASON_MAX];

    if (conn->in.ended && !conn->in.moved && !conn->in.invalid)
        reason = "it has closed its port";
    reason = ski_tcp_rail_reason(conn, reason, text, sizeof text);
    ski_tcp_conn_close(conn);
    if (!complete)
        tcp_other_side_lost(conn, reason);
    else
        tcp_parts_abort(conn->port, conn->pe);
    if (complete && peer && peer->conn == conn && !peer->lost) {
        peer->conn = NULL; /* the peer closed its port; sending to it reports it as lost */
        ski_tcp_settle(conn->port, conn->pe, conn->rail); /* or this connection alone has ended */
        ski_tcp_sendq_list(peer);
    }
}

static bool tcp_conn_on_part(struct ski_tcp_conn *conn);

/* ---- receiving ----------------------------------------------------------------------- */

/* Returns how many bytes are received straight to their target. Where copies of the kernel are slow
 * (arch.h), a large message, whose memory is not in the cache, is filled faster by a copy from the
 * scratch buffer, which is, than by the kernel. */
static size_t tcp_conn_direct_bytes(const struct ski_tcp_conn *conn, void **to)
{
    const struct ski_framing *in = &conn->in;

    return SKI_CMA_SLOW && in->kept == 0 && in->bytes > TCP_COLD_MIN ? 0
                                                                     : ski_framing_target(in, to);
}

/* Returns how many bytes are received after the packet that is arriving, together with its rest. */
static size_t tcp_conn_follow_bytes(const struct ski_framing *in)
{
    if (ski_framing_is_exact(in))
        return 0;
    return in->bytes > SKI_TCP_SCRATCH ? TCP_FOLLOW_BYTES /* the next one may be large, too */
                                       : SKI_TCP_SCRATCH;
}

/* Receives the rest of a packet at its target, with what follows if the rest is short; otherwise
 * receives into the scratch buffer. */
static ssize_t tcp_conn_recv(struct ski_tcp_conn *conn, bool *sense)
{
    struct ski_port *port    = conn->port;
    struct iovec     part[2] = {{NULL, 0}, {port->scratch, tcp_conn_follow_bytes(&conn->in)}};
    size_t           lead    = ski_framing_lead(&conn->in), rest, placed;
    ssize_t          n;

    ski_framing_check_target(&conn->in);
    rest            = tcp_conn_direct_bytes(conn, &part[0].iov_base);
    part[0].iov_len = rest;
    if (rest == 0)
        n = recv(conn->source.fd, port->scratch, lead ? lead : SKI_TCP_SCRATCH, 0);
    else if (rest > TCP_DIRECT_RECV_MAX)
        n = recv(conn->source.fd, part[0].iov_base, TCP_DIRECT_RECV_MAX, 0);
    else
        n = readv(conn->source.fd, part, 2);
    if (n <= 0)
        return n;
    placed = (size_t)n < rest ? (size_t)n : rest;
    if (placed > 0)
        ski_framing_received(&conn->in, placed);
    *sense = ski_framing_feed(&conn->in, port->scratch, (size_t)n - placed);
    return n;
}

/* Returns why a connection ends of which recv() has returned @p n.  The end of a stream is no
 * reason by itself if another call has got the error. */
static const char *tcp_conn_end_reason(const struct ski_tcp_conn *conn, ssize_t n)
{
    int error = n < 0 ? errno : conn->error;

    if (error == 0 || error == ECONNRESET || error == EPIPE)
        return "the connection broke";
    if (n < 0 && error == EFAULT)
        return "the memory that a get is to fill does not exist";
    return error == ETIMEDOUT ? "it no longer responds" : strerror(error);
}

/* Acknowledges the end of the stream at once: a peer that closes its port waits for that, and the
 * kernel would delay it. */
static void tcp_conn_ack_end(struct ski_tcp_conn *conn)
{
    int on = 1;

    setsockopt(conn->source.fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

/* Handles the end of a stream: of the port, of this connection alone, or because it is invalid. */
static void tcp_conn_on_end(struct ski_tcp_conn *conn, const char *nonsense)
{
    if (conn->in.invalid)
        tcp_conn_end(conn, nonsense);
    else if (conn->in.moved)
        ski_tcp_settle(conn->port, conn->pe, conn->rail);
    else {
        tcp_conn_ack_end(conn);
        tcp_parts_abort(conn->port, conn->pe);
    }
}

/* Makes another connection than before the hot one.  The former one is in epoll again, or stays. */
static __attribute__((noinline)) void tcp_conn_make_hot(struct ski_tcp_conn *conn)
{
    struct ski_port *port = conn->port;

    if (port->hot_misses < SKI_TCP_HOT_MISSES)
        port->hot_misses++;
    if (!port->hot || ski_tcp_conn_use_epoll(port->hot, true))
        port->hot = conn;
}

/* Makes a connection, on which something was received, the hot one. */
static inline void tcp_conn_note_hot(struct ski_tcp_conn *conn)
{
    if (conn->port->hot == conn)
        conn->port->hot_misses = 0;
    else
        tcp_conn_make_hot(conn);
}

/* Handles the result of a receive: @p n bytes, which were valid if @p sense.  Returns whether there
 * was anything to handle. */
static inline bool tcp_conn_received(struct ski_tcp_conn *conn, ssize_t n, bool sense,
                                     const char *nonsense)
{
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    tcp_conn_note_hot(conn);
    if (n <= 0)
        tcp_conn_end(conn, tcp_conn_end_reason(conn, n));
    else if (!sense)
        tcp_conn_end(conn, nonsense);
    else if (conn->in.ended)
        tcp_conn_on_end(conn, nonsense);
    return true;
}

/* Receives the rest of a packet of which only the beginning was asked for, unless it is so long
 * that it is likely still in flight.  Returns what the next receive of the connection would, or @p
 * n if nothing has arrived. */
static __attribute__((noinline)) ssize_t tcp_conn_recv_rest(struct ski_tcp_conn *conn, ssize_t n)
{
    void   *to;
    size_t  rest = tcp_conn_direct_bytes(conn, &to);
    ssize_t more;

    if (rest == 0 || rest > SKI_TCP_SCRATCH)
        return n;
    more = recv(conn->source.fd, to, rest, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR))
        return n;
    if (more > 0)
        ski_framing_received(&conn->in, (size_t)more);
    return more;
}

static bool tcp_conn_on_packets(struct ski_tcp_conn *conn)
{
    bool    sense = true, led = ski_framing_lead(&conn->in) > 0;
    ssize_t n = tcp_conn_recv(conn, &sense);

    if (led && n > 0 && sense && ski_framing_is_direct(&conn->in))
        n = tcp_conn_recv_rest(conn, n);
    return tcp_conn_received(conn, n, sense, "it sent invalid data");
}

/* Returns the connection of rail 0 beside another rail, if packets arrive on it; or NULL. */
static struct ski_tcp_conn *tcp_conn_main_of(const struct ski_tcp_conn *rail)
{
    struct ski_tcp_conn *conn = *ski_tcp_conn_bucket(rail->port, rail->pe);

    while (conn && (conn->pe != rail->pe || conn->rail > 0 || conn->state != SKI_TCP_OPEN))
        conn = conn->next_in_bucket;
    return conn;
}

/* Receives on a rail when a packet has begun whose parts may arrive there, since they are received
 * in place then.  The packet begins on rail 0, which is therefore looked at first.  A rail that
 * stays readable nonetheless is read as well, so its end is noticed. */
static bool tcp_conn_on_rail(struct ski_tcp_conn *conn)
{
    const struct ski_multiparts *parts = &conn->port->multiparts;
    struct ski_tcp_conn         *main;
    bool                         any = false;

    if (!ski_multiparts_expect(parts, conn->pe) && ++conn->early_polls < TCP_EARLY_POLLS) {
        main = tcp_conn_main_of(conn);
        any  = main && ski_tcp_on_readable(main);
        if (conn->on_readable != tcp_conn_on_rail || !ski_multiparts_expect(parts, conn->pe))
            return any;
    }
    conn->early_polls = 0;
    return tcp_conn_on_packets(conn) || any;
}

/* Returns the connection of a stream. */
static struct ski_tcp_conn *tcp_conn_of(struct ski_framing *in)
{
    return (struct ski_tcp_conn *)(void *)((char *)in - offsetof(struct ski_tcp_conn, in));
}

/* Returns how many bytes of a part are received straight to *@p to by the next call; 0: none. */
static size_t tcp_part_target(struct ski_tcp_conn *conn, void **to)
{
    size_t direct;

    ski_framing_check_target(&conn->in);
    direct = tcp_conn_direct_bytes(conn, to);
    return direct < TCP_DIRECT_RECV_MAX ? direct : TCP_DIRECT_RECV_MAX;
}

/* Receives bytes of a part, @p direct of them at @p to unless that is 0.  Returns what recv() does.
 */
static ssize_t tcp_part_recv(struct ski_tcp_conn *conn, void *to, size_t direct)
{
    size_t left = conn->in.bytes - conn->in.got;

    if (direct > 0)
        return recv(conn->source.fd, to, direct, 0);
    return recv(conn->source.fd, conn->port->scratch,
                left < SKI_TCP_SCRATCH ? left : SKI_TCP_SCRATCH, 0);
}

/* Lets parts of the packet begin on other rails, whose heads may have arrived.  Returns whether @p
 * conn still receives a part: one that is broken ends all. */
static bool tcp_part_begin_others(struct ski_tcp_conn *conn)
{
    struct ski_tcp_conn *other = *ski_tcp_conn_bucket(conn->port, conn->pe);

    for (; other && conn->on_readable == tcp_conn_on_part; other = other->next_in_bucket)
        if (other->pe == conn->pe && other->on_readable == tcp_conn_on_rail)
            ski_tcp_on_readable(other);
    return conn->on_readable == tcp_conn_on_part;
}

/* Returns another connection that receives a part of the same packet at its place, and how many
 * bytes at *@p to by the next call; or NULL. */
static struct ski_tcp_conn *tcp_part_beside(struct ski_tcp_conn *conn, void **to, size_t *bytes)
{
    for (struct ski_framing *in = conn->in.packet->streams; in; in = in->next_of_packet)
        if (in != &conn->in && !in->early && (*bytes = tcp_part_target(tcp_conn_of(in), to)) > 0)
            return tcp_conn_of(in);
    return NULL;
}

/* Receives parts of a packet, and nothing behind them: the runtime says where the next packet
 * belongs when this one is complete.  The I/O thread receives another part than the PE.  The end or
 * the error of its call is handled when that connection is read: the kernel reports an error once,
 * and the end of the stream afterwards. */
static bool tcp_conn_on_part(struct ski_tcp_conn *conn)
{
    struct ski_framing   *in = &conn->in;
    struct ski_io_thread *io;
    struct ski_tcp_conn  *other = NULL;
    void                 *to    = NULL, *other_to;
    size_t                direct, other_bytes;
    ssize_t               n, m = 0;
    int                   error;

    if (ski_tcp_io(conn->port) && in->packet->unclaimed > 0 && !tcp_part_begin_others(conn))
        return true;
    io     = conn->port->io; /* what arrived on other rails may have stopped it */
    direct = tcp_part_target(conn, &to);
    if (io && (other = tcp_part_beside(conn, &other_to, &other_bytes)))
        ski_io_begin_recv(io, other->source.fd, other_to, other_bytes);
    n     = tcp_part_recv(conn, to, direct);
    error = errno;
    if (other && (m = ski_io_end(io)) > 0)
        ski_framing_received(&other->in, (size_t)m);
    else if (m < 0 && errno != EAGAIN && errno != EINTR)
        other->error = errno;
    if (n > 0 && direct > 0)
        ski_framing_received(in, (size_t)n);
    else if (n > 0)
        ski_framing_feed(in, conn->port->scratch, (size_t)n);
    errno = error;
    return tcp_conn_received(conn, n, !in->invalid, "it sent invalid data") || m > 0;
}

/* Sets whether epoll reports that a connection is readable. */
static void tcp_conn_watch(struct ski_tcp_conn *conn, bool watch)
{
    struct epoll_event event;

    if (conn->unwatched == !watch)
        return;
    conn->unwatched = !watch;
    event           = tcp_conn_events(conn, conn->wants_writable);
    if (!conn->outside_epoll)
        epoll_ctl(conn->port->epoll, EPOLL_CTL_MOD, conn->source.fd, &event);
}

void ski_tcp_unwatch_paused(struct ski_port *port)
{
    for (struct ski_multipart *packet = port->multiparts.list; packet; packet = packet->next)
        if (packet->first && tcp_conn_is_paused(tcp_conn_of(packet->first)))
            tcp_conn_watch(tcp_conn_of(packet->first), false);
}

void ski_tcp_multipart_changed(struct ski_framing *in)
{
    struct ski_tcp_conn *conn = tcp_conn_of(in);

    if (conn->state != SKI_TCP_OPEN || conn->records)
        return;
    if (in->paused)
        tcp_parts_abort(conn->port, conn->pe); /* then it is no longer paused */
    if (!in->paused)
        tcp_conn_watch(conn, true);
    if (in->packet)
        conn->on_readable = tcp_conn_on_part;
    else if (in->paused)
        conn->on_readable = tcp_conn_on_nothing;
    else
        ski_tcp_conn_receive(conn);
}

static bool tcp_conn_feed(void *stream, const char *data, size_t bytes)
{
    return ski_framing_feed(stream, data, bytes);
}

/* Nothing of a record is used before all of it is authenticated. */
static bool tcp_conn_on_records(struct ski_tcp_conn *conn)
{
    struct ski_records *r = conn->records;
    ssize_t             n = recv(conn->source.fd, r->came + r->have, SKI_RECORD_ROOM - r->have, 0);
    bool                sense = true;

    if (n > 0) {
        r->have += (size_t)n;
        assert(r->have <= SKI_RECORD_ROOM);
        ski_framing_check_target(&conn->in);
        sense = ski_records_open(r, tcp_conn_feed, &conn->in);
    }
    return tcp_conn_received(
        conn, n, sense,
        "the data is not authentic: bytes were changed, removed, repeated or inserted "
        "on the way");
}

void ski_tcp_conn_receive(struct ski_tcp_conn *conn)
{
    conn->on_readable = conn->records    ? tcp_conn_on_records
                        : conn->rail > 0 ? tcp_conn_on_rail
                                         : tcp_conn_on_packets;
}

/* Checks one connection. */
static void tcp_conn_check(struct ski_tcp_conn *conn)
{
    bool open = conn->state == SKI_TCP_OPEN;

    if (conn->state != SKI_TCP_CONNECTING &&
        ski_keepalive_is_dead(conn->source.fd, ski_tcp.net->peer_timeout))
        open ? tcp_conn_end(conn, "it no longer responds") : ski_tcp_conn_fail(conn, ETIMEDOUT);
    else if (!open && ski_tcp_now() > conn->deadline)
        ski_tcp_on_deadline(conn);
    else if (conn->end_kind == SKI_FRAME_MOVED && !conn->end_sent)
        ski_tcp_settle(conn->port, conn->pe, conn->rail);
}

/* Checks all connections. Ending one may end others: if the next one is closed, the rest is checked
 * the next time. */
void ski_tcp_conns_check(struct ski_port *port)
{
    struct ski_tcp_conn *conn = port->conns;

    ski_tcp_pause_accept(port, false);
    while (conn && conn->state != SKI_TCP_CLOSED) {
        struct ski_tcp_conn *next = conn->next;

        tcp_conn_check(conn);
        conn = next;
    }
}
