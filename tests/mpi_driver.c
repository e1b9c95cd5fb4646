/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_driver.c - a program that calls MPI itself and uses the MPI driver.
 *
 * Compiled with the compiler wrapper of an MPI and run by mpi.sh on two ranks.  Packets carry their
 * number, their size and a pattern made of both; they may arrive in any order.
 *
 * usage: mpi_driver DRIVER mpi-first|driver-first|single|ports|in-turns|close|huge
 *                          |refuse|measure|no-end
 *   mpi-first     MPI_Init_thread, then the driver; driver-first: in the opposite order.
 *                 Packets of all sizes, in both directions at once, during collectives.
 *   no-end        driver-first, without MPI_Finalize, which MPICH 4.0 over TCP (UCX 1.13)
 *                 does not return from in one of 100 runs, of plain MPI programs too
 *   single        MPI_Init for one thread: one port works, two are refused
 *   ports         three ports per process, each with a thread; all send to all
 *   in-turns      ports, with MPI_THREAD_SERIALIZED
 *   close         a port closes before its packets are received
 *   huge          one packet of more than INT_MAX bytes
 *   refuse        start() must fail; prints why
 *   measure       latency and bandwidth of the driver and of MPI_Send and MPI_Recv
 */
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/driver.h"

#define PORTS 3
#define MOST  (8u << 20)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #condition);    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

struct head {
    uint64_t number, bytes, from;
};

/* A port and its statistics. */
struct end {
    struct ski_port *port;
    struct ski_peer *peer[2 * PORTS];
    int              pe;
    bool             keeps;    /* memory for all received packets, whose contents are ignored */
    bool             declines; /* received packets */
    unsigned         came, awaited, declined, pending;
    uint64_t         sum; /* sum of the received numbers */
    void            *kept;
};

static const struct ski_driver *driver;
static int                      rank, ranks;

/* ---- upcalls of the driver ------------------------------------------------------- */

