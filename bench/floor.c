/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.c - the floor: two processes, or two threads, on different CPUs bounce a cache line, with
 * or without a memcpy of data into shared memory before.  No runtime is involved.
 *
 * The floor of a TCP connection of this host, series floor-tcp: two processes send the bytes of one
 * buffer and receive them in the other, and never sleep.  No runtime can be faster.
 * Series packet-tcp: a header is sent before the data, in the same call.  The receiver reads it
 * before it knows where the data belong: it receives both together and copies the data, or receives
 * the header first; the faster of the two is reported.  No runtime whose connections carry more
 * than one kind of packet can be faster.
 * Series copied-tcp: a message.  The sender copies the data behind a header, the receiver receives
 * both by one call or by two, the faster of which is reported, and copies the data out.  Compared
 * with floor-tcp it tells how much the copies cost, and so what any runtime can gain without them.
 *
 * With `zerocopy', series floor-tcp of `skua bench zerocopy': one way, the message of copied-tcp
 * (copy_us), a packet straight from and to the memory of the program (put_us), and the same after
 * two small messages, a descriptor to the receiver and a request back (get_us).
 *
 * With `exchange', series limit-tcp: both send EXCHANGE_BYTES at the same time, then receive: two
 * system calls for each side. The two ends may be in different network namespaces, each of which is
 * given as a file of /proc; ADDRESS is an address of the first one.
 *
 * With `mixed', series floor-alone and floor-busy of `skua bench mixed': two processes bounce a
 * cache line, alone or while one of them exchanges a small message with a third process over TCP
 * for every MIXED_EVERY round trips.  The third process sleeps in recv().  It has a CPU of its own,
 * or shares that of the second process.
 *
 * usage: floor [threads | tcp | zerocopy] [cpu0 cpu1]
 *        floor mixed cpu0 cpu1 cpu2
 *        floor exchange BENCH cpu0 cpu1 [ADDRESS NAMESPACE NAMESPACE]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define EXCHANGE_BYTES 32    /* ghost cells of a box of 2^3 cells for one neighbour */
#define EXCHANGES      10000 /* in a batch */
#define MIXED_EVERY    256   /* round trips for each message to the third process: mixed.c */
#define MIXED_LOOK     16    /* round trips between two looks for its answer */
#define MIXED_TRIPS    2048  /* in a batch */
#define MIXED_BATCHES  200
#define PACKET_HEAD    48 /* bytes before the data of a packet of Skua */
#define PACKET_MAX     ((size_t)1 << 20)
#define CHANNEL_MAX    ((size_t)100000) /* the largest size of channels.c over TCP */
#define GET_DESCRIPTOR 160              /* bytes of a message with the descriptor of a buffer */
#define GET_REQUEST    288              /* bytes of a message that requests the data of a buffer */

struct floor_side {
    _Alignas(128) _Atomic uint32_t flag;
    _Alignas(128) char data[BENCH_BYTES];
};

static struct floor_side *side; /* [2]: each side writes its own for the other side */
static char               source[2][BENCH_BYTES];
static int                cpu[2] = {0, 1};

/* One round trip: side 0 begins, side 1 answers. */
static void trip(int me, size_t bytes, uint32_t turn)
{
    for (int step = 0; step < 2; step++) {
        if (step == me) {
            if (bytes)
                memcpy(side[me].data, source[me], bytes);
            atomic_store_explicit(&side[me].flag, turn, memory_order_release);
        } else {
            while (atomic_load_explicit(&side[1 - me].flag, memory_order_acquire) != turn)
                ;
        }
    }
}

static void measure(int me, const char *series, size_t copied, size_t bytes)
{
    static _Thread_local uint32_t turn;
    int                           trips = bench_trips(copied);
    double                        best  = 1e9;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now(), time;
        for (int i = 0; i < trips; i++)
            trip(me, copied, ++turn);
        time = (bench_now() - start) / trips;
        if (time < best)
            best = time;
    }
    if (me == 0)
        bench_report("messages", series, bytes, "roundtrip_us", best * 1e6);
}

static void measure_all(int me, const char *suffix)
{
    char name[2][64];

    snprintf(name[0], sizeof name[0], "floor-flag%s", suffix);
    snprintf(name[1], sizeof name[1], "floor-copy%s", suffix);
    bench_pin(cpu[me]);
    for (size_t i = 0; i < BENCH_SIZES; i++) {
        measure(me, name[0], 0, bench_sizes[i]);
        measure(me, name[1], bench_sizes[i], bench_sizes[i]);
    }
}

static void *partner(void *arg)
{
    measure_all(1, arg);
    return NULL;
}

/* ---- a TCP connection ------------------------------------------------------------ */

