/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost.c - lost peers: a port that is closed, a process that is killed; and the benchmark, which
 * also needs another process.
 *
 * The child is forked before the driver is started, since network libraries do not survive a fork.
 * It waits on a pipe for the address of the parent, starts the driver, answers with its own
 * address, and then sends back every packet that it receives.
 */
#include "world.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/select.h"

#define CHILD        1
#define LOST_SECONDS 20.0
#define CHILD_LIFE   300 /* seconds */

/* ---- the child ------------------------------------------------------------------------ */

static pid_t child;
static int   to_child, from_child;

/* Packets that the child has received and not sent back yet. */
#define ECHOES 4096
static struct {
    void  *packet;
    size_t bytes;
} echo[ECHOES];
static unsigned echo_first, echo_count;

static void *echo_room(void *owner, size_t bytes)
{
    (void)owner;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void echo_arrived(void *owner, void *packet, size_t bytes)
{
    unsigned at = (echo_first + echo_count++) % ECHOES;

    (void)owner;
    if (echo_count > ECHOES)
        _exit(3);
    echo[at].packet = packet;
    echo[at].bytes  = bytes;
}

static void echo_free(void *owner, void *packet)
{
    (void)owner;
    free(packet);
}

static void echo_done(void *owner, void *cookie, skua_status status)
{
    (void)owner, (void)cookie, (void)status;
}

static void echo_lost(void *owner, int pe, const char *why)
{
    (void)owner, (void)pe, (void)why;
    _exit(0);
}

/* Sends back as many packets as possible. */
static void send_echoes(struct ski_peer *parent)
{
    while (echo_count > 0) {
        void       *packet = echo[echo_first].packet;
        skua_status status = driver->send(parent, packet, echo[echo_first].bytes);

        if (status == SKUA_ERR_AGAIN)
            return;
        if (status != SKUA_PENDING)
            free(packet);
        echo_first = (echo_first + 1) % ECHOES;
        echo_count--;
    }
}

static void read_all(int fd, void *to, size_t bytes)
{
    for (size_t n = 0; n < bytes;) {
        ssize_t got = read(fd, (char *)to + n, bytes - n);

        if (got <= 0)
            _exit(0);
        n += (size_t)got;
    }
}

struct port_address {
    size_t bytes;
    _Alignas(64) unsigned char raw[SKI_PORT_ADDRESS_MAX];
};

_Noreturn static void be_child(const char *name, int in, int out)
{
    static const struct ski_upcalls up = {.alloc   = echo_room,
                                          .arrived = echo_arrived,
                                          .abort   = echo_free,
                                          .sent    = echo_free,
                                          .done    = echo_done,
                                          .lost    = echo_lost};
    struct port_address             addr;
    struct ski_port                *port;
    struct ski_peer                *parent;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(CHILD_LIFE);
    read_all(in, &addr, sizeof addr);
    net.process = 1;
    driver      = ski_driver_load(name, net.last_error(), SKI_REASON_MAX);
    if (!driver || driver->start(&net) != SKUA_OK)
        _exit(2);
    driver = ski_driver_variant(driver, &net);
    if (driver->open(CHILD, &up, NULL, &port) != SKUA_OK ||
        driver->connect(port, 0, addr.raw, addr.bytes, &parent) != SKUA_OK)
        _exit(2);
    addr.bytes = driver->address(port, addr.raw);
    if (write(out, &addr, sizeof addr) != sizeof addr)
        _exit(2);
    for (unsigned idle = 0;;) {
        idle = driver->progress(port) || echo_count ? 0 : idle + 1;
        if (idle > 10000)
            usleep(100);
        send_echoes(parent);
    }
}

void fork_child(const char *name)
{
    int down[2], up[2];

    if (pipe(down) != 0 || pipe(up) != 0)
        die("pipe");
    fflush(stdout);
    child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        close(down[1]);
        close(up[0]);
        be_child(name, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    to_child   = down[1];
    from_child = up[0];
}

/* Exchanges addresses.  Returns false if the child failed or cannot be reached. */
static bool meet_child(struct end *end)
{
    struct port_address addr;
    ssize_t             got;

    open_end(end, 0);
    addr.bytes = driver->address(end->port, addr.raw);
    if (write(to_child, &addr, sizeof addr) != sizeof addr)
        die("write");
    got = read(from_child, &addr, sizeof addr);
    return got == (ssize_t)sizeof addr &&
           driver->connect(end->port, CHILD, addr.raw, addr.bytes, &end->peer[CHILD]) == SKUA_OK;
}

static void end_child(void)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(to_child);
    close(from_child);
}

/* ---- lost peers ----------------------------------------------------------------------------- */

/* Sends to a lost peer until lost() is called; all packets are returned. */
static void expect_lost(struct end *end, int pe)
{
    double since = now();
    int    n     = 0;

    while (!end->lost[pe]) {
        if (end->pending - end->returned < 8)
            try_send(end, pe, ++n % 4 ? 32 + (size_t)n % 1000 : 100000);
        driver->progress(end->port);
        usleep(1000);
        if (now() - since > LOST_SECONDS)
            die("the loss of PE %d is not detected", pe);
    }
    if (try_send(end, pe, 64) == SKUA_ERR_AGAIN)
        fail("a send to a lost peer should not be retried");
    WAIT_FOR(end->returned >= end->pending, end, 1, "the return of packets to a lost peer");
}

void test_lost_port(void)
{
    struct end ends[3];

    open_ends(ends, 3);
    close_end(&ends[2]); /* a peer that was never connected */
    send_packet(ends, 2, 0, 1, 100);
    send_packet(ends, 2, 1, 0, 100);
    settle(ends, 2);
    close_end(&ends[1]);
    expect_lost(&ends[0], 1);
    expect_lost(&ends[0], 2);
    close_end(&ends[0]);
}

/* A process that is stopped for longer than the time-out is not lost, since its host answers.
 * Packets that were sent meanwhile return when it continues. */
static void expect_patience(struct end *end, uint64_t most)
{
    double since = now();

    kill(child, SIGSTOP);
    while (now() - since < 1.5 * net.peer_timeout) {
        if (end->sends[CHILD] < most)
            try_send(end, CHILD, 32 + end->sends[CHILD] * 7 % 20000);
        driver->progress(end->port);
    }
    kill(child, SIGCONT);
    if (end->lost[CHILD])
        fail("a process that was only stopped was reported as lost");
    WAIT_FOR(end->filled == end->sends[CHILD], end, 1, "the echo of packets to a busy PE");
}

void test_lost_process(void)
{
    struct end end;
    uint64_t   rooms;

    if (!meet_child(&end)) {
        printf("# %s does not reach a process that was not started with it\n", driver->name);
    } else {
        end.echoed = true;
        expect_patience(&end, 10); /* before it is connected */
        send_packet(&end, 1, 0, CHILD, 100);
        WAIT_FOR(end.filled == end.sends[CHILD], &end, 1, "the echo of another process");
        expect_patience(&end, ECHOES);
        rooms = end.rooms;
        send_packet(&end, 1, 0, CHILD, 20 << 20);
        WAIT_FOR(end.rooms > rooms, &end, 1, "a large echo to begin");
        kill(child, SIGSTOP);
        send_packet(&end, 1, 0, CHILD, 1 << 20); /* never arrives */
        end_child();
        expect_lost(&end, CHILD);
        WAIT_FOR(end.filled + end.spoilt == end.rooms, &end, 1, "the end of a large packet");
    }
    close_end(&end);
}

/* ---- silence ------------------------------------------------------------------------------ */

/* Blocks all connections of this process, so that nothing is acknowledged from now on, as if the
 * link were lost.  Returns their number. */
static int cut_cables(void)
{
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog  program = {1, &nothing};
    struct tcp_info    info;
    int                cut = 0;

    for (int fd = 0; fd < 1024; fd++) {
        socklen_t bytes = sizeof info;

        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 &&
            info.tcpi_state == TCP_ESTABLISHED)
            cut += setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
    }
    return cut;
}

