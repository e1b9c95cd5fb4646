/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_handshake_test.c - the handshake of tcp.h between two ports of this process, PE 3 and PE 5.
 *
 * A connection consists of two socket pairs, and the test relays bytes between them: in pieces of
 * any size, with one bit changed, or recorded and repeated.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/siphash.h"
#include "tests/tap.h"
#include "transport/tcp/tcp.h"

#define LOW       3
#define HIGH      5
#define ROUNDS    50
#define HELLO     sizeof(struct ski_tcp_hello)
#define ANSWER    sizeof(struct ski_tcp_answer)
#define PROOF     (2 * sizeof(uint64_t))
#define FORWARD   (HELLO + PROOF) /* bytes from the initiator to the responder */
#define NO_FLIP   SIZE_MAX
#define STEPS_MAX 1000

/* ---- the job ---------------------------------------------------------------------------- */

static unsigned         handshake_test_refusals, handshake_test_lost, handshake_test_sent;
static uint64_t         handshake_test_random;
static struct ski_port *handshake_test_low, *handshake_test_high;

__attribute__((format(printf, 2, 3))) static void handshake_test_log(enum ski_log_level level,
                                                                     const char        *format, ...)
{
    (void)level, (void)format;
    handshake_test_refusals++;
}

static char *handshake_test_last_error(void)
{
    static char reason[SKI_REASON_MAX];

    return reason;
}

static bool handshake_test_prove(const uint64_t *words, size_t count, uint64_t proof[2])
{
    static const uint64_t secret[2] = {17, 42};

    ski_siphash_long(secret, words, count, proof);
    return true;
}

static struct ski_net handshake_test_net = {.processes    = 2,
                                            .ports        = 2,
                                            .one_host     = true,
                                            .interfaces   = "auto",
                                            .port_range   = "any",
                                            .peer_timeout = 30,
                                            .log          = handshake_test_log,
                                            .security     = SKI_SECURITY_JOB,
                                            .prove        = handshake_test_prove,
                                            .last_error   = handshake_test_last_error};

static void handshake_test_on_lost(void *owner, int pe, const char *why)
{
    (void)owner, (void)pe, (void)why;
    handshake_test_lost++;
}

static void handshake_test_on_sent(void *owner, void *packet)
{
    (void)owner, (void)packet;
    handshake_test_sent++;
}

static const struct ski_upcalls handshake_test_up = {.sent = handshake_test_on_sent,
                                                     .lost = handshake_test_on_lost};

/* ---- a connection ------------------------------------------------------------------------ */

/* One direction: the socket that the test reads, the one that it writes, and what it has relayed.
 */
struct handshake_test_way {
    int    from, to;
    size_t relayed, flip; /* bytes so far; the byte of which a bit is changed, or NO_FLIP */
    char   record[FORWARD];
};

struct handshake_test_link {
    struct ski_tcp_conn      *initiator, *responder;
    struct handshake_test_way there, back;
};

/* Returns the connection at one end of a socket pair; *@p other is the test's end. */
static struct ski_tcp_conn *handshake_test_end(struct ski_port *port, int pe, int *other)
{
    struct ski_tcp_conn *conn;
    int                  fd[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) == 0);
    conn = ski_tcp_conn_new(port, fd[0], pe);
    CHECK(conn && ski_tcp_epoll_add(port, &conn->source));
    conn->deadline = INFINITY;
    *other         = fd[1];
    return conn;
}

static struct ski_tcp_conn *handshake_test_accepted(struct ski_port *port, int *other)
{
    struct ski_tcp_conn *conn = handshake_test_end(port, -1, other);

    ski_tcp_count_unauthenticated(port, 1);
    return conn;
}

/* Makes a connection that @p from initiates, and sends its hello. */
static void handshake_test_connect(struct handshake_test_link *link, struct ski_port *from,
                                   struct ski_port *to)
{
    int a, b;

    *link           = (struct handshake_test_link){.there.flip = NO_FLIP, .back.flip = NO_FLIP};
    link->initiator = handshake_test_end(from, to->pe, &a);
    link->responder = handshake_test_accepted(to, &b);
    link->initiator->initiator = true;
    link->initiator->state     = SKI_TCP_CONNECTING;
    link->there.from = link->back.to = a;
    link->there.to = link->back.from = b;
    ski_tcp_on_connected(link->initiator);
}

/* Relays at most @p most bytes.  Returns whether there were any. */
static bool handshake_test_relay(struct handshake_test_way *way, size_t most)
{
    char    bytes[FORWARD];
    ssize_t n = recv(way->from, bytes, most < sizeof bytes ? most : sizeof bytes, 0);

    if (n <= 0)
        return false;
    for (size_t i = 0; i < (size_t)n; i++, way->relayed++) {
        if (way->relayed == way->flip)
            bytes[i] ^= (char)(1 << tap_random(&handshake_test_random) % 8);
        if (way->relayed < sizeof way->record)
            way->record[way->relayed] = bytes[i];
    }
    (void)send(way->to, bytes, (size_t)n, MSG_NOSIGNAL); /* the other end may be closed */
    return true;
}

