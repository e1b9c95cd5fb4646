/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_fmm.c - apps/fmm with MPI: the same tree and kernels, with transfers (comm.h) as messages or
 * as puts.
 *
 *   messages   a receive is posted for each range that is expected; blocks are packed and sent
 *   puts       blocks are packed and put into a window (MPI_Put); after a flush, a counter in the
 * window of the receiver is increased, which the receiver reads until all puts are there
 *
 * usage: mpirun -n N mpi_fmm SERIES "messages|puts [options of fmm]"
 */
#include <mpi.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmm/run.h"

#define WORDS 32    /* largest number of options */
#define HEAD  64    /* bytes of a window before its data: the counter */
#define PAGE  65536 /* in MPICH 4.0, puts to windows of other sizes than whole pages go wrong */

/* Requests, and the buffers that belong to them. */
struct peer_requests {
    MPI_Request *at;
    void       **buffer;
    int          n, room;
};

struct peer_comm {
    struct comm          comm;
    bool                 puts;
    MPI_Win              win[TRANSFERS];
    char                *memory[TRANSFERS];
    int64_t              expected[TRANSFERS];
    struct peer_requests receives[TRANSFERS], sends;
    bool                 quiet; /* messages: all of these are complete */
};

/* Ends the process; the parser of options calls it to end a job. */
void skua_exit(int code)
{
    MPI_Finalize();
    exit(code);
}

