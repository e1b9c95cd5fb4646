/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_randomaccess.c - RandomAccess with MPI, by the rules and the algorithm of HPC Challenge: a
 * rank keeps a bucket for every other rank, with at most 1024 updates in all.  When there are that
 * many, it sends the fullest bucket, and applies the updates that have arrived.
 *
 * usage: mpirun -n N mpi_randomaccess SERIES LOG2
 */
#include <mpi.h>
#include <stdint.h>
#include <sys/mman.h>

#include "bench.h"

#define PENDING  1024 /* updates that a rank may hold back */
#define PER_WORD 4

enum { TAG_UPDATES, TAG_END };

static int       rank, ranks, log2_words, ended;
static uint64_t  mask, first, *table;
static uint64_t *bucket; /* PENDING for each rank */
static int      *filled, pending;
static uint64_t  incoming[PENDING], outgoing[PENDING];

static MPI_Request receiving, sending = MPI_REQUEST_NULL;

static uint64_t next(uint64_t a)
{
    return a << 1 ^ ((uint64_t)((int64_t)a >> 63) & 7);
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    for (int bit = 63; bit >= 0; bit--)
        product = next(product) ^ (b >> bit & 1 ? a : 0);
    return product;
}

/* Returns the n-th number of the sequence, x^n. */
static uint64_t number_at(uint64_t n)
{
    uint64_t a = 1, power = 2;

    for (; n; n >>= 1) {
        a     = n & 1 ? multiply(a, power) : a;
        power = multiply(power, power);
    }
    return a;
}

static uint64_t first_of(int r)
{
    return (((uint64_t)r << log2_words) + (uint64_t)ranks - 1) / (uint64_t)ranks;
}

static void make_table(void)
{
    size_t words = (size_t)(first_of(rank + 1) - first_of(rank));

    first = first_of(rank);
    table = mmap(NULL, (words + 1) * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    madvise(table, (words + 1) * 8, MADV_HUGEPAGE); /* like apps/randomaccess */
    for (size_t i = 0; i < words; i++)
        table[i] = first + i;
    bucket = malloc((size_t)ranks * PENDING * sizeof *bucket);
    filled = calloc((size_t)ranks, sizeof *filled);
}

static void apply(const uint64_t *a, int count)
{
    for (int i = 0; i < count; i++)
        table[(a[i] & mask) - first] ^= a[i];
}

static void receive(void)
{
    MPI_Irecv(incoming, PENDING, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &receiving);
}

/* Applies all updates that have arrived. */
static void take(void)
{
    int        there, count;
    MPI_Status status;

    for (;;) {
        MPI_Test(&receiving, &there, &status);
        if (!there)
            return;
        MPI_Get_count(&status, MPI_UINT64_T, &count);
        if (status.MPI_TAG == TAG_END)
            ended++;
        apply(incoming, count);
        if (ended < ranks - 1)
            receive();
        else
            return;
    }
}

static void wait_for_room(void)
{
    int sent = 0;

    while (!sent) {
        if (ended < ranks - 1)
            take();
        MPI_Test(&sending, &sent, MPI_STATUS_IGNORE);
    }
}

static void send_bucket(int to, int tag)
{
    wait_for_room();
    memcpy(outgoing, bucket + (size_t)to * PENDING, (size_t)filled[to] * sizeof *outgoing);
    MPI_Isend(outgoing, filled[to], MPI_UINT64_T, to, tag, MPI_COMM_WORLD, &sending);
    pending -= filled[to];
    filled[to] = 0;
}

static int fullest(void)
{
    int best = 0;

    for (int r = 1; r < ranks; r++)
        best = filled[r] > filled[best] ? r : best;
    return best;
}

static void update(uint64_t a)
{
    int to = (int)((a & mask) * (uint64_t)ranks >> log2_words);

    if (to == rank) {
        apply(&a, 1);
        return;
    }
    bucket[(size_t)to * PENDING + (size_t)filled[to]++] = a;
    if (++pending == PENDING)
        send_bucket(fullest(), TAG_UPDATES);
}

static void update_all(void)
{
    uint64_t a = number_at(PER_WORD * first), count = PER_WORD * (first_of(rank + 1) - first);

    ended = 0;
    if (ranks > 1)
        receive();
    for (uint64_t i = 0; i < count; i++) {
        a = next(a);
        update(a);
        if (i % 64 == 0 && ended < ranks - 1)
            take();
    }
    for (int r = 0; r < ranks; r++)
        if (r != rank)
            send_bucket(r, TAG_END);
    wait_for_room();
    while (ended < ranks - 1)
        take();
    MPI_Barrier(MPI_COMM_WORLD);
}

static long errors(void)
{
    long     mine  = 0, all;
    uint64_t words = first_of(rank + 1) - first;

    for (uint64_t i = 0; i < words; i++)
        mine += table[i] != first + i;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    return rank == 0 ? all : 0;
}

int main(int argc, char **argv)
{
    double start, seconds;
    char   metric[32];
    long   wrong;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    log2_words = argc > 2 ? atoi(argv[2]) : 24;
    mask       = (UINT64_C(1) << log2_words) - 1;
    make_table();
    MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now();
    update_all();
    seconds = bench_now() - start;
    update_all();
    wrong = errors();
    snprintf(metric, sizeof metric, "rate-%dpe", ranks);
    if (rank == 0)
        bench_report("randomaccess", argc > 1 ? argv[1] : "mpi", 8, metric,
                     PER_WORD * (double)(mask + 1) / seconds);
    MPI_Finalize();
    return wrong != 0;
}