/* Relays in pieces of at most @p most bytes until both ends are idle. */
static void handshake_test_run(struct handshake_test_link *link, size_t most)
{
    bool busy = true;

    for (int i = 0; busy && i < STEPS_MAX; i++) {
        size_t piece = 1 + tap_random(&handshake_test_random) % most;

        busy = handshake_test_relay(&link->there, piece);
        busy |= ski_tcp_on_readable(link->responder);
        busy |= handshake_test_relay(&link->back, piece);
        busy |= ski_tcp_on_readable(link->initiator);
    }
    CHECK(!busy);
}

static void handshake_test_close_conn(struct ski_tcp_conn *conn)
{
    if (conn->state != SKI_TCP_CLOSED)
        ski_tcp_conn_close(conn);
}

static void handshake_test_close_ends(struct handshake_test_link *link)
{
    handshake_test_close_conn(link->initiator);
    handshake_test_close_conn(link->responder);
    close(link->there.from);
    close(link->there.to);
}

static void handshake_test_reap(void)
{
    ski_tcp_conns_reap(handshake_test_low);
    ski_tcp_conns_reap(handshake_test_high);
}

static void handshake_test_close(struct handshake_test_link *link)
{
    handshake_test_close_ends(link);
    handshake_test_reap();
}

static bool handshake_test_is_open(const struct ski_tcp_conn *conn)
{
    return conn->state == SKI_TCP_OPEN;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void test_handshake_opens(void)
{
    unsigned good = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct handshake_test_link link;

        handshake_test_connect(&link, handshake_test_low, handshake_test_high);
        handshake_test_run(&link, i % 2 ? 1 : FORWARD);
        good += handshake_test_is_open(link.initiator) && handshake_test_is_open(link.responder) &&
                link.responder->pe == LOW && link.there.relayed == FORWARD &&
                link.back.relayed == ANSWER && handshake_test_high->unauthenticated == 0;
        handshake_test_close(&link);
    }
    OK(good == ROUNDS, "a handshake in pieces of any size opens both ends: %u of %d", good, ROUNDS);
    OK(handshake_test_refusals == 0, "none is refused");
}

/* Changes a bit of byte @p there to the responder, or of byte @p back to the initiator.  Returns
 * whether the end that receives it stays closed, and the responder in any case. */
static bool handshake_test_flip_fails(size_t there, size_t back)
{
    struct handshake_test_link link;
    bool                       open;

    handshake_test_connect(&link, handshake_test_low, handshake_test_high);
    link.there.flip = there;
    link.back.flip  = back;
    handshake_test_run(&link, FORWARD);
    open = handshake_test_is_open(link.responder) ||
           (back != NO_FLIP && handshake_test_is_open(link.initiator));
    handshake_test_close(&link);
    return !open && handshake_test_high->unauthenticated == 0;
}

static void test_handshake_flips(void)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < FORWARD; i++)
        wrong += !handshake_test_flip_fails(i, NO_FLIP);
    OK(wrong == 0, "no connection is opened if a bit of the hello or of the proof is changed");
    for (size_t i = 0; i < ANSWER; i++)
        wrong += !handshake_test_flip_fails(NO_FLIP, i);
    OK(wrong == 0, "and neither end opens if a bit of the answer is changed");
    OK(handshake_test_refusals > 0, "%u were logged", handshake_test_refusals);
}

/* Sends @p bytes to a responder and lets it read them. */
static void handshake_test_say(struct ski_tcp_conn *conn, int fd, const void *bytes, size_t n)
{
    CHECK(send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n);
    ski_tcp_on_readable(conn);
}

static void test_handshake_replay(void)
{
    struct handshake_test_link link;
    struct ski_tcp_conn       *conn;
    int                        fd;

    handshake_test_connect(&link, handshake_test_low, handshake_test_high);
    handshake_test_run(&link, FORWARD);
    CHECK(handshake_test_is_open(link.responder));
    handshake_test_close(&link);
    conn = handshake_test_accepted(handshake_test_high, &fd);
    handshake_test_say(conn, fd, link.there.record, HELLO);
    OK(conn->state == SKI_TCP_AWAIT_PROOF, "a recorded hello is answered");
    handshake_test_say(conn, fd, link.there.record + HELLO, PROOF);
    OK(conn->state == SKI_TCP_CLOSED, "but the recorded proof is refused");
    close(fd);
    ski_tcp_conns_reap(handshake_test_high);
}