/* Returns the rank; the parser prints only on PE 0. */
int skua_pe(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static struct peer_comm *peer_of(struct comm *comm)
{
    return (struct peer_comm *)comm;
}

static void peer_fail(struct comm *comm, const char *why)
{
    fprintf(stderr, "mpi_fmm: rank %d: %s\n", comm->pe, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void peer_sum_counts(struct comm *comm, int64_t *at, size_t n)
{
    (void)comm;
    MPI_Allreduce(MPI_IN_PLACE, at, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void peer_sum(struct comm *comm, double *at, size_t n)
{
    (void)comm;
    MPI_Allreduce(MPI_IN_PLACE, at, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void peer_max(struct comm *comm, double *at, size_t n)
{
    (void)comm;
    MPI_Allreduce(MPI_IN_PLACE, at, (int)n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* ---- requests ------------------------------------------------------------------------------- */

static MPI_Request *peer_add(struct peer_comm *c, struct peer_requests *r, void *buffer)
{
    if (r->n == r->room) {
        r->room   = r->room ? 2 * r->room : 64;
        r->at     = realloc(r->at, (size_t)r->room * sizeof *r->at);
        r->buffer = realloc(r->buffer, (size_t)r->room * sizeof *r->buffer);
        if (!r->at || !r->buffer)
            peer_fail(&c->comm, "no memory for requests");
    }
    c->quiet        = false;
    r->buffer[r->n] = buffer;
    return &r->at[r->n++];
}

static void peer_complete(struct peer_requests *r)
{
    for (int i = 0; i < r->n; i++) {
        MPI_Wait(&r->at[i], MPI_STATUS_IGNORE);
        free(r->buffer[i]);
    }
    r->n = 0;
}

/* ---- transfers ------------------------------------------------------------------------------ */

static void *peer_window(struct comm *comm, enum transfer transfer, size_t bytes)
{
    struct peer_comm *c = peer_of(comm);

    if (!c->puts) {
        free(c->memory[transfer]);
        return c->memory[transfer] = malloc(bytes);
    }
    if (c->memory[transfer]) {
        MPI_Win_unlock_all(c->win[transfer]);
        MPI_Win_free(&c->win[transfer]);
    }
    bytes = (HEAD + bytes + PAGE - 1) / PAGE * PAGE;
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &c->memory[transfer],
                     &c->win[transfer]);
    MPI_Win_lock_all(0, c->win[transfer]);
    memset(c->memory[transfer], 0, HEAD);
    MPI_Win_sync(c->win[transfer]);
    MPI_Barrier(MPI_COMM_WORLD);
    c->expected[transfer] = 0;
    return c->memory[transfer] + HEAD;
}

static void peer_expect(struct comm *comm, enum transfer transfer, int pe, size_t offset,
                        size_t bytes)
{
    struct peer_comm *c = peer_of(comm);

    c->expected[transfer]++;
    if (!c->puts)
        MPI_Irecv(c->memory[transfer] + offset, (int)bytes, MPI_BYTE, pe, transfer, MPI_COMM_WORLD,
                  peer_add(c, &c->receives[transfer], NULL));
}

/* Copies blocks into one buffer. */
static char *peer_pack(struct peer_comm *c, const void *base, const skua_block *block, size_t n,
                       size_t *bytes)
{
    char *packed, *to;

    *bytes = 0;
    for (size_t i = 0; i < n; i++)
        *bytes += block[i].bytes;
    packed = to = malloc(*bytes);
    if (!packed)
        peer_fail(&c->comm, "no memory to pack");
    for (size_t i = 0; i < n; to += block[i++].bytes)
        memcpy(to, (const char *)base + block[i].offset, block[i].bytes);
    return packed;
}

/* Increases the counter of a window and makes that, and the puts before it, visible. */
static void peer_signal(const struct peer_comm *c, enum transfer transfer, int pe)
{
    int64_t one = 1;

    MPI_Win_flush(pe, c->win[transfer]);
    MPI_Accumulate(&one, 1, MPI_INT64_T, pe, 0, 1, MPI_INT64_T, MPI_SUM, c->win[transfer]);
    MPI_Win_flush(pe, c->win[transfer]);
}

static void peer_put(struct comm *comm, enum transfer transfer, int pe, size_t offset,
                     const void *base, const skua_block *block, size_t n)
{
    struct peer_comm *c = peer_of(comm);
    size_t            bytes;
    char             *packed = n > 1 ? peer_pack(c, base, block, n, &bytes) : NULL;
    const char       *from   = n > 1 ? packed : (const char *)base + block->offset;

    bytes = n > 1 ? bytes : block->bytes;
    if (!c->puts) {
        MPI_Isend(from, (int)bytes, MPI_BYTE, pe, transfer, MPI_COMM_WORLD,
                  peer_add(c, &c->sends, packed));
        return;
    }
    MPI_Put(from, (int)bytes, MPI_BYTE, pe, (MPI_Aint)(HEAD + offset), (int)bytes, MPI_BYTE,
            c->win[transfer]);
    peer_signal(c, transfer, pe);
    free(packed);
}

/* Returns true if all requests are complete. */
static bool peer_test(struct peer_requests *r)
{
    int complete = 1;

    for (int i = 0; i < r->n && complete; i++)
        MPI_Test(&r->at[i], &complete, MPI_STATUS_IGNORE);
    return complete;
}

/* Messages proceed until all of them are complete.  A window does not tell when nothing is under
 * way. */
static void peer_poll(struct comm *comm)
{
    struct peer_comm *c = peer_of(comm);
    int               found;

    if (c->puts) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        return;
    }
    if (c->quiet)
        return;
    c->quiet = peer_test(&c->sends);
    for (int t = 0; t < TRANSFERS; t++)
        c->quiet = peer_test(&c->receives[t]) && c->quiet;
}

static void peer_wait(struct comm *comm, enum transfer transfer)
{
    struct peer_comm *c    = peer_of(comm);
    int64_t           none = 0, arrived = 0;

    if (!c->puts) {
        peer_complete(&c->receives[transfer]);
        return;
    }
    while (c->memory[transfer] && arrived < c->expected[transfer]) {
        MPI_Fetch_and_op(&none, &arrived, MPI_INT64_T, comm->pe, 0, MPI_NO_OP, c->win[transfer]);
        MPI_Win_flush(comm->pe, c->win[transfer]);
    }
    if (c->memory[transfer])
        MPI_Win_sync(c->win[transfer]);
}

static void peer_done(struct comm *comm)
{
    peer_complete(&peer_of(comm)->sends);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double peer_time(void)
{
    return MPI_Wtime();
}

static void peer_free(struct peer_comm *c)
{
    for (int t = 0; t < TRANSFERS; t++) {
        if (c->puts && c->memory[t]) {
            MPI_Win_unlock_all(c->win[t]);
            MPI_Win_free(&c->win[t]);
        } else {
            free(c->memory[t]);
        }
        free(c->receives[t].at);
        free(c->receives[t].buffer);
    }
    free(c->sends.at);
    free(c->sends.buffer);
}

/* ---- the program ---------------------------------------------------------------------------- */

/* Reads the options of fmm, which are words of one argument, and the series. */
static bool peer_options(struct fmm_options *o, const char *series, char *text)
{
    char name[64], *word[WORDS + 2] = {"fmm"};
    int  n = 1;

    for (char *at = strtok(text, " "); at && n < WORDS; at = strtok(NULL, " "))
        word[n++] = at;
    snprintf(name, sizeof name, "--series=%s", series);
    word[n++] = name;
    return options_read(o, n, word);
}

int main(int argc, char **argv)
{
    struct peer_comm   c = {.comm = {.sum_counts = peer_sum_counts,
                                     .sum        = peer_sum,
                                     .max        = peer_max,
                                     .window     = peer_window,
                                     .expect     = peer_expect,
                                     .put        = peer_put,
                                     .poll       = peer_poll,
                                     .wait       = peer_wait,
                                     .done       = peer_done,
                                     .time       = peer_time,
                                     .fail       = peer_fail}};
    struct fmm_options options;
    bool               good = false;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &c.comm.pe);
    MPI_Comm_size(MPI_COMM_WORLD, &c.comm.pes);
    if (argc < 3 || (strncmp(argv[2], "puts", 4) != 0 && strncmp(argv[2], "messages", 8) != 0))
        peer_fail(&c.comm, "usage: mpi_fmm SERIES \"messages|puts [options of fmm]\"");
    c.puts = argv[2][0] == 'p';
    if (peer_options(&options, argv[1], argv[2] + (c.puts ? 4 : 8))) {
        good = run_fmm(&c.comm, &options);
        peer_free(&c);
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
