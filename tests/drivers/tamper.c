/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tamper.c - a man in the middle between two ports of the driver tcp.
 *
 * All data from PE 0 to PE 1 passes through sockets of this test.  At one position of the stream
 * bytes are changed, dropped, repeated, exchanged or inserted.  With SKUA_SECURITY=auth and encrypt
 * the connection is closed with a log message, and every packet that arrives is intact (world.h).
 * During the handshake that also holds for `job'.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"
#include "transport/tcp/tcp.h"

#define GREETING                                                                                   \
    (sizeof(struct ski_tcp_hello) + 2 * sizeof(uint64_t)) /* sent by the connecting side           \
                                                           */
#define FIRST  200 /* largest size of the first packet in bytes */
#define ROUNDS 40
#define BYTES  ((size_t)200000) /* range of the stream in which a position is chosen */
#define BLOCK  64 /* largest number of bytes that are dropped, repeated, exchanged or inserted */

enum harm { FLIP, DROP, REPEAT, EXCHANGE, INJECT, HARMS };

static const char *const harm_names[HARMS] = {"a bit that is flipped", "bytes that are dropped",
                                              "bytes that are repeated", "bytes that are exchanged",
                                              "bytes that are inserted"};

struct middle {
    /* Listener, connection to PE 0, connection to PE 1; -1: none. */
    int                listener, near, far;
    size_t             passed; /* bytes from PE 0 on this connection */
    enum harm          harm;
    size_t             at, length; /* position and length; SIZE_MAX: never */
    bool               always;     /* tamper with each connection, or with the first only */
    bool               harmed;
    char               kept[BLOCK]; /* the bytes that are exchanged */
    struct sockaddr_in target;
    struct end        *ends;
};

static uint64_t seed;

/* Forwards bytes to one side, which reads them sooner or later or closes the connection. */
static void give_all(const struct middle *m, int fd, const char *data, size_t bytes)
{
    for (double since = now(); bytes > 0;) {
        ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EAGAIN)
            return;
        data += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
        if (bytes > 0)
            pump(m->ends, 2);
        if (now() - since > PATIENCE)
            die("one side of a connection does not read");
    }
}

/* The bytes at m->at: @p data has m->length of them, or twice as many where they are exchanged. */
static void harm(struct middle *m, char *data)
{
    char junk[BLOCK];

    for (size_t i = 0; i < m->length; i++)
        junk[i] = (char)tap_random(&seed);
    switch (m->harm) {
    case FLIP: *data ^= (char)(1 << m->length % 8); break;
    case REPEAT: give_all(m, m->far, data, m->length); break;
    case INJECT: give_all(m, m->far, junk, m->length); break;
    case EXCHANGE:
        if (memcmp(data, data + m->length, m->length) == 0)
            *data ^= 1; /* they are equal: flip a bit instead */
        memcpy(m->kept, data, m->length);
        memmove(data, data + m->length, m->length);
        memcpy(data + m->length, m->kept, m->length);
        break;
    default: break; /* dropped bytes are not forwarded */
    }
    m->harmed = true;
}

/* Forwards a chunk from PE 0. */
static void pass_on(struct middle *m, char *data, size_t bytes)
{
    size_t here = m->at - m->passed;

    if (!m->harmed && m->at >= m->passed && here + 2 * m->length <= bytes) {
        harm(m, data + here);
        if (m->harm == DROP) {
            give_all(m, m->far, data, here);
            data += here + m->length;
            bytes -= here + m->length;
            m->passed += here + m->length;
        }
    } else if (!m->harmed && m->at >= m->passed && here < bytes) {
        m->at = m->passed + bytes; /* the position falls between two chunks: move it */
    }
    give_all(m, m->far, data, bytes);
    m->passed += bytes;
}

static void hang_up(struct middle *m)
{
    if (m->near >= 0)
        close(m->near);
    if (m->far >= 0)
        close(m->far);
    m->near = m->far = -1;
}

static void accept_connection(struct middle *m)
{
    int fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    hang_up(m);
    m->near   = fd;
    m->far    = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    m->passed = 0;
    m->harmed = m->harmed && !m->always;
    if (connect(m->far, (struct sockaddr *)&m->target, sizeof m->target) != 0)
        die("the man in the middle cannot connect: %s", strerror(errno));
    fcntl(m->far, F_SETFL, O_NONBLOCK);
}

static void move_middle(struct middle *m)
{
    static char data[65536];
    ssize_t     n;

    accept_connection(m);
    if (m->near < 0)
        return;
    n = recv(m->near, data, sizeof data, 0);
    if (n > 0)
        pass_on(m, data, (size_t)n);
    else if (n == 0 || errno != EAGAIN)
        shutdown(m->far, SHUT_WR);
    n = recv(m->far, data, sizeof data, 0);
    if (n > 0)
        give_all(m, m->near, data, (size_t)n);
    else if (n == 0 || errno != EAGAIN)
        hang_up(m);
}

/* Sets up PE 0 and PE 1 with the man in the middle. */
static void begin_between(struct middle *m, struct end *ends)
{
    struct sockaddr_in name;
    char               address[ONE_NAME];

    m->near = m->far = -1;
    m->listener      = make_listener(&name, 16);
    m->ends          = ends;
    pack_name(address, &name);
    open_end(&ends[0], 0);
    open_end(&ends[1], 1);
    m->target = listener_of(&ends[1]);
    if (driver->connect(ends[0].port, 1, address, sizeof address, &ends[0].peer[1]) != SKUA_OK)
        die("connect");
}

static void end_between(struct middle *m, struct end *ends)
{
    hang_up(m);
    close(m->listener);
    for (int i = 0; i < 2; i++) {
        free(ends[i].held[1 - i]);
        ends[i].held[1 - i] = NULL;
    }
    close_ends(ends, 2);
}

/* PE 0 sends packets of all sizes until something is lost, or @p packets have arrived. */
static void send_between(struct middle *m, struct end *ends, uint64_t packets)
{
    double since = now();

    while (!ends[0].lost[1] && !ends[1].lost[0] && ends[1].arrived[0] < packets) {
        if (ends[0].sends[1] < packets)
            try_send(&ends[0], 1, 40 + tap_random(&seed) % (tap_random(&seed) % 4 ? 300 : 100000));
        move_middle(m);
        pump(ends, 2);
        if (now() - since > PATIENCE)
            die("timed out waiting for the end of a connection with %s at byte %zu",
                harm_names[m->harm], m->at);
    }
}

/* Without tampering everything arrives. */
static void test_honest(void)
{
    struct middle m = {.at = SIZE_MAX - 2 * BLOCK};
    struct end    ends[2];

    begin_between(&m, ends);
    send_between(&m, ends, 50);
    if (ends[0].lost[1] || ends[1].arrived[0] != 50)
        fail("packets are lost without tampering");
    end_between(&m, ends);
}

/* Tampers with an open connection, after the first packet.  More packets must follow, since dropped
 * bytes at the end of a stream look like late ones. */
static void test_harm(enum harm kind)
{
    struct middle m = {.harm   = kind,
                       .at     = GREETING + FIRST + tap_random(&seed) % BYTES,
                       .length = 1 + tap_random(&seed) % BLOCK};
    struct end    ends[2];

    begin_between(&m, ends);
    try_send(&ends[0], 1, 100);
    send_between(&m, ends, 1);
    connect_ends(&ends[1], &ends[0]);
    send_between(&m, ends, UINT64_MAX);
    if (!m.harmed)
        fail("a connection was lost before the tampering: %s%s", ends[0].why, ends[1].why);
    if (!strstr(ends[1].lost[0] ? ends[1].why : ends[0].why,
                ends[1].lost[0] ? "is not authentic" : "broke"))
        fail("%s at byte %zu: %s%s", harm_names[kind], m.at, ends[0].why, ends[1].why);
    end_between(&m, ends);
}

/* Tampers with each connection during its handshake: no packet arrives. */
static void test_harmed_greeting(size_t at)
{
    struct middle m = {.harm = FLIP, .at = at, .length = 1, .always = true};
    struct end    ends[2];

    begin_between(&m, ends);
    send_between(&m, ends, 1);
    if (ends[1].arrived[0] > 0)
        fail("a handshake with a changed byte %zu is accepted", at);
    end_between(&m, ends);
}

static void quietly(enum ski_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

void test_tampering(void)
{
    if (strcmp(driver->name, "tcp") != 0)
        return; /* it does not authenticate packets */
    seed    = tap_seed();
    net.log = quietly;
    test_honest();
    for (size_t at = 0; at < GREETING; at += 3)
        test_harmed_greeting(at);
    for (int i = 0; i < ROUNDS && net.security != SKI_SECURITY_JOB; i++)
        test_harm((enum harm)(i % HARMS));
    net.log = ski_log_write;
}
