/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rail_test.c - rails that break, stop or end in the middle of a packet, and packets that are
 * sent ahead or moved, between two ports of this process.  The receiver never sends, so it has no
 * peer for the sender.
 */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"
#include "transport/tcp/tcp.h"

#define SENDER     0
#define RECEIVER   1
#define BYTES      ((size_t)16 << 20) /* more than the sockets hold */
#define ROUNDS_MAX 1000000            /* polls of both ports until something is there */

/* ---- the job ------------------------------------------------------------------------------ */

extern const struct ski_driver ski_driver; /* the tcp driver */

static unsigned break_test_arrived, break_test_aborted, break_test_lost;
static unsigned break_test_done;
static char    *break_test_data;
static char    *break_test_kept; /* the last packet that arrived, if it is to be kept */
static bool     break_test_keep;
static char     break_test_reason[SKI_REASON_MAX];

__attribute__((format(printf, 2, 3))) static void break_test_log(enum ski_log_level level,
                                                                 const char        *format, ...)
{
    (void)level, (void)format;
}

static char *break_test_last_error(void)
{
    static char reason[SKI_REASON_MAX];

    return reason;
}

static bool break_test_prove(const uint64_t *words, size_t count, uint64_t proof[2])
{
    proof[0] = proof[1] = count;
    for (size_t i = 0; i < count; i++)
        proof[i % 2] = 31 * proof[i % 2] + words[i];
    return true;
}

static struct ski_net break_test_net = {.processes    = 2,
                                        .ports        = 2,
                                        .one_host     = true,
                                        .interfaces   = "auto",
                                        .port_range   = "any",
                                        .peer_timeout = 30,
                                        .rails        = 2,
                                        .log          = break_test_log,
                                        .security     = SKI_SECURITY_JOB,
                                        .prove        = break_test_prove,
                                        .last_error   = break_test_last_error};

static void *break_test_alloc(void *owner, size_t bytes)
{
    (void)owner;
    return malloc(bytes);
}

static void break_test_on_arrived(void *owner, void *packet, size_t bytes)
{
    (void)owner, (void)bytes;
    break_test_arrived++;
    if (break_test_keep)
        break_test_kept = packet;
    else
        free(packet);
}

static void break_test_on_abort(void *owner, void *packet)
{
    (void)owner;
    break_test_aborted++;
    free(packet);
}

static void break_test_on_sent(void *owner, void *packet)
{
    (void)owner, (void)packet;
}

static void break_test_on_done(void *owner, void *cookie, skua_status status)
{
    (void)owner, (void)cookie;
    break_test_done += status == SKUA_OK;
}

static void break_test_on_lost(void *owner, int pe, const char *why)
{
    (void)owner, (void)pe;
    snprintf(break_test_reason, sizeof break_test_reason, "%s", why);
    break_test_lost++;
}

static const struct ski_upcalls break_test_up = {.alloc   = break_test_alloc,
                                                 .arrived = break_test_on_arrived,
                                                 .abort   = break_test_on_abort,
                                                 .sent    = break_test_on_sent,
                                                 .done    = break_test_on_done,
                                                 .lost    = break_test_on_lost};

/* ---- two ports ------------------------------------------------------------------------------ */

struct break_test_ports {
    struct ski_port     *from, *to;
    struct ski_peer     *peer;    /* as the sender sees the receiver */
    struct ski_tcp_conn *rail[2]; /* of the receiver                 */
};

/* Returns the open connection of the receiver for a rail, or NULL. */
static struct ski_tcp_conn *break_test_rail(const struct break_test_ports *p, unsigned rail)
{
    struct ski_tcp_conn *conn = p->to->conns;

    while (conn && (conn->rail != rail || conn->state != SKI_TCP_OPEN))
        conn = conn->next;
    return conn;
}

