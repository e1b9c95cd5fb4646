/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_rma.c - bench_onesided.h and bench_network.h with MPI, two ranks; with `network', pairs of
 * more.
 *
 * usage: mpi_rma SERIES lock|network|pscw|fence
 *   lock:  one epoch of MPI_Win_lock_all; each access is flushed
 *   network: one epoch of MPI_Win_lock_all; the measurements of network.c
 *   pscw:  an epoch for each access: start and complete, post and wait
 *   fence: a fence after each access
 *
 * A target that polls its window calls MPI_Win_sync and, from time to time, MPI_Iprobe, without
 * which MPICH makes no progress.
 */
#include <mpi.h>

#include "bench_network.h"

static enum { LOCK, PSCW, FENCE } mode;
static int between_hosts;

static MPI_Win   window;
static MPI_Group partner;
static char     *memory;
/* Datatype of the data at the target, unless contiguous. */
static MPI_Datatype shape = MPI_DATATYPE_NULL;

static void *area(void)
{
    return memory;
}

static void largest(double *value, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, value, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void barrier(const struct onesided_access *a)
{
    (void)a;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- epochs -------------------------------------------------------------- */

static void begin(const struct onesided_access *a)
{
    (void)a;
    if (mode == PSCW)
        MPI_Win_start(partner, 0, window);
}

static void complete(const struct onesided_access *a)
{
    if (mode == LOCK)
        MPI_Win_flush(a->pe, window);
    else if (mode == PSCW)
        MPI_Win_complete(window);
    else
        MPI_Win_fence(0, window);
}

static void serve(const struct onesided_access *a)
{
    (void)a;
    if (mode == FENCE) {
        MPI_Win_fence(0, window);
        return;
    }
    MPI_Win_post(partner, 0, window);
    MPI_Win_wait(window);
}

/* ---- accesses ------------------------------------------------------------ */

/* Creates the datatype of the data at the target; contiguous accesses need none. */
static void prepare(const struct onesided_access *a)
{
    static MPI_Aint place[ONESIDED_SIDE];

    if (shape != MPI_DATATYPE_NULL)
        MPI_Type_free(&shape);
    if (a->shape == ONESIDED_WHOLE)
        return;
    for (size_t i = 0; i < ONESIDED_SIDE; i++)
        place[i] = (MPI_Aint)(onesided_index[i] * sizeof(double));
    if (a->shape == ONESIDED_PATCH)
        MPI_Type_vector((int)a->side, (int)a->side, (int)ONESIDED_SIDE, MPI_DOUBLE, &shape);
    else if (a->shape == ONESIDED_COLUMN)
        MPI_Type_vector((int)ONESIDED_SIDE, 1, (int)ONESIDED_SIDE, MPI_DOUBLE, &shape);
    else
        MPI_Type_create_hindexed_block((int)ONESIDED_SIDE, 1, place, MPI_DOUBLE, &shape);
    MPI_Type_commit(&shape);
}

/* The arguments of MPI_Put, MPI_Get and MPI_Accumulate that describe origin and target. */
#define ARGUMENTS(a, buffer)                                                                       \
    (buffer) + (a)->offset, count(a), MPI_DOUBLE, (a)->pe, (MPI_Aint)(a)->offset,                  \
        (a)->shape == ONESIDED_WHOLE ? count(a) : 1,                                               \
        (a)->shape == ONESIDED_WHOLE ? MPI_DOUBLE : shape

static int count(const struct onesided_access *a)
{
    return (int)(a->bytes / sizeof(double));
}

static void put_nb(const struct onesided_access *a)
{
    MPI_Put(ARGUMENTS(a, onesided_source), window);
}

static void get_nb(const struct onesided_access *a)
{
    MPI_Get(ARGUMENTS(a, onesided_result), window);
}

static void put(const struct onesided_access *a)
{
    begin(a);
    put_nb(a);
    complete(a);
}

static void put_local(const struct onesided_access *a)
{
    put_nb(a);
    MPI_Win_flush_local(a->pe, window);
}

static void get(const struct onesided_access *a)
{
    begin(a);
    get_nb(a);
    complete(a);
}

static void acc(const struct onesided_access *a)
{
    begin(a);
    MPI_Accumulate(ARGUMENTS(a, onesided_source), MPI_SUM, window);
    complete(a);
}

static void fetch_add(const struct onesided_access *a)
{
    static const int64_t one = 1;
    static int64_t       before;

    begin(a);
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, a->pe, (MPI_Aint)ONESIDED_NUMBER, MPI_SUM, window);
    complete(a);
}

/* ---- gets after pending puts ---------------------------------------------------- */

/* MPI defines no order between a put and a get, so the program waits only for the get. */
static void get_request(const struct onesided_access *a)
{
    MPI_Request request;

    MPI_Rget(ARGUMENTS(a, onesided_result), window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void get_after_flush(const struct onesided_access *a)
{
    MPI_Win_flush(a->pe, window);
    get(a);
}

static const struct network_behind behind[] = {
    {"behind_unordered_us", put_nb, get_request},
    {"behind_strict_us", put_nb, get_after_flush},
    {NULL, NULL, NULL},
};

/* ---- notification ------------------------------------------------------------- */

static void notify(const struct onesided_access *a, uint64_t turn)
{
    put(a);
    if (mode != LOCK)
        return; /* the end of the epoch notifies the target */
    MPI_Put(&turn, 1, MPI_UINT64_T, a->pe, (MPI_Aint)ONESIDED_FLAG, 1, MPI_UINT64_T, window);
    MPI_Win_flush(a->pe, window);
}

static void await(const struct onesided_access *a, uint64_t turn)
{
    const volatile uint64_t *flag = (const void *)(memory + ONESIDED_FLAG);

    if (mode != LOCK) {
        serve(a);
        return;
    }
    for (int spins = 1; *flag < turn; spins++) {
        int there;
        if (spins % 16 == 0)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        MPI_Win_sync(window);
    }
}

/* ---- windows ------------------------------------------------------------- */

static void allocate(const struct onesided_access *a)
{
    void   *base;
    MPI_Win other;

    MPI_Win_allocate((MPI_Aint)a->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other);
    MPI_Win_free(&other);
}

static void open_window(int me)
{
    MPI_Group world;
    int       other = onesided_pair.pe[1 - me];

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &partner);
    MPI_Group_free(&world);
    MPI_Win_allocate((MPI_Aint)ONESIDED_MEMORY, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, ONESIDED_MEMORY);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mode == LOCK)
        MPI_Win_lock_all(0, window);
    else if (mode == FENCE)
        MPI_Win_fence(0, window);
}

static void close_window(void)
{
    prepare(&(struct onesided_access){.shape = ONESIDED_WHOLE}); /* frees the last datatype */
    if (mode == LOCK)
        MPI_Win_unlock_all(window);
    else if (mode == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    MPI_Group_free(&partner);
}

static int parse(int argc, char **argv)
{
    static const char *const modes[] = {"lock", "pscw", "fence", "network"};

    for (int i = 0; argc == 3 && i < 4; i++)
        if (strcmp(argv[2], modes[i]) == 0) {
            between_hosts = i == 3;
            mode          = between_hosts ? LOCK : i;
            return 1;
        }
    fprintf(stderr, "usage: mpirun -n 2 mpi_rma SERIES lock|network|pscw|fence\n");
    return 0;
}

int main(int argc, char **argv)
{
    struct onesided ops = {.area      = area,
                           .barrier   = barrier,
                           .prepare   = prepare,
                           .put       = put,
                           .put_local = put_local,
                           .get       = get,
                           .acc       = acc,
                           .fetch_add = fetch_add,
                           .begin     = begin,
                           .put_nb    = put_nb,
                           .get_nb    = get_nb,
                           .complete  = complete,
                           .allocate  = allocate,
                           .notify    = notify,
                           .await     = await};
    int             me, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!parse(argc, argv) || (between_hosts ? ranks % 2 != 0 : ranks != 2))
        MPI_Abort(MPI_COMM_WORLD, 2);
    me = onesided_set_pair(me, ranks, largest);
    if (mode != LOCK)
        ops.serve = serve;
    onesided_fill();
    open_window(me);
    if (between_hosts) {
        network_pace();
        network_onesided(&ops, behind, argv[1], me);
    } else {
        onesided_run(&ops, argv[1], me);
    }
    close_window();
    MPI_Finalize();
    return 0;
}
