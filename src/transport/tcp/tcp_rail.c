/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rail.c - rails: more connections with a peer, mostly on other networks, which carry large
 * packets together (docs/decisions/0082-rails.md).  Where CPUs are idle, a second one on the same
 * network gains, too: the I/O thread uses one while the PE uses the other (tcp_io_thread.h).
 *
 * Rail 0 is the connection of all packets.  The first large packet to a peer opens the others; they
 * are used when they are open, and one that cannot be opened is left out.  A large packet is
 * divided into a part for each rail such that all rails have the same number of bytes to send.  The
 * first part keeps its turn among the packets on rail 0; tcp_multipart.h describes the parts and
 * how they are received.  A rail that breaks means that the peer is lost, as for rail 0.
 *
 * A rail is a struct ski_peer with a send queue and a connection of its own, which belongs to the
 * peer of rail 0.  The side that first sends a large packet opens a rail, and both use it.
 */
#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/netif.h"
#include "transport/sockaddr.h"
#include "transport/tcp/tcp.h"

#define RAIL_ALIGN ((size_t)4096) /* bytes that all parts but the first are multiples of */

/* A packet that was divided into parts. */
struct ski_tcp_divided {
    struct ski_peer        *peer;  /* of rail 0                                               */
    unsigned                left;  /* parts that are not sent completely, and 1 within send() */
    struct ski_tcp_send_req whole; /* the packet */
};

/* ---- which addresses ---------------------------------------------------------------------- */

/* A network between this host and a peer. */
struct rail_link {
    char name[IF_NAMESIZE]; /* of the interface of this host */
    long speed;             /* 0: unknown */
};

static bool rail_link_of(const struct sockaddr_storage *addr, struct rail_link *link)
{
    if (!ski_netif_link_name(addr, link->name))
        return false;
    link->speed = ski_netif_speed(link->name);
    return true;
}

/* Returns whether one of @p count links has the name of @p link. */
static bool rail_link_is_used(const struct rail_link *used, size_t count,
                              const struct rail_link *link)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(used[i].name, link->name) == 0)
            return true;
    return false;
}

/* Selects an address on each network that is as fast as that of rail 0.  Returns their number. */
static size_t rail_choose_equal(const struct ski_peer *peer, const struct sockaddr_storage *first,
                                struct sockaddr_storage *to)
{
    struct rail_link used[SKI_TCP_RAILS_MAX];
    size_t           n = 0;

    if (!rail_link_of(first, &used[0]) || used[0].speed == 0)
        return 0;
    for (size_t i = 0; i < peer->addrs.count && n + 1 < SKI_TCP_RAILS_MAX; i++) {
        struct rail_link *link = &used[n + 1];

        if (rail_link_of(&peer->addrs.addr[i], link) && link->speed == used[0].speed &&
            !rail_link_is_used(used, n + 1, link))
            to[n++] = peer->addrs.addr[i];
    }
    return n;
}

/* Selects @p count addresses in turn, of those that are in subnets of this host, the address of
 * rail 0 last.  Returns their number. */
static size_t rail_choose_many(const struct ski_peer *peer, const struct sockaddr_storage *first,
                               size_t count, struct sockaddr_storage *to)
{
    size_t near = 0, main = 0;

    while (near < peer->addrs.count && ski_netif_on_link(&peer->addrs.addr[near]))
        near++;
    near = near > 0 ? near : peer->addrs.count;
    while (main + 1 < near && !ski_sockaddr_same_host(&peer->addrs.addr[main], first))
        main++;
    for (size_t i = 0; i < count; i++)
        to[i] = peer->addrs.addr[(main + 1 + i) % near];
    return count;
}

/* Selects the addresses of the other rails of a peer: those that the setting says, or one more on
 * the network of rail 0 for the I/O thread.  Returns their number. */