static bool break_test_rails_are_open(struct break_test_ports *p)
{
    const struct ski_peer *rail = p->peer->rail[1];

    for (unsigned i = 0; i < 2; i++)
        p->rail[i] = break_test_rail(p, i);
    return p->rail[0] && p->rail[1] && rail && rail->conn && rail->conn->state == SKI_TCP_OPEN;
}

/* Opens two ports, and both rails between them with a first packet. */
static void break_test_open(struct break_test_ports *p)
{
    char     address[SKI_PORT_ADDRESS_MAX];
    size_t   bytes;
    unsigned polls = 0;

    *p                 = (struct break_test_ports){.from = NULL};
    break_test_arrived = break_test_aborted = break_test_lost = 0;
    CHECK(ski_tcp_open(SENDER, &break_test_up, NULL, &p->from) == SKUA_OK &&
          ski_tcp_open(RECEIVER, &break_test_up, NULL, &p->to) == SKUA_OK);
    bytes = ski_tcp_address(p->to, address);
    CHECK(ski_tcp_connect(p->from, RECEIVER, address, bytes, &p->peer) == SKUA_OK);
    while (p->peer->conn->state != SKI_TCP_OPEN && polls++ < ROUNDS_MAX) {
        ski_tcp_progress(p->from);
        ski_tcp_progress(p->to);
    }
    CHECK(ski_tcp_send(p->peer, break_test_data, SKI_TCP_RAIL_BYTES) >= 0);
    while ((!break_test_arrived || !break_test_rails_are_open(p)) && polls++ < ROUNDS_MAX) {
        ski_tcp_progress(p->from);
        ski_tcp_progress(p->to);
    }
    CHECK(polls < ROUNDS_MAX && break_test_arrived == 1 && break_test_rails_are_open(p));
}

static void break_test_close(struct break_test_ports *p)
{
    ski_tcp_close(p->from);
    ski_tcp_close(p->to);
}

/* Polls one connection of the receiver until it receives a part of a packet. */
static void break_test_begin_part(struct ski_tcp_conn *conn)
{
    unsigned polls = 0;

    while (!conn->in.packet && polls++ < ROUNDS_MAX)
        ski_tcp_on_readable(conn);
    CHECK(conn->in.packet);
}

/* Sends a packet of which rail 1 sends nothing yet. */
static void break_test_send_first(struct break_test_ports *p)
{
    p->peer->rail[1]->conn->wants_writable = true; /* as if the socket had no room */
    CHECK(ski_tcp_send(p->peer, break_test_data, 2 * SKI_TCP_RAIL_BYTES) == SKUA_PENDING);
}