static int fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Enters a network namespace, to which the sockets that are made afterwards belong; NULL: none. */
static void enter_namespace(const char *path)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (path && (fd < 0 || setns(fd, CLONE_NEWNET) != 0))
        fail(path);
    if (fd >= 0)
        close(fd);
}

/* Connects two sockets of this process. The arguments are the address of one, and the namespaces of
 * both, or NULL. */
static void connect_pair(int fd[2], const char *address, const char *const namespace[2])
{
    struct sockaddr_in at    = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
    socklen_t          bytes = sizeof at;
    int                listener, on = 1;

    enter_namespace(namespace[0]);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, bytes) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&at, &bytes) != 0)
        fail("listen");
    enter_namespace(namespace[1]);
    fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd[0] < 0 || connect(fd[0], (struct sockaddr *)&at, bytes) != 0)
        fail("connect");
    fd[1] = accept(listener, NULL, NULL);
    if (fd[1] < 0)
        fail("accept");
    close(listener);
    for (int i = 0; i < 2; i++)
        setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void tcp_send(int fd, const char *from, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);

        if (n <= 0)
            fail("send");
        from += n;
        bytes -= (size_t)n;
    }
}

static void tcp_receive(int fd, char *to, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = recv(fd, to, bytes, MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            fail("recv");
        to += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
}

/* Sends a header and data, in one call if the kernel accepts both. */
static void packet_send(int fd, const char *from, size_t bytes)
{
    static char   head[PACKET_HEAD];
    struct iovec  part[2] = {{head, sizeof head}, {(void *)(uintptr_t)from, bytes}};
    struct msghdr what    = {.msg_iov = part, .msg_iovlen = 2};
    ssize_t       n       = sendmsg(fd, &what, MSG_NOSIGNAL);

    if (n < (ssize_t)sizeof head)
        fail("sendmsg");
    tcp_send(fd, from + ((size_t)n - sizeof head), bytes - ((size_t)n - sizeof head));
}

/* Receives the header, then the data. */
static void packet_receive_twice(int fd, char *to, size_t bytes)
{
    char head[PACKET_HEAD];

    tcp_receive(fd, head, sizeof head);
    tcp_receive(fd, to, bytes);
}

/* Receives the header and what has arrived of the data, copies these, and receives the rest. */
static void packet_receive_copy(int fd, char *to, size_t bytes)
{
    static char scratch[PACKET_MAX + PACKET_HEAD];
    size_t      got = 0;

    while (got < PACKET_HEAD) {
        ssize_t n = recv(fd, scratch + got, PACKET_HEAD + bytes - got, MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            fail("recv");
        got += n > 0 ? (size_t)n : 0;
    }
    memcpy(to, scratch + PACKET_HEAD, got - PACKET_HEAD);
    tcp_receive(fd, to + (got - PACKET_HEAD), bytes - (got - PACKET_HEAD));
}

/* ---- messages, which are copied in and out ---- */

static char tcp_message[PACKET_HEAD + PACKET_MAX]; /* a header and data */

static void message_send(int fd, const char *from, size_t bytes)
{
    memcpy(tcp_message + PACKET_HEAD, from, bytes);
    tcp_send(fd, tcp_message, PACKET_HEAD + bytes);
}

static void message_receive(int fd, char *to, size_t bytes)
{
    tcp_receive(fd, tcp_message, PACKET_HEAD + bytes);
    memcpy(to, tcp_message + PACKET_HEAD, bytes);
}

/* Receives the header, then the data. */
static void message_receive_twice(int fd, char *to, size_t bytes)
{
    tcp_receive(fd, tcp_message, PACKET_HEAD);
    tcp_receive(fd, tcp_message + PACKET_HEAD, bytes);
    memcpy(to, tcp_message + PACKET_HEAD, bytes);
}

/* ---- gets: a descriptor, a request, the data ---- */

static void get_send(int fd, const char *from, size_t bytes)
{
    tcp_send(fd, tcp_message, GET_DESCRIPTOR);
    tcp_receive(fd, tcp_message, GET_REQUEST);
    packet_send(fd, from, bytes);
}

static void get_receive(int fd, char *to, size_t bytes)
{
    tcp_receive(fd, tcp_message, GET_DESCRIPTOR);
    tcp_send(fd, tcp_message, GET_REQUEST);
    packet_receive_twice(fd, to, bytes);
}

static void get_receive_copy(int fd, char *to, size_t bytes)
{
    tcp_receive(fd, tcp_message, GET_DESCRIPTOR);
    tcp_send(fd, tcp_message, GET_REQUEST);
    packet_receive_copy(fd, to, bytes);
}

/* ---- measurements ---- */

/* How data are sent and received. */
struct tcp_way {
    void (*send)(int fd, const char *from, size_t bytes);
    void (*receive)(int fd, char *to, size_t bytes);
};

/* Returns the time of a round trip in a batch of @p trips. */
static double tcp_batch(int me, int fd, size_t bytes, int trips, const struct tcp_way *way)
{
    double begin = bench_now();

    for (int i = 0; i < trips; i++) {
        if (me == 0)
            way->send(fd, source[0], bytes);
        way->receive(fd, side[me].data, bytes);
        if (me == 1)
            way->send(fd, source[1], bytes);
    }
    return (bench_now() - begin) / trips;
}

/* Returns the time of a round trip in the best batch. */
static double tcp_best(int me, int fd, size_t bytes, const struct tcp_way *way)
{
    double best = 1e9;

    for (int batch = 0; batch < bench_batches(1, 2); batch++) {
        double time = tcp_batch(me, fd, bytes, bench_trips_net(bytes), way);

        best = time < best ? time : best;
    }
    return best;
}

/* Returns the time of a round trip with the faster of two ways. */
static double tcp_faster(int me, int fd, size_t bytes, const struct tcp_way way[2])
{
    double first = tcp_best(me, fd, bytes, &way[0]), second = tcp_best(me, fd, bytes, &way[1]);

    return first < second ? first : second;
}

static const struct tcp_way tcp_plain     = {tcp_send, tcp_receive};
static const struct tcp_way tcp_packet[]  = {{packet_send, packet_receive_copy},
                                             {packet_send, packet_receive_twice}};
static const struct tcp_way tcp_copied[]  = {{message_send, message_receive},
                                             {message_send, message_receive_twice}};
static const struct tcp_way tcp_request[] = {{get_send, get_receive_copy}, {get_send, get_receive}};

static void measure_tcp(int me, int fd)
{
    bench_pin(cpu[me]);
    for (size_t i = 1; i < BENCH_SIZES; i++) {
        size_t bytes = bench_sizes[i];
        double floor = tcp_best(me, fd, bytes, &tcp_plain), packet, copied;

        if (me == 0)
            bench_report("channels", "floor-tcp", bytes, "roundtrip_us", floor * 1e6);
        if (bytes > CHANNEL_MAX)
            continue;
        packet = tcp_faster(me, fd, bytes, tcp_packet);
        copied = tcp_faster(me, fd, bytes, tcp_copied);
        if (me == 1)
            continue;
        bench_report("channels", "packet-tcp", bytes, "roundtrip_us", packet * 1e6);
        bench_report("channels", "copied-tcp", bytes, "roundtrip_us", copied * 1e6);
    }
}

/* The value is half a round trip, as in zerocopy.c. */
static void measure_zerocopy(int me, int fd)
{
    static const struct {
        const char           *metric;
        const struct tcp_way *way;
    } rows[] = {{"copy_us", tcp_copied}, {"put_us", tcp_packet}, {"get_us", tcp_request}};

    bench_pin(cpu[me]);
    for (size_t bytes = 1024; bytes <= PACKET_MAX; bytes *= 2)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            double trip = tcp_faster(me, fd, bytes, rows[i].way);

            if (me == 0)
                bench_report("zerocopy", "floor-tcp", bytes, rows[i].metric, trip / 2 * 1e6);
        }
}

static void measure_exchange(int me, int fd, const char *bench)
{
    double best = 1e9;

    bench_pin(cpu[me]);
    for (int batch = 0; batch < bench_batches(1, 2); batch++) {
        double begin = bench_now(), time;

        for (int i = 0; i < EXCHANGES; i++) {
            tcp_send(fd, source[me], EXCHANGE_BYTES);
            tcp_receive(fd, side[me].data, EXCHANGE_BYTES);
        }
        time = (bench_now() - begin) / EXCHANGES;
        best = time < best ? time : best;
    }
    if (me == 0)
        bench_report(bench, "limit-tcp", EXCHANGE_BYTES, "exchange-2pe", best);
}

/* What is measured on a connection. */
struct tcp_job {
    const char *exchange; /* exchanges, for this benchmark; NULL: round trips */
    bool        zerocopy;
};

static void measure_end(int me, const int fd[2], const struct tcp_job *job)
{
    if (job->exchange)
        measure_exchange(me, fd[me], job->exchange);
    else if (job->zerocopy)
        measure_zerocopy(me, fd[me]);
    else
        measure_tcp(me, fd[me]);
}

static void run_tcp(const struct tcp_job *job, const char *address, const char *const namespace[2])
{
    int fd[2];

    connect_pair(fd, address, namespace);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        measure_end(1, fd, job);
        _exit(0);
    }
    measure_end(0, fd, job);
    wait(NULL);
}

