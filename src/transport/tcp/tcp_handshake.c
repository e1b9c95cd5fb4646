/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greet.c - connections until they are open: see tcp.h.
 *
 * A link of ours is for one peer, and goes to the names that it listens at in turn, those of
 * networks that we are in first, until somebody answers who proves to be that peer.  The peer is
 * lost when none is left.  A link that came in belongs to nobody before its proof; it is refused
 * if its hello or its proof is wrong, or its hello takes too long.  So one of ours may find the
 * door shut, if its hello was late as we computed meanwhile, and is begun again.
 *
 * Strangers cannot use up what the job needs.  The system does not tell of a connection before
 * something has come by it, or a second is over (TCP_DEFER_ACCEPT in port.c): those that say
 * nothing, or hang up, cost no descriptor.  Of others that have not proved who they are a process
 * has a bounded number, an eighth of the descriptors that it may have; and none of the reserve
 * (transport/files.h).  Where there is no room the oldest of the port gives way, if it has had its
 * time to say who it is, which a peer does at once: first one that has not said hello, then one
 * whose proof is awaited, which has no other limit.
 */
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

#define TCP_UNAUTHENTICATED_MAX 256  /* links that came in, of a process                 */
#define TCP_UNAUTHENTICATED_MIN 4    /* that a port may have whatever others have        */
#define TCP_HELLO_SECONDS       10   /* for them to say who they are                     */
#define TCP_HELLO_SECONDS_MIN   0.05 /* the least time for that, where there are many    */
#define TCP_PROOF_SECONDS_MIN   1    /* the least time for their proofs                  */
#define TCP_CONNECT_POLL_MS     10   /* that connect() waits for the system              */
#define TCP_RETRIES_MAX         10   /* times that a name is tried again                 */
#define TCP_WARNINGS_MAX        10   /* about strangers, then silence                    */
#define TCP_ACCEPT_BATCH        16   /* in one go                                        */

/* ---- sockets ---------------------------------------------------------------------------- */

/* After a call that failed: whether that was for want of descriptors, and there can be more now.
 * Launchers leave the limit where the system has it, low for the sake of select(). */
static bool tcp_raised_fd_limit(void)
{
    return errno == EMFILE && ski_fd_limit_raise();
}

static bool tcp_is_out_of_fds(void)
{
    return errno == EMFILE || errno == ENFILE;
}

/* Who is at a door; -1: nobody, or nobody that can be let in. */
static int tcp_accept_one(struct ski_port *port, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 && tcp_raised_fd_limit())
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && tcp_is_out_of_fds() && !port->short_of_files) {
        port->short_of_files = true;
        ski_tcp.net->log(SKI_LOG_WARN, "peers wait to connect: " SKI_TOO_MANY_FILES);
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
        .nonce    = {hello->nonce[0], hello->nonce[1], other[0], other[1]}};
}

static bool handshake_prove(const struct ski_tcp_conn *conn, enum ski_tcp_role role,
                            uint64_t proof[2])
{
    struct ski_tcp_transcript transcript = handshake_transcript(conn, role);

    return ski_tcp.net->prove((const uint64_t *)(const void *)&transcript, SKI_TCP_TRANSCRIPT_WORDS,
                              proof);
}

/* It takes as long for a proof that is wrong in the first byte as in the last. */
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

/* Their keys are those of no other link. */
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

