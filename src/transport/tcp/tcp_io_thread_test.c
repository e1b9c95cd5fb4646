/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_io_thread_test.c - an I/O thread: all bytes arrive in their order whoever sends and receives
 * them, calls that it has not begun are withdrawn without a trace, errors are those of the call,
 * functions run once, and their faults call the handlers of the program.
 */
#include "transport/tcp/tcp_io_thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"

#define STREAM ((size_t)4 << 20)
#define PIECE  ((size_t)64 << 10)

static char          sent[STREAM], received[STREAM];
static uint64_t      random_state;
static int           cpu; /* that this process may use */
static unsigned long withdrawn, calls;

static size_t io_test_draw(size_t most)
{
    return 1 + tap_random(&random_state) % most;
}

/* Ends a call.  Returns the bytes that it moved. */
static size_t io_test_end(struct ski_io_thread *io)
{
    ssize_t n = ski_io_end(io);

    calls++;
    if (n < 0 && errno != EAGAIN)
        OK(false, "a call fails: %s", strerror(errno));
    withdrawn += n < 0;
    return n > 0 ? (size_t)n : 0;
}

static size_t io_test_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sends two parts by the thread, or one directly.  Returns the bytes sent. */
static size_t io_test_send(struct ski_io_thread *io, int fd, const char *from, size_t left)
{
    size_t       first   = io_test_least(left, io_test_draw(PIECE)), n;
    struct iovec part[2] = {{(void *)(uintptr_t)from, first / 2},
                            {(void *)(uintptr_t)(from + first / 2), first - first / 2}};

    if (tap_random(&random_state) % 4 == 0) {
        ssize_t direct = send(fd, from, first, MSG_DONTWAIT);

        return direct > 0 ? (size_t)direct : 0;
    }
    ski_io_begin_send(io, fd, part, 2);
    for (n = io_test_draw(3000); n > 0 && tap_random(&random_state) % 2; n--)
        sched_yield();
    return io_test_end(io);
}

static size_t io_test_receive(struct ski_io_thread *io, int fd, char *to, size_t left)
{
    ski_io_begin_recv(io, fd, to, io_test_least(left, io_test_draw(PIECE)));
    if (tap_random(&random_state) % 2)
        sched_yield();
    return io_test_end(io);
}

static void test_io_stream(void)
{
    struct ski_io_thread *io[2] = {ski_io_thread_start(&cpu, 1), ski_io_thread_start(&cpu, 1)};
    size_t                out = 0, in = 0;
    ssize_t               end;
    int                   fd[2];

    if (!io[0] || !io[1] || socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0) {
        OK(false, "an I/O thread is started: %s", strerror(errno));
        return;
    }
    for (size_t i = 0; i < STREAM; i++)
        sent[i] = (char)(i * 2654435761u >> 13);
    while (in < STREAM) {
        if (out < STREAM)
            out += io_test_send(io[0], fd[0], sent + out, STREAM - out);
        in += io_test_receive(io[1], fd[1], received + in, STREAM - in);
    }
    OK(out == STREAM && memcmp(sent, received, STREAM) == 0, "all bytes arrive in their order");
    printf("# %lu calls, %lu without bytes\n", calls, withdrawn);
    close(fd[0]);
    do
        ski_io_begin_recv(io[1], fd[1], received, 1);
    while ((end = ski_io_end(io[1])) < 0 && errno == EAGAIN);
    OK(end == 0, "the end of the stream is reported");
    close(fd[1]);
    for (int i = 0; i < 2; i++)
        ski_io_thread_stop(io[i]);
}

static void test_io_errors(void)
{
    struct ski_io_thread *io   = ski_io_thread_start(&cpu, 1);
    const int             none = 1023;

    if (!io) {
        OK(false, "an I/O thread is started: %s", strerror(errno));
        return;
    }
    do
        ski_io_begin_recv(io, -1, received, 1);
    while (ski_io_end(io) < 0 && errno == EAGAIN);
    OK(errno == EBADF, "the error of a call is reported");
    ski_io_thread_stop(io);
    ski_io_thread_stop(NULL);
    OK(!ski_io_thread_start(&none, 1) && errno == EINVAL, "a CPU that does not exist is refused");
}

static void io_test_count(void *arg)
{
    ++*(unsigned *)arg;
}

static void test_io_run(void)
{
    struct ski_io_thread *io  = ski_io_thread_start(&cpu, 1);
    unsigned              ran = 0, ended = 0;

    if (!io) {
        OK(false, "an I/O thread is started: %s", strerror(errno));
        return;
    }
    for (unsigned i = 0; i < 200 || (ended == 0 && i < 1000000); i++) {
        ski_io_begin_run(io, io_test_count, &ran);
        if (tap_random(&random_state) % 2)
            sched_yield();
        ended += ski_io_end(io) == 0;
    }
    OK(ended > 0 && ran == ended, "a function runs once, or not at all if it is withdrawn");
    ski_io_thread_stop(io);
}

static char       *lazy; /* a page that the handler of SIGSEGV provides */
static atomic_uint faults;

static void io_test_provide(int sig)
{
    (void)sig;
    atomic_fetch_add(&faults, 1);
    mprotect(lazy, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

static void io_test_touch(void *page)
{
    *(volatile char *)page = 1;
}

static void test_io_fault(void)
{
    struct sigaction      provide = {.sa_handler = io_test_provide}, before;
    struct ski_io_thread *io      = ski_io_thread_start(&cpu, 1);
    size_t                page    = (size_t)sysconf(_SC_PAGESIZE);
    unsigned              ended   = 0;

    lazy = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!io || lazy == MAP_FAILED) {
        OK(false, "an I/O thread and a page: %s", strerror(errno));
        return;
    }
    sigaction(SIGSEGV, &provide, &before);
    for (unsigned i = 0; ended == 0 && i < 1000000; i++) {
        ski_io_begin_run(io, io_test_touch, lazy);
        sched_yield();
        ended += ski_io_end(io) == 0;
    }
    sigaction(SIGSEGV, &before, NULL);
    OK(ended == 1 && atomic_load(&faults) == 1, "a fault of the thread calls the handler");
    ski_io_thread_stop(io);
    munmap(lazy, page);
}

int main(void)
{
    cpu_set_t set;

    random_state = tap_seed();
    sched_getaffinity(0, sizeof set, &set);
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET((size_t)cpu, &set))
        cpu++;
    test_io_stream();
    test_io_errors();
    test_io_run();
    test_io_fault();
    return tap_end();
}
