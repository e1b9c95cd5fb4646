/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_scaling.c - the kernels of bench_scaling.h with MPI: messages, collectives, and one-sided
 * accesses in an epoch of MPI_Win_lock_all.
 *
 * With threads a PE is a thread of a rank, and MPI runs with MPI_THREAD_MULTIPLE.  Only
 * messages and the barrier are measured then.  A communicator for each thread of the receiver and
 * the sender's PE as tag make messages of different pairs independent of each other.
 *
 * usage: mpi_scaling SERIES [threads=THREADS[,KERNEL] | KERNEL]
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>

#include "bench_scaling.h"

#define SCALING_THREADS 256

static _Thread_local int me;
static int               ranks; /* PEs: threads of all processes */
static int               rank, threads = 1;
static MPI_Comm          to_thread[SCALING_THREADS]; /* messages to this thread of a process */
static MPI_Win           window;
static char              own[SCALING_BYTES];

/* ---- messages ------------------------------------------------------------------------ */

#define SCALING_REQUESTS 4096

static _Thread_local MPI_Request request[SCALING_REQUESTS];
static _Thread_local MPI_Status  statuses[SCALING_REQUESTS];
static _Thread_local uint64_t    word[SCALING_REQUESTS];
static _Thread_local int         requests;

/* Messages of a sender: data and acknowledgements. */
static int data_tag(int from)
{
    return 2 * from;
}

static int ack_tag(int from)
{
    return 2 * from + 1;
}

static void wait_all(void)
{
    MPI_Waitall(requests, request, statuses);
    requests = 0;
}

static void make_room(void)
{
    if (requests + SCALING_BURST > SCALING_REQUESTS)
        wait_all();
}

static void send_burst(int to)
{
    make_room();
    for (int i = 0; i < SCALING_BURST; i++, requests++)
        MPI_Isend(&word[requests], 8, MPI_BYTE, to / threads, data_tag(me), to_thread[to % threads],
                  &request[requests]);
}

static void receive_burst(int from)
{
    make_room();
    for (int i = 0; i < SCALING_BURST; i++, requests++)
        MPI_Irecv(&word[requests], 8, MPI_BYTE, from / threads, data_tag(from),
                  to_thread[me % threads], &request[requests]);
}

static void send_ack(int to)
{
    MPI_Send(NULL, 0, MPI_BYTE, to / threads, ack_tag(me), to_thread[to % threads]);
}

static void receive_ack(int from)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from / threads, ack_tag(from), to_thread[me % threads],
             MPI_STATUS_IGNORE);
}

/* Waits for the bursts of a window; the receiver acknowledges it. */
static void end_window(long round, int to, int from)
{
    if ((round + 1) % SCALING_WINDOW)
        return;
    wait_all();
    if (from >= 0)
        send_ack(from);
    if (to >= 0)
        receive_ack(to);
}

static void run_pairs(long rounds)
{
    int half = ranks / 2, to = scaling_partner(me, ranks);
    int from = me >= half && me < 2 * half ? me - half : -1;

    for (long i = 0; i < rounds; i++) {
        if (to >= 0)
            send_burst(to);
        if (from >= 0)
            receive_burst(from);
        end_window(i, to, from);
    }
    wait_all();
}

/* Each rank receives from the rank that sends to it in this round; the window needs no
 * acknowledgement, because a rank waits for the messages that it receives. */
static void run_alltoall(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        int to = scaling_other(me, ranks, i), from = (2 * me - to + 2 * ranks) % ranks;

        receive_burst(from);
        send_burst(to);
        if ((i + 1) % SCALING_WINDOW == 0)
            wait_all();
    }
    wait_all();
}

static void run_manytoone(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        if (me != 0) {
            send_burst(0);
            end_window(i, 0, -1);
            continue;
        }
        for (int from = 1; from < ranks; from++)
            receive_burst(from);
        if ((i + 1) % SCALING_WINDOW)
            continue;
        wait_all();
        for (int from = 1; from < ranks; from++)
            send_ack(from);
    }
    wait_all();
}