/* ---- beside a connection ----------------------------------------------------------- */

/* Answers messages until the connection ends. */
static void mixed_answer(int fd)
{
    uint64_t word;

    while (recv(fd, &word, sizeof word, MSG_WAITALL) == (ssize_t)sizeof word)
        tcp_send(fd, (const char *)&word, sizeof word);
}

/* Sends a message if one is due, and looks for its answer.  Returns whether it has sent one. */
static bool mixed_step(int fd, int i, bool *out)
{
    uint64_t word = 0;

    if (*out && i % MIXED_LOOK == 0 &&
        recv(fd, &word, sizeof word, MSG_DONTWAIT) == (ssize_t)sizeof word)
        *out = false;
    if (*out || i % MIXED_EVERY > 0)
        return false;
    tcp_send(fd, (const char *)&word, sizeof word);
    *out = true;
    return true;
}

/* Waits for the answer to a message that was sent. */
static void mixed_drain(int fd, bool *out)
{
    char word[sizeof(uint64_t)];

    if (*out)
        tcp_receive(fd, word, sizeof word);
    *out = false;
}

/* Returns the seconds of a round trip in a batch; with @p fd beside messages on that connection,
 * whose number is added to *@p sent. */
static double mixed_batch(int me, int fd, int *sent)
{
    static uint32_t turn;
    double          start = bench_now(), time;
    bool            out   = false;

    for (int i = 0; i < MIXED_TRIPS; i++) {
        if (fd >= 0)
            *sent += mixed_step(fd, i, &out);
        trip(me, 0, ++turn);
    }
    time = (bench_now() - start) / MIXED_TRIPS;
    mixed_drain(fd, &out);
    return time;
}