static size_t rail_choose(struct ski_peer *peer, struct sockaddr_storage *to)
{
    struct sockaddr_storage first = {0};
    socklen_t               bytes = sizeof first;
    unsigned                rails = ski_tcp.net->rails;
    size_t                  others;

    if (getpeername(peer->conn->source.fd, (struct sockaddr *)&first, &bytes) != 0)
        return 0;
    if (rails > 0)
        return rail_choose_many(peer, &first, rails - 1, to);
    others = rail_choose_equal(peer, &first, to);
    if (others > 0 || !ski_tcp_io(peer->port))
        return others;
    peer->io_rail = true;
    return rail_choose_many(peer, &first, 1, to);
}

/* ---- the I/O thread ------------------------------------------------------------------------- */

struct ski_io_thread *ski_tcp_io(struct ski_port *port)
{
    const struct ski_net *net = ski_tcp.net;

    if (port->io && ski_io_is_crowded(port->io)) {
        ski_io_thread_stop(port->io);
        port->io         = NULL;
        port->io_refused = true;
        net->log(SKI_LOG_INFO, "the I/O thread has ended: the PE shares its CPU");
    }
    if (port->io || port->io_refused || !ski_net_allows_io_threads(net))
        return port->io;
    port->io         = ski_io_thread_start(net->io_cpu, net->io_cpus);
    port->io_refused = !port->io;
    if (port->io_refused)
        net->log(SKI_LOG_WARN, "no I/O thread starts on the CPUs of SKUA_IO_CPUS: %s",
                 strerror(errno));
    return port->io;
}

void ski_tcp_run_two(struct ski_port *port, void (*fn)(void *arg), void *first, void *second)
{
    struct ski_io_thread *io = port->io ? ski_tcp_io(port) : NULL;

    if (io)
        ski_io_begin_run(io, fn, second);
    fn(first);
    if (!io || ski_io_end(io) < 0)
        fn(second);
}

/* ---- opening -------------------------------------------------------------------------------- */

static struct ski_peer *rail_new(struct ski_peer *main, unsigned number,
                                 const struct sockaddr_storage *addr)
{
    struct ski_peer *rail = calloc(1, sizeof *rail);

    if (!rail)
        return NULL;
    rail->port          = main->port;
    rail->pe            = main->pe;
    rail->main          = main;
    rail->number        = number;
    rail->last          = &rail->first;
    rail->slow_path     = main->slow_path;
    rail->addrs.count   = 1;
    rail->addrs.addr[0] = *addr;
    return rail;
}

/* Opens the other rails of a peer. */
static void rail_open_all(struct ski_peer *peer)
{
    struct sockaddr_storage addr[SKI_TCP_RAILS_MAX];
    size_t                  n = rail_choose(peer, addr);

    assert(!peer->rails_opened && n < SKI_TCP_RAILS_MAX);
    peer->rails_opened = true;
    for (unsigned i = 1; i <= n; i++) {
        peer->rail[i] = rail_new(peer, i, &addr[i - 1]);
        if (peer->rail[i] && !ski_tcp_try_next(peer->rail[i]))
            ski_tcp_rail_give_up(peer->rail[i]);
    }
}

void ski_tcp_rail_give_up(struct ski_peer *rail)
{
    char text[128];

    assert(rail->main && !rail->first);
    rail->conn = NULL;
    ski_tcp.net->log(SKI_LOG_INFO, "rail %u to PE %d is not used: %s cannot be reached: %s",
                     rail->number, rail->pe,
                     ski_sockaddrs_text(&rail->addrs, true, text, sizeof text),
                     rail->error ? strerror(rail->error) : "another port answers there");
}

void ski_tcp_rails_free(struct ski_peer *peer)
{
    for (unsigned i = 1; i < SKI_TCP_RAILS_MAX; i++)
        if (peer->rail[i]) {
            ski_tcp_sendq_clear(peer->rail[i]);
            free(peer->rail[i]);
        }
}

void ski_tcp_rails_lost(struct ski_peer *peer)
{
    for (unsigned i = 1; i < SKI_TCP_RAILS_MAX; i++)
        if (peer->rail[i]) {
            peer->rail[i]->conn = NULL;
            ski_tcp_sendq_clear(peer->rail[i]);
        }
}