/* What is said before a link is open is little: there is room for it. */
static bool handshake_send(const struct ski_tcp_conn *conn, const void *what, size_t bytes)
{
    return send(conn->source.fd, what, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* ---- links that open ------------------------------------------------------------------- */

/* Which of two links to a peer is used: both sides think the same. */
static bool handshake_is_preferred(const struct ski_tcp_conn *conn)
{
    return conn->initiator ? conn->port->pe < conn->pe : conn->pe < conn->port->pe;
}

/* Packets may come and go by it. */
static void handshake_open(struct ski_tcp_conn *conn)
{
    struct ski_peer *peer = ski_tcp_peer_find(conn->port, conn->pe);

    conn->state       = SKI_TCP_OPEN;
    conn->on_readable = conn->records ? ski_tcp_on_records : ski_tcp_on_packets;
    if (!peer || !peer->conn || peer->conn == conn)
        return;
    if (peer->conn->state == SKI_TCP_OPEN &&
        !(handshake_is_preferred(conn) && !ski_tcp_mid_packet(peer)))
        return;
    if (peer->conn->state == SKI_TCP_OPEN)
        ski_tcp_want_writable(peer->conn, false);
    peer->conn = conn;
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
                         n == TCP_WARNINGS_MAX ? " (no more of these will be told)" : "");
}

/* ---- links of ours --------------------------------------------------------------------- */

/* The system has connected it. */
static bool handshake_begin(struct ski_tcp_conn *conn)
{
    conn->hello       = (struct ski_tcp_hello){.magic    = SKI_TCP_MAGIC,
                                               .security = ski_tcp.net->security,
                                               .from     = conn->port->pe,
                                               .to       = conn->pe};
    conn->state       = SKI_TCP_HANDSHAKE;
    conn->on_readable = ski_tcp_on_handshake;
    ski_tcp_want_writable(conn, false);
    return handshake_nonce(conn->hello.nonce) &&
           handshake_send(conn, &conn->hello, sizeof conn->hello);
}

/* The other side does not wait long for a hello, and we may compute before the next
 * progress(): so the system is given a moment.  If that fails it is found later. */
static void handshake_begin_soon(struct ski_tcp_conn *conn)
{
    struct pollfd fd = {conn->source.fd, POLLOUT, 0};

    if (conn->state == SKI_TCP_CONNECTING && poll(&fd, 1, TCP_CONNECT_POLL_MS) == 1 &&
        fd.revents == POLLOUT)
        handshake_begin(conn);
}

/* A socket to reach a name by; -1, and errno. */
static int handshake_socket(const struct sockaddr_storage *addr)
{
    int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd   = socket(addr->ss_family, type, IPPROTO_TCP);

    return fd < 0 && tcp_raised_fd_limit() ? socket(addr->ss_family, type, IPPROTO_TCP) : fd;
}

/* The time that a peer may take, for each of its names. */
static double handshake_seconds_per_addr(const struct ski_peer *peer)
{
    double seconds = ski_tcp.net->peer_timeout / (double)peer->addrs.count;

    return seconds > 1 ? seconds : 1;
}

/* Begins a link to the next name; NULL, and peer->error. */
static struct ski_tcp_conn *handshake_connect(struct ski_peer *peer)
{
    const struct sockaddr_storage *addr = &peer->addrs.addr[peer->next_addr];
    int                            fd   = handshake_socket(addr);
    struct ski_tcp_conn *conn = fd < 0 ? NULL : ski_tcp_conn_new(peer->port, fd, peer->pe);
    bool                 connected;

    peer->error = errno;
    peer->next_addr++;
    if (!conn)
        return NULL;
    conn->addr_index  = peer->next_addr - 1;
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

/* A link to a PE that has got so far; NULL: there is none. */
static struct ski_tcp_conn *handshake_find_conn(const struct ski_port *port, int pe, int state)
{
    struct ski_tcp_conn *conn = port->conns;

    while (conn && (conn->pe != pe || (int)conn->state != state))
        conn = conn->next;
    return conn;
}

/* Goes on with the next of its names, or waits for the answer at another; false: none is
 * left. */
static bool handshake_try_next(struct ski_peer *peer)
{
    peer->conn = handshake_find_conn(peer->port, peer->pe, SKI_TCP_OPEN);
    while (!peer->conn && peer->next_addr < peer->addrs.count)
        peer->conn = handshake_connect(peer);
    if (!peer->conn)
        peer->conn = handshake_find_conn(peer->port, peer->pe, SKI_TCP_HANDSHAKE);
    return peer->conn != NULL;
}

/* Those of networks that we are in come first. */
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
        snprintf(to, SKI_WHY_MOST, SKI_TOO_MANY_FILES);
    else
        snprintf(to, SKI_WHY_MOST, SKI_NO_WAY,
                 ski_sockaddrs_text(&peer->addrs, ski_tcp.net->one_host, list, sizeof list),
                 ski_tcp.interfaces,
                 peer->error ? strerror(peer->error) : "somebody else answers there");
    return to;
}

skua_status_t ski_tcp_connect(struct ski_port *port, int pe, const void *to, size_t bytes,
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
    if (!handshake_try_next(peer)) {
        handshake_no_route(peer, ski_tcp.net->last_error());
        free(peer);
        return SKUA_ERR_UNREACH;
    }
    peer->next  = port->peers;
    port->peers = peer;
    *out        = peer;
    handshake_begin_soon(peer->conn);
    return SKUA_OK;
}

void ski_tcp_conn_fail(struct ski_tcp_conn *conn, int error)
{
    struct ski_peer *peer = conn->initiator ? ski_tcp_peer_find(conn->port, conn->pe) : NULL;
    char             reason[SKI_WHY_MOST];

    ski_tcp_conn_close(conn);
    if (!peer || peer->conn != conn)
        return;
    peer->error = error;
    if ((error == ECONNRESET || error == EPIPE) && peer->retries++ < TCP_RETRIES_MAX)
        peer->next_addr = conn->addr_index;
    if (!handshake_try_next(peer))
        ski_tcp_peer_lost(peer, handshake_no_route(peer, reason));
}

/* ---- links that come in ---------------------------------------------------------------- */

/* Whether something has come that we have not had the time to look at. */
static bool handshake_is_ready(const struct ski_tcp_conn *conn)
{
    struct pollfd fd = {conn->source.fd, conn->state == SKI_TCP_CONNECTING ? POLLOUT : POLLIN, 0};

    return poll(&fd, 1, 0) == 1;
}

/* Whether the port may have another link that has not proved who it is. */
static bool tcp_may_accept_more(const struct ski_port *port)
{
    size_t share = ski_fd_limit() / 8;
    size_t most  = share < TCP_UNAUTHENTICATED_MAX ? share : TCP_UNAUTHENTICATED_MAX;

    return port->unauthenticated < TCP_UNAUTHENTICATED_MIN ||
           atomic_load(&ski_tcp.unauthenticated) < most;
}

/* The link that gives way first: the oldest of a port's that have not said hello, or else of those
 * that have not proved who they are; NULL: there are none. */
static struct ski_tcp_conn *tcp_oldest_unauthenticated(const struct ski_port *port)
{
    struct ski_tcp_conn *oldest = NULL;

    for (struct ski_tcp_conn *conn = port->conns; port->unauthenticated > 0 && conn;
         conn                      = conn->next)
        if (ski_tcp_is_unauthenticated(conn) && (!oldest || conn->state <= oldest->state))
            oldest = conn; /* they are in the order of their age */
    return oldest;
}

/* How long a link that came in may take, whatever else waits.  After a hello, which may be a
 * peer's, it is longer, as the PE of that peer may compute. */
static double handshake_seconds_min(const struct ski_tcp_conn *conn)
{
    return conn->state == SKI_TCP_AWAIT_PROOF ? TCP_PROOF_SECONDS_MIN : TCP_HELLO_SECONDS_MIN;
}

/* Lets the oldest go that has not proved who it is, though it has had the time; false: there is
 * none such. */
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
    handshake_warn_refused(oldest, "say who it is");
    ski_tcp_conn_close(oldest);
    return true;
}

