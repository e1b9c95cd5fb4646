/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_handshake.c - connections until they are open: see tcp.h.
 *
 * An initiator connects to the addresses of its peer in turn, those in subnets of this host first,
 * until the port that answers proves to be that peer.  The peer is lost when no address is left. An
 * accepted connection is unauthenticated until its proof has arrived; it is refused if its hello or
 * proof is wrong, or if the hello takes too long.  So a connection may be refused because this PE
 * computed and sent its hello late; it is then retried.
 *
 * Unauthenticated connections cannot exhaust what the job needs.  The kernel does not report a
 * connection before data has arrived, or a second has passed (TCP_DEFER_ACCEPT in tcp_port.c), so
 * those that send nothing, or are closed, cost no descriptor.  The number of others is bounded by
 * the ports of the job and an eighth of the limit on descriptors, and they get none that is
 * reserved (transport/fd_limit.h). Where there is no room, the oldest one of the port is evicted if
 * it has had its time, which is long enough for a peer: first one that has not sent its hello, then
 * one whose proof is awaited, which has no other deadline.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arch.h"
#include "transport/fd_limit.h"
#include "transport/netif.h"
#include "transport/sockaddr.h"
#include "transport/tcp/tcp.h"

#define TCP_UNAUTHENTICATED_MAX 256  /* unauthenticated connections of a process in a small job */
#define TCP_UNAUTHENTICATED_MIN 4    /* of a port, in any case */
#define TCP_HELLO_SECONDS       10   /* for the hello of an accepted connection */
#define TCP_HELLO_SECONDS_MIN   0.05 /* for the hello, at least, when there are many connections */
#define TCP_PROOF_SECONDS_MIN   1    /* for the proof, at least */
#define TCP_CONNECT_POLL_MS     10   /* that connect() waits for the kernel */
#define TCP_RETRIES_MAX         10   /* attempts that are repeated */
#define TCP_WARNINGS_MAX        10   /* about refused connections, then none */
#define TCP_ACCEPT_BATCH        16   /* connections accepted in a row */

/* ---- sockets ---------------------------------------------------------------------------- */

/* Returns whether a call failed for want of descriptors and the limit has now been raised.
 * Launchers leave it at the low default of the system, which is meant for select(). */
static bool tcp_raised_fd_limit(void)
{
    return errno == EMFILE && ski_fd_limit_raise();
}

static bool tcp_is_out_of_fds(void)
{
    return errno == EMFILE || errno == ENFILE;
}

/* Accepts one connection. Returns -1 if there is none, or no descriptor for it. */
static int tcp_accept_one(struct ski_port *port, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 && tcp_raised_fd_limit())
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && tcp_is_out_of_fds() && !port->short_of_files) {
        port->short_of_files = true;
        ski_tcp.net->log(SKI_LOG_WARN, "peers wait to connect to this PE: " SKI_TOO_MANY_FILES);
    }
    return fd;
}

/* ---- proofs --------------------------------------------------------------------------- */

static struct ski_tcp_transcript handshake_transcript(const struct ski_tcp_conn *conn,
                                                      enum ski_tcp_role          role)
{
    const struct ski_tcp_hello *hello = &conn->hello;
    const uint64_t             *other = conn->answer.nonce;

    return (struct ski_tcp_transcript){
        .role     = role,
        .security = ski_tcp.net->security,
        .from     = hello->from,
        .to       = hello->to,
        .rail     = hello->rail,
        .nonce    = {hello->nonce[0], hello->nonce[1], other[0], other[1]}};
}

static bool handshake_prove(const struct ski_tcp_conn *conn, enum ski_tcp_role role,
                            uint64_t proof[2])
{
    struct ski_tcp_transcript transcript = handshake_transcript(conn, role);

    return ski_tcp.net->prove((const uint64_t *)(const void *)&transcript, SKI_TCP_TRANSCRIPT_WORDS,
                              proof);
}

/* Checks a proof in constant time. */
static bool handshake_is_proven(const struct ski_tcp_conn *conn, enum ski_tcp_role role,
                                const uint64_t proof[2])
{
    uint64_t right[2];

    return handshake_prove(conn, role, right) &&
           ((right[0] ^ proof[0]) | (right[1] ^ proof[1])) == 0;
}

