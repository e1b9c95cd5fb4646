/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_channels.c - the measurements of channels.c with MPI: data move from a buffer into a buffer
 * of another process, which detects them and answers in the same way.  More than two processes are
 * pairs of one of the first half and one of the other.
 *
 * usage: mpi_channels SERIES send|pscw|flag[,TRIPS]
 *   send   MPI_Send and MPI_Recv
 *   pscw   MPI_Put in an epoch of post, start, complete and wait; post is called early
 *   flag   MPI_Put, a flush, and an MPI_Put of a number that the target polls
 * With TRIPS, the measurements of apps/pingpong: its sizes, TRIPS round trips of each, in batches
 * of equal length.
 */
#include <mpi.h>
#include <stdint.h>

#include "bench.h"

#define FLAG_AT BENCH_BYTES /* offset in the window, after the data */

static char      source[BENCH_BYTES], target[BENCH_BYTES];
static char     *memory;
static MPI_Win   window;
static MPI_Group partner;
static uint64_t  turn;
static int       leads, other; /* whether this rank is in the first half; its partner */

static void trip_send(int bytes)
{
    if (leads)
        MPI_Send(source, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(target, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!leads)
        MPI_Send(source, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
}

static void put_in_epoch(int bytes)
{
    MPI_Win_start(partner, 0, window);
    MPI_Put(source, bytes, MPI_BYTE, other, 0, bytes, MPI_BYTE, window);
    MPI_Win_complete(window);
}

static void trip_pscw(int bytes)
{
    MPI_Win_post(partner, 0, window);
    if (leads)
        put_in_epoch(bytes);
    MPI_Win_wait(window);
    if (!leads)
        put_in_epoch(bytes);
}

static void put_and_flag(int bytes)
{
    MPI_Put(source, bytes, MPI_BYTE, other, 0, bytes, MPI_BYTE, window);
    MPI_Win_flush(other, window);
    MPI_Put(&turn, 8, MPI_BYTE, other, FLAG_AT, 8, MPI_BYTE, window);
    MPI_Win_flush(other, window);
}

/* MPICH makes no progress unless the program calls it from time to time. */
static void wait_for_flag(void)
{
    volatile uint64_t *flag = (volatile uint64_t *)(void *)(memory + FLAG_AT);
    int                any;

    for (unsigned i = 1; *flag != turn; i++) {
        MPI_Win_sync(window);
        if (i % 64 == 0)
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
    }
    MPI_Win_sync(window);
}

static void trip_flag(int bytes)
{
    turn++;
    if (leads)
        put_and_flag(bytes);
    wait_for_flag();
    if (!leads)
        put_and_flag(bytes);
}

/* Measures a size in batches.  @p all is the number of round trips; 0: as in channels.c. */
static int batches_of(size_t bytes, int all)
{
    if (all == 0)
        return BENCH_BATCHES;
    return bytes >= 100 && bytes <= 500000 ? all / bench_trips(bytes) : 0;
}

/* Makes round trips.  Returns the time of one, of the slowest of several pairs, which begin
 * together.
 */
static double measure_batch(void (*trip)(int bytes), int bytes, int trips, int ranks)
{
    double start, time;

    if (ranks > 2)
        MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now();
    for (int t = 0; t < trips; t++)
        trip(bytes);
    time = (bench_now() - start) / trips;
    if (ranks > 2)
        MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return time;
}

static void measure(const char *series, int me, int ranks, void (*trip)(int bytes), size_t bytes,
                    int all)
{
    int    batches = batches_of(bytes, all);
    double best    = 1e9;

    for (int batch = 0; batch < batches; batch++) {
        double time = measure_batch(trip, (int)bytes, bench_trips(bytes), ranks);

        best = time < best ? time : best;
    }
    if (me == 0 && batches > 0)
        bench_report("channels", series, bytes, "roundtrip_us", best * 1e6);
}

static void open_window(void)
{
    MPI_Group all;

    MPI_Win_allocate(FLAG_AT + 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, FLAG_AT + 64);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &partner);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    void (*trip)(int) = trip_send;
    const char *trips;
    int         me, ranks, flags;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3 || ranks % 2 != 0) {
        fprintf(stderr, "usage: mpirun -n 2 mpi_channels SERIES send|pscw|flag[,TRIPS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    leads = bench_leads(me, ranks);
    other = bench_partner(me, ranks);
    trips = strchr(argv[2], ',');
    flags = strncmp(argv[2], "flag", 4) == 0;
    if (strncmp(argv[2], "send", 4) != 0)
        trip = flags ? trip_flag : trip_pscw;
    memset(source, 1, sizeof source);
    memset(target, 2, sizeof target);
    open_window();
    if (flags)
        MPI_Win_lock_all(0, window);
    for (size_t i = 1; i < BENCH_SIZES; i++)
        measure(argv[1], me, ranks, trip, bench_sizes[i], trips ? atoi(trips + 1) : 0);
    if (flags)
        MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Group_free(&partner);
    MPI_Finalize();
    return 0;
}
