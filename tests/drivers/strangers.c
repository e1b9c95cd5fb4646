/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers.c - foreign and misbehaving connections to the ports of the driver tcp: the handshake
 * that transport/tcp/tcp.h specifies.
 *
 * The foreign connections are sockets of this program, which also checks the log.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/tcp/tcp.h"

#define CROWD   300
#define NOBODY  7 /* a PE without a port */
#define JUNK    1000
#define SECONDS 10.0

/* ---- the log -------------------------------------------------------------------------- */

static unsigned refusals; /* reported rejections */
static unsigned others;   /* other lines */
static char     line[256];

__attribute__((format(printf, 2, 3))) static void listen_to_log(enum ski_log_level level,
                                                                const char        *format, ...)
{
    va_list args;

    (void)level;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    printf("# %s\n", line);
    if (strncmp(line, "a connection from 127.0.0.1 was refused: ", 41) == 0)
        refusals++;
    else
        others++;
}

static void expect_told(unsigned refused, const char *why, const char *what)
{
    if (refusals != refused || !strstr(line, why) || others != 0)
        fail("%s: %u rejections were logged instead of %u, and %u other lines: %s", what, refusals,
             refused, others, line);
    refusals = others = 0;
}

/* ---- foreign connections -------------------------------------------------------------------- */

static int connect_foreign(const struct sockaddr_in *listener)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)listener, sizeof *listener) != 0)
        die("a foreign socket cannot connect: %s", strerror(errno));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* The kernel reports a connection once data has arrived: here the first byte of a hello. */
static int connect_and_begin(const struct sockaddr_in *listener)
{
    int fd = connect_foreign(listener);

    if (send(fd, "S", 1, 0) != 1)
        die("a foreign socket cannot send");
    return fd;
}

static struct ski_tcp_hello make_hello(int from, int to)
{
    return (struct ski_tcp_hello){.magic    = SKI_TCP_MAGIC,
                                  .security = net.security,
                                  .from     = from,
                                  .to       = to,
                                  .nonce    = {42, 43}};
}

/* Computes the proof that a peer with the secret sends for a hello and its answer. */
static struct ski_tcp_transcript said_about(enum ski_tcp_role            role,
                                            const struct ski_tcp_hello  *hello,
                                            const struct ski_tcp_answer *answer)
{
    return (struct ski_tcp_transcript){
        .role     = role,
        .security = net.security,
        .from     = hello->from,
        .to       = hello->to,
        .nonce    = {hello->nonce[0], hello->nonce[1], answer->nonce[0], answer->nonce[1]}};
}

static void prove(const struct ski_tcp_transcript *said, uint64_t proof[2])
{
    if (!net.prove((const uint64_t *)(const void *)said, SKI_TCP_TRANSCRIPT_WORDS, proof))
        die("no proof");
}