/* A stranger answers the responder's challenge with the responder's own proof. */
static void test_handshake_reflection(void)
{
    struct ski_tcp_hello  hello = {.magic    = SKI_TCP_MAGIC,
                                   .security = SKI_SECURITY_JOB,
                                   .from     = LOW,
                                   .to       = HIGH,
                                   .nonce    = {1, 2}};
    struct ski_tcp_answer answer;
    struct ski_tcp_conn  *conn;
    int                   fd;

    conn = handshake_test_accepted(handshake_test_high, &fd);
    handshake_test_say(conn, fd, &hello, sizeof hello);
    CHECK(recv(fd, &answer, sizeof answer, 0) == sizeof answer);
    handshake_test_say(conn, fd, answer.proof, sizeof answer.proof);
    OK(conn->state == SKI_TCP_CLOSED, "a reflected proof is refused");
    close(fd);
    ski_tcp_conns_reap(handshake_test_high);
}

/* Adds a peer that is sent to on @p conn. */
static struct ski_peer *handshake_test_add_peer(struct ski_port *port, int pe,
                                                struct ski_tcp_conn *conn)
{
    struct ski_peer *peer = calloc(1, sizeof *peer);

    CHECK(peer);
    peer->port = port;
    peer->pe   = pe;
    peer->last = &peer->first;
    peer->conn = conn;
    ski_tcp_peer_add(port, peer);
    return peer;
}

static void handshake_test_drop_peer(struct ski_peer *peer)
{
    peer->port->peers                                        = peer->next;
    peer->port->bucket[(unsigned)peer->pe % SKI_TCP_BUCKETS] = peer->next_in_bucket;
    if (peer->queued) {
        CHECK(peer->port->waiting == peer);
        peer->port->waiting = peer->next_waiting;
    }
    free(peer);
}

/* Returns whether a port has @p kept open and no other connection. */
static bool handshake_test_is_only(const struct ski_tcp_conn *kept,
                                   const struct ski_tcp_conn *other)
{
    return handshake_test_is_open(kept) && other->state == SKI_TCP_CLOSED &&
           kept->port->conns == kept && !kept->next;
}

/* Two ports connect to each other at the same time. */
static void test_handshake_both(void)
{
    bool same = true, one = true;

    for (int i = 0; i < 2; i++) {
        struct handshake_test_link by_low, by_high;
        struct ski_peer           *high, *low;

        handshake_test_connect(&by_low, handshake_test_low, handshake_test_high);
        handshake_test_connect(&by_high, handshake_test_high, handshake_test_low);
        high = handshake_test_add_peer(handshake_test_low, HIGH, by_low.initiator);
        low  = handshake_test_add_peer(handshake_test_high, LOW, by_high.initiator);
        handshake_test_run(i ? &by_high : &by_low, FORWARD);
        handshake_test_run(i ? &by_low : &by_high, FORWARD);
        handshake_test_run(&by_high, FORWARD);
        same &= high->conn == by_low.initiator && low->conn == by_low.responder;
        one &= handshake_test_is_only(by_low.initiator, by_high.responder) &&
               handshake_test_is_only(by_low.responder, by_high.initiator);
        handshake_test_drop_peer(high);
        handshake_test_drop_peer(low);
        handshake_test_close(&by_high); /* first, as this frees what is closed */
        handshake_test_close(&by_low);
    }
    OK(same, "both ports send on the connection that the lower PE has initiated");
    OK(one, "and close the other one");
}

/* The lower PE has initiated two connections, which open in another order on the other side. */
static void test_settle_two_preferred(void)
{
    unsigned good = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct handshake_test_link link[2];
        struct ski_peer           *high, *low;
        int                        kept;

        for (int j = 0; j < 2; j++)
            handshake_test_connect(&link[j], handshake_test_low, handshake_test_high);
        high = handshake_test_add_peer(handshake_test_low, HIGH, link[0].initiator);
        low  = handshake_test_add_peer(handshake_test_high, LOW, NULL);
        for (int j = 0; j < 2; j++) { /* both are open for the initiator ... */
            handshake_test_relay(&link[j].there, HELLO);
            ski_tcp_on_readable(link[j].responder);
            handshake_test_relay(&link[j].back, ANSWER);
            ski_tcp_on_readable(link[j].initiator);
        }
        for (int j = 2; j-- > 0;) /* ... and then for the responder, the other one first */
            handshake_test_run(&link[j], FORWARD);
        handshake_test_run(&link[1], FORWARD);
        kept = handshake_test_is_open(link[1].initiator);
        good += handshake_test_is_only(link[kept].initiator, link[!kept].initiator) &&
                handshake_test_is_only(link[kept].responder, link[!kept].responder) &&
                high->conn == link[kept].initiator;
        handshake_test_drop_peer(high);
        handshake_test_drop_peer(low);
        for (int j = 0; j < 2; j++)
            handshake_test_close_ends(&link[j]);
        handshake_test_reap();
    }
    OK(good == ROUNDS, "of two connections that it has initiated both keep the same: %u of %d",
       good, ROUNDS);
}