/* Writes the name of the interface of a connection, IF_NAMESIZE bytes at most.  Returns @p name. */
static const char *rail_interface(const struct ski_tcp_conn *conn, char *name)
{
    struct sockaddr_storage own   = {0};
    socklen_t               bytes = sizeof own;

    if (getsockname(conn->source.fd, (struct sockaddr *)&own, &bytes) != 0 ||
        !ski_netif_name_of(&own, name))
        snprintf(name, IF_NAMESIZE, "?");
    return name;
}

void ski_tcp_rail_log(const struct ski_tcp_conn *conn)
{
    char name[IF_NAMESIZE];

    ski_tcp.net->log(SKI_LOG_INFO, "rail %u to PE %d is open, on %s", conn->rail, conn->pe,
                     rail_interface(conn, name));
}

const char *ski_tcp_rail_reason(const struct ski_tcp_conn *conn, const char *reason, char *to,
                                size_t size)
{
    char name[IF_NAMESIZE];

    if (conn->rail == 0)
        return reason;
    snprintf(to, size, "%.150s (rail %u, on %s)", reason, conn->rail, rail_interface(conn, name));
    return to;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Lists the rails of a peer that are open, rail 0 first.  Returns their number; 0: one has no room,
 * or all together hold SKI_HELD_MAX bytes for each: a rail that stalls gets small parts of packets
 * that another one sends, and each of them is held as a whole. */
static size_t rail_list_open(struct ski_peer *peer, struct ski_peer **to)
{
    size_t n = 0;

    for (unsigned i = 0; i < SKI_TCP_RAILS_MAX; i++) {
        struct ski_peer *rail = i == 0 ? peer : peer->rail[i];

        if (!rail || !rail->conn || !ski_tcp_can_send(rail->conn))
            continue;
        if (ski_tcp_sendq_is_full(rail))
            return 0;
        to[n++] = rail;
    }
    return peer->divided_bytes < n * SKI_HELD_MAX ? n : 0;
}

/* Divides @p bytes such that all rails have the same number of bytes to send.  Rail 0 has a part in
 * any case; that of another may be 0. */
static void rail_divide(struct ski_peer *const *rail, size_t n, size_t bytes, size_t *share)
{
    size_t level = bytes, left = bytes - RAIL_ALIGN;

    for (size_t i = 0; i < n; i++)
        level += rail[i]->waiting_bytes;
    level /= n;
    for (size_t i = 1; i < n; i++) {
        size_t most = level > rail[i]->waiting_bytes ? level - rail[i]->waiting_bytes : 0;

        share[i] = (most < left ? most : left) / RAIL_ALIGN * RAIL_ALIGN;
        left -= share[i];
    }
    share[0] = left + RAIL_ALIGN;
}

/* Returns the request for @p bytes of a packet from @p offset on; NULL: memory is exhausted. */
static struct ski_tcp_send_req *rail_request(struct ski_peer *rail, struct ski_tcp_divided *divided,
                                             size_t offset, size_t bytes)
{
    const struct ski_tcp_send_req *whole = &divided->whole;
    struct ski_tcp_send_req       *out   = calloc(1, sizeof *out);
    size_t                         all = whole->bytes[0] + whole->bytes[1], skip = offset;
    bool                           first = rail->number == 0;

    if (!out)
        return NULL;
    out->head[0] =
        first ? ski_frame_head(SKI_FRAME_MULTIPART, all) : ski_frame_head(SKI_FRAME_PART, bytes);
    out->head[1]    = (rail->main ? rail->main : rail)->multiparts;
    out->head[2]    = first ? bytes : offset;
    out->head_bytes = SKI_FRAME_HEAD + SKI_MULTIPART_HEAD;
    out->peer       = rail;
    out->divided    = divided;
    out->split      = whole->split;
    for (int i = 0; i < 2; i++) {
        size_t gone = skip < whole->bytes[i] ? skip : whole->bytes[i];
        size_t here = whole->bytes[i] - gone < bytes ? whole->bytes[i] - gone : bytes;

        out->part[i]  = (const char *)whole->part[i] + gone;
        out->bytes[i] = here;
        skip -= gone;
        bytes -= here;
    }
    assert(bytes == 0);
    return out;
}

/* Makes the requests of all parts.  Returns their number; 0: memory is exhausted. */
static unsigned rail_make_requests(struct ski_peer *const *rail, size_t n,
                                   struct ski_tcp_divided *divided, struct ski_tcp_send_req **out)
{
    size_t   share[SKI_TCP_RAILS_MAX], offset = 0;
    unsigned made = 0;

    rail_divide(rail, n, divided->whole.bytes[0] + divided->whole.bytes[1], share);
    for (size_t i = 0; i < n; i++) {
        if (share[i] == 0)
            continue;
        out[made] = rail_request(rail[i], divided, offset, share[i]);
        if (!out[made]) {
            while (made > 0)
                free(out[--made]);
            return 0;
        }
        made++;
        offset += share[i];
    }
    return made;
}

void *ski_tcp_divided_cookie(const struct ski_tcp_divided *divided)
{
    return divided->whole.cookie;
}

bool ski_tcp_part_sent(struct ski_tcp_divided *divided, struct ski_tcp_send_req *whole)
{
    assert(divided->left > 0);
    if (--divided->left > 0)
        return false;
    *whole = divided->whole;
    divided->peer->divided_bytes -= ski_tcp_send_req_held(whole);
    free(divided);
    return true;
}

/* Sends the parts that no other packet precedes: progress() sends the others, as it may tell the
 * runtime of the end of other packets. */
static void rail_flush(struct ski_tcp_send_req *const *out, unsigned parts)
{
    struct ski_peer *rail[SKI_TCP_RAILS_MAX];
    unsigned         n = 0;

    for (unsigned i = 0; i < parts; i++)
        if (out[i]->peer->first == out[i] && !out[i]->peer->conn->wants_writable)
            rail[n++] = out[i]->peer;
    for (unsigned i = 0; i < n; i += 2)
        if (i + 1 < n)
            ski_tcp_sendq_flush_two(rail[i], rail[i + 1]);
        else
            ski_tcp_sendq_flush_peer(rail[i]);
}

skua_status ski_tcp_send_divided(struct ski_peer *peer, const struct ski_tcp_send_req *whole)
{
    struct ski_peer         *rail[SKI_TCP_RAILS_MAX];
    struct ski_tcp_send_req *out[SKI_TCP_RAILS_MAX], ended;
    struct ski_tcp_divided  *divided;
    size_t                   n;
    unsigned                 parts;

    if (!peer->conn || peer->lost || !ski_tcp_can_send(peer->conn))
        return SKUA_ERR_UNSUPPORTED;
    if (!peer->rails_opened)
        rail_open_all(peer);
    if (peer->io_rail && (whole->bytes[0] + whole->bytes[1] < SKI_TCP_IO_BYTES || !peer->port->io))
        return SKUA_ERR_UNSUPPORTED; /* without the I/O thread a rail on the same network is slow */
    n = rail_list_open(peer, rail);
    if (n < 2)
        return n == 0 ? SKUA_ERR_AGAIN : SKUA_ERR_UNSUPPORTED;
    divided = malloc(sizeof *divided);
    if (!divided)
        return SKUA_ERR_UNSUPPORTED;
    divided->peer  = peer;
    divided->whole = *whole;
    parts          = rail_make_requests(rail, n, divided, out);
    if (parts == 0) {
        free(divided);
        return SKUA_ERR_UNSUPPORTED;
    }
    peer->multiparts++;
    peer->divided_bytes += ski_tcp_send_req_held(whole);
    divided->left = parts + 1;
    for (unsigned i = 0; i < parts; i++)
        ski_tcp_sendq_append(out[i]);
    rail_flush(out, parts);
    return ski_tcp_part_sent(divided, &ended) ? SKUA_OK : SKUA_PENDING;
}
