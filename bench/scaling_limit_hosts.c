/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling_limit_hosts.c - the limit of messages in pairs between two hosts: each PE of the first
 * half has a TCP connection to its partner and sends the messages of a window, 8 bytes each, with
 * one send(); the partner reads all of them and answers with 8 bytes.  Sockets are polled.
 *
 * The launcher of Skua starts and binds the processes, and partners find each other through a
 * region of shared memory; between the barriers of a measurement the program does not call the
 * runtime.
 *
 * usage: bench-scaling_limit_hosts SERIES
 */
#include <skua/skua.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench_pieces.h"
#include "bench_scaling.h"

#define HOSTS_PES   1024
#define HOSTS_ITEMS (SCALING_BURST * SCALING_WINDOW) /* messages of a window */

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    int      fd; /* of the connection to the partner */
    uint64_t item[HOSTS_ITEMS];
    uint64_t sum;
} hosts;

static void hosts_fail(const char *call)
{
    skua_abort("%s: %s", call, errno ? strerror(errno) : "the connection is closed");
}

/* Returns the bytes of a call that did something, or 0 if it has to be repeated. */
static size_t hosts_moved(ssize_t result, const char *call, long *spins)
{
    if (result > 0)
        return (size_t)result;
    if (result == 0)
        errno = 0;
    if (result == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        hosts_fail(call);
    if (++*spins % BENCH_SPINS == 0)
        sched_yield();
    return 0;
}

static void hosts_write(const void *data, size_t bytes)
{
    long spins = 0;

    for (size_t done = 0; done < bytes;)
        done += hosts_moved(
            send(hosts.fd, (const char *)data + done, bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL),
            "send()", &spins);
}

static void hosts_read(void *data, size_t bytes)
{
    long spins = 0;

    for (size_t done = 0; done < bytes;)
        done += hosts_moved(recv(hosts.fd, (char *)data + done, bytes - done, MSG_DONTWAIT),
                            "recv()", &spins);
}

static void hosts_send_windows(long rounds)
{
    uint64_t answer;

    for (long i = 0; i < rounds; i += SCALING_WINDOW) {
        long bursts = rounds - i < SCALING_WINDOW ? rounds - i : SCALING_WINDOW;

        for (int k = 0; k < HOSTS_ITEMS; k++)
            hosts.item[k] = (uint64_t)(i + k);
        hosts_write(hosts.item, (size_t)bursts * SCALING_BURST * sizeof *hosts.item);
        hosts_read(&answer, sizeof answer);
    }
}

static void hosts_receive_windows(long rounds)
{
    for (long i = 0; i < rounds; i += SCALING_WINDOW) {
        long bursts = rounds - i < SCALING_WINDOW ? rounds - i : SCALING_WINDOW;

        hosts_read(hosts.item, (size_t)bursts * SCALING_BURST * sizeof *hosts.item);
        for (int k = 0; k < bursts * SCALING_BURST; k++)
            hosts.sum += hosts.item[k];
        hosts_write(&hosts.sum, sizeof hosts.sum);
    }
}

static void hosts_run_pairs(long rounds)
{
    int me = skua_pe(), half = skua_pes() / 2;

    if (me < half)
        hosts_send_windows(rounds);
    else if (me < 2 * half)
        hosts_receive_windows(rounds);
}

/* ---- connections ----------------------------------------------------------------------- */

static int hosts_socket(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0)
        hosts_fail("socket()");
    return fd;
}

/* Accepts the partner, which finds the port in the piece of this PE. */
static int hosts_accept(_Atomic uint64_t *port)
{
    struct sockaddr_in address;
    socklen_t          bytes = sizeof address;
    int                fd    = hosts_socket(&address), partner;

    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &bytes) < 0)
        hosts_fail("listen()");
    bench_publish(port, address.sin_port);
    partner = accept(fd, NULL, NULL);
    if (partner < 0)
        hosts_fail("accept()");
    close(fd);
    return partner;
}

static int hosts_connect(_Atomic uint64_t *port)
{
    struct sockaddr_in address;
    int                fd = hosts_socket(&address);

    bench_wait_for(port, 1); /* no port is 0 */
    address.sin_port = (in_port_t)atomic_load_explicit(port, memory_order_relaxed);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        hosts_fail("connect()");
    return fd;
}

static void hosts_prepare(void)
{
    skua_region region = bench_create_pieces(128, HOSTS_PES);
    int         me = skua_pe(), half = skua_pes() / 2, one = 1;

    skua_sync();
    if (me >= 2 * half)
        return;
    hosts.fd = me < half ? hosts_connect(bench_piece(region, me + half))
                         : hosts_accept(bench_piece(region, me));
    if (setsockopt(hosts.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
        hosts_fail("setsockopt()");
}

static struct scaling_kernel hosts_kernels[] = {
    {"pairs", hosts_run_pairs, SCALING_BURST, scaling_half, 2},
    {NULL, NULL, 0, NULL, 0},
};

static void hosts_start(int argc, char **argv)
{
    struct scaling_library library = {argc > 1 ? argv[1] : "limit-hosts", skua_pe(), skua_pes(),
                                      skua_sync, bench_largest};

    hosts_prepare();
    scaling_measure_all(&library, hosts_kernels, NULL);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, hosts_start);
}