static bool handshake_nonce(uint64_t nonce[2])
{
    return getrandom(nonce, 2 * sizeof *nonce, 0) == 2 * sizeof *nonce;
}

/* The keys differ from those of any other connection. */
bool ski_tcp_conn_secure(struct ski_tcp_conn *conn)
{
    struct ski_tcp_transcript transcript = handshake_transcript(conn, SKI_TCP_KEYS);
    const struct ski_net     *net        = ski_tcp.net;
    struct ski_record_keys    keys[2]    = {0}; /* of the side that begins, and of the other */
    bool                      encrypts   = net->security == SKI_SECURITY_ENCRYPT;

    if (net->security == SKI_SECURITY_JOB || conn->records)
        return true;
    if (net->derive((const uint64_t *)(const void *)&transcript, SKI_TCP_TRANSCRIPT_WORDS, keys,
                    sizeof keys))
        conn->records = ski_records_make(net->crypto, encrypts, &keys[conn->initiator],
                                         &keys[!conn->initiator]);
    explicit_bzero(keys, sizeof keys);
    return conn->records != NULL;
}

/* Sends a handshake message, which always fits in the socket buffer of a new connection. */
static bool handshake_send(const struct ski_tcp_conn *conn, const void *what, size_t bytes)
{
    return send(conn->source.fd, what, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* ---- opening -------------------------------------------------------------------------- */

/* Opens a connection for packets. */
static void handshake_open(struct ski_tcp_conn *conn)
{
    struct ski_peer *peer = ski_tcp_peer_of(conn);

    assert(conn->pe >= 0 && conn->got == 0);
    conn->in.multiparts = conn->port->owners ? NULL : &conn->port->multiparts;
    conn->in.calls      = &ski_multipart_calls;
    conn->in.from       = conn->pe;
    conn->state         = SKI_TCP_OPEN;
    ski_tcp_conn_receive(conn);
    if (peer && peer->conn && peer->conn->state != SKI_TCP_OPEN)
        peer->conn = conn;
    if (peer)
        ski_tcp_sendq_list(peer);
    if (conn->rail > 0 && conn->initiator)
        ski_tcp_rail_log(conn);
    ski_tcp_settle(conn->port, conn->pe, conn->rail);
}

static void handshake_warn_refused(struct ski_tcp_conn *conn, const char *reason)
{
    struct sockaddr_storage addr  = {0};
    socklen_t               bytes = sizeof addr;
    unsigned                n     = ++conn->port->refused;
    char                    text[INET6_ADDRSTRLEN];

    getpeername(conn->source.fd, (struct sockaddr *)&addr, &bytes);
    if (n <= TCP_WARNINGS_MAX)
        ski_tcp.net->log(SKI_LOG_WARN, "a connection from %s was refused: it does not %s%s",
                         ski_sockaddr_text(&addr, text, sizeof text), reason,
                         n == TCP_WARNINGS_MAX ? " (further ones are not logged)" : "");
}

/* ---- initiator ------------------------------------------------------------------------- */

/* Sends the hello on a connection that the kernel has connected. */
static bool handshake_begin(struct ski_tcp_conn *conn)
{
    conn->hello       = (struct ski_tcp_hello){.magic    = SKI_TCP_MAGIC,
                                               .security = ski_tcp.net->security,
                                               .from     = conn->port->pe,
                                               .to       = conn->pe,
                                               .rail     = conn->rail};
    conn->state       = SKI_TCP_HANDSHAKE;
    conn->on_readable = ski_tcp_on_handshake;
    ski_tcp_want_writable(conn, false);
    return handshake_nonce(conn->hello.nonce) &&
           handshake_send(conn, &conn->hello, sizeof conn->hello);
}

/* Waits a moment for the kernel and sends the hello, since the other side does not wait long for it
 * and this PE may compute before the next progress(). A failure is found later. */
static void handshake_begin_soon(struct ski_tcp_conn *conn)
{
    struct pollfd fd = {conn->source.fd, POLLOUT, 0};

    if (conn->state == SKI_TCP_CONNECTING && poll(&fd, 1, TCP_CONNECT_POLL_MS) == 1 &&
        fd.revents == POLLOUT)
        handshake_begin(conn);
}

/* Returns a socket for an address; -1, with errno set. */
static int handshake_socket(const struct sockaddr_storage *addr)
{
    int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd   = socket(addr->ss_family, type, IPPROTO_TCP);

    return fd < 0 && tcp_raised_fd_limit() ? socket(addr->ss_family, type, IPPROTO_TCP) : fd;
}

/* Returns the seconds that the handshake at one address of a peer may take. */
static double handshake_seconds_per_addr(const struct ski_peer *peer)
{
    double seconds = ski_tcp.net->peer_timeout / (double)peer->addrs.count;

    return seconds > 1 ? seconds : 1;
}

/* Opens a connection to the next address of a peer. Returns NULL, with peer->error set, if that
 * fails. */
static struct ski_tcp_conn *handshake_connect(struct ski_peer *peer)
{
    const struct sockaddr_storage *addr = &peer->addrs.addr[peer->next_addr];
    int                            fd   = handshake_socket(addr);
    struct ski_tcp_conn *conn = fd < 0 ? NULL : ski_tcp_conn_new(peer->port, fd, peer->pe);
    bool                 connected;

    assert(!peer->conn && peer->next_addr < peer->addrs.count);
    peer->error = errno;
    peer->next_addr++;
    if (!conn)
        return NULL;
    conn->addr_index  = peer->next_addr - 1;
    conn->rail        = peer->number;
    conn->initiator   = true;
    conn->state       = SKI_TCP_CONNECTING;
    conn->on_readable = ski_tcp_on_connected;
    conn->deadline    = conn->started + handshake_seconds_per_addr(peer);
    connected         = connect(fd, (const struct sockaddr *)addr, ski_sockaddr_bytes(addr)) == 0;
    if ((connected || errno == EINPROGRESS) && ski_tcp_epoll_add(peer->port, &conn->source)) {
        ski_tcp_want_writable(conn, true); /* it has room when it is connected */
        if (!connected || handshake_begin(conn))
            return conn;
    }
    peer->error = errno;
    ski_tcp_conn_close(conn);
    return NULL;
}

/* Returns a connection for a peer, or for a rail of one, in the given state, on which packets may
 * be sent when it is open; or NULL. */
static struct ski_tcp_conn *handshake_find_conn(const struct ski_peer *peer, int state)
{
    struct ski_tcp_conn *conn = *ski_tcp_conn_bucket(peer->port, peer->pe);

    while (conn && (conn->pe != peer->pe || conn->rail != peer->number ||
                    (int)conn->state != state || conn->end_kind))
        conn = conn->next_in_bucket;
    return conn;
}

bool ski_tcp_try_next(struct ski_peer *peer)
{
    peer->conn = handshake_find_conn(peer, SKI_TCP_OPEN);
    while (!peer->conn && peer->next_addr < peer->addrs.count)
        peer->conn = handshake_connect(peer);
    if (!peer->conn)
        peer->conn = handshake_find_conn(peer, SKI_TCP_HANDSHAKE);
    ski_tcp_sendq_list(peer);
    return peer->conn != NULL;
}

/* Puts the addresses in subnets of this host first. */
static void handshake_sort_addrs(struct ski_sockaddrs *addrs)
{
    size_t near = 0;

    for (size_t i = 0; i < addrs->count && addrs->count > 1; i++)
        if (ski_netif_on_link(&addrs->addr[i])) {
            struct sockaddr_storage addr = addrs->addr[i];

            addrs->addr[i]      = addrs->addr[near];
            addrs->addr[near++] = addr;
        }
}

static const char *handshake_no_route(const struct ski_peer *peer, char *to)
{
    char list[128];

    if (peer->error == EMFILE || peer->error == ENFILE)
        snprintf(to, SKI_REASON_MAX, SKI_TOO_MANY_FILES);
    else
        snprintf(to, SKI_REASON_MAX, SKI_NO_ROUTE,
                 ski_sockaddrs_text(&peer->addrs, ski_tcp.net->one_host, list, sizeof list),
                 ski_tcp.interfaces,
                 peer->error ? strerror(peer->error) : "another port answers there");
    return to;
}

skua_status ski_tcp_connect(struct ski_port *port, int pe, const void *to, size_t bytes,
                            struct ski_peer **out)
{
    struct ski_peer *peer = calloc(1, sizeof *peer);

    if (!peer)
        return SKUA_ERR_NOMEM;
    if (ski_sockaddrs_unpack(&peer->addrs, to, bytes) != bytes || peer->addrs.count == 0) {
        free(peer);
        return SKUA_ERR_INVAL;
    }
    peer->port      = port;
    peer->pe        = pe;
    peer->last      = &peer->first;
    peer->slow_path = ski_tcp.net->security != SKI_SECURITY_JOB;
    handshake_sort_addrs(&peer->addrs);
    if (!ski_tcp_try_next(peer)) {
        handshake_no_route(peer, ski_tcp.net->last_error());
        free(peer);
        return SKUA_ERR_UNREACH;
    }
    ski_tcp_peer_add(port, peer);
    *out = peer;
    handshake_begin_soon(peer->conn);
    return SKUA_OK;
}

/* Handles events of this connection alone: others belong to progress(). */
void ski_tcp_connect_wait(struct ski_peer *peer, double seconds)
{
    struct ski_port *port     = peer->port;
    double           deadline = ski_tcp_now() + seconds;

    ski_tcp_assist_take(port);
    while (peer->conn && peer->conn->state < SKI_TCP_OPEN && ski_tcp_now() < deadline) {
        struct pollfd fd = {peer->conn->source.fd,
                            peer->conn->state == SKI_TCP_CONNECTING ? POLLOUT : POLLIN, 0};

        if (poll(&fd, 1, TCP_CONNECT_POLL_MS) == 1)
            ski_tcp_on_readable(peer->conn);
    }
    ski_tcp_assist_offer(port, false);
}

void ski_tcp_conn_fail(struct ski_tcp_conn *conn, int error)
{
    struct ski_peer *peer = conn->initiator ? ski_tcp_peer_of(conn) : NULL;
    char             reason[SKI_REASON_MAX];

    ski_tcp_conn_close(conn);
    if (!peer || peer->conn != conn)
        return;
    peer->error = error;
    if ((error == ECONNRESET || error == EPIPE) && peer->retries++ < TCP_RETRIES_MAX)
        peer->next_addr = conn->addr_index;
    if (ski_tcp_try_next(peer))
        return;
    if (peer->main)
        ski_tcp_rail_give_up(peer);
    else
        ski_tcp_peer_lost(peer, handshake_no_route(peer, reason));
}

/* ---- responder ------------------------------------------------------------------------- */

/* Returns whether there is an event at a connection that was not handled yet. */
static bool handshake_is_ready(const struct ski_tcp_conn *conn)
{
    struct pollfd fd = {conn->source.fd, conn->state == SKI_TCP_CONNECTING ? POLLOUT : POLLIN, 0};

    return poll(&fd, 1, 0) == 1;
}

/* Returns how many unauthenticated connections the process may have: enough for all ports of the
 * job to connect at the same time, if the limit on descriptors allows that. */
static size_t tcp_unauthenticated_max(void)
{
    size_t all   = (size_t)ski_tcp.net->processes * (size_t)ski_tcp.net->ports;
    size_t share = ski_fd_limit() / 8;

    if (share < all && ski_fd_limit_raise())
        share = ski_fd_limit() / 8;
    if (all < TCP_UNAUTHENTICATED_MAX)
        all = TCP_UNAUTHENTICATED_MAX;
    return share < all ? share : all;
}

/* Returns whether the port may accept another unauthenticated connection. */
static bool tcp_may_accept_more(const struct ski_port *port)
{
    return port->unauthenticated < TCP_UNAUTHENTICATED_MIN ||
           atomic_load(&ski_tcp.unauthenticated) < tcp_unauthenticated_max();
}

/* Returns the connection that is evicted first: the oldest one that has not sent its hello, or else
 * the oldest unauthenticated one; NULL if there is none. */
static struct ski_tcp_conn *tcp_oldest_unauthenticated(const struct ski_port *port)
{
    struct ski_tcp_conn *oldest = NULL;

    for (struct ski_tcp_conn *conn = port->conns; port->unauthenticated > 0 && conn;
         conn                      = conn->next)
        if (ski_tcp_is_unauthenticated(conn) && (!oldest || conn->state <= oldest->state))
            oldest = conn; /* they are in the order of their age, the youngest first */
    return oldest;
}

/* Returns the seconds that an accepted connection has in any case. After a hello, which a peer may
 * have sent, they are more, since the PE of that peer may compute. */
static double handshake_seconds_min(const struct ski_tcp_conn *conn)
{
    return conn->state == SKI_TCP_AWAIT_PROOF ? TCP_PROOF_SECONDS_MIN : TCP_HELLO_SECONDS_MIN;
}

/* Closes the oldest unauthenticated connection if it has had its time. Returns false if there is
 * none. */
static bool tcp_evict_oldest(struct ski_port *port)
{
    struct ski_tcp_conn *oldest = tcp_oldest_unauthenticated(port);
    unsigned             before = port->unauthenticated;

    if (!oldest || ski_tcp_now() < oldest->started + handshake_seconds_min(oldest))
        return false;
    if (handshake_is_ready(oldest)) {
        ski_tcp_on_readable(oldest);
        return port->unauthenticated < before;
    }
    handshake_warn_refused(oldest, "identify itself");
    ski_tcp_conn_close(oldest);
    return true;
}

/* Returns whether a new connection may stay. It may not if it takes a descriptor that is reserved
 * for the job, none can be evicted, and the process has more than a few unauthenticated
 * connections. */
static bool tcp_may_keep(struct ski_port *port, int fd)
{
    if (SKI_LIKELY(!ski_fd_is_reserved(fd)) || ski_fd_limit_raise() || tcp_evict_oldest(port) ||
        atomic_load(&ski_tcp.unauthenticated) < TCP_UNAUTHENTICATED_MIN)
        return true;
    if (!port->short_of_files)
        ski_tcp.net->log(SKI_LOG_WARN, "connections are refused: " SKI_TOO_MANY_FILES);
    port->short_of_files = true;
    return false;
}

/* Returns the seconds that an accepted connection has to send its hello. */
static double handshake_hello_seconds(void)
{
    double timeout = ski_tcp.net->peer_timeout;

    return timeout < TCP_HELLO_SECONDS ? timeout : TCP_HELLO_SECONDS;
}

/* Connections that cannot be accepted now would keep the PE awake, so listeners are left out of
 * epoll until something changes. */
bool ski_tcp_accept(struct ski_port *port, int listener)
{
    bool any = false;

    for (int i = 0; i < TCP_ACCEPT_BATCH; i++) {
        bool                 room = tcp_may_accept_more(port) || tcp_evict_oldest(port);
        int                  fd   = room ? tcp_accept_one(port, listener) : -1;
        struct ski_tcp_conn *conn;

        if (!room || (fd < 0 && tcp_is_out_of_fds()))
            ski_tcp_pause_accept(port, true);
        if (fd < 0)
            return any;
        any  = true;
        conn = tcp_may_keep(port, fd) ? ski_tcp_conn_new(port, fd, -1) : (close(fd), NULL);
        if (!conn)
            return any;
        conn->deadline = conn->started + handshake_hello_seconds();
        ski_tcp_count_unauthenticated(port, 1);
        if (!ski_tcp_epoll_add(port, &conn->source))
            ski_tcp_conn_close(conn);
    }
    return any;
}

/* ---- events ---------------------------------------------------------------------------- */

static void handshake_refuse(struct ski_tcp_conn *conn, const char *reason)
{
    handshake_warn_refused(conn, reason);
    ski_tcp_conn_fail(conn, 0);
}

/* Returns what a hello fails to do, or NULL if it is valid. */
static const char *handshake_check_hello(const struct ski_tcp_conn *conn)
{
    const struct ski_tcp_hello *hello = &conn->hello;

    if (memcmp(hello->magic, SKI_TCP_MAGIC, sizeof hello->magic) != 0 || hello->from < 0 ||
        hello->to != conn->port->pe || hello->rail >= SKI_TCP_RAILS_MAX)
        return "know the secret of the job";
    return hello->security == (uint32_t)ski_tcp.net->security ? NULL
                                                              : "use the SKUA_SECURITY of the job";
}

/* Answers a hello. The proof has no deadline, since the PE of the peer may compute; the connection
 * is evicted when its place is needed. */
static void handshake_on_hello(struct ski_tcp_conn *conn)
{
    const char *wrong = handshake_check_hello(conn);

    assert(!conn->initiator && conn->state == SKI_TCP_HANDSHAKE);
    if (wrong) {
        handshake_refuse(conn, wrong);
        return;
    }
    if (!handshake_nonce(conn->answer.nonce) ||
        !handshake_prove(conn, SKI_TCP_RESPONDER, conn->answer.proof) ||
        !handshake_send(conn, &conn->answer, sizeof conn->answer)) {
        ski_tcp_conn_fail(conn, 0);
        return;
    }
    conn->state    = SKI_TCP_AWAIT_PROOF;
    conn->deadline = INFINITY;
}

static void handshake_on_proof(struct ski_tcp_conn *conn)
{
    assert(ski_tcp_is_unauthenticated(conn) && conn->pe < 0);
    if (!handshake_is_proven(conn, SKI_TCP_INITIATOR, conn->proof)) {
        handshake_refuse(conn, "know the secret of the job");
        return;
    }
    if (!ski_tcp_conn_secure(conn)) {
        ski_tcp_conn_fail(conn, 0);
        return;
    }
    conn->rail = conn->hello.rail;
    ski_tcp_conn_set_pe(conn, conn->hello.from);
    ski_tcp_count_unauthenticated(conn->port, -1);
    handshake_open(conn);
}

/* Checks an answer and sends the proof, before which nothing else is sent. */
static void handshake_on_answer(struct ski_tcp_conn *conn)
{
    uint64_t proof[2];

    assert(conn->initiator && conn->state == SKI_TCP_HANDSHAKE);
    if (handshake_is_proven(conn, SKI_TCP_RESPONDER, conn->answer.proof) &&
        handshake_prove(conn, SKI_TCP_INITIATOR, proof) && ski_tcp_conn_secure(conn) &&
        handshake_send(conn, proof, sizeof proof))
        handshake_open(conn);
    else
        ski_tcp_conn_fail(conn, 0); /* another port answered */
}

/* The message that a handshake expects: where it is stored, its length, and its handler. */
struct handshake_step {
    void  *to;
    size_t bytes;
    void (*take)(struct ski_tcp_conn *conn);
};

static struct handshake_step handshake_expected(struct ski_tcp_conn *conn)
{
    if (conn->initiator)
        return (struct handshake_step){&conn->answer, sizeof conn->answer, handshake_on_answer};
    if (conn->state == SKI_TCP_AWAIT_PROOF)
        return (struct handshake_step){conn->proof, sizeof conn->proof, handshake_on_proof};
    return (struct handshake_step){&conn->hello, sizeof conn->hello, handshake_on_hello};
}

/* Reads no further than the end of the expected message. */
bool ski_tcp_on_handshake(struct ski_tcp_conn *conn)
{
    struct handshake_step what = handshake_expected(conn);
    ssize_t n = recv(conn->source.fd, (char *)what.to + conn->got, what.bytes - conn->got, 0);

    assert(conn->state != SKI_TCP_OPEN && conn->state != SKI_TCP_CLOSED);
    if (n <= 0) {
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return false;
        ski_tcp_conn_fail(conn, n < 0 ? errno : ECONNRESET);
        return true;
    }
    conn->got += (size_t)n;
    assert(conn->got <= what.bytes);
    if (conn->got == what.bytes) {
        conn->got = 0;
        what.take(conn);
    }
    return true;
}

bool ski_tcp_on_connected(struct ski_tcp_conn *conn)
{
    int       error = 0;
    socklen_t bytes = sizeof error;

    getsockopt(conn->source.fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0 || !handshake_begin(conn))
        ski_tcp_conn_fail(conn, error ? error : errno);
    return true;
}

/* A peer that was reached but has not answered may be busy: its handshake continues beside the one
 * at the next address. */
void ski_tcp_on_deadline(struct ski_tcp_conn *conn)
{
    struct ski_peer *peer = ski_tcp_peer_of(conn);

    if (handshake_is_ready(conn)) {
        ski_tcp_on_readable(conn);
        return;
    }
    if (!conn->initiator)
        handshake_warn_refused(conn, "identify itself");
    if (!conn->initiator || conn->state == SKI_TCP_CONNECTING)
        ski_tcp_conn_fail(conn, ETIMEDOUT);
    else if (peer && peer->conn == conn)
        ski_tcp_try_next(peer);
}