static void send_bytes(int fd, const void *what, size_t bytes)
{
    if (send(fd, what, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        die("a foreign socket cannot send");
}

/* Reads what the port sends to a foreign connection.  Returns @p n, or less if the port closes it,
 * or -1 if it closes it with unread data. */
static ssize_t receive_bytes(int fd, void *to, size_t n, struct end *ends, int count)
{
    size_t got   = 0;
    double since = now();

    while (got < n) {
        ssize_t more = recv(fd, (char *)to + got, n - got, 0);

        if (more == 0)
            break;
        if (more < 0 && errno != EAGAIN)
            return -1;
        got += more > 0 ? (size_t)more : 0;
        pump(ends, count);
        if (now() - since > SECONDS)
            die("a foreign connection is not answered");
    }
    return (ssize_t)got;
}

/* ---- single connections --------------------------------------------------------------------- */

/* Sends something that the port does not read, and closes: the kernel resets the connection. */
static void expect_refused(struct end *ends, int fd, const void *last, size_t bytes,
                           const char *why, const char *what)
{
    char words[sizeof(struct ski_tcp_hello) + JUNK] = {0}, byte;

    memcpy(words, last, bytes);
    send_bytes(fd, words, bytes + JUNK);
    if (receive_bytes(fd, &byte, 1, ends, 2) != -1)
        fail("%s: not rejected, or read further", what);
    expect_told(1, why, what);
    close(fd);
}

static void refuse_hello(struct end *ends, const struct sockaddr_in *listener,
                         struct ski_tcp_hello hello, const char *why, const char *what)
{
    expect_refused(ends, connect_foreign(listener), &hello, sizeof hello, why, what);
}

static void test_wrong_hellos(struct end *ends, const struct sockaddr_in *listener)
{
    struct ski_tcp_hello hello = make_hello(1, 0);

    hello.magic[3]++;
    refuse_hello(ends, listener, hello, "know the secret", "another protocol");
    refuse_hello(ends, listener, make_hello(0, 1), "know the secret", "a hello for another PE");
    refuse_hello(ends, listener, make_hello(-1, 0), "know the secret", "a PE that does not exist");
    hello = make_hello(1, 0);
    hello.security++;
    refuse_hello(ends, listener, hello, "SKUA_SECURITY", "another SKUA_SECURITY");
}

/* Sends a hello; the port sends its proof. */
static int exchange_hello(struct end *ends, const struct sockaddr_in *listener,
                          const struct ski_tcp_hello *hello, struct ski_tcp_answer *answer)
{
    struct ski_tcp_transcript said;
    uint64_t                  proof[2];
    int                       fd = connect_foreign(listener);

    send_bytes(fd, hello, sizeof *hello);
    if (receive_bytes(fd, answer, sizeof *answer, ends, 2) != sizeof *answer)
        die("a hello is not answered");
    said = said_about(SKI_TCP_RESPONDER, hello, answer);
    prove(&said, proof);
    if (memcmp(proof, answer->proof, sizeof proof) != 0)
        fail("the answer to a hello has no valid proof");
    return fd;
}

/* Sends a wrong proof, which @p change produces. */
static void refuse_proof(struct end *ends, const struct sockaddr_in                  *listener,
                         void (*change)(struct ski_tcp_transcript *said), const char *what)
{
    struct ski_tcp_hello      hello = make_hello(1, 0);
    struct ski_tcp_answer     answer;
    struct ski_tcp_transcript said;
    uint64_t                  proof[2];
    int                       fd = exchange_hello(ends, listener, &hello, &answer);

    said = said_about(SKI_TCP_INITIATOR, &hello, &answer);
    change(&said);
    prove(&said, proof);
    expect_refused(ends, fd, proof, sizeof proof, "know the secret", what);
}

static void of_other_side(struct ski_tcp_transcript *said)
{
    said->role = SKI_TCP_RESPONDER;
}

static void of_other_pe(struct ski_tcp_transcript *said)
{
    said->from++;
}

static void of_other_direction(struct ski_tcp_transcript *said)
{
    said->from = said->to;
    said->to   = 1;
}

static void of_other_setting(struct ski_tcp_transcript *said)
{
    said->security ^= 1;
}

static void of_other_question(struct ski_tcp_transcript *said)
{
    said->nonce[3] ^= 1;
}

static void test_wrong_proofs(struct end *ends, const struct sockaddr_in *listener)
{
    struct ski_tcp_hello  hello = make_hello(1, 0);
    struct ski_tcp_answer answer;
    uint64_t              nothing[2] = {0};
    int                   fd         = exchange_hello(ends, listener, &hello, &answer);

    expect_refused(ends, fd, nothing, sizeof nothing, "know the secret", "no proof");
    fd = exchange_hello(ends, listener, &hello, &answer);
    expect_refused(ends, fd, answer.proof, sizeof answer.proof, "know the secret",
                   "the port's own proof");
    refuse_proof(ends, listener, of_other_side, "a proof of the other side");
    refuse_proof(ends, listener, of_other_pe, "a proof of another PE");
    refuse_proof(ends, listener, of_other_direction, "a proof for the other direction");
    refuse_proof(ends, listener, of_other_setting, "a proof for another SKUA_SECURITY");
    refuse_proof(ends, listener, of_other_question, "a proof for another question");
}

/* Records a valid handshake, sent byte by byte, and replays it: the replay is rejected. */
static void test_replay(struct end *ends, const struct sockaddr_in *listener)
{
    struct ski_tcp_hello      hello = make_hello(NOBODY, 0);
    struct ski_tcp_answer     answer, again;
    struct ski_tcp_transcript said;
    uint64_t                  proof[2];
    int                       fd = exchange_hello(ends, listener, &hello, &answer);

    said = said_about(SKI_TCP_INITIATOR, &hello, &answer);
    prove(&said, proof);
    for (size_t i = 0; i < sizeof proof; i++) {
        send_bytes(fd, (char *)proof + i, 1);
        for (int n = 0; n < 10; n++)
            pump(ends, 2);
    }
    if (refusals + others > 0)
        fail("a valid proof, byte by byte, is logged as rejected");
    close(fd);
    fd = exchange_hello(ends, listener, &hello, &again);
    if (memcmp(again.nonce, answer.nonce, sizeof again.nonce) == 0)
        fail("two connections have the same challenge");
    expect_refused(ends, fd, proof, sizeof proof, "know the secret", "a proof that was recorded");
}

static void test_slow_hello(struct end *ends, const struct sockaddr_in *listener)
{
    struct ski_tcp_hello  hello = make_hello(NOBODY, 0);
    struct ski_tcp_answer answer;
    int                   fd = connect_foreign(listener);

    for (size_t i = 0; i < sizeof hello; i++) {
        send_bytes(fd, (char *)&hello + i, 1);
        for (int n = 0; n < 10; n++)
            pump(ends, 2);
    }
    if (receive_bytes(fd, &answer, sizeof answer, ends, 2) != sizeof answer)
        fail("a hello that is sent byte by byte is not answered");
    if (refusals + others > 0)
        fail("a hello that is sent byte by byte is logged as rejected");
    close(fd);
}

/* Some connections are closed in the middle of the handshake. */
static void test_half_hello(struct end *ends, const struct sockaddr_in *listener)
{
    struct ski_tcp_hello hello = make_hello(1, 0);

    for (size_t n = 0; n < sizeof hello; n += 5) {
        int fd = connect_foreign(listener);

        if (send(fd, &hello, n, 0) != (ssize_t)n)
            die("a foreign socket cannot send");
        close(fd);
        for (int i = 0; i < 10; i++)
            pump(ends, 2);
    }
    if (refusals + others > 0)
        fail("a truncated hello is logged as rejected");
}

static void test_silent(struct end *ends, const struct sockaddr_in *listener)
{
    int  fd = connect_foreign(listener);
    char byte;

    if (receive_bytes(fd, &byte, 1, ends, 2) != 0)
        fail("a silent connection is not closed");
    expect_told(1, "identify itself", "a silent connection");
    close(fd);
}

/* ---- many connections ----------------------------------------------------------------------- */

/* A peer is accepted among more silent connections than the port has room for. */
static void test_crowd(struct end *ends, const struct sockaddr_in *listener)
{
    int fd[CROWD];

    for (int i = 0; i < CROWD; i++)
        fd[i] = connect_and_begin(listener);
    for (int i = 0; i < 100; i++)
        pump(ends, 2);
    open_end(&ends[2], 2);
    connect_ends(&ends[2], &ends[0]);
    send_packet(ends, 3, 2, 0, 1000);
    send_packet(ends, 3, 0, 1, 1000);
    WAIT_FOR(ends[0].arrived[2] == 1, ends, 3, "a packet of a peer among many connections");
    settle(ends, 2);
    if (refusals == 0 || refusals > 10 || others > 0)
        fail("%u rejections of many connections were logged", refusals);
    refusals = others = 0;
    close_end(&ends[2]);
    for (int i = 0; i < CROWD; i++)
        close(fd[i]);
}

/* Progresses ports while no file descriptor is left. */
static void pump_without_files(struct end *ends, int count, struct rlimit none)
{
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        die("setrlimit: %s", strerror(errno));
    for (int i = 0; i < 100; i++)
        pump(ends, count);
}

/* Progresses a port that cannot get more descriptors.  Returns true if that is logged once. */
static bool says_too_many(void)
{
    int   status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct end         own;
        struct sockaddr_in listener;

        open_end(&own, 0);
        listener = listener_of(&own);
        connect_and_begin(&listener);
        pump_without_files(&own, 1, (struct rlimit){0});
        _exit(refusals != 0 || others != 1 || !strstr(line, "too many open files"));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* No descriptor is left for new connections: the port keeps as many as it may have. */
static void test_full(struct end *ends, const struct sockaddr_in *listener)
{
    struct ski_tcp_hello  hello = make_hello(NOBODY, 0);
    struct ski_tcp_answer answer;
    struct rlimit         before;
    int                   fd = connect_and_begin(listener);

    if (!says_too_many())
        fail("the lack of file descriptors is not logged");
    getrlimit(RLIMIT_NOFILE, &before);
    pump_without_files(ends, 2, (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max});
    setrlimit(RLIMIT_NOFILE, &before);
    if (refusals + others > 0)
        fail("file descriptors that are available are logged as missing");
    if (send(fd, (char *)&hello + 1, sizeof hello - 1, 0) != sizeof hello - 1 ||
        receive_bytes(fd, &answer, sizeof answer, ends, 2) != sizeof answer)
        fail("a connection that had to wait is not accepted");
    close(fd);
}

/* ---- slow peers ------------------------------------------------------------------ */

/* One end computes for longer than the handshake time-out; both connect nevertheless. */
static void connect_late(struct end *ends, int from, int to)
{
    for (double since = now(); now() - since < 1.5 * net.peer_timeout;)
        pump(&ends[1], 1);
    connect_ends(&ends[from], &ends[to]);
    send_packet(ends, 2, 0, 1, 100);
    send_packet(ends, 2, 1, 0, 100);
    settle(ends, 2);
    close_ends(ends, 2);
}

/* The connecting end computes. */
static void test_late_peer(void)
{
    struct end ends[2];

    open_end(&ends[0], 0);
    open_end(&ends[1], 1);
    connect_ends(&ends[0], &ends[1]);
    connect_late(ends, 1, 0);
}

/* The accepting end computes before it reads the hello. */
static void test_busy_listener(void)
{
    struct end ends[2];

    open_end(&ends[0], 0);
    open_end(&ends[1], 1);
    connect_ends(&ends[1], &ends[0]);
    pump(&ends[0], 1);
    connect_late(ends, 0, 1);
}

static int await_connection(int listener, struct end *end)
{
    int fd;

    for (double since = now(); (fd = accept(listener, NULL, NULL)) < 0;) {
        if (end)
            pump(end, 1);
        if (now() - since > SECONDS)
            die("no connection arrives at the listener");
    }
    return fd;
}

/* The kernel connects only after a second, since the backlog was full, and meanwhile the peer
 * computes: its hello is late, and the connection is closed.  It tries again. */
static void test_full_backlog(void)
{
    struct sockaddr_in   name;
    char                 address[ONE_NAME];
    int                  listener = make_listener(&name, 0), first = connect_foreign(&name), conn;
    struct end           end;
    struct ski_tcp_hello hello;

    pack_name(address, &name);
    open_end(&end, 0);
    if (driver->connect(end.port, 1, address, sizeof address, &end.peer[1]) != SKUA_OK)
        die("connect");
    close(await_connection(listener, NULL));
    close(first);
    conn = await_connection(listener, NULL); /* the port makes no progress */
    close(conn);
    conn = await_connection(listener, &end);
    fcntl(conn, F_SETFL, O_NONBLOCK);
    if (end.lost[1] || receive_bytes(conn, &hello, sizeof hello, &end, 1) != sizeof hello ||
        hello.from != 0 || hello.to != 1)
        fail("a closed connection is not retried");
    close(conn);
    close(listener);
    WAIT_FOR(end.lost[1], &end, 1, "the last attempt to connect");
    close_end(&end);
}

/* ---- impersonation of a peer ----------------------------------------------------------------- */

/* An end that has a packet for PE 1, whose address is a listening socket of this test; returns the
 * connection that it makes. */
static int accept_from(struct end *end, struct ski_tcp_hello *hello)
{
    struct sockaddr_in name;
    char               address[ONE_NAME];
    int                listener = make_listener(&name, 1), conn;

    pack_name(address, &name);
    open_end(end, 0);
    if (driver->connect(end->port, 1, address, sizeof address, &end->peer[1]) != SKUA_OK)
        die("connect");
    try_send(end, 1, 1000);
    conn = await_connection(listener, end);
    close(listener);
    fcntl(conn, F_SETFL, O_NONBLOCK);
    if (receive_bytes(conn, hello, sizeof *hello, end, 1) != sizeof *hello || hello->to != 1)
        fail("no hello");
    return conn;
}

/* The answer is rejected: the end reports its peer as lost and sends nothing more. */
static void expect_rejected_answer(struct end *end, int conn, const struct ski_tcp_answer *answer,
                                   const char *what)
{
    char    byte;
    ssize_t got;

    send_bytes(conn, answer, sizeof *answer);
    WAIT_FOR(end->lost[1], end, 1, what);
    got = recv(conn, &byte, 1, 0);
    if (got > 0)
        fail("%s: more data was sent", what);
    close(conn);
    close_end(end);
}

/* An impersonator without the secret answers for a peer. */
static void test_impostor(void)
{
    struct end            end;
    struct ski_tcp_hello  hello;
    struct ski_tcp_answer answer = {.nonce = {1, 2}, .proof = {3, 4}};
    int                   conn   = accept_from(&end, &hello);

    expect_rejected_answer(&end, conn, &answer, "an impostor");
}

/* An impersonator reflects the answers of the port itself. */
static void test_reflection(void)
{
    struct end            end;
    struct ski_tcp_hello  hello, turned;
    struct ski_tcp_answer answer;
    int                   conn     = accept_from(&end, &hello), fd;
    struct sockaddr_in    listener = listener_of(&end);
    char                  byte;

    fd = connect_foreign(&listener);
    send_bytes(fd, &hello, sizeof hello);
    if (receive_bytes(fd, &byte, 1, &end, 1) > 0)
        fail("a port answers its own hello");
    expect_told(1, "know the secret", "a port's own hello");
    close(fd);
    turned      = hello;
    turned.from = 1;
    turned.to   = 0;
    fd          = connect_foreign(&listener);
    send_bytes(fd, &turned, sizeof turned);
    if (receive_bytes(fd, &answer, sizeof answer, &end, 1) != sizeof answer)
        fail("a hello is not answered");
    expect_rejected_answer(&end, conn, &answer, "a reflection");
    close(fd);
}

/* Opens two connected ends. Returns the address on which the first one listens. */
static void open_connected(struct end *ends, struct sockaddr_in *listener)
{
    open_ends(ends, 2);
    *listener = listener_of(&ends[0]);
    send_packet(ends, 2, 0, 1, 100);
    settle(ends, 2);
}

void test_strangers(void)
{
    struct end         ends[3];
    struct sockaddr_in listener;
    double             timeout = net.peer_timeout;

    if (strcmp(driver->name, "tcp") != 0)
        return; /* the libraries below the other drivers handle foreign connections */
    open_connected(ends, &listener);
    net.log          = listen_to_log;
    net.peer_timeout = 1; /* the handshake time-out */
    test_wrong_hellos(ends, &listener);
    close_ends(ends, 2); /* each logs at most ten lines */
    open_connected(ends, &listener);
    test_wrong_proofs(ends, &listener);
    close_ends(ends, 2);
    open_connected(ends, &listener);
    test_replay(ends, &listener);
    test_slow_hello(ends, &listener);
    test_half_hello(ends, &listener);
    test_silent(ends, &listener);
    test_full(ends, &listener);
    send_packet(ends, 2, 1, 0, 100);
    settle(ends, 2);
    close_ends(ends, 2);
    open_end(&ends[0], 0); /* this end has logged nothing yet */
    listener = listener_of(&ends[0]);
    open_end(&ends[1], 1);
    connect_ends(&ends[0], &ends[1]);
    test_crowd(ends, &listener);
    close_ends(ends, 2);
    test_late_peer();
    test_busy_listener();
    test_full_backlog();
    test_impostor();
    test_reflection();
    net.log          = ski_log_write;
    net.peer_timeout = timeout;
}
