/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_scaling.c - the kernels of bench_scaling.h with MPI: messages, collectives, and one-sided
 * accesses in an epoch of MPI_Win_lock_all.
 *
 * MPI cannot hand memory over to another rank.  What remotefree asks of a program, a block that one
 * PE allocates and the next one frees, takes two blocks there: the sender frees its own when it has
 * been sent, the receiver allocates another and frees that.  MPI has no streams either: a rank
 * collects the items to each rank in buckets and sends these.
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

static _Thread_local void *block[SCALING_REQUESTS]; /* of each request of remotefree */

/* Allocates the block of the next request. */
static uint64_t *add_block(void)
{
    uint64_t *data = malloc(SCALING_BLOCK);

    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    block[requests] = data;
    return data;
}

/* Waits for all requests, and frees their blocks. */
static void free_blocks(void)
{
    int count = requests;

    wait_all();
    for (int i = 0; i < count; i++)
        free(block[i]);
}

/* Blocks go to the next PE, which frees them; those of a window are in flight at a time. */
static void run_remotefree(long rounds)
{
    int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;

    for (long i = 0; i < rounds; i++) {
        for (int k = 0; k < SCALING_BURST; k++, requests++)
            MPI_Irecv(add_block(), SCALING_BLOCK, MPI_BYTE, from / threads, data_tag(from),
                      to_thread[me % threads], &request[requests]);
        for (int k = 0; k < SCALING_BURST; k++, requests++) {
            uint64_t *data = add_block();

            *data = (uint64_t)k;
            MPI_Isend(data, SCALING_BLOCK, MPI_BYTE, to / threads, data_tag(me),
                      to_thread[to % threads], &request[requests]);
        }
        if ((i + 1) % SCALING_WINDOW == 0)
            free_blocks();
    }
    free_blocks();
}

_Static_assert(2 * SCALING_BURST * SCALING_WINDOW <= SCALING_REQUESTS, "a window has its requests");

/* ---- streams ------------------------------------------------------------------------- */

#define SCALING_BUCKET 1024 /* items in a message */

/* Items to a rank.  One bucket is filled while the other one is sent. */
static struct scaling_target {
    uint64_t    item[2][SCALING_BUCKET];
    MPI_Request sent[2];
    int         fill, which;
} * target;

/* Items from a rank. */
static struct scaling_source {
    uint64_t item[SCALING_BUCKET];
    long     left; /* that have not arrived */
} * source;

static MPI_Request      *source_request;
static MPI_Status       *source_status;
static int              *source_done;
static volatile uint64_t item_sum;

static void create_buckets(void)
{
    target         = calloc((size_t)ranks, sizeof *target);
    source         = calloc((size_t)ranks, sizeof *source);
    source_request = calloc((size_t)ranks, sizeof *source_request);
    source_status  = calloc((size_t)ranks, sizeof *source_status);
    source_done    = calloc((size_t)ranks, sizeof *source_done);
    if (!target || !source || !source_request || !source_status || !source_done)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < ranks; i++)
        target[i].sent[0] = target[i].sent[1] = source_request[i] = MPI_REQUEST_NULL;
}

static void free_buckets(void)
{
    free(target);
    free(source);
    free(source_request);
    free(source_status);
    free(source_done);
}

static void take_items(const uint64_t *item, int count)
{
    uint64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += item[i];
    item_sum += sum;
}

static void post_source(int from)
{
    if (source[from].left > 0)
        MPI_Irecv(source[from].item, SCALING_BUCKET, MPI_UINT64_T, from, data_tag(from),
                  MPI_COMM_WORLD, &source_request[from]);
}

/* Takes the buckets that have arrived. */
static void poll_sources(void)
{
    int done;

    MPI_Testsome(ranks, source_request, &done, source_done, source_status);
    for (int i = 0; done != MPI_UNDEFINED && i < done; i++) {
        int from = source_done[i], count;

        MPI_Get_count(&source_status[i], MPI_UINT64_T, &count);
        take_items(source[from].item, count);
        source[from].left -= count;
        if (source[from].left < 0)
            MPI_Abort(MPI_COMM_WORLD, 1); /* items of another run */
        post_source(from);
    }
}

static void wait_for_bucket(MPI_Request *sent)
{
    for (int done = 0; !done;) {
        MPI_Test(sent, &done, MPI_STATUS_IGNORE);
        poll_sources();
    }
}

/* Sends the items that wait, and waits for the other bucket. */
static void send_bucket(int to)
{
    struct scaling_target *t     = &target[to];
    int                    count = t->fill;

    t->fill = 0;
    if (to == me) {
        take_items(t->item[t->which], count);
        return;
    }
    MPI_Isend(t->item[t->which], count, MPI_UINT64_T, to, data_tag(me), MPI_COMM_WORLD,
              &t->sent[t->which]);
    t->which ^= 1;
    wait_for_bucket(&t->sent[t->which]);
}

static void put_item(int to, uint64_t item)
{
    struct scaling_target *t = &target[to];

    t->item[t->which][t->fill++] = item;
    if (t->fill == SCALING_BUCKET)
        send_bucket(to);
}

/* Ends a stream: sends what is left, and waits until all items have been sent and received. */
static void finish_stream(void)
{
    for (int to = 0; to < ranks; to++)
        if (target[to].fill > 0)
            send_bucket(to);
    for (int to = 0; to < ranks; to++)
        for (int i = 0; i < 2; i++)
            wait_for_bucket(&target[to].sent[i]);
    for (int from = 0; from < ranks; from++)
        while (source[from].left > 0)
            poll_sources();
}

/* A rank sends its items to all ranks in turn, from itself on, so the number of items from each
 * rank is known. */
static void run_stream(long rounds)
{
    long count = rounds * SCALING_ITEMS;

    for (int from = 0; from < ranks; from++) {
        int first = (me - from + ranks) % ranks; /* item that is for this rank */

        source[from].left = from == me ? 0 : (count - first + ranks - 1) / ranks;
        post_source(from);
    }
    for (long i = 0, to = me; i < count; i++, to = to + 1 == ranks ? 0 : to + 1)
        put_item((int)to, (uint64_t)i);
    finish_stream();
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
    {"remotefree", run_remotefree, SCALING_BURST, NULL, 1},
    {"put-one", run_put_one, SCALING_BURST, NULL, 1},
    {"put-spread", run_put_spread, SCALING_BURST, NULL, 1},
    {"get-one", run_get_one, SCALING_BURST, NULL, 1},
    {"get-spread", run_get_spread, SCALING_BURST, NULL, 1},
    {"atomic-one", run_atomic_one, SCALING_BURST, NULL, 1},
    {"atomic-spread", run_atomic_spread, SCALING_BURST, NULL, 1},
    {"acc-one", run_acc_one, SCALING_BURST, NULL, 1},
    {"acc-spread", run_acc_spread, SCALING_BURST, NULL, 1},
    {"stream", run_stream, SCALING_ITEMS, NULL, 1},
    {NULL, NULL, 0, NULL, 0},
};

/* ---- threads ------------------------------------------------------------------------- */

static const struct scaling_kernel thread_kernels[] = {
    {"pairs", run_pairs, SCALING_BURST, scaling_half, 2},
    {"alltoall", run_alltoall, SCALING_BURST, NULL, 1},
    {"manytoone", run_manytoone, SCALING_BURST, scaling_all_but_one, 2},
    {"remotefree", run_remotefree, SCALING_BURST, NULL, 1},
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
    create_buckets();
    barrier();
    scaling_measure_all(&library, kernels, kernel);
    free_buckets();
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
