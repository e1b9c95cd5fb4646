/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_prk.c - the kernels of bench_prk.h with MPI.
 *
 *   send   two-sided: MPI_Send and MPI_Recv, MPI_Alltoallv, MPI_Reduce
 *   rma    one-sided: MPI_Put and MPI_Win_flush where a process waits for one number, else
 *          MPI_Put or MPI_Accumulate between fences
 *
 * usage: mpi_prk [SERIES]
 */
#include <mpi.h>

#include "bench_prk.h"

static double *memory;
static double  block_out[PRK_SLOTS][PRK_BLOCK];

static void *send_begin(enum prk_kernel kernel, size_t bytes)
{
    (void)kernel;
    return memory = calloc(1, bytes);
}

static void send_end(void)
{
    free(memory);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static double largest(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

static double sum(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

/* ---- two-sided ------------------------------------------------------------------------------- */

static void send_row_send(int to, int row, double value)
{
    MPI_Send(&value, 1, MPI_DOUBLE, to, row, MPI_COMM_WORLD);
}

static double send_row_recv(int from, int row)
{
    double value;

    MPI_Recv(&value, 1, MPI_DOUBLE, from, row, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static double *send_out(const struct prk_link *link)
{
    return block_out[link->slot];
}

static double *block_slot(int slot, int round)
{
    return &memory[((size_t)slot * 2 + (size_t)(round & 1)) * PRK_BLOCK];
}

static void send_exchange(const struct prk_link *link, int links, int round)
{
    MPI_Request request[2 * PRK_SLOTS];

    for (int i = 0; i < links; i++)
        MPI_Irecv(block_slot(link[i].slot, round), (int)link[i].count, MPI_DOUBLE, link[i].pe,
                  link[i].slot, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < links; i++)
        MPI_Isend(send_out(&link[i]), (int)link[i].count, MPI_DOUBLE, link[i].pe, link[i].theirs,
                  MPI_COMM_WORLD, &request[links + i]);
    MPI_Waitall(2 * links, request, MPI_STATUSES_IGNORE);
}

static const double *send_in(const struct prk_link *link, int round)
{
    return block_slot(link->slot, round);
}

/* Converts updates to pairs of word and value. */
static void send_update(const struct prk_bucket *bucket, int pes)
{
    static uint64_t out[2 * PRK_UPDATES], *in;
    static int      room;
    int             sent[PRK_SLOTS], received[PRK_SLOTS], from[PRK_SLOTS], to[PRK_SLOTS], total = 0;
    uint64_t       *next = out, *words = (uint64_t *)memory;

    for (int pe = 0; pe < pes; pe++) {
        from[pe] = (int)(next - out);
        sent[pe] = 2 * (int)bucket[pe].count;
        for (size_t i = 0; i < bucket[pe].count; i++) {
            *next++ = bucket[pe].word[i];
            *next++ = bucket[pe].value[i];
        }
    }
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    for (int pe = 0; pe < pes; pe++) {
        to[pe] = total;
        total += received[pe];
    }
    if (total > room)
        in = realloc(in, sizeof *in * (size_t)(room = 2 * total));
    MPI_Alltoallv(out, sent, from, MPI_UINT64_T, in, received, to, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < total; i += 2)
        words[in[i]] ^= in[i + 1];
}

static const double *send_reduce(const double *from, double *to, size_t count)
{
    MPI_Reduce(from, to, (int)count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return to;
}

/* ---- one-sided ------------------------------------------------------------------------------- */

#define EMPTY (-1e300) /* a value that does not occur in the wavefront */

static MPI_Win window;
static int     fenced; /* the kernel uses fences; otherwise one epoch of MPI_Win_lock_all */

static void *rma_begin(enum prk_kernel kernel, size_t bytes)
{
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, bytes);
    for (int i = 0; kernel == PRK_P2P && i < PRK_ROWS; i++)
        memory[i] = EMPTY;
    fenced = kernel != PRK_P2P;
    if (fenced)
        MPI_Win_fence(0, window);
    else
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Barrier(MPI_COMM_WORLD);
    return memory;
}

static void rma_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (fenced)
        MPI_Win_fence(0, window);
    else
        MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void rma_row_send(int to, int row, double value)
{
    MPI_Put(&value, 1, MPI_DOUBLE, to, (MPI_Aint)((size_t)row * sizeof value), 1, MPI_DOUBLE,
            window);
    MPI_Win_flush(to, window);
}

/* MPI_Iprobe is needed for progress. */
static double rma_row_recv(int from, int row)
{
    volatile double *slot = &memory[row];
    double           value;
    int              flag;

    while ((value = *slot) == EMPTY) {
        MPI_Iprobe(from, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Win_sync(window);
    }
    *slot = EMPTY;
    MPI_Win_sync(window);
    return value;
}

static void rma_exchange(const struct prk_link *link, int links, int round)
{
    for (int i = 0; i < links; i++)
        MPI_Put(send_out(&link[i]), (int)link[i].count, MPI_DOUBLE, link[i].pe,
                (MPI_Aint)((char *)block_slot(link[i].theirs, round) - (char *)memory),
                (int)link[i].count, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
}

static void rma_update(const struct prk_bucket *bucket, int pes)
{
    static MPI_Aint offset[PRK_UPDATES];

    for (int k = 1; k <= pes; k++) {
        int          pe = (prk.me + k) % pes, count = (int)bucket[pe].count;
        MPI_Datatype type;

        if (count == 0)
            continue;
        for (int i = 0; i < count; i++)
            offset[i] = (MPI_Aint)(bucket[pe].word[i] * sizeof(uint64_t));
        MPI_Type_create_hindexed_block(count, 1, offset, MPI_UINT64_T, &type);
        MPI_Type_commit(&type);
        MPI_Accumulate(bucket[pe].value, count, MPI_UINT64_T, pe, 0, 1, type, MPI_BXOR, window);
        MPI_Type_free(&type);
    }
    MPI_Win_fence(0, window);
}

static const double *rma_reduce(const double *from, double *to, size_t count)
{
    if (prk.me == 0)
        memcpy(to, from, count * sizeof *to);
    MPI_Win_fence(0, window);
    if (prk.me != 0)
        MPI_Accumulate(from, (int)count, MPI_DOUBLE, 0, 0, (int)count, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(0, window);
    return to;
}

int main(int argc, char **argv)
{
    char               send[64], rma[64];
    struct prk_library send_library = {.series   = send,
                                       .begin    = send_begin,
                                       .end      = send_end,
                                       .barrier  = barrier,
                                       .largest  = largest,
                                       .sum      = sum,
                                       .row_send = send_row_send,
                                       .row_recv = send_row_recv,
                                       .out      = send_out,
                                       .exchange = send_exchange,
                                       .in       = send_in,
                                       .update   = send_update,
                                       .reduce   = send_reduce};
    struct prk_library rma_library  = send_library;
    int                me, pes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &pes);
    if (pes > PRK_SLOTS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    snprintf(send, sizeof send, "%.40s-send", argc > 1 ? argv[1] : "mpi");
    snprintf(rma, sizeof rma, "%.40s-rma", argc > 1 ? argv[1] : "mpi");
    rma_library.series   = rma;
    rma_library.begin    = rma_begin;
    rma_library.end      = rma_end;
    rma_library.row_send = rma_row_send;
    rma_library.row_recv = rma_row_recv;
    rma_library.exchange = rma_exchange;
    rma_library.update   = rma_update;
    rma_library.reduce   = rma_reduce;
    prk_all(&send_library, me, pes);
    prk_all(&rma_library, me, pes);
    MPI_Finalize();
}
