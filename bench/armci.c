/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armci.c - the program of `skua bench armci': Global Arrays and ARMCI, linked with libskua-armci
 * and with ARMCI-MPI, for two processes, or for more, which are pairs of one of the first half and
 * one of the other.
 *
 * usage: bench-armci SERIES [busy]
 *
 * Each process owns a matrix of 1024 x 1024 doubles of a global array.  The first of a pair works
 * on square patches of the other's ("remote") or of its own ("local"), as in the paper on OSPRI;
 * from one operation to the next a patch moves along the diagonal.  All pairs begin a batch
 * together, and it takes as long as on the slowest.
 *
 *   put_us, get_us, acc_us         patches, remote; local_put_us ... local
 *   read_inc_us                    a shared counter in the memory of the other process
 *   strided_put_us, strided_get_us ARMCI_PutS() and ARMCI_GetS() of a column: segments of 8 bytes
 *   busy_put_us ... busy_inc_us    the slowest operation while the other process computes for half
 *                                  a second without calling the library; with `busy', only these
 *                                  are measured
 */
#include <armci.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>

#include "bench.h"

#define SIDE    1024 /* side of the matrix of a process */
#define LARGEST 512  /* side of the largest patch */
#define BATCHES 15
#define BUSY    0.5 /* seconds for which the target computes */
#define TRIES   2   /* number of such measurements */

struct patch {
    int owner, side, number; /* number: index of the operation, which selects the position */
};

typedef void (*patch_fn)(const struct patch *patch);

static const char *series;
static int         me, processes, leads, partner;
static int         array, counter;
static double     *buffer;
static void      **column; /* the matrix of each process, from ARMCI_Malloc() */

static void report(size_t bytes, const char *metric, double value)
{
    if (me == 0)
        bench_report("armci", series, bytes, metric, value);
}