/* Whether a connection that has just come may stay: not if it takes of what is left to the job, no
 * other gives way, and more than a few of the process have not proved who they are. */
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

/* How long a link that comes in may take to say who it is. */
static double handshake_hello_seconds(void)
{
    double timeout = ski_tcp.net->peer_timeout;

    return timeout < TCP_HELLO_SECONDS ? timeout : TCP_HELLO_SECONDS;
}

/* What cannot be let in now would keep us awake: the doors are shut until something changes. */
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

/* ---- what happens at them -------------------------------------------------------------- */

static void handshake_refuse(struct ski_tcp_conn *conn, const char *reason)
{
    handshake_warn_refused(conn, reason);
    ski_tcp_conn_fail(conn, 0);
}

/* What is wrong with a hello: NULL, or what it does not do. */
static const char *handshake_check_hello(const struct ski_tcp_conn *conn)
{
    const struct ski_tcp_hello *hello = &conn->hello;

    if (memcmp(hello->magic, SKI_TCP_MAGIC, sizeof hello->magic) != 0 || hello->from < 0 ||
        hello->to != conn->port->pe)
        return "know the secret of the job";
    return hello->security == (uint32_t)ski_tcp.net->security ? NULL
                                                              : "use the SKUA_SECURITY of the job";
}

/* Of a link that has come in.  It may take its time for the proof, as its PE may compute: it goes
 * when its place is needed. */
static void handshake_on_hello(struct ski_tcp_conn *conn)
{
    const char *wrong = handshake_check_hello(conn);

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
    if (!handshake_is_proven(conn, SKI_TCP_INITIATOR, conn->proof)) {
        handshake_refuse(conn, "know the secret of the job");
        return;
    }
    if (!ski_tcp_conn_secure(conn)) {
        ski_tcp_conn_fail(conn, 0);
        return;
    }
    conn->pe = conn->hello.from;
    ski_tcp_count_unauthenticated(conn->port, -1);
    handshake_open(conn);
}

/* Of a link of ours: before it is open, nothing but the proof goes by it. */
static void handshake_on_answer(struct ski_tcp_conn *conn)
{
    uint64_t proof[2];

    if (handshake_is_proven(conn, SKI_TCP_RESPONDER, conn->answer.proof) &&
        handshake_prove(conn, SKI_TCP_INITIATOR, proof) && ski_tcp_conn_secure(conn) &&
        handshake_send(conn, proof, sizeof proof))
        handshake_open(conn);
    else
        ski_tcp_conn_fail(conn, 0); /* that is somebody else */
}

/* What is expected at a link that is not open: where it goes, its length, and what is done with
 * it. */
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

/* Reads no further than what is expected goes. */
bool ski_tcp_on_handshake(struct ski_tcp_conn *conn)
{
    struct handshake_step what = handshake_expected(conn);
    ssize_t n = recv(conn->source.fd, (char *)what.to + conn->got, what.bytes - conn->got, 0);

    if (n <= 0) {
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return false;
        ski_tcp_conn_fail(conn, n < 0 ? errno : ECONNRESET);
        return true;
    }
    conn->got += (size_t)n;
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

/* Where somebody was reached who has not answered, it may be busy: that goes on beside the next
 * one. */
void ski_tcp_on_deadline(struct ski_tcp_conn *conn)
{
    struct ski_peer *peer = ski_tcp_peer_find(conn->port, conn->pe);

    if (handshake_is_ready(conn)) {
        ski_tcp_on_readable(conn);
        return;
    }
    if (!conn->initiator)
        handshake_warn_refused(conn, "say who it is");
    if (!conn->initiator || conn->state == SKI_TCP_CONNECTING)
        ski_tcp_conn_fail(conn, ETIMEDOUT);
    else if (peer && peer->conn == conn)
        handshake_try_next(peer);
}