void test_silence(void)
{
    struct end ends[2];

    open_ends(ends, 2);
    send_packet(ends, 2, 0, 1, 100);
    send_packet(ends, 2, 1, 0, 100);
    settle(ends, 2);
    if (cut_cables() == 0) {
        printf("# %s does not use TCP here\n", driver->name);
    } else {
        expect_lost(&ends[0], 1);
        expect_lost(&ends[1], 0);
    }
    close_ends(ends, 2);
}

/* ---- the benchmark -------------------------------------------------------------------------- */

static bool bench_back;

static void *bench_room(void *owner, size_t bytes)
{
    static _Alignas(64) unsigned char room[4 << 20];

    (void)owner;
    return bytes <= sizeof room ? room : NULL;
}

static void bench_arrived(void *owner, void *packet, size_t bytes)
{
    (void)owner, (void)packet, (void)bytes;
    bench_back = true;
}

static void bench_nothing(void *owner, void *packet)
{
    (void)owner, (void)packet;
}

/* Several round trips. */
static void ping(struct ski_port *port, struct ski_peer *peer, void *packet, size_t bytes,
                 int times)
{
    for (int i = 0; i < times; i++) {
        double since = now();

        bench_back = false;
        while (driver->send(peer, packet, bytes) == SKUA_ERR_AGAIN && now() - since < PATIENCE)
            driver->progress(port);
        while (!bench_back && now() - since < PATIENCE)
            driver->progress(port);
        if (!bench_back)
            die("no echo of %zu bytes", bytes);
    }
}

/* The latency in seconds, the best of several rounds. */
static double best_ping(struct ski_port *port, struct ski_peer *peer, void *packet, size_t bytes)
{
    int    times = bytes > 500000 ? 30 : 300;
    double best  = 1e9;

    for (int round = 0; round < 20; round++) {
        double since = now();

        ping(port, peer, packet, bytes, times);
        since = (now() - since) / (2.0 * times);
        best  = since < best ? since : best;
    }
    return best;
}

void bench(void)
{
    static const struct ski_upcalls   up      = {.alloc   = bench_room,
                                                 .arrived = bench_arrived,
                                                 .abort   = bench_nothing,
                                                 .sent    = bench_nothing,
                                                 .done    = echo_done,
                                                 .lost    = echo_lost};
    static const size_t               sizes[] = {32,      1024,    16384,   16448,  65536,
                                                 1 << 17, 1 << 18, 1 << 20, 4 << 20};
    static _Alignas(64) unsigned char packet[4 << 20];
    struct port_address               addr;
    struct ski_port                  *port;
    struct ski_peer                  *peer;

    if (driver->open(0, &up, NULL, &port) != SKUA_OK)
        die("open: %s", net.last_error());
    addr.bytes = driver->address(port, addr.raw);
    if (write(to_child, &addr, sizeof addr) != sizeof addr)
        die("write");
    read_all(from_child, &addr, sizeof addr);
    if (driver->connect(port, CHILD, addr.raw, addr.bytes, &peer) != SKUA_OK)
        die("connect");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double best = best_ping(port, peer, packet, sizes[i]);

        printf("%8zu bytes  %9.2f us one way  %8.1f MB/s\n", sizes[i], 1e6 * best,
               1e-6 * (double)sizes[i] / best);
    }
    driver->close(port);
    end_child();
}
