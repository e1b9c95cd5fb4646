/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armci_onesided.c - bench_onesided.h with ARMCI (here ARMCI-MPI), two processes.
 *
 * usage: armci_onesided SERIES
 */
#include <mpi.h>
#include <armci.h>

#include "bench_onesided.h"

static char        *memory[2]; /* by process */
static int          me;
static double       scale = 1;
static void        *from[ONESIDED_SIDE], *to[ONESIDED_SIDE];
static armci_giov_t scatter = {from, to, sizeof(double), (int)ONESIDED_SIDE};

/* The arguments of a strided operation: bytes of a segment, number of segments, strides. */
static int counts[2], here, there;

static void *area(void)
{
    return memory[me];
}

static void barrier(const struct onesided_access *a)
{
    (void)a;
    ARMCI_Barrier();
}

static void prepare(const struct onesided_access *a)
{
    int patch = a->shape == ONESIDED_PATCH;

    counts[0] = (int)((patch ? a->side : 1) * sizeof(double));
    counts[1] = (int)(patch ? a->side : ONESIDED_SIDE);
    here      = counts[0];
    there     = (int)(ONESIDED_SIDE * sizeof(double));
    for (size_t i = 0; i < ONESIDED_SIDE; i++) {
        from[i] = onesided_source + i * sizeof(double);
        to[i]   = memory[a->pe] + onesided_index[i] * sizeof(double);
    }
}

static void put(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE)
        ARMCI_Put(onesided_source, memory[a->pe], (int)a->bytes, a->pe);
    else if (a->shape == ONESIDED_SCATTER)
        ARMCI_PutV(&scatter, 1, a->pe);
    else
        ARMCI_PutS(onesided_source, &here, memory[a->pe], &there, counts, 1, a->pe);
    ARMCI_Fence(a->pe);
}

static void get(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE)
        ARMCI_Get(memory[a->pe], onesided_result, (int)a->bytes, a->pe);
    else
        ARMCI_GetS(memory[a->pe], &there, onesided_result, &here, counts, 1, a->pe);
}

static void acc(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE)
        ARMCI_Acc(ARMCI_ACC_DBL, &scale, onesided_source, memory[a->pe], (int)a->bytes, a->pe);
    else
        ARMCI_AccS(ARMCI_ACC_DBL, &scale, onesided_source, &here, memory[a->pe], &there, counts, 1,
                   a->pe);
    ARMCI_Fence(a->pe);
}

/* Operations with implicit handles: ARMCI_WaitAll completes them locally, ARMCI_Fence remotely. */
static void put_nb(const struct onesided_access *a)
{
    ARMCI_NbPut(onesided_source + a->offset, memory[a->pe] + a->offset, (int)a->bytes, a->pe, NULL);
}

static void get_nb(const struct onesided_access *a)
{
    ARMCI_NbGet(memory[a->pe] + a->offset, onesided_result + a->offset, (int)a->bytes, a->pe, NULL);
}

static void complete(const struct onesided_access *a)
{
    ARMCI_WaitAll();
    ARMCI_Fence(a->pe);
}

static void fetch_add(const struct onesided_access *a)
{
    long before;

    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, memory[a->pe] + ONESIDED_NUMBER, 1, a->pe);
}

static void notify(const struct onesided_access *a, uint64_t turn)
{
    ARMCI_Put_flag(onesided_source, memory[a->pe], (int)a->bytes,
                   (int *)(void *)(memory[a->pe] + ONESIDED_FLAG), (int)turn, a->pe);
}

static void await(const struct onesided_access *a, uint64_t turn)
{
    const volatile int *flag = (const void *)(memory[me] + ONESIDED_FLAG);

    (void)a;
    while (*flag < (int)turn)
        ARMCI_Fence(me); /* makes progress */
}

static void allocate(const struct onesided_access *a)
{
    void *bases[2];

    ARMCI_Malloc(bases, (armci_size_t)a->bytes);
    ARMCI_Free(bases[me]);
}

static const struct onesided ops = {.area      = area,
                                    .barrier   = barrier,
                                    .prepare   = prepare,
                                    .put       = put,
                                    .get       = get,
                                    .acc       = acc,
                                    .fetch_add = fetch_add,
                                    .put_nb    = put_nb,
                                    .get_nb    = get_nb,
                                    .complete  = complete,
                                    .allocate  = allocate,
                                    .notify    = notify,
                                    .await     = await};

int main(int argc, char **argv)
{
    int ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2 || ranks != 2) {
        fprintf(stderr, "usage: mpirun -n 2 armci_onesided SERIES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    ARMCI_Init();
    onesided_fill();
    ARMCI_Malloc((void **)memory, (armci_size_t)ONESIDED_MEMORY);
    memset(memory[me], 0, ONESIDED_MEMORY);
    onesided_run(&ops, argv[1], me);
    ARMCI_Free(memory[me]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