/* Returns the best of @p count times, each of which is that of the slowest pair. */
static double best_of(double *time, int count)
{
    double best = 1e9;

    if (processes > 2) {
        GA_Sync(); /* in which the second of a pair waits for the first, as between two batches */
        MPI_Allreduce(MPI_IN_PLACE, time, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    for (int i = 0; i < count; i++)
        best = time[i] < best ? time[i] : best;
    return best;
}

/* ---- operations --------------------------------------------------------------------- */

static void patch_bounds(const struct patch *patch, int lo[2], int hi[2])
{
    int at = patch->number * patch->side % (SIDE - patch->side + 1);

    lo[0] = at + patch->owner * SIDE;
    lo[1] = at;
    hi[0] = lo[0] + patch->side - 1;
    hi[1] = lo[1] + patch->side - 1;
}

static void put(const struct patch *patch)
{
    int lo[2], hi[2], ld = patch->side;

    patch_bounds(patch, lo, hi);
    NGA_Put(array, lo, hi, buffer, &ld);
}

static void get(const struct patch *patch)
{
    int lo[2], hi[2], ld = patch->side;

    patch_bounds(patch, lo, hi);
    NGA_Get(array, lo, hi, buffer, &ld);
}

static void acc(const struct patch *patch)
{
    int    lo[2], hi[2], ld = patch->side;
    double factor = 0.5;

    patch_bounds(patch, lo, hi);
    NGA_Acc(array, lo, hi, buffer, &ld, &factor);
}

static void read_inc(const struct patch *patch)
{
    int at = patch->owner;

    NGA_Read_inc(counter, &at, 1);
}

static void strided(const struct patch *patch, int get_it)
{
    int here = sizeof(double), there = SIDE * (int)sizeof(double), count[2] = {here, SIDE};

    if (get_it)
        ARMCI_GetS(column[patch->owner], &there, buffer, &here, count, 1, patch->owner);
    else
        ARMCI_PutS(buffer, &here, column[patch->owner], &there, count, 1, patch->owner);
}

static void strided_put(const struct patch *patch)
{
    strided(patch, 0);
}

static void strided_get(const struct patch *patch)
{
    strided(patch, 1);
}

/* ---- an idle target ----------------------------------------------------------------- */

static int trips_of(int side)
{
    return side <= 8 ? 1000 : side <= 64 ? 200 : side <= 256 ? 20 : 5;
}

static void measure(const char *metric, patch_fn fn, int owner, int side, size_t bytes)
{
    double time[BATCHES] = {0};
    int    trips         = trips_of(side);

    for (int batch = 0; batch < BATCHES; batch++) {
        double start;

        GA_Sync();
        if (!leads)
            continue;
        start = bench_now();
        for (int i = 0; i < trips; i++)
            fn(&(struct patch){owner, side, i});
        time[batch] = (bench_now() - start) / trips;
    }
    report(bytes, metric, best_of(time, BATCHES) * 1e6);
}

static void measure_patches(int remote)
{
    static const struct {
        const char *metric[2]; /* local, remote */
        patch_fn    fn;
    } kinds[] = {{{"local_put_us", "put_us"}, put},
                 {{"local_get_us", "get_us"}, get},
                 {{"local_acc_us", "acc_us"}, acc}};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int side = 1; side <= LARGEST; side *= 2)
            measure(kinds[k].metric[remote], kinds[k].fn, remote ? partner : me, side,
                    (size_t)side * (size_t)side * sizeof(double));
}

/* ---- a target that computes --------------------------------------------------------- */

static void compute(double seconds)
{
    volatile double sum   = 0;
    double          start = bench_now();

    while (bench_now() - start < seconds)
        for (int i = 0; i < 1000; i++)
            sum = sum * 0.5 + i;
}

/* Returns the time of the slowest of several operations, which start when the target has begun to
 * compute. */
static double slowest(patch_fn fn)
{
    double start, most = 0;

    compute(BUSY / 10);
    for (int i = 0; i < 10; i++) {
        double time;

        start = bench_now();
        fn(&(struct patch){partner, 16, i});
        if (fn != get && fn != read_inc)
            ARMCI_Fence(partner);
        time = bench_now() - start;
        most = time > most ? time : most;
        if (most > BUSY / 4)
            break; /* the operation waited for the target */
    }
    return most;
}

static void measure_busy(const char *metric, patch_fn fn)
{
    double time[TRIES] = {0};

    for (int i = 0; i < TRIES; i++) {
        GA_Sync();
        if (leads)
            time[i] = slowest(fn);
        else
            compute(BUSY);
    }
    report(0, metric, best_of(time, TRIES) * 1e6);
}

/* ---- the program -------------------------------------------------------------------- */

static void open_memory(void)
{
    int  dims[2] = {processes * SIDE, SIDE}, blocks[2] = {processes, 1};
    int *rows  = calloc((size_t)processes + 1, sizeof *rows); /* and the one block of columns */
    int *words = calloc((size_t)processes, sizeof *words);

    for (int i = 0; i < processes; i++) {
        rows[i]  = i * SIDE;
        words[i] = i;
    }
    array   = NGA_Create_irreg(C_DBL, 2, dims, "array", blocks, rows);
    counter = NGA_Create_irreg(C_LONG, 1, &processes, "counter", &processes, words);
    free(rows);
    free(words);
    column = calloc((size_t)processes, sizeof *column);
    GA_Zero(array);
    GA_Zero(counter);
    ARMCI_Malloc(column, SIDE * SIDE * sizeof(double));
    memset(column[me], 0, SIDE * SIDE * sizeof(double));
    buffer = malloc((size_t)LARGEST * LARGEST * sizeof *buffer);
    for (int i = 0; i < LARGEST * LARGEST; i++)
        buffer[i] = i % 1000;
    GA_Sync();
}

static void measure_all(void)
{
    measure_patches(1);
    measure_patches(0);
    measure("read_inc_us", read_inc, partner, 1, sizeof(long));
    measure("strided_put_us", strided_put, partner, 32, SIDE * sizeof(double));
    measure("strided_get_us", strided_get, partner, 32, SIDE * sizeof(double));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(MT_DBL, 100000, 100000);
    me        = GA_Nodeid();
    processes = GA_Nnodes();
    leads     = bench_leads(me, processes);
    partner   = bench_partner(me, processes);
    series    = argc > 1 ? argv[1] : "armci";
    if (processes % 2 != 0) {
        fprintf(stderr, "usage: mpirun -n 2 bench-armci SERIES [busy], or another even number\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    open_memory();
    if (argc <= 2)
        measure_all();
    measure_busy("busy_put_us", put);
    measure_busy("busy_get_us", get);
    measure_busy("busy_acc_us", acc);
    measure_busy("busy_inc_us", read_inc);
    GA_Sync();
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