static void *room(void *owner, size_t bytes)
{
    struct end *end = owner;

    end->declined += end->declines;
    if (end->declines)
        return NULL;
    return end->keeps ? end->kept : aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void check_pattern(const unsigned char *packet, size_t bytes)
{
    const struct head *head = (const void *)packet;

    CHECK(head->bytes == bytes);
    for (size_t i = sizeof *head; i < bytes; i++)
        CHECK(packet[i] == (unsigned char)(head->number * 31 + i * 7));
}

static void arrived(void *owner, void *packet, size_t bytes)
{
    struct end *end = owner;

    end->came++;
    if (end->keeps)
        return;
    check_pattern(packet, bytes);
    end->sum += ((struct head *)packet)->number;
    free(packet);
}

static void spoilt(void *owner, void *packet)
{
    (void)owner;
    free(packet);
}

static void sent(void *owner, void *packet)
{
    struct end *end = owner;

    end->pending--;
    if (!end->keeps)
        free(packet);
}

static void lost(void *owner, int pe, const char *why)
{
    (void)owner;
    fprintf(stderr, "PE %d is lost: %s\n", pe, why);
    abort();
}

static const struct ski_upcalls upcalls = {
    .alloc = room, .arrived = arrived, .abort = spoilt, .sent = sent, .lost = lost};

__attribute__((format(printf, 2, 3))) static void say(enum ski_log_level level, const char *format,
                                                      ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "level %d: ", (int)level);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static char *why(void)
{
    static _Thread_local char text[SKI_REASON_MAX];

    return text;
}

static struct ski_net net = {
    .interfaces = "auto", .port_range = "any", .peer_timeout = 10, .log = say, .last_error = why};

static skua_status start(int ports)
{
    const char *n = getenv("OMPI_COMM_WORLD_SIZE"), *me = getenv("OMPI_COMM_WORLD_RANK");

    if (!n) {
        n  = getenv("PMI_SIZE");
        me = getenv("PMI_RANK");
    }
    net.processes = ranks = n ? atoi(n) : 1;
    net.process = rank = me ? atoi(me) : 0;
    net.ports          = ports;
    net.one_host       = true;
    return driver->start(&net);
}

/* ---- ports -------------------------------------------------------------------------- */

/* Ends 0 to n - 1 of this process; all processes do this. */
static void open_ends(struct end *ends, int n)
{
    unsigned char mine[PORTS][64] = {{0}}, all[2 * PORTS][64];

    for (int i = 0; i < n; i++) {
        ends[i] = (struct end){.pe = rank * n + i};
        CHECK(driver->open(ends[i].pe, &upcalls, &ends[i], &ends[i].port) == SKUA_OK);
        mine[i][0] = (unsigned char)driver->address(ends[i].port, mine[i] + 1);
    }
    MPI_Allgather(mine, n * 64, MPI_BYTE, all, n * 64, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        for (int pe = 0; pe < ranks * n; pe++)
            CHECK(driver->connect(ends[i].port, pe, all[pe] + 1, all[pe][0], &ends[i].peer[pe]) ==
                  SKUA_OK);
}

static void close_ends(struct end *ends, int n)
{
    for (int i = 0; i < n; i++) {
        while (ends[i].pending)
            driver->progress(ends[i].port);
        CHECK(driver->wait_fd(ends[i].port) == -1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        driver->close(ends[i].port);
}

/* Sends, and progresses while the driver has no room. */
static void post(struct end *end, int pe, void *packet, size_t bytes)
{
    skua_status status;

    end->pending++; /* sent() may be called before */
    while ((status = driver->send(end->peer[pe], packet, bytes)) == SKUA_ERR_AGAIN)
        driver->progress(end->port);
    CHECK(status == SKUA_OK || status == SKUA_PENDING);
    if (status == SKUA_PENDING)
        return;
    end->pending--;
    if (!end->keeps)
        free(packet);
}

static void post_number(struct end *end, int pe, uint64_t number, size_t bytes)
{
    unsigned char *packet = aligned_alloc(64, (bytes + 63) / 64 * 64);

    *(struct head *)(void *)packet =
        (struct head){.number = number, .bytes = bytes, .from = (uint64_t)end->pe};
    for (size_t i = sizeof(struct head); i < bytes; i++)
        packet[i] = (unsigned char)(number * 31 + i * 7);
    post(end, pe, packet, bytes);
}

/* Progresses until @p more packets have arrived. */
static void wait_for(struct end *end, unsigned more)
{
    end->awaited += more;
    while (end->came < end->awaited)
        if (driver->progress(end->port) == 0 && !end->keeps)
            sched_yield();
}

/* ---- the tests ------------------------------------------------------------------------ */

/* A collective of MPI in between.  The port progresses meanwhile, since the other process may have
 * to wait until we have received some of its packets. */
static void count_ranks(struct end *end)
{
    int         one = 1, all = 0, done = 0;
    MPI_Request request;

    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!done) {
        driver->progress(end->port);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    CHECK(all == ranks);
}

/* Each process sends to the other, all sizes, several packets in flight. */
static void exchange(struct end *end)
{
    unsigned n   = 0;
    uint64_t sum = 0;

    for (size_t bytes = SKI_PACKET_MIN; bytes <= MOST; bytes *= 2)
        for (size_t more = 0; more < 3 && bytes + more <= MOST; more++) {
            sum += n;
            post_number(end, 1 - rank, n++, bytes + more);
        }
    count_ranks(end);
    for (int i = 0; i < 2000; i++, n++) { /* more than can be outstanding */
        sum += n;
        post_number(end, 1 - rank, n, SKI_PACKET_MIN + (size_t)i % 100);
    }
    wait_for(end, n);
    CHECK(end->came == n && end->sum == sum);
    MPI_Barrier(MPI_COMM_WORLD); /* the following packets are for the next test */
}

/* Packets that the runtime rejects are dropped, and the driver does not wait for them. */
static void decline(struct end *end)
{
    end->declines = true;
    post_number(end, 1 - rank, 1, 100);
    post_number(end, 1 - rank, 2, 1 << 20);
    while (end->declined < 2 || end->pending)
        driver->progress(end->port);
    end->declines = false;
    MPI_Barrier(MPI_COMM_WORLD);
    post_number(end, 1 - rank, 3, 1000);
    wait_for(end, 1);
}

static void test_two(bool mpi_first, bool ends_well)
{
    struct end end;
    int        provided, over, there;

    if (mpi_first)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (start(1) != SKUA_OK) {
        fprintf(stderr, "start: %s\n", net.last_error());
        exit(1);
    }
    MPI_Initialized(&there);
    CHECK(there);
    open_ends(&end, 1);
    exchange(&end);
    decline(&end);
    close_ends(&end, 1);
    if (rank == 0)
        printf("over %s\n", driver->describe());
    fflush(stdout);
    if (!ends_well) {
        MPI_Barrier(MPI_COMM_WORLD); /* the line has been written */
        MPI_Abort(MPI_COMM_WORLD, 0);
    }
    driver->stop();
    MPI_Finalized(&over);
    CHECK(!(over && mpi_first)); /* the program finalises MPI if it has initialised it */
    if (mpi_first) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    if (!mpi_first) { /* MPI stays for the next phase */
        CHECK(!over && start(1) == SKUA_OK);
        driver->stop();
        MPI_Finalize();
    }
    CHECK(start(1) == SKUA_ERR_UNSUPPORTED && strstr(net.last_error(), "finalised"));
}

static void test_single(void)
{
    struct end end;
    int        level;

    MPI_Init(NULL, NULL);
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) {
        CHECK(start(2) == SKUA_ERR_UNSUPPORTED && strstr(net.last_error(), "one thread"));
        CHECK(start(1 + rank) == SKUA_ERR_UNSUPPORTED);
        CHECK(rank == 1 || strstr(net.last_error(), "another process"));
    }
    CHECK(start(1) == SKUA_OK);
    open_ends(&end, 1);
    exchange(&end);
    close_ends(&end, 1);
    driver->stop();
    MPI_Finalize();
}

static struct end        ends[PORTS];
static pthread_barrier_t together;

static void *all_to_all(void *argument)
{
    struct end *end   = argument;
    int         pes   = ranks * PORTS;
    unsigned    times = 100;

    for (unsigned i = 0; i < times; i++)
        for (int pe = 0; pe < pes; pe++)
            post_number(end, pe, i, i % 10 == 0 ? 100000 + i : SKI_PACKET_MIN + i);
    while (end->came < times * (unsigned)pes || end->pending)
        if (driver->progress(end->port) == 0)
            sched_yield();
    CHECK(end->sum == (uint64_t)pes * times * (times - 1) / 2);
    pthread_barrier_wait(&together);
    return NULL;
}

static void test_ports(void)
{
    pthread_t thread[PORTS];

    CHECK(start(PORTS) == SKUA_OK);
    pthread_barrier_init(&together, NULL, PORTS);
    open_ends(ends, PORTS);
    for (int i = 0; i < PORTS; i++)
        pthread_create(&thread[i], NULL, all_to_all, &ends[i]);
    for (int i = 0; i < PORTS; i++)
        pthread_join(thread[i], NULL);
    close_ends(ends, PORTS);
    driver->stop();
}

static void test_in_turns(void)
{
    int level;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (level >= MPI_THREAD_SERIALIZED)
        test_ports();
    MPI_Finalize();
}

/* A packet stays in flight although its sender has closed its port, and so does, for a while, one
 * whose receiver has. */
static void test_close(void)
{
    enum { BYTES = 1 << 20 };
    unsigned came = 0;

    CHECK(start(2) == SKUA_OK);
    open_ends(ends, 2);
    post_number(&ends[0], 1, 7, 100);
    post_number(&ends[0], 1, 8, BYTES);
    driver->close(ends[0].port);
    for (int i = 0; i < 1000000 && came < 2; i++) {
        driver->progress(ends[1].port);
        came = ends[1].came;
    }
    CHECK(came == 2 && ends[1].sum == 15);
    post_number(&ends[1], 0, 9, BYTES);
    driver->close(ends[1].port);
    CHECK(ends[1].came == 2);
    driver->open(0, &upcalls, &ends[0], &ends[0].port);
    for (int i = 0; i < 1000; i++)
        CHECK(driver->progress(ends[0].port) == 0); /* another port */
    driver->close(ends[0].port);
    printf("closed\n");
    fflush(stdout);
    _exit(0); /* MPI owns a packet for good, and MPI_Finalize may wait for it */
}

static void test_huge(void)
{
    struct end end;
    size_t     bytes = (size_t)INT_MAX + 12345;

    CHECK(start(1) == SKUA_OK);
    open_ends(&end, 1);
    if (rank == 0)
        post_number(&end, 1, 5, bytes);
    else
        wait_for(&end, 1);
    close_ends(&end, 1);
    driver->stop();
}

/* ---- measurements ------------------------------------------------------------------------ */

static void plain_trip(char *to, char *from, int bytes)
{
    if (rank == 0)
        MPI_Send(from, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(to, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(from, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void packet_trip(struct end *end, char *from, size_t bytes)
{
    if (rank == 0)
        post(end, 1, from, bytes);
    wait_for(end, 1);
    if (rank == 1)
        post(end, 0, from, bytes);
    while (end->pending)
        driver->progress(end->port);
}

/* The latency in microseconds, the best of several batches; @p end NULL: of plain MPI. */
static double one_way(struct end *end, char *from, char *to, size_t bytes)
{
    int    trips = bytes >= 1 << 20 ? 50 : bytes >= 1 << 16 ? 500 : 5000;
    double best  = 1e9, time;

    for (int batch = 0; batch < 10; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        time = MPI_Wtime();
        for (int i = 0; i < trips; i++)
            if (end)
                packet_trip(end, from, bytes);
            else
                plain_trip(to, from, (int)bytes);
        time = (MPI_Wtime() - time) / trips / 2 * 1e6;
        best = time < best ? time : best;
    }
    return best;
}

enum { RATE_WINDOW = 64, RATE_WINDOWS = 1000 };

static void plain_window(char *from, char *to)
{
    MPI_Request request[RATE_WINDOW];
    MPI_Status  status[RATE_WINDOW];

    for (int i = 0; i < RATE_WINDOW; i++)
        if (rank == 0)
            MPI_Isend(from, 32, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request[i]);
        else
            MPI_Irecv(to + 32 * i, 32, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(RATE_WINDOW, request, status);
    plain_trip(to, from, 0);
}

static void packet_window(struct end *end, char *from)
{
    for (int i = 0; rank == 0 && i < RATE_WINDOW; i++)
        post(end, 1, from, 32);
    wait_for(end, rank == 1 ? RATE_WINDOW : 0);
    packet_trip(end, from, 32);
}

/* Millions of packets of 32 bytes per second, in windows. */
static double rate(struct end *end, char *from, char *to)
{
    double best = 0, time;

    for (int batch = 0; batch < 5; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        time = MPI_Wtime();
        for (int w = 0; w < RATE_WINDOWS; w++)
            if (end)
                packet_window(end, from);
            else
                plain_window(from, to);
        time = RATE_WINDOWS * RATE_WINDOW / (MPI_Wtime() - time) / 1e6;
        best = time > best ? time : best;
    }
    return best;
}

static const size_t sizes[] = {32,    256,   1024,  4096,    8192,   12288,
                               16384, 32768, 65536, 1 << 20, 4 << 20};

#define SIZES (sizeof sizes / sizeof *sizes)

struct figures {
    double us[SIZES], rate;
};

static void measure(struct figures *figures, struct end *end, char *from, char *to)
{
    for (size_t i = 0; i < SIZES; i++)
        figures->us[i] = one_way(end, from, to, sizes[i]);
    figures->rate = rate(end, from, to);
}

static void print(const struct figures *mpi, const struct figures *packets)
{
    for (size_t i = 0; i < SIZES; i++)
        printf("%8zu bytes: MPI %9.2f us %7.0f MB/s, packets %9.2f us %7.0f MB/s, ratio %.2f\n",
               sizes[i], mpi->us[i], (double)sizes[i] / mpi->us[i], packets->us[i],
               (double)sizes[i] / packets->us[i], packets->us[i] / mpi->us[i]);
    printf("rate: MPI %.2f M/s, packets %.2f M/s, ratio %.2f\n", mpi->rate, packets->rate,
           mpi->rate / packets->rate);
}

/* MPI is measured first: the posted receives of a port would slow its matching down. */
static void test_measure(void)
{
    struct end     end;
    struct figures mpi, packets;
    char          *from = aligned_alloc(64, MOST), *to = aligned_alloc(64, MOST);

    if (start(1) != SKUA_OK) {
        fprintf(stderr, "start: %s\n", net.last_error());
        exit(1);
    }
    memset(from, 1, MOST);
    memset(to, 1, MOST);
    measure(&mpi, NULL, from, to);
    open_ends(&end, 1);
    end.keeps = true;
    end.kept  = to;
    measure(&packets, &end, from, to);
    if (rank == 0)
        print(&mpi, &packets);
    close_ends(&end, 1);
    driver->stop();
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    const char *what    = argc > 2 ? argv[2] : "";
    void       *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

    if (!library) {
        fprintf(stderr, "usage: mpi_driver DRIVER WHAT (%s)\n", argc > 2 ? dlerror() : "");
        return 2;
    }
    driver = dlsym(library, SKI_DRIVER_SYMBOL);
    CHECK(driver && driver->version == SKI_DRIVER_VERSION);
    if (strcmp(what, "single") == 0)
        test_single();
    else if (strcmp(what, "ports") == 0)
        test_ports();
    else if (strcmp(what, "in-turns") == 0)
        test_in_turns();
    else if (strcmp(what, "close") == 0)
        test_close();
    else if (strcmp(what, "huge") == 0)
        test_huge();
    else if (strcmp(what, "measure") == 0)
        test_measure();
    else if (strcmp(what, "refuse") == 0)
        printf("%d: %s\n", start(1), net.last_error());
    else
        test_two(strcmp(what, "mpi-first") == 0, strcmp(what, "no-end") != 0);
    return 0;
}