/* Sends such a packet, and receives the part of rail 0. */
static void break_test_pause(struct break_test_ports *p)
{
    unsigned polls = 0;

    break_test_send_first(p);
    while (!p->rail[0]->in.paused && polls++ < ROUNDS_MAX) {
        ski_tcp_progress(p->from);
        ski_tcp_progress(p->to);
    }
    CHECK(p->rail[0]->in.paused && p->peer->rail[1]->first);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void test_rail_breaks(void)
{
    struct break_test_ports p;

    break_test_open(&p);
    CHECK(ski_tcp_send(p.peer, break_test_data, BYTES) == SKUA_PENDING);
    for (int i = 0; i < 2; i++)
        break_test_begin_part(p.rail[i]);
    shutdown(p.peer->rail[1]->conn->source.fd, SHUT_RDWR);
    for (unsigned i = 0; i < ROUNDS_MAX && p.rail[1]->state != SKI_TCP_CLOSED; i++)
        ski_tcp_on_readable(p.rail[1]); /* rail 0 has bytes that it has not read then */
    for (unsigned i = 0; i < ROUNDS_MAX && p.to->conns; i++)
        ski_tcp_progress(p.to);
    OK(!p.to->conns && break_test_aborted == 1 && !p.to->multiparts.list,
       "a rail that breaks ends all connections with a sender that is no peer");
    for (unsigned i = 0; i < ROUNDS_MAX && !break_test_lost; i++)
        ski_tcp_progress(p.from);
    OK(break_test_lost == 1 && p.from->unsent == 0, "and the sender notices it");
    break_test_close(&p);
}

/* Returns whether the descriptor of a port that is about to sleep is readable. */
static bool break_test_wakes(struct ski_port *port)
{
    struct pollfd fd;

    CHECK(ski_tcp_arm(port));
    fd = (struct pollfd){ski_tcp_wait_fd(port), POLLIN, 0};
    return poll(&fd, 1, 0) == 1;
}

/* Sends a packet behind the one that is paused, and waits until it is in the socket. */
static void break_test_send_behind(struct break_test_ports *p)
{
    struct pollfd fd = {p->rail[0]->source.fd, POLLIN, 0};

    CHECK(ski_tcp_send(p->peer, break_test_data, SKI_PACKET_MIN) == SKUA_OK);
    CHECK(poll(&fd, 1, 10000) == 1);
}

static void test_rail_stops(void)
{
    struct break_test_ports p;
    bool                    wakes;

    break_test_open(&p);
    break_test_pause(&p);
    break_test_send_behind(&p);
    wakes = break_test_wakes(p.to);
    ski_tcp_want_writable(p.rail[0], true);
    ski_tcp_want_writable(p.rail[0], false);
    OK(!wakes && !break_test_wakes(p.to),
       "data behind an incomplete packet does not wake the port");
    ski_tcp_want_writable(p.peer->rail[1]->conn, false);
    for (unsigned i = 0; i < ROUNDS_MAX && break_test_arrived < 3; i++) {
        ski_tcp_progress(p.from);
        ski_tcp_progress(p.to);
    }
    OK(break_test_arrived == 3, "and arrives when that is complete");
    break_test_send_behind(&p);
    OK(break_test_wakes(p.to), "and then wakes it");
    break_test_close(&p);
}

/* One rail takes no bytes, and gets ever smaller parts of packets that the other one sends. */
static void test_rail_stalls(void)
{
    const size_t            bytes = (size_t)1 << 20;
    struct break_test_ports p;
    size_t                  held = 0;

    break_test_open(&p);
    p.peer->rail[1]->conn->wants_writable = true; /* as if the socket had no room */
    while (held < 1000 && ski_tcp_send(p.peer, break_test_data, bytes) == SKUA_PENDING)
        held++;
    OK(held == 2 * SKI_HELD_MAX / bytes, "a rail that stalls: %zu packets are held", held);
    ski_tcp_want_writable(p.peer->rail[1]->conn, false);
    for (unsigned i = 0; i < ROUNDS_MAX && break_test_arrived < 1 + held; i++) {
        ski_tcp_progress(p.from);
        ski_tcp_progress(p.to);
    }
    OK(p.peer->divided_bytes == 0, "and none after they were sent");
    break_test_close(&p);
}

/* Ends the stream of rail 1, and lets the receiver read that. */
static void break_test_end_rail(struct break_test_ports *p)
{
    CHECK(ski_tcp_send_end(p->peer->rail[1]->conn, SKI_FRAME_END));
    for (unsigned i = 0; i < ROUNDS_MAX && !p->rail[1]->in.ended; i++)
        ski_tcp_on_readable(p->rail[1]);
    CHECK(p->rail[1]->in.ended);
}

/* Rail 1 ends without its part, after the part of rail 0 was received or before. */
static void break_test_ends(bool after)
{
    struct break_test_ports p;

    break_test_open(&p);
    if (after)
        break_test_pause(&p);
    else
        break_test_send_first(&p);
    break_test_end_rail(&p);
    for (unsigned i = 0; i < ROUNDS_MAX && !break_test_aborted; i++) {
        ski_tcp_progress(p.from);
        ski_tcp_progress(p.to);
    }
    break_test_send_behind(&p);
    for (unsigned i = 0; i < ROUNDS_MAX && break_test_arrived < 2; i++)
        ski_tcp_progress(p.to);
    OK(break_test_aborted == 1 && break_test_arrived == 2,
       "a packet is aborted whose rail ends %s the other part, and the next one arrives",
       after ? "after" : "before");
    ski_tcp_sendq_clear(p.peer->rail[1]);
    break_test_close(&p);
}

/* Opens ports whose receiver waits for a part, with a connection that claims to be one of the
 * sender, and has not proved it.  Its other end is @p pair[1]. */
static struct ski_tcp_conn *break_test_claim(struct break_test_ports *p, int pair[2])
{
    struct ski_tcp_conn *conn;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    break_test_open(p);
    conn = ski_tcp_conn_new(p->to, pair[0], -1);
    CHECK(conn);
    conn->state      = SKI_TCP_AWAIT_PROOF;
    conn->hello.from = SENDER;
    conn->deadline   = INFINITY;
    ski_tcp_count_unauthenticated(p->to, 1);
    break_test_pause(p);
    return conn;
}

/* The claim ends at its deadline, or before that if the other side closes it. */
static void break_test_claimed(bool closed)
{
    struct break_test_ports p;
    int                     pair[2];
    struct ski_tcp_conn    *claim = break_test_claim(&p, pair);

    break_test_end_rail(&p);
    OK(break_test_aborted == 0 && !isinf(claim->deadline),
       "a connection that may bring the missing part gets a deadline for its proof");
    if (closed) {
        shutdown(pair[1], SHUT_WR);
        ski_tcp_on_readable(claim);
    } else {
        claim->deadline = 0;
        ski_tcp_conns_check(p.to);
    }
    OK(break_test_aborted == 1, "and %s the packet is aborted",
       closed ? "when it is closed" : "after that");
    ski_tcp_sendq_clear(p.peer->rail[1]);
    break_test_close(&p);
    close(pair[1]);
}

/* Both rails end before the claim does, so no connection with the sender is open. */
static void test_rail_claimed_last(void)
{
    struct break_test_ports p;
    int                     pair[2];
    struct ski_tcp_conn    *claim = break_test_claim(&p, pair);

    ski_tcp_sendq_clear(p.peer->rail[1]);
    for (int i = 0; i < 2; i++) {
        p.rail[i]->in.ended = true; /* as if the sender had closed its port */
        ski_tcp_conn_close(p.rail[i]);
    }
    CHECK(p.to->conns == claim && !claim->next && p.to->multiparts.list && !break_test_aborted);
    ski_tcp_conn_close(claim);
    OK(break_test_aborted == 1 && !p.to->multiparts.list,
       "a packet is aborted with the last connection that might have completed it");
    break_test_close(&p);
    close(pair[1]);
}

/* ---- rails for the I/O thread ---------------------------------------------------------------- */

static void test_rail_without_io(void)
{
    struct break_test_ports p;
    uint64_t                divided;

    break_test_open(&p);
    divided         = p.peer->multiparts;
    p.peer->io_rail = true; /* as if the thread had been stopped since */
    CHECK(ski_tcp_send(p.peer, break_test_data, BYTES) == SKUA_PENDING);
    OK(p.peer->multiparts == divided && p.peer->first && !p.peer->rail[1]->first,
       "a packet is not divided for an I/O thread that was stopped");
    for (unsigned i = 0; i < ROUNDS_MAX && break_test_arrived < 2; i++) {
        ski_tcp_progress(p.from);
        ski_tcp_progress(p.to);
    }
    OK(break_test_arrived == 2, "it arrives on rail 0");
    break_test_close(&p);
}

/* Returns whether a port prefers the packets of I/O threads, and whether one starts at *@p starts.
 */
static bool break_test_prefers_io(struct ski_port *port, bool *starts)
{
    bool large = ski_driver.preferred_packet() > ski_tcp_preferred_packet();

    ski_tcp_io(port);
    *starts          = port->io || port->io_refused;
    port->io_refused = false;
    if (port->io)
        ski_io_thread_stop(port->io);
    port->io = NULL;
    return large;
}

/* Whether a job with CPUs for I/O threads has any, by its security and its number of rails. */
static void test_rail_uses_io(void)
{
    static const int cpu[] = {0};
    struct {
        enum ski_security security;
        unsigned          rails;
        bool              may;
    } job[] = {{SKI_SECURITY_JOB, 0, true},
               {SKI_SECURITY_JOB, 2, true},
               {SKI_SECURITY_JOB, 1, false},
               {SKI_SECURITY_AUTH, 0, false},
               {SKI_SECURITY_ENCRYPT, 2, false}};
    struct break_test_ports p;
    struct ski_net          before = break_test_net;
    bool                    right  = true, starts;

    break_test_open(&p);
    break_test_net.io_cpu  = cpu;
    break_test_net.io_cpus = 1;
    for (size_t i = 0; i < sizeof job / sizeof *job; i++) {
        break_test_net.security = job[i].security;
        break_test_net.rails    = job[i].rails;
        right &= break_test_prefers_io(p.from, &starts) == job[i].may && starts == job[i].may;
    }
    break_test_net = before;
    OK(right, "an I/O thread starts, and packets are for it, only where it can be used");
    break_test_close(&p);
}

/* ---- packets that the progress thread sends ---------------------------------------------------
 */

/* Sends packets on rail 0 alone, until the kernel accepts no more of them. */
static void break_test_fill(struct break_test_ports *p)
{
    break_test_net.rails = 1;
    CHECK(ski_tcp_send(p->peer, break_test_data, BYTES) == SKUA_PENDING);
    break_test_net.rails = 2;
    CHECK(p->peer->first && p->peer->first->sent > 0);
}

static void test_write_ahead_broken(void)
{
    struct break_test_ports p;
    bool                    more = true, any = true;

    break_test_open(&p);
    break_test_fill(&p);
    for (unsigned i = 0; i < ROUNDS_MAX && any; i++)
        any = ski_tcp_sendq_write_ahead(p.peer, BYTES, &more);
    OK(!any && more, "a connection without room is to be written later");
    shutdown(p.peer->conn->source.fd, SHUT_RDWR);
    any = ski_tcp_sendq_write_ahead(p.peer, BYTES, &more);
    OK(!any && !more, "and one that is broken is not");
    break_test_close(&p);
}

/* The receiver does not read until the kernel gives the connection up; a call of send() gets the
 * error, and recv() the end of the stream. */
static void test_error_is_kept(void)
{
    struct break_test_ports p;
    struct pollfd           fd;
    int                     soon = 50; /* ms */
    bool                    more;

    break_test_open(&p);
    break_test_fill(&p);
    fd = (struct pollfd){p.peer->conn->source.fd, 0, 0};
    CHECK(setsockopt(fd.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &soon, sizeof soon) == 0);
    for (unsigned i = 0; i < ROUNDS_MAX && ski_tcp_sendq_write_ahead(p.peer, BYTES, &more); i++)
        continue;
    CHECK(poll(&fd, 1, 20000) == 1 && fd.revents & POLLERR);
    CHECK(!ski_tcp_sendq_write_ahead(p.peer, BYTES, &more) && p.peer->conn->error == ETIMEDOUT);
    for (unsigned i = 0; i < ROUNDS_MAX && !break_test_lost; i++)
        ski_tcp_progress(p.from);
    OK(break_test_lost == 1 && strcmp(break_test_reason, "it no longer responds") == 0,
       "an error that a send has got is the reason: %s", break_test_reason);
    break_test_close(&p);
}

/* The only packet of a queue keeps its peer from another connection until the progress thread has
 * sent the rest of it. */
static void test_write_ahead_settles(void)
{
    struct break_test_ports p;
    struct ski_tcp_conn    *kept, *old;
    int                     pair[2];
    bool                    more = true, unsettled;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    break_test_open(&p);
    break_test_fill(&p);
    old            = p.peer->conn;
    old->initiator = false; /* as if the other side had opened it */
    kept           = ski_tcp_conn_new(p.from, pair[0], RECEIVER);
    CHECK(kept);
    kept->initiator = true;
    kept->state     = SKI_TCP_OPEN;
    ski_tcp_settle(p.from, RECEIVER, 0);
    unsettled = p.peer->unsettled && p.peer->conn == old;
    for (unsigned i = 0; i < ROUNDS_MAX && more; i++) {
        ski_tcp_sendq_write_ahead(p.peer, BYTES, &more);
        ski_tcp_progress(p.to);
    }
    CHECK(!more && p.peer->first);
    ski_tcp_sendq_complete_sent(p.from);
    OK(unsettled && !p.peer->first && !p.peer->unsettled && p.peer->conn == kept && old->end_sent,
       "a packet that was sent ahead does not keep its peer from the other connection");
    p.peer->conn = old;
    ski_tcp_conn_close(kept);
    break_test_close(&p);
    close(pair[1]);
}

/* ---- packets whose memory changes ------------------------------------------------------------ */

/* Sends a packet of two parts on both rails, or on rail 0 alone, and moves what is left of it. */
static void break_test_moves(bool divided)
{
    struct break_test_ports p;
    char                   *packet = malloc(SKI_PACKET_MIN), *rest = malloc(BYTES);
    char                   *to = malloc(BYTES), *same = malloc(BYTES);

    CHECK(packet && rest && to && same);
    for (size_t i = 0; i < BYTES; i++)
        rest[i] = (char)(i * 2654435761u >> 13 | 1);
    memcpy(same, rest, BYTES);
    memset(packet, 1, SKI_PACKET_MIN);
    memset(to, 0, BYTES);
    break_test_open(&p);
    break_test_done      = 0;
    break_test_keep      = true;
    break_test_net.rails = divided ? 2 : 1;
    CHECK(ski_tcp_send_split(p.peer, packet, SKI_PACKET_MIN, rest, BYTES, &p) == SKUA_PENDING);
    break_test_net.rails = 2;
    ski_tcp_split_move(p.peer, &p, rest, to);
    OK(to[0] == 0 && to[BYTES - 1] == same[BYTES - 1],
       "what was sent of a packet%s is not moved, and the rest is", divided ? " in parts" : "");
    memset(rest, 0, BYTES);
    for (unsigned i = 0; i < ROUNDS_MAX && !break_test_kept; i++) {
        ski_tcp_progress(p.from);
        ski_tcp_progress(p.to);
    }
    ski_tcp_progress(p.from);
    OK(break_test_kept && break_test_done == 1 &&
           memcmp(break_test_kept + SKI_PACKET_MIN, same, BYTES) == 0,
       "it arrives as it was");
    break_test_keep = false;
    free(break_test_kept);
    break_test_kept = NULL;
    break_test_close(&p);
    free(packet);
    free(rest);
    free(to);
    free(same);
}

int main(void)
{
    ski_tcp.net        = &break_test_net;
    ski_tcp.interfaces = "lo";
    break_test_data    = calloc(1, BYTES);
    CHECK(break_test_data);
    test_rail_breaks();
    test_rail_stops();
    test_rail_stalls();
    break_test_ends(true);
    break_test_ends(false);
    break_test_claimed(false);
    break_test_claimed(true);
    test_rail_claimed_last();
    test_rail_without_io();
    test_rail_uses_io();
    test_write_ahead_broken();
    test_error_is_kept();
    test_write_ahead_settles();
    break_test_moves(true);
    break_test_moves(false);
    free(break_test_data);
    return tap_end();
}
