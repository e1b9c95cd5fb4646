/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_io_thread.c - see tcp_io_thread.h.
 *
 *      IDLE -- begin --> CALL -- the thread --> RUNS -- the thread --> ENDED -- end --> IDLE
 *      IDLE -- the thread --> ASLEEP -- begin, which wakes it --> CALL
 *                        CALL -- end, which withdraws it --> IDLE
 *
 * The PE writes the call before the release of CALL, which the thread acquires; the thread writes
 * the result before the release of ENDED, which the PE acquires.  Only the thread leaves RUNS, and
 * only the PE leaves IDLE (but for ASLEEP) and ENDED, so each of them has the call alone.
 *
 * No call is missed: the thread falls asleep by a change of IDLE to ASLEEP, which fails if a call
 * has begun, and a PE that finds ASLEEP wakes it.
 */
#include "transport/tcp/tcp_io_thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/futex.h"
#include "base/seconds.h"

#define IO_AWAKE_SECONDS 200e-6 /* that a thread polls for the next call                   */
#define IO_POLLS         256    /* between two looks at the clock                          */
#define IO_SPINS         4096   /* until a PE that waits for the end of a call yields its CPU */
#define IO_TRIAL         64     /* calls after which the use of the thread is judged         */
#define IO_SWITCHES_MAX  4      /* times that the PE loses its CPU in them, at most ...      */
#define IO_SWITCH_RATE   100    /* ... or in a second: others run there now and then         */

enum io_state { IO_IDLE, IO_ASLEEP, IO_CALL, IO_RUNS, IO_ENDED };
enum io_kind { IO_SEND, IO_RECV, IO_RUN, IO_STOP };

struct ski_io_thread {
    _Atomic uint32_t state; /* enum io_state */
    enum io_kind     kind;
    int              fd;
    struct iovec     part[SKI_IO_PARTS_MAX];
    size_t           parts;
    void (*fn)(void *arg); /* of IO_RUN */
    void     *arg;
    ssize_t   result;
    int       error;
    unsigned  calls;    /* so far                                                      */
    long      switches; /* times that the PE had lost its CPU at the last judgement    */
    double    judged;   /* when that was                                               */
    bool      crowded;
    pthread_t thread;
};

/* ---- the thread ------------------------------------------------------------------------ */

/* Returns whether a call begins while the thread polls. */
static bool io_poll(struct ski_io_thread *io)
{
    double until = ski_seconds(CLOCK_MONOTONIC) + IO_AWAKE_SECONDS;

    do {
        for (int i = 0; i < IO_POLLS; i++)
            if (atomic_load_explicit(&io->state, memory_order_relaxed) == IO_CALL)
                return true;
    } while (ski_seconds(CLOCK_MONOTONIC) < until);
    return false;
}

static void io_sleep(struct ski_io_thread *io)
{
    uint32_t seen = IO_IDLE;

    if (atomic_compare_exchange_strong(&io->state, &seen, IO_ASLEEP))
        seen = IO_ASLEEP;
    for (; seen == IO_ASLEEP; seen = atomic_load_explicit(&io->state, memory_order_relaxed))
        ski_futex_wait(&io->state, IO_ASLEEP, SKI_FOREVER);
}

static void io_call(struct ski_io_thread *io)
{
    struct msghdr what = {.msg_iov = io->part, .msg_iovlen = io->parts};

    if (io->kind == IO_RUN) {
        io->fn(io->arg);
        io->result = 0;
        return;
    }
    io->result = io->kind == IO_SEND ? sendmsg(io->fd, &what, MSG_DONTWAIT | MSG_NOSIGNAL)
                                     : recvmsg(io->fd, &what, MSG_DONTWAIT);
    io->error  = errno;
}

static void *io_thread(void *arg)
{
    struct ski_io_thread *io   = arg;
    bool                  stop = false;

    while (!stop) {
        uint32_t seen = IO_CALL;

        if (!io_poll(io))
            io_sleep(io);
        if (!atomic_compare_exchange_strong_explicit(&io->state, &seen, IO_RUNS,
                                                     memory_order_acquire, memory_order_relaxed))
            continue; /* it was withdrawn */
        stop = io->kind == IO_STOP;
        if (!stop)
            io_call(io);
        atomic_store_explicit(&io->state, IO_ENDED, memory_order_release);
    }
    return NULL;
}

