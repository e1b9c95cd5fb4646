/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - connections that are open, and what comes by them: see tcp.h.
 *
 * A side that closes its port ends the stream before.  So a link that breaks without that is a
 * peer that is lost, though it is another one that we send by.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "transport/guard.h"
#include "transport/tcp/tcp.h"

#define FOLLOW     ((size_t)4 << 10)   /* bytes that are received behind a large packet */
#define COLD_LEAST ((size_t)2 << 20)   /* bytes of a message */
#define PLACE_MOST ((size_t)256 << 10) /* bytes that are received before others have their turn */

/* ---- what a link is ----------------------------------------------------------------- */

bool ski_tcp_watch(struct ski_port *port, struct ski_source *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

    return epoll_ctl(port->epoll, EPOLL_CTL_ADD, source->fd, &event) == 0;
}

void ski_tcp_ask_for_room(struct ski_link *link, bool ask)
{
    struct epoll_event event = {.events = ask ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = link};

    if (link->asks != ask &&
        epoll_ctl(link->port->epoll, EPOLL_CTL_MOD, link->source.fd, &event) == 0)
        link->asks = ask;
}

struct ski_link *ski_tcp_new_link(struct ski_port *port, int fd, int pe)
{
    struct ski_link *link = malloc(sizeof *link);
    int              on   = 1;

    if (!link) {
        close(fd);
        return NULL;
    }
    *link = (struct ski_link){.source = {SKI_LINK, fd},
                              .state  = SKI_LINK_GREETING,
                              .pe     = pe,
                              .port   = port,
                              .hear   = ski_tcp_hear_greeting,
                              .in     = {.up = port->up, .owner = port->owner},
                              .began  = ski_tcp_now()};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    link->next  = port->links;
    port->links = link;
    return link;
}

struct ski_peer *ski_tcp_peer(const struct ski_port *port, int pe)
{
    struct ski_peer *peer = port->peers;

    while (peer && peer->pe != pe)
        peer = peer->next;
    return peer;
}

/* Of a link that is over. */
static bool link_hear_nothing(struct ski_link *link)
{
    (void)link;
    return false;
}

/* Epoll may still tell of it: so it is freed later. */
void ski_tcp_close_link(struct ski_link *link)
{
    struct ski_port  *port = link->port;
    struct ski_link **at   = &port->links;

    if (ski_tcp_is_unproven(link))
        ski_tcp_count_unproven(port, -1);
    while (*at != link)
        at = &(*at)->next;
    *at        = link->next;
    link->next = port->over;
    port->over = link;
    if (port->hot == link)
        port->hot = NULL;
    /* A child of fork() may have it, too: then close() alone ends nothing. */
    epoll_ctl(port->epoll, EPOLL_CTL_DEL, link->source.fd, NULL);
    if (link->state == SKI_LINK_OPEN)
        shutdown(link->source.fd, SHUT_RDWR);
    link->state = SKI_LINK_OVER;
    link->hear  = link_hear_nothing;
    close(link->source.fd);
    ski_stream_close(&link->in);
    ski_tcp_shut_doors(port, false); /* there is room for another */
}

void ski_tcp_bury(struct ski_port *port)
{
    while (port->over) {
        struct ski_link *link = port->over;
        port->over            = link->next;
        ski_records_drop(link->records);
        free(link);
    }
}

/* ---- ends ------------------------------------------------------------------------------ */

static void close_links_to(struct ski_port *port, int pe)
{
    for (struct ski_link *link = port->links, *next; link; link = next) {
        next = link->next;
        if (link->pe == pe)
            ski_tcp_close_link(link);
    }
}

void ski_tcp_lose(struct ski_peer *peer, const char *why)
{
    peer->link    = NULL;
    peer->lost    = true;
    peer->unusual = true;
    close_links_to(peer->port, peer->pe);
    peer->port->up->lost(peer->port->owner, peer->pe, why);
    ski_tcp_give_back(peer);
}

/* One that was open. */
static void end_link(struct ski_link *link, const char *why)
{
    struct ski_peer *peer  = ski_tcp_peer(link->port, link->pe);
    bool             ended = link->in.ended || link->left; /* by either side */

    ski_tcp_close_link(link);
    if (!peer || peer->lost)
        return;
    if (!ended)
        ski_tcp_lose(peer, why);
    else if (peer->link == link)
        peer->link = NULL; /* it has left: who still sends something to it has lost it */
}