/* Bounces the cache line in batches, every other one beside messages on a connection of side 0. The
 * fastest batch of each kind is reported; of those with messages only one in which each message was
 * answered before the next one was due: where the kernel lets the third process wait for a CPU,
 * fewer are sent, and the batch measures something else. */
static void mixed_measure(int me, int fd)
{
    static const char *const series[2] = {"floor-alone", "floor-busy"};
    double                   best[2]   = {0, 0};

    for (int batch = 0; batch < MIXED_BATCHES; batch++) {
        int    busy = batch % 2, sent = 0;
        double time = mixed_batch(me, me == 0 && busy ? fd : -1, &sent);

        if ((!busy || sent == MIXED_TRIPS / MIXED_EVERY) && (best[busy] == 0 || time < best[busy]))
            best[busy] = time;
    }
    for (int busy = 0; me == 0 && busy < 2; busy++)
        if (best[busy] > 0)
            bench_report("mixed", series[busy], sizeof(uint64_t), "roundtrip_us", best[busy] * 1e6);
}

/* Starts a process that runs on a CPU; returns 0 in it. */
static pid_t mixed_start(int where)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench_pin(where);
    return 0;
}

static void run_mixed(int third)
{
    int fd[2];

    connect_pair(fd, "127.0.0.1", (const char *const[]){NULL, NULL});
    if (mixed_start(third) == 0) {
        close(fd[0]);
        mixed_answer(fd[1]);
        _exit(0);
    }
    close(fd[1]);
    if (mixed_start(cpu[1]) == 0) {
        close(fd[0]);
        mixed_measure(1, -1);
        _exit(0);
    }
    bench_pin(cpu[0]);
    mixed_measure(0, fd[0]);
    close(fd[0]);
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    bool      zerocopy = argc > 1 && strcmp(argv[1], "zerocopy") == 0;
    bool      tcp      = zerocopy || (argc > 1 && strcmp(argv[1], "tcp") == 0);
    bool      threads  = argc > 1 && strcmp(argv[1], "threads") == 0;
    bool      exchange = argc > 4 && strcmp(argv[1], "exchange") == 0;
    bool      mixed    = argc > 4 && strcmp(argv[1], "mixed") == 0;
    bool      apart    = exchange && argc > 7; /* in two namespaces */
    int       words    = exchange ? 2 : tcp || threads || mixed;
    pthread_t thread;

    if (argc > 2 + words) {
        cpu[0] = atoi(argv[1 + words]);
        cpu[1] = atoi(argv[2 + words]);
    }
    side = mmap(NULL, 2 * sizeof *side, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (side == MAP_FAILED)
        return perror("mmap"), 1;
    memset(source, 1, sizeof source); /* touches its pages */
    if (mixed) {
        run_mixed(atoi(argv[4]));
    } else if (tcp || exchange) {
        run_tcp(&(struct tcp_job){exchange ? argv[2] : NULL, zerocopy},
                apart ? argv[5] : "127.0.0.1",
                (const char *const[]){apart ? argv[6] : NULL, apart ? argv[7] : NULL});
    } else if (threads) {
        pthread_create(&thread, NULL, partner, "-threads");
        measure_all(0, "-threads");
        pthread_join(thread, NULL);
    } else if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the process would spin forever without its partner */
        measure_all(1, "");
        _exit(0);
    } else {
        measure_all(0, "");
        wait(NULL);
    }
    return 0;
}