/* ---- the PE ----------------------------------------------------------------------------- */

static int io_create(struct ski_io_thread *io, const cpu_set_t *cpus)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    pthread_attr_t   attr;
    sigset_t         blocked, before;
    int              error = pthread_attr_init(&attr);

    if (error)
        return error;
    error = pthread_attr_setaffinity_np(&attr, sizeof *cpus, cpus);
    if (!error) {
        /* Signals are for the threads of the program, except for the faults of this one: it
         * accesses memory of the program, and the system ends a process that blocks a fault without
         * calling its handler, which may report it or provide the page. */
        sigfillset(&blocked);
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            sigdelset(&blocked, faults[i]);
        pthread_sigmask(SIG_SETMASK, &blocked, &before);
        error = pthread_create(&io->thread, &attr, io_thread, io);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attr);
    return error;
}

struct ski_io_thread *ski_io_thread_start(const int *cpu, int count)
{
    struct ski_io_thread *io = calloc(1, sizeof *io);
    cpu_set_t             set;

    if (!io)
        return NULL;
    CPU_ZERO(&set);
    for (int i = 0; i < count; i++)
        CPU_SET((size_t)cpu[i], &set);
    errno = io_create(io, &set);
    if (errno == 0)
        return io;
    free(io);
    return NULL;
}

/* Finds out whether the PE often lost its CPU: the thread runs there, or the host has more threads
 * than CPUs. */
static void io_judge(struct ski_io_thread *io)
{
    struct rusage use;
    double        now;
    long          switches;

    if (getrusage(RUSAGE_THREAD, &use) != 0)
        return;
    now      = ski_seconds(CLOCK_MONOTONIC);
    switches = use.ru_nivcsw - io->switches;
    io->crowded |= io->calls > IO_TRIAL && switches > IO_SWITCHES_MAX &&
                   (double)switches > IO_SWITCH_RATE * (now - io->judged);
    io->switches = use.ru_nivcsw;
    io->judged   = now;
}

bool ski_io_is_crowded(const struct ski_io_thread *io)
{
    return io->crowded;
}

static void io_begin(struct ski_io_thread *io, enum io_kind kind, int fd)
{
    assert(atomic_load(&io->state) == IO_IDLE || atomic_load(&io->state) == IO_ASLEEP);
    io->kind = kind;
    io->fd   = fd;
    if (++io->calls % IO_TRIAL == 0)
        io_judge(io);
    if (atomic_exchange_explicit(&io->state, IO_CALL, memory_order_acq_rel) == IO_ASLEEP)
        ski_futex_wake(&io->state, 1);
}

void ski_io_begin_send(struct ski_io_thread *io, int fd, const struct iovec *part, size_t parts)
{
    assert(parts <= SKI_IO_PARTS_MAX);
    memcpy(io->part, part, parts * sizeof *part);
    io->parts = parts;
    io_begin(io, IO_SEND, fd);
}

void ski_io_begin_recv(struct ski_io_thread *io, int fd, void *to, size_t bytes)
{
    io->part[0] = (struct iovec){to, bytes};
    io->parts   = 1;
    io_begin(io, IO_RECV, fd);
}

void ski_io_begin_run(struct ski_io_thread *io, void (*fn)(void *arg), void *arg)
{
    io->fn  = fn;
    io->arg = arg;
    io_begin(io, IO_RUN, -1);
}

/* Waits until a call that the thread has begun is over. */
static void io_wait(struct ski_io_thread *io)
{
    for (unsigned i = 0; atomic_load_explicit(&io->state, memory_order_acquire) != IO_ENDED; i++)
        if (i >= IO_SPINS)
            sched_yield();
}

ssize_t ski_io_end(struct ski_io_thread *io)
{
    uint32_t seen = IO_CALL;

    if (atomic_compare_exchange_strong_explicit(&io->state, &seen, IO_IDLE, memory_order_relaxed,
                                                memory_order_relaxed)) {
        errno = EAGAIN;
        return -1;
    }
    io_wait(io);
    atomic_store_explicit(&io->state, IO_IDLE, memory_order_relaxed);
    errno = io->error;
    return io->result;
}

void ski_io_thread_stop(struct ski_io_thread *io)
{
    if (!io)
        return;
    io_begin(io, IO_STOP, -1);
    pthread_join(io->thread, NULL);
    free(io);
}