/* ---- what happens at them -------------------------------------------------------------- */

/* How many bytes are received straight to where they belong.  A large message, whose memory has
 * been touched by nobody for long, is filled faster by our own copy from memory in the cache than
 * by the system's. */
static size_t rest_of(const struct ski_link *link, void **to)
{
    const struct ski_stream *in = &link->in;

    return in->kept == 0 && in->bytes > COLD_LEAST ? 0 : ski_stream_place(in, to);
}

/* Receives the rest of a packet to its place, with what follows if it is not long; or else
 * what there is to memory of the port's. */
static ssize_t receive(struct ski_link *link, bool *sense)
{
    struct ski_port *port    = link->port;
    struct iovec     part[2] = {{NULL, 0}, {port->scratch, SKI_SCRATCH}};
    size_t           rest    = rest_of(link, &part[0].iov_base), placed;
    ssize_t          n;

    part[0].iov_len = rest;
    if (link->in.bytes > SKI_SCRATCH) /* as may be what follows */
        part[1].iov_len = FOLLOW;
    if (rest == 0)
        n = recv(link->source.fd, port->scratch, SKI_SCRATCH, 0);
    else if (rest > PLACE_MOST)
        n = recv(link->source.fd, part[0].iov_base, PLACE_MOST, 0);
    else
        n = readv(link->source.fd, part, 2);
    if (n <= 0)
        return n;
    placed = (size_t)n < rest ? (size_t)n : rest;
    if (placed > 0)
        ski_stream_placed(&link->in, placed);
    *sense = ski_stream_take(&link->in, port->scratch, (size_t)n - placed);
    return n;
}

static const char *reason(ssize_t n)
{
    if (n == 0 || errno == ECONNRESET || errno == EPIPE)
        return "the connection broke";
    if (errno == EFAULT)
        return "the memory that a get of ours is to fill is not there";
    return errno == ETIMEDOUT ? "it does not answer any more" : strerror(errno);
}

/* Who closes its port waits until we have acknowledged that, which the system would put off. */
static void confirm_end(struct ski_link *link)
{
    int on = 1;

    setsockopt(link->source.fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

/* After @p n bytes, or none, have come, which made @p sense or not. */
static inline bool link_heard(struct ski_link *link, ssize_t n, bool sense, const char *nonsense)
{
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    link->port->hot = link;
    if (n <= 0)
        end_link(link, reason(n));
    else if (!sense)
        end_link(link, nonsense);
    else if (link->in.ended)
        confirm_end(link);
    return true;
}

bool ski_tcp_hear_packets(struct ski_link *link)
{
    bool    sense = true;
    ssize_t n     = receive(link, &sense);

    return link_heard(link, n, sense, "what it sent makes no sense");
}

static bool link_take_stream(void *stream, const char *data, size_t bytes)
{
    return ski_stream_take(stream, data, bytes);
}

/* What comes in records: nothing of one is taken before all of it is found to be genuine. */
bool ski_tcp_hear_records(struct ski_link *link)
{
    struct ski_records *r = link->records;
    ssize_t             n = recv(link->source.fd, r->came + r->have, SKI_RECORD_ROOM - r->have, 0);
    bool                sense = true;

    if (n > 0) {
        r->have += (size_t)n;
        sense = ski_records_open(r, link_take_stream, &link->in);
    }
    return link_heard(
        link, n, sense,
        "what came is not what it sent: bytes were changed, left out, repeated or put in "
        "on the way");
}

/* Looks at one link. */
static void look_at(struct ski_link *link)
{
    bool open = link->state == SKI_LINK_OPEN;

    if (link->state != SKI_LINK_CONNECTING &&
        ski_guard_is_dead(link->source.fd, ski_tcp.net->peer_timeout))
        open ? end_link(link, "it does not answer any more") : ski_tcp_give_up(link, ETIMEDOUT);
    else if (!open && ski_tcp_now() > link->until)
        ski_tcp_be_late(link);
}

/* With one, others may go: if that is the next one, the rest is looked at the next time. */
void ski_tcp_look_at_links(struct ski_port *port)
{
    struct ski_link *link = port->links;

    ski_tcp_shut_doors(port, false);
    while (link && link->state != SKI_LINK_OVER) {
        struct ski_link *next = link->next;

        look_at(link);
        link = next;
    }
}
