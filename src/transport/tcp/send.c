/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c - packets that go: see tcp.h.
 *
 * Only the first of a queue may have left in part; so a peer changes its link only between
 * packets (greet.c).  A link that fails is not noticed here but when it is read: until then
 * what is sent waits.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "transport/tcp/tcp.h"

#define COPY_MOST   2048 /* bytes that are copied faster than they are named to the system */
#define SENDS_MOST  1024 /* packets in a queue                                             */
#define STALLS_MOST 64   /* times that a queue is tried in vain                            */
#define PARTS       48   /* that are named to the system at once ...                       */
#define PUSH_MOST   ((size_t)512 << 10) /* ... and their bytes: with more the flow is uneven */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- to the system ---------------------------------------------------------------- */

/* In records: one after the other, each when the one before has left. */
static size_t send_records(struct ski_link *link, const struct iovec *part, size_t parts)
{
    struct ski_records *r = link->records;
    ssize_t             n;

    if (!ski_records_wait(r) && !ski_records_seal(r, part, parts)) {
        shutdown(link->source.fd, SHUT_RDWR); /* which is noticed when it is read */
        return 0;
    }
    n = send(link->source.fd, r->goes + r->sent, r->length - r->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    r->sent += n > 0 ? (size_t)n : 0;
    return ski_records_wait(r) ? 0 : r->plain;
}

size_t ski_tcp_push(struct ski_link *link, struct iovec *part, size_t parts)
{
    struct msghdr what = {.msg_iov = part, .msg_iovlen = parts};
    ssize_t       n;

    if (link->records)
        return send_records(link, part, parts);
    n = sendmsg(link->source.fd, &what, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n > 0 ? (size_t)n : 0;
}

/* The same for a small packet: one piece of memory is less work for it. */
static size_t push_copy(int fd, const struct ski_out *out)
{
    char    copy[SKI_STREAM_HEAD + COPY_MOST];
    ssize_t n;

    memcpy(copy, &out->head, SKI_STREAM_HEAD);
    memcpy(copy + SKI_STREAM_HEAD, out->part[0], out->bytes[0]);
    n = send(fd, copy, SKI_STREAM_HEAD + out->bytes[0], MSG_DONTWAIT | MSG_NOSIGNAL);
    return n > 0 ? (size_t)n : 0;
}

static size_t whole(const struct ski_out *out)
{
    return SKI_STREAM_HEAD + out->bytes[0] + out->bytes[1];
}

/* What has not left of it, but at most *@p room bytes, which is then that much less: the number
 * of parts. */
static size_t list_parts(const struct ski_out *out, struct iovec *part, size_t *room)
{
    const void *from[]  = {&out->head, out->part[0], out->part[1]};
    size_t      bytes[] = {SKI_STREAM_HEAD, out->bytes[0], out->bytes[1]}, skip = out->sent, n = 0;

    for (int i = 0; i < 3; i++) {
        size_t gone = least(skip, bytes[i]), now = least(bytes[i] - gone, *room);

        skip -= gone;
        *room -= now;
        if (now > 0)
            part[n++] = (struct iovec){(char *)(uintptr_t)from[i] + gone, now};
    }
    return n;
}

/* Whether the system took all that it was given, @p n of @p bytes, and may take more. */
static bool send_took_all(const struct ski_link *link, size_t n, size_t bytes)
{
    return n == bytes || (link->records && n > 0); /* a record holds less */
}

/* As much of a packet as the system takes. */
static void push_one(struct ski_link *link, struct ski_out *out)
{
    struct iovec part[3];
    size_t       room, parts, n;

    do {
        room  = PUSH_MOST;
        parts = list_parts(out, part, &room);
        n     = ski_tcp_push(link, part, parts);
        out->sent += n;
    } while (send_took_all(link, n, PUSH_MOST - room) && out->sent < whole(out));
}

/* ---- queues ------------------------------------------------------------------------ */

static void enqueue(struct ski_peer *peer, struct ski_out *out)
{
    struct ski_port *port = peer->port;

    out->next   = NULL;
    *peer->last = out;
    peer->last  = &out->next;
    peer->waiting++;
    if (peer->listed)
        return;
    peer->listed       = true;
    peer->next_waiting = port->waiting;
    port->waiting      = peer;
}

static void dequeue(struct ski_peer *peer)
{
    struct ski_port *port = peer->port;
    struct ski_out  *out  = peer->first;

    peer->first = out->next;
    if (!peer->first)
        peer->last = &peer->first;
    peer->waiting--;
    if (out->split)
        port->up->done(port->owner, out->cookie, SKUA_OK);
    else
        port->up->sent(port->owner, (void *)(uintptr_t)out->part[0]);
    free(out);
}

void ski_tcp_give_back(struct ski_peer *peer)
{
    while (peer->first)
        dequeue(peer);
}

/* So many bytes of the queue have left. */
static void take_off(struct ski_peer *peer, size_t bytes)
{
    while (bytes > 0) {
        struct ski_out *out  = peer->first;
        size_t          left = whole(out) - out->sent;

        if (bytes < left) {
            out->sent += bytes;
            return;
        }
        bytes -= left;
        dequeue(peer);
    }
}

/* The beginning of the queue; true if the system took all of it. */
static bool push_queue(struct ski_peer *peer, bool *any)
{
    struct iovec part[PARTS];
    size_t       parts = 0, room = PUSH_MOST, n;

    for (struct ski_out *out = peer->first; out && room > 0 && parts + 3 <= PARTS; out = out->next)
        parts += list_parts(out, part + parts, &room);
    n = ski_tcp_push(peer->link, part, parts);
    *any |= n > 0;
    take_off(peer, n);
    return send_took_all(peer->link, n, PUSH_MOST - room);
}

static bool is_open(const struct ski_peer *peer)
{
    return peer->link && peer->link->state == SKI_LINK_OPEN;
}

/* All that goes now; true if that was anything.  Who takes nothing for long is not asked again
 * and again: epoll will tell. */
static bool flush(struct ski_peer *peer)
{
    bool any = false;

    while (peer->first && push_queue(peer, &any))
        ;
    peer->stalls = any ? 0 : peer->stalls + 1;
    if (peer->stalls >= STALLS_MOST)
        ski_tcp_ask_for_room(peer->link, true);
    return any;
}

bool ski_tcp_flush(struct ski_port *port)
{
    struct ski_peer **at  = &port->waiting;
    bool              any = false;

    while (*at) {
        struct ski_peer *peer = *at;

        if (peer->first && is_open(peer) && !peer->link->asks)
            any |= flush(peer);
        if (peer->first && !peer->link)
            ski_tcp_lose(peer, "it has closed its port");
        if (peer->first) {
            at = &peer->next_waiting;
            continue;
        }
        peer->listed = false;
        *at          = peer->next_waiting;
        if (is_open(peer))
            ski_tcp_ask_for_room(peer->link, false);
    }
    return any;
}

void ski_tcp_ask_for_rooms(struct ski_port *port)
{
    for (struct ski_peer *peer = port->waiting; peer; peer = peer->next_waiting)
        if (is_open(peer))
            ski_tcp_ask_for_room(peer->link, true);
}

/* ---- sending ------------------------------------------------------------------------- */

/* Keeps what has not left of it in the queue. */
static inline skua_status_t send_keep_rest(struct ski_peer *peer, const struct ski_out *out)
{
    struct ski_port *port = peer->port;

    if (out->sent == whole(out))
        return SKUA_OK;
    *port->spare = *out;
    enqueue(peer, port->spare);
    port->spare = NULL;
    return SKUA_PENDING;
}

/* Sends it, or as much of it as goes now. */
static skua_status_t send_or_keep(struct ski_peer *peer, struct ski_out *out)
{
    bool now = is_open(peer) && !peer->first;

    if (now && out->bytes[0] <= COPY_MOST && !out->split)
        out->sent = push_copy(peer->link->source.fd, out);
    else if (now)
        push_one(peer->link, out);
    return send_keep_rest(peer, out);
}

/* Whether there is room to keep a packet. */
static bool has_room(struct ski_peer *peer)
{
    struct ski_port *port = peer->port;

    if (!port->spare)
        port->spare = malloc(sizeof *port->spare);
    return port->spare && peer->waiting < SENDS_MOST;
}

/* To a peer that is lost, or whose links have records. */
static skua_status_t send_unusual(struct ski_peer *peer, struct ski_out *out)
{
    if (peer->lost)
        return SKUA_ERR_UNREACH;
    if (!has_room(peer))
        return SKUA_ERR_AGAIN;
    if (is_open(peer) && !peer->first)
        push_one(peer->link, out);
    return send_keep_rest(peer, out);
}

static skua_status_t give(struct ski_peer *peer, struct ski_out *out)
{
    if (peer->unusual)
        return send_unusual(peer, out);
    return has_room(peer) ? send_or_keep(peer, out) : SKUA_ERR_AGAIN;
}

skua_status_t ski_tcp_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_out out = {
        .head = ski_stream_head(SKI_STREAM_PACKET, bytes), .part = {packet}, .bytes = {bytes}};

    return give(peer, &out);
}

skua_status_t ski_tcp_send_split(struct ski_peer *peer, void *packet, size_t bytes,
                                 const void *rest, size_t rest_bytes, void *cookie)
{
    struct ski_out out = {.head   = ski_stream_head(SKI_STREAM_PACKET, bytes + rest_bytes),
                          .part   = {packet, rest},
                          .bytes  = {bytes, rest_bytes},
                          .split  = true,
                          .cookie = cookie};

    return give(peer, &out);
}
