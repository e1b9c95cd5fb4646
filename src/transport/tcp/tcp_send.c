/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_send.c - sending packets: see tcp.h.
 *
 * One packet of a queue may have been sent in part: the first one, or the one behind those that the
 * progress thread has sent, which are completed before a connection is looked at.  So a peer
 * changes its connection only between packets (tcp_settle.c).  A connection that fails is ended not
 * here but where it is read (tcp_conn.c); until then packets wait.  The kernel reports an error
 * once, so the connection keeps it until then.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "transport/tcp/tcp.h"

#define TCP_COPY_MAX       2048 /* bytes that are copied faster than they are gathered by the kernel */
#define TCP_SPLIT_COPY_MAX 256  /* bytes of the first part of a split packet that are copied */
#define TCP_SENDQ_MAX      1024 /* packets in a send queue, at most */
#define TCP_SPLIT_QUICK_MAX                                                                        \
    (SKI_TCP_RAIL_BYTES - TCP_SPLIT_COPY_MAX) /* below that rails are not used */
#define TCP_STALLS_MAX 64                     /* flushes that send nothing before epoll is used */
#define TCP_IOV_MAX    SKI_IO_PARTS_MAX
#define TCP_WRITE_MAX                                                                              \
    ((size_t)512 << 10) /* bytes written in one call: with more the flow is uneven */
#define TCP_WRITE_REST                                                                             \
    ((size_t)64 << 10) /* bytes that are written with those before them rather than alone */

static size_t tcp_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many of @p left bytes are written in one call. */
static size_t tcp_write_bytes(size_t left)
{
    return left <= TCP_WRITE_MAX + TCP_WRITE_REST ? left : TCP_WRITE_MAX;
}

/* ---- writing ---------------------------------------------------------------------- */

/* Returns how many bytes a call of send() has sent that returned @p n, and keeps its error. */
static inline size_t tcp_wrote(struct ski_tcp_conn *conn, ssize_t n)
{
    if (n >= 0)
        return (size_t)n;
    if (errno != EAGAIN && errno != EINTR)
        conn->error = errno;
    return 0;
}

/* Writes the next record, or the rest of the last one. */
static size_t tcp_write_record(struct ski_tcp_conn *conn, const struct iovec *part, size_t parts)
{
    struct ski_records *r = conn->records;
    size_t              n;

    if (!ski_records_wait(r) && !ski_records_seal(r, part, parts)) {
        shutdown(conn->source.fd,
                 SHUT_RDWR); /* which the receiving side of the connection notices */
        errno = EPIPE;
        return 0;
    }
    assert(r->sent < r->length);
    n = tcp_wrote(conn, send(conn->source.fd, r->goes + r->sent, r->length - r->sent,
                             MSG_DONTWAIT | MSG_NOSIGNAL));
    if (n > 0) {
        r->sent += n;
        errno = EAGAIN; /* if a part of the record is left */
    }
    return ski_records_wait(r) ? 0 : r->plain;
}