/* Ports that connected to each other at the same time, before the connections are settled. */
struct handshake_test_pair {
    struct handshake_test_link by_low, by_high;
    struct ski_peer           *high, *low;
};

static void handshake_test_open_pair(struct handshake_test_pair *pair)
{
    handshake_test_lost = handshake_test_sent = 0;
    handshake_test_connect(&pair->by_low, handshake_test_low, handshake_test_high);
    handshake_test_connect(&pair->by_high, handshake_test_high, handshake_test_low);
    pair->high = handshake_test_add_peer(handshake_test_low, HIGH, pair->by_low.initiator);
    pair->low  = handshake_test_add_peer(handshake_test_high, LOW, pair->by_high.initiator);
    handshake_test_run(&pair->by_high, FORWARD);
}

/* Breaks the connection that is not kept. */
static void handshake_test_break(struct handshake_test_pair *pair)
{
    shutdown(pair->by_high.there.from, SHUT_RDWR);
    shutdown(pair->by_high.there.to, SHUT_RDWR);
}

static void handshake_test_close_pair(struct handshake_test_pair *pair)
{
    handshake_test_drop_peer(pair->high);
    handshake_test_drop_peer(pair->low);
    handshake_test_close_ends(&pair->by_high);
    handshake_test_close_ends(&pair->by_low);
    handshake_test_reap();
}

/* The connection that is not kept breaks when both sides have sent MOVED and neither has received
 * it: packets before MOVED would be missing. */
static void test_settle_breaks(void)
{
    struct handshake_test_pair pair;
    struct ski_tcp_conn       *left;

    handshake_test_open_pair(&pair);
    left = pair.by_high.responder;
    handshake_test_run(&pair.by_low, FORWARD);
    CHECK(left->end_sent && !left->in.ended && pair.by_high.initiator->end_sent);
    OK(handshake_test_low->left == 1 && handshake_test_high->left == 1,
       "while there are two connections, both are polled equally");
    handshake_test_break(&pair);
    ski_tcp_on_readable(left);
    OK(handshake_test_lost == 1 && pair.high->lost && !handshake_test_low->conns,
       "a peer is lost if a connection breaks that was left by this side alone");
    ski_tcp_on_readable(pair.by_high.initiator);
    OK(handshake_test_lost == 2 && pair.low->lost, "and so it is for the other side");
    OK(!handshake_test_low->left && !handshake_test_high->left, "which is over then");
    handshake_test_close_pair(&pair);
}

/* It breaks when the lower PE has left it, and the other side has sent half a packet. */
static void test_settle_breaks_in_packet(void)
{
    struct handshake_test_pair pair;
    struct ski_tcp_conn       *left;
    const size_t               bytes  = 4 << 20;
    char                      *packet = calloc(1, bytes);

    handshake_test_open_pair(&pair);
    left = pair.by_high.initiator;
    CHECK(packet && ski_tcp_send(pair.low, packet, bytes) == SKUA_PENDING);
    handshake_test_run(&pair.by_low, FORWARD);
    CHECK(ski_tcp_mid_packet(pair.low) && pair.low->unsettled && pair.low->conn == left);
    handshake_test_relay(&pair.by_high.back, FORWARD);
    ski_tcp_on_readable(left);
    CHECK(left->in.moved && !left->end_kind && !pair.low->lost);
    handshake_test_break(&pair);
    ski_tcp_on_readable(left);
    OK(handshake_test_lost == 1 && pair.low->lost && handshake_test_sent == 1,
       "a packet that was sent in part on it is not continued on another connection");
    handshake_test_close_pair(&pair);
    free(packet);
}

int main(void)
{
    handshake_test_random = tap_seed();
    ski_tcp.net           = &handshake_test_net;
    ski_tcp.interfaces    = "lo";
    CHECK(ski_tcp_open(LOW, &handshake_test_up, NULL, &handshake_test_low) == SKUA_OK &&
          ski_tcp_open(HIGH, &handshake_test_up, NULL, &handshake_test_high) == SKUA_OK);
    test_handshake_opens();
    test_handshake_flips();
    test_handshake_replay();
    test_handshake_reflection();
    test_handshake_both();
    test_settle_two_preferred();
    test_settle_breaks();
    test_settle_breaks_in_packet();
    ski_tcp_close(handshake_test_low);
    ski_tcp_close(handshake_test_high);
    return tap_end();
}