/* ---- collectives --------------------------------------------------------------------- */

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static double largest(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

static void run_barrier(long rounds)
{
    for (long i = 0; i < rounds; i++)
        barrier();
}

static void run_allreduce(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        double from = 1, to;

        MPI_Allreduce(&from, &to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void run_broadcast(long rounds)
{
    for (long i = 0; i < rounds; i++)
        MPI_Bcast(own, 8, MPI_BYTE, (int)(i % ranks), MPI_COMM_WORLD);
}

/* ---- one-sided operations ------------------------------------------------------------ */

enum scaling_access { SCALING_PUT, SCALING_GET, SCALING_ATOMIC, SCALING_ACC };

/* Returns the displacement of an access, as in scaling.c. */
static MPI_Aint access_offset(enum scaling_access access, int spread, long round)
{
    long step = round * 7919 + me * 613;

    if (access == SCALING_PUT || access == SCALING_GET)
        return (MPI_Aint)me * SCALING_BYTES;
    if (access == SCALING_ATOMIC)
        return spread ? step % SCALING_WORDS * 8 : 0;
    return spread ? step % (SCALING_REGION / SCALING_BYTES) * SCALING_BYTES : 0;
}

static void access_start(enum scaling_access access, int pe, MPI_Aint at)
{
    static const int64_t one = 1;
    int64_t              old;
    int                  count = SCALING_BYTES / 8;

    switch (access) {
    case SCALING_PUT: MPI_Put(own, count, MPI_DOUBLE, pe, at, count, MPI_DOUBLE, window); break;
    case SCALING_GET: MPI_Get(own, count, MPI_DOUBLE, pe, at, count, MPI_DOUBLE, window); break;
    case SCALING_ATOMIC:
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, pe, at, MPI_SUM, window);
        MPI_Win_flush(pe, window);
        break;
    case SCALING_ACC:
        MPI_Accumulate(own, count, MPI_DOUBLE, pe, at, count, MPI_DOUBLE, MPI_SUM, window);
        break;
    }
}

static void run_access(enum scaling_access access, int spread, long rounds)
{
    for (long i = 0; i < rounds; i++) {
        int pe = spread ? scaling_other(me, ranks, i) : 0;

        for (int k = 0; k < SCALING_BURST; k++)
            access_start(access, pe, access_offset(access, spread, i * SCALING_BURST + k));
        MPI_Win_flush(pe, window);
    }
}

#define SCALING_ACCESS(name, access, spread)                                                       \
    static void run_##name(long rounds)                                                            \
    {                                                                                              \
        run_access(access, spread, rounds);                                                        \
    }

SCALING_ACCESS(put_one, SCALING_PUT, 0)
SCALING_ACCESS(put_spread, SCALING_PUT, 1)
SCALING_ACCESS(get_one, SCALING_GET, 0)
SCALING_ACCESS(get_spread, SCALING_GET, 1)
SCALING_ACCESS(atomic_one, SCALING_ATOMIC, 0)
SCALING_ACCESS(atomic_spread, SCALING_ATOMIC, 1)
SCALING_ACCESS(acc_one, SCALING_ACC, 0)
SCALING_ACCESS(acc_spread, SCALING_ACC, 1)

/* ---- kernels ------------------------------------------------------------------------- */

static const struct scaling_kernel kernels[] = {
    {"pairs", run_pairs, SCALING_BURST, scaling_half, 2},
    {"alltoall", run_alltoall, SCALING_BURST, NULL, 1},
    {"manytoone", run_manytoone, SCALING_BURST, scaling_all_but_one, 2},
    {"barrier", run_barrier, 0, NULL, 2},
    {"sync", run_barrier, 0, NULL, 2},
    {"allreduce", run_allreduce, 0, NULL, 2},
    {"broadcast", run_broadcast, 0, NULL, 2},
    {"put-one", run_put_one, SCALING_BURST, NULL, 1},
    {"put-spread", run_put_spread, SCALING_BURST, NULL, 1},
    {"get-one", run_get_one, SCALING_BURST, NULL, 1},
    {"get-spread", run_get_spread, SCALING_BURST, NULL, 1},
    {"atomic-one", run_atomic_one, SCALING_BURST, NULL, 1},
    {"atomic-spread", run_atomic_spread, SCALING_BURST, NULL, 1},
    {"acc-one", run_acc_one, SCALING_BURST, NULL, 1},
    {"acc-spread", run_acc_spread, SCALING_BURST, NULL, 1},
    {NULL, NULL, 0, NULL, 0},
};

/* ---- threads ------------------------------------------------------------------------- */

static const struct scaling_kernel thread_kernels[] = {
    {"pairs", run_pairs, SCALING_BURST, scaling_half, 2},
    {"alltoall", run_alltoall, SCALING_BURST, NULL, 1},
    {"manytoone", run_manytoone, SCALING_BURST, scaling_all_but_one, 2},
    {NULL, NULL, 0, NULL, 0},
};

static pthread_barrier_t threads_meet;
static double            threads_value[SCALING_THREADS];
static const char       *thread_series, *thread_kernel;

/* Returns the largest value of the threads of all processes. */
static double threads_largest(double value)
{
    double all = value;

    threads_value[me % threads] = value;
    pthread_barrier_wait(&threads_meet);
    for (int i = 0; i < threads; i++)
        all = threads_value[i] > all ? threads_value[i] : all;
    pthread_barrier_wait(&threads_meet); /* until all threads have read the values */
    if (me % threads == 0)
        threads_value[0] = largest(all);
    pthread_barrier_wait(&threads_meet);
    all = threads_value[0];
    pthread_barrier_wait(&threads_meet);
    return all;
}

static void threads_barrier(void)
{
    threads_largest(0);
}

static void *run_thread(void *arg)
{
    struct scaling_library library = {thread_series, 0, ranks, threads_barrier, threads_largest};

    me         = rank * threads + (int)(intptr_t)arg;
    library.me = me;
    bench_pin(bench_cpu_of(me));
    scaling_measure_all(&library, thread_kernels, thread_kernel);
    return NULL;
}

static void run_threads(void)
{
    pthread_t thread[SCALING_THREADS];

    pthread_barrier_init(&threads_meet, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run_thread, (void *)(intptr_t)i))
            MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

/* ---- main ---------------------------------------------------------------------------- */

static void run_processes(const char *series, const char *kernel)
{
    struct scaling_library library = {series, rank, ranks, barrier, largest};
    MPI_Aint               bytes   = SCALING_REGION + (MPI_Aint)ranks * SCALING_BYTES;
    char                  *memory;

    me = rank;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, (size_t)bytes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    barrier();
    scaling_measure_all(&library, kernels, kernel);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* Initialises MPI with the necessary level of thread support. */
static void begin(int *argc, char ***argv)
{
    int level;

    MPI_Init_thread(argc, argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (threads > 1 && level < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI does not support MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ranks *= threads;
    to_thread[0] = MPI_COMM_WORLD;
    for (int i = 0; threads > 1 && i < threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &to_thread[i]);
}

int main(int argc, char **argv)
{
    const char *series    = argc > 1 ? argv[1] : "mpi";
    char        only[128] = "";
    bool        many      = argc > 2 && sscanf(argv[2], "threads=%d,%127s", &threads, only) >= 1;
    const char *kernel    = !many && argc > 2 ? argv[2] : only[0] ? only : NULL;

    if (threads < 1 || threads > SCALING_THREADS)
        return 2;
    begin(&argc, &argv);
    thread_series = series;
    thread_kernel = kernel;
    if (threads > 1)
        run_threads();
    else
        run_processes(series, kernel);
    MPI_Finalize();
    return 0;
}