size_t ski_tcp_write(struct ski_tcp_conn *conn, struct iovec *part, size_t parts)
{
    struct msghdr what = {.msg_iov = part, .msg_iovlen = parts};

    assert((conn->state == SKI_TCP_OPEN || conn->state == SKI_TCP_AWAIT_PROOF) && parts > 0);
    if (conn->records)
        return tcp_write_record(conn, part, parts);
    return tcp_wrote(conn, sendmsg(conn->source.fd, &what, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/* Writes a small packet as one part, which is less work for the kernel. */
static inline __attribute__((always_inline)) size_t tcp_write_copy(struct ski_tcp_conn *conn,
                                                                   uint64_t             head,
                                                                   const void *packet, size_t bytes)
{
    char copy[SKI_FRAME_HEAD + TCP_COPY_MAX];

    assert(bytes <= TCP_COPY_MAX);
    memcpy(copy, &head, SKI_FRAME_HEAD);
    memcpy(copy + SKI_FRAME_HEAD, packet, bytes);
    return tcp_wrote(
        conn, send(conn->source.fd, copy, SKI_FRAME_HEAD + bytes, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/* Writes a packet of two parts.  The first one, which is short, and the head are one part for the
 * kernel. */
static size_t tcp_write_split(struct ski_tcp_conn *conn, uint64_t head, const void *packet,
                              size_t bytes, const void *rest, size_t rest_bytes)
{
    char          copy[SKI_FRAME_HEAD + TCP_SPLIT_COPY_MAX];
    struct iovec  part[2] = {{copy, SKI_FRAME_HEAD + bytes}, {(void *)(uintptr_t)rest, rest_bytes}};
    struct msghdr what    = {.msg_iov = part, .msg_iovlen = 2};

    assert(bytes <= TCP_SPLIT_COPY_MAX);
    memcpy(copy, &head, SKI_FRAME_HEAD);
    memcpy(copy + SKI_FRAME_HEAD, packet, bytes);
    return tcp_wrote(conn, sendmsg(conn->source.fd, &what, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static size_t tcp_send_req_bytes(const struct ski_tcp_send_req *out)
{
    return out->head_bytes + out->bytes[0] + out->bytes[1];
}

/* Lists the parts of a request that were not sent, at most *@p room bytes, which it subtracts.
 * Returns the number of parts. */
static size_t tcp_send_req_iov(const struct ski_tcp_send_req *out, struct iovec *part, size_t *room)
{
    const void *from[]  = {out->head, out->part[0], out->part[1]};
    size_t      bytes[] = {out->head_bytes, out->bytes[0], out->bytes[1]}, skip = out->sent, n = 0;

    assert(out->sent < tcp_send_req_bytes(out));
    for (int i = 0; i < 3; i++) {
        size_t gone = tcp_min(skip, bytes[i]), now = tcp_min(bytes[i] - gone, *room);

        skip -= gone;
        *room -= now;
        if (now > 0)
            part[n++] = (struct iovec){(char *)(uintptr_t)from[i] + gone, now};
    }
    return n;
}

/* Returns whether the kernel accepted @p n of @p bytes bytes and may accept more. */
static bool tcp_wrote_all(const struct ski_tcp_conn *conn, size_t n, size_t bytes)
{
    return n == bytes || (conn->records && n > 0); /* a record holds fewer bytes */
}

/* Writes as much of a packet as the kernel accepts. */
static void tcp_write_req(struct ski_tcp_conn *conn, struct ski_tcp_send_req *out)
{
    struct iovec part[3];
    size_t       most, room, parts, n;

    do {
        most = room = tcp_write_bytes(tcp_send_req_bytes(out) - out->sent);
        parts       = tcp_send_req_iov(out, part, &room);
        n           = ski_tcp_write(conn, part, parts);
        out->sent += n;
    } while (tcp_wrote_all(conn, n, most - room) && out->sent < tcp_send_req_bytes(out));
}

/* ---- queues ------------------------------------------------------------------------ */

void ski_tcp_sendq_list(struct ski_peer *peer)
{
    struct ski_port *port = peer->port;

    if (peer->queued || !peer->first)
        return;
    peer->queued       = true;
    peer->next_waiting = port->waiting;
    port->waiting      = peer;
}

static void tcp_sendq_push(struct ski_peer *peer, struct ski_tcp_send_req *out)
{
    assert(!peer->lost && !*peer->last);
    out->next   = NULL;
    *peer->last = out;
    peer->last  = &out->next;
    peer->waiting++;
    peer->waiting_bytes += tcp_send_req_bytes(out);
    peer->held_bytes += ski_tcp_send_req_held(out);
    peer->port->unsent++;
    ski_tcp_sendq_list(peer);
}

/* Reports to the runtime that a packet, or the last part of one, was sent. */
static void tcp_sendq_complete(struct ski_port *port, struct ski_tcp_send_req *out)
{
    if (out->divided && !ski_tcp_part_sent(out->divided, out))
        return;
    if (out->split)
        port->up->done(port->owner, out->cookie, SKUA_OK);
    else
        port->up->sent(port->owner, (void *)(uintptr_t)out->part[0]);
}

/* Removes the first packet of a queue, which was sent, and completes it. */
static void tcp_sendq_pop(struct ski_peer *peer)
{
    struct ski_port         *port = peer->port;
    struct ski_tcp_send_req *out  = peer->first;

    assert(out && peer->waiting > 0);
    peer->first = out->next;
    if (!peer->first)
        peer->last = &peer->first;
    peer->waiting--;
    port->unsent--;
    assert(peer->waiting_bytes >= tcp_send_req_bytes(out));
    peer->waiting_bytes -= tcp_send_req_bytes(out);
    peer->held_bytes -= ski_tcp_send_req_held(out);
    if (port->on_sent) {
        port->on_sent(out);
        return;
    }
    tcp_sendq_complete(port, out);
    free(out);
}

void ski_tcp_sendq_append(struct ski_tcp_send_req *out)
{
    if (out->peer->lost)
        out->peer->port->on_sent(out);
    else
        tcp_sendq_push(out->peer, out);
}

void ski_tcp_sendq_clear(struct ski_peer *peer)
{
    while (peer->first)
        tcp_sendq_pop(peer);
}

/* Removes @p bytes bytes from the front of a queue. */
static void tcp_sendq_advance(struct ski_peer *peer, size_t bytes)
{
    while (bytes > 0) {
        struct ski_tcp_send_req *out  = peer->first;
        size_t                   left = tcp_send_req_bytes(out) - out->sent;

        if (bytes < left) {
            out->sent += bytes;
            return;
        }
        bytes -= left;
        tcp_sendq_pop(peer);
    }
}

/* Lists the parts of the requests of a peer from @p out on, as tcp_send_req_iov() does. */
static size_t tcp_sendq_iov(const struct ski_peer *peer, const struct ski_tcp_send_req *out,
                            struct iovec *part, size_t *room)
{
    size_t parts = 0;

    for (; out && *room > 0 && parts + 3 <= TCP_IOV_MAX; out = peer->unsettled ? NULL : out->next)
        parts += tcp_send_req_iov(out, part + parts, room);
    return parts;
}

/* Writes the beginning of a queue. Returns whether the kernel accepted all of it. */
static bool tcp_sendq_write(struct ski_peer *peer, bool *any)
{
    struct iovec part[TCP_IOV_MAX];
    size_t       most = tcp_write_bytes(peer->waiting_bytes - peer->first->sent), room = most;
    size_t       parts = tcp_sendq_iov(peer, peer->first, part, &room), n;

    n = ski_tcp_write(peer->conn, part, parts);
    *any |= n > 0;
    tcp_sendq_advance(peer, n);
    return tcp_wrote_all(peer->conn, n, most - room);
}

static bool tcp_peer_is_open(const struct ski_peer *peer)
{
    return peer->conn && peer->conn->state == SKI_TCP_OPEN;
}

/* Returns the first request of a queue that was not sent completely, or NULL. */
static struct ski_tcp_send_req *tcp_sendq_unsent(const struct ski_peer *peer)
{
    struct ski_tcp_send_req *out = peer->first;

    while (out && out->sent == tcp_send_req_bytes(out))
        out = out->next;
    return out;
}

/* A peer that is unsettled sends the rest of its first packet on this connection, and no other. */
bool ski_tcp_sendq_write_ahead(struct ski_peer *peer, size_t most, bool *more)
{
    struct ski_tcp_send_req *out = tcp_sendq_unsent(peer);
    struct iovec             part[TCP_IOV_MAX];
    size_t                   room = most, n;
    bool                     any;

    *more = false;
    assert(most >= SKI_RECORD_MAX); /* a record that was begun is written with the same bytes */
    if (!out || !tcp_peer_is_open(peer) || (peer->unsettled && out != peer->first))
        return false;
    n   = tcp_sendq_iov(peer, out, part, &room);
    n   = ski_tcp_write(peer->conn, part, n);
    any = n > 0;
    if (!any && errno != EAGAIN)
        return false;
    for (; n > 0; out = out->next) {
        size_t now = tcp_min(n, tcp_send_req_bytes(out) - out->sent);

        out->sent += now;
        n -= now;
    }
    *more = tcp_sendq_unsent(peer) != NULL;
    return any;
}

unsigned ski_tcp_sendq_complete_sent(struct ski_port *port)
{
    unsigned n = 0;

    for (struct ski_peer *peer = port->waiting; peer; peer = peer->next_waiting) {
        for (; peer->first && peer->first->sent == tcp_send_req_bytes(peer->first); n++)
            tcp_sendq_pop(peer);
        if (peer->unsettled)
            ski_tcp_settle(port, peer->pe, peer->number);
    }
    return n;
}

/* Sends from the queue of one peer. Returns whether anything was sent. A peer that accepts nothing
 * for a while is left to epoll. */
bool ski_tcp_sendq_flush_peer(struct ski_peer *peer)
{
    bool any = false;

    while (peer->first && tcp_sendq_write(peer, &any))
        if (peer->unsettled)
            ski_tcp_settle(peer->port, peer->pe, peer->number);
    peer->stalls = any ? 0 : peer->stalls + 1;
    if (peer->stalls >= TCP_STALLS_MAX)
        ski_tcp_want_writable(peer->conn, true);
    return any;
}

/* Returns whether all that waits for a peer may be written to its connection now. */
static bool tcp_sendq_is_ready(const struct ski_peer *peer)
{
    return peer->first && tcp_peer_is_open(peer) && !peer->conn->wants_writable &&
           !peer->unsettled && !peer->conn->records;
}

/* Writes the beginnings of two queues at the same time.  Returns whether the kernel accepted all of
 * both.  Nothing is told to the runtime while the I/O thread writes. */
static bool tcp_sendq_write_two(struct ski_peer *rail, struct ski_peer *other, bool *any)
{
    struct ski_io_thread *io = rail->port->io;
    struct ski_tcp_conn  *of = other->conn;
    struct iovec          part[TCP_IOV_MAX];
    size_t                room[2], most[2], parts, n, m;

    most[1] = room[1] = tcp_write_bytes(other->waiting_bytes - other->first->sent);
    parts             = tcp_sendq_iov(other, other->first, part, &room[1]);
    ski_io_begin_send(io, of->source.fd, part, parts);
    most[0] = room[0] = tcp_write_bytes(rail->waiting_bytes - rail->first->sent);
    parts             = tcp_sendq_iov(rail, rail->first, part, &room[0]);
    n                 = ski_tcp_write(rail->conn, part, parts);
    m                 = tcp_wrote(of, ski_io_end(io));
    *any |= n > 0 || m > 0;
    rail->stalls  = n > 0 ? 0 : rail->stalls;
    other->stalls = m > 0 ? 0 : other->stalls;
    tcp_sendq_advance(rail, n);
    if (other->conn == of) /* the peer is not lost */
        tcp_sendq_advance(other, m);
    return n == most[0] - room[0] && m == most[1] - room[1];
}

bool ski_tcp_sendq_flush_two(struct ski_peer *rail, struct ski_peer *other)
{
    bool any = false, first, second;

    ski_tcp_io(rail->port);
    while (rail->port->io && /* the runtime may send, and so stop it, when a packet was sent */
           tcp_sendq_is_ready(rail) && tcp_sendq_is_ready(other) &&
           tcp_sendq_write_two(rail, other, &any))
        continue;
    first  = rail->first && tcp_peer_is_open(rail) && ski_tcp_sendq_flush_peer(rail);
    second = other->first && tcp_peer_is_open(other) && ski_tcp_sendq_flush_peer(other);
    return any || first || second;
}

/* Returns another rail of a peer that is ready as this one is, for the I/O thread; or NULL. */
static struct ski_peer *tcp_sendq_beside(struct ski_peer *peer)
{
    struct ski_peer *main = peer->main ? peer->main : peer;

    if (!peer->port->io || !tcp_sendq_is_ready(peer))
        return NULL;
    for (unsigned i = 0; i < SKI_TCP_RAILS_MAX; i++) {
        struct ski_peer *rail = i == 0 ? main : main->rail[i];

        if (rail && rail != peer && tcp_sendq_is_ready(rail))
            return rail;
    }
    return NULL;
}

/* Sends from the queue of a peer, and from that of another rail of it. */
static bool tcp_sendq_flush_rails(struct ski_peer *peer)
{
    struct ski_peer *other = tcp_sendq_beside(peer);

    return other ? ski_tcp_sendq_flush_two(peer, other) : ski_tcp_sendq_flush_peer(peer);
}

bool ski_tcp_sendq_flush(struct ski_port *port)
{
    struct ski_peer **at  = &port->waiting;
    bool              any = false;

    while (*at) {
        struct ski_peer *peer = *at;

        if (peer->first && tcp_peer_is_open(peer) && !peer->conn->wants_writable)
            any |= tcp_sendq_flush_rails(peer);
        if (peer->first && !peer->conn)
            ski_tcp_peer_lost(peer, "it has closed its port");
        if (peer->first && tcp_peer_is_open(peer)) {
            at = &peer->next_waiting;
            continue;
        }
        assert(peer->queued && (peer->first || (peer->waiting == 0 && peer->waiting_bytes == 0)));
        peer->queued = false; /* until its connection is open, if there is something to send */
        *at          = peer->next_waiting;
        if (tcp_peer_is_open(peer))
            ski_tcp_want_writable(peer->conn, false);
    }
    return any;
}

void ski_tcp_want_writable_all(struct ski_port *port)
{
    for (struct ski_peer *peer = port->waiting; peer; peer = peer->next_waiting)
        if (tcp_peer_is_open(peer))
            ski_tcp_want_writable(peer->conn, true);
}

/* ---- sending ------------------------------------------------------------------------- */

/* Queues the rest of a packet. */
static inline skua_status tcp_send_queue_rest(struct ski_peer               *peer,
                                              const struct ski_tcp_send_req *out)
{
    struct ski_port *port = peer->port;

    if (out->sent == tcp_send_req_bytes(out))
        return SKUA_OK;
    assert(port->spare && out->sent < tcp_send_req_bytes(out)); /* tcp_sendq_has_room() */
    *port->spare = *out;
    tcp_sendq_push(peer, port->spare);
    port->spare = NULL;
    return SKUA_PENDING;
}

/* Sends a packet, or as much of it as the kernel accepts, and queues the rest. */
static skua_status tcp_send_now_or_queue(struct ski_peer *peer, struct ski_tcp_send_req *out)
{
    if (tcp_peer_is_open(peer) && !peer->first)
        tcp_write_req(peer->conn, out);
    return tcp_send_queue_rest(peer, out);
}

bool ski_tcp_sendq_is_full(const struct ski_peer *peer)
{
    return peer->waiting >= TCP_SENDQ_MAX || peer->held_bytes >= SKI_HELD_MAX;
}

/* Returns whether the queue has room for a packet. */
static bool tcp_sendq_has_room(struct ski_peer *peer)
{
    struct ski_port *port = peer->port;

    if (!port->spare)
        port->spare = malloc(sizeof *port->spare);
    return port->spare && !ski_tcp_sendq_is_full(peer);
}

/* Sends to a peer that is lost, or whose connections have records. */
static skua_status tcp_send_slow_path(struct ski_peer *peer, struct ski_tcp_send_req *out)
{
    if (peer->lost)
        return SKUA_ERR_UNREACH;
    if (!tcp_sendq_has_room(peer))
        return SKUA_ERR_AGAIN;
    if (tcp_peer_is_open(peer) && !peer->first)
        tcp_write_req(peer->conn, out);
    return tcp_send_queue_rest(peer, out);
}

skua_status ski_tcp_send_start(struct ski_peer *peer, struct ski_tcp_send_req *out)
{
    if (peer->slow_path)
        return tcp_send_slow_path(peer, out);
    return tcp_sendq_has_room(peer) ? tcp_send_now_or_queue(peer, out) : SKUA_ERR_AGAIN;
}

/* Returns whether a packet can be written at once, and what the kernel does not accept of it can be
 * queued. */
static inline bool tcp_send_is_immediate(const struct ski_peer *peer)
{
    return !peer->slow_path && !peer->first && peer->port->spare && tcp_peer_is_open(peer);
}

/* Returns whether a packet can be written at once as one part. */
static inline bool tcp_send_is_quick(const struct ski_peer *peer, size_t bytes)
{
    return bytes <= TCP_COPY_MAX && tcp_send_is_immediate(peer);
}

/* Sends a packet on the rails of its peer, if it is large and there are any; else like any
 * other. */
static skua_status tcp_send_large(struct ski_peer *peer, struct ski_tcp_send_req *out)
{
    skua_status status;

    if (out->bytes[0] + out->bytes[1] < SKI_TCP_RAIL_BYTES || ski_tcp.net->rails == 1)
        return ski_tcp_send_start(peer, out);
    status = ski_tcp_send_divided(peer, out);
    return status == SKUA_ERR_UNSUPPORTED ? ski_tcp_send_start(peer, out) : status;
}

/* Sends a packet of which @p out->sent bytes were sent, while the progress thread does not. */
static skua_status tcp_send_owned(struct ski_peer *peer, struct ski_tcp_send_req *out)
{
    skua_status status;

    ski_tcp_assist_take(peer->port);
    status = out->sent > 0 ? tcp_send_queue_rest(peer, out) : tcp_send_large(peer, out);
    ski_tcp_assist_offer(peer->port, false);
    return status;
}

static __attribute__((noinline)) skua_status tcp_send_packet(struct ski_peer *peer, void *packet,
                                                             size_t bytes, size_t sent)
{
    struct ski_tcp_send_req out = {.head       = {ski_frame_head(SKI_FRAME_PACKET, bytes)},
                                   .head_bytes = SKI_FRAME_HEAD,
                                   .part       = {packet},
                                   .bytes      = {bytes},
                                   .sent       = sent};

    return tcp_send_owned(peer, &out);
}

skua_status ski_tcp_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    size_t sent = 0;

    if (tcp_send_is_quick(peer, bytes))
        sent = tcp_write_copy(peer->conn, ski_frame_head(SKI_FRAME_PACKET, bytes), packet, bytes);
    if (sent == SKI_FRAME_HEAD + bytes)
        return SKUA_OK;
    return tcp_send_packet(peer, packet, bytes, sent);
}

skua_status ski_tcp_send_one(struct ski_peer *peer, struct ski_tcp_send_req *out)
{
    assert(out->sent == 0);
    if (!out->split && tcp_send_is_quick(peer, out->bytes[0]))
        out->sent = tcp_write_copy(peer->conn, out->head[0], out->part[0], out->bytes[0]);
    return out->sent > 0 ? tcp_send_queue_rest(peer, out) : ski_tcp_send_start(peer, out);
}

skua_status ski_tcp_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie)
{
    uint64_t                head = ski_frame_head(SKI_FRAME_PACKET, bytes + rest_bytes);
    struct ski_tcp_send_req out;
    size_t                  sent = 0;

    if (bytes <= TCP_SPLIT_COPY_MAX && rest_bytes < TCP_SPLIT_QUICK_MAX &&
        tcp_send_is_immediate(peer))
        sent = tcp_write_split(peer->conn, head, packet, bytes, rest, rest_bytes);
    if (sent == SKI_FRAME_HEAD + bytes + rest_bytes)
        return SKUA_OK;
    out = (struct ski_tcp_send_req){.head       = {head},
                                    .head_bytes = SKI_FRAME_HEAD,
                                    .part       = {packet, rest},
                                    .bytes      = {bytes, rest_bytes},
                                    .sent       = sent,
                                    .split      = true,
                                    .cookie     = cookie};
    return tcp_send_owned(peer, &out);
}

/* Moves what @p out, a split packet or a part of one, still needs of @p rest to @p to. */
static void tcp_send_req_move(struct ski_tcp_send_req *out, const char *rest, char *to)
{
    const char *from  = out->part[1];
    size_t      ahead = out->head_bytes + out->bytes[0];
    size_t      gone  = out->sent > ahead ? out->sent - ahead : 0;

    to += from - rest;
    memcpy(to + gone, from + gone, out->bytes[1] - gone);
    out->part[1] = to;
}

static bool tcp_send_req_has(const struct ski_tcp_send_req *out, const void *cookie)
{
    return out->split &&
           (out->divided ? ski_tcp_divided_cookie(out->divided) : out->cookie) == cookie;
}

void ski_tcp_split_move(struct ski_peer *peer, void *cookie, const void *rest, void *to)
{
    ski_tcp_assist_take(peer->port);
    for (unsigned i = 0; i < SKI_TCP_RAILS_MAX; i++) {
        const struct ski_peer *rail = i == 0 ? peer : peer->rail[i];

        for (struct ski_tcp_send_req *out = rail ? rail->first : NULL; out; out = out->next)
            if (tcp_send_req_has(out, cookie))
                tcp_send_req_move(out, rest, to);
    }
    ski_tcp_assist_offer(peer->port, false);
}
