/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_channels.c - the measurements of channels.c with MPI: data move from a buffer into a buffer
 * of another process, which detects them and answers in the same way.
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

static void trip_send(int me, int bytes)
{
    if (me == 0)
        MPI_Send(source, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(target, bytes, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1)
        MPI_Send(source, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void put_in_epoch(int me, int bytes)
{
    MPI_Win_start(partner, 0, window);
    MPI_Put(source, bytes, MPI_BYTE, 1 - me, 0, bytes, MPI_BYTE, window);
    MPI_Win_complete(window);
}

static void trip_pscw(int me, int bytes)
{
    MPI_Win_post(partner, 0, window);
    if (me == 0)
        put_in_epoch(me, bytes);
    MPI_Win_wait(window);
    if (me == 1)
        put_in_epoch(me, bytes);
}

static void put_and_flag(int me, int bytes)
{
    MPI_Put(source, bytes, MPI_BYTE, 1 - me, 0, bytes, MPI_BYTE, window);
    MPI_Win_flush(1 - me, window);
    MPI_Put(&turn, 8, MPI_BYTE, 1 - me, FLAG_AT, 8, MPI_BYTE, window);
    MPI_Win_flush(1 - me, window);
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

static void trip_flag(int me, int bytes)
{
    turn++;
    if (me == 0)
        put_and_flag(me, bytes);
    wait_for_flag();
    if (me == 1)
        put_and_flag(me, bytes);
}

/* Measures a size in batches.  @p all is the number of round trips; 0: as in channels.c. */
static int batches_of(size_t bytes, int all)
{
    if (all == 0)
        return BENCH_BATCHES;
    return bytes >= 100 && bytes <= 500000 ? all / bench_trips(bytes) : 0;
}

static void measure(const char *series, int me, void (*trip)(int me, int bytes), size_t bytes,
                    int all)
{
    int    trips = bench_trips(bytes), batches = batches_of(bytes, all);
    double best = 1e9;

    for (int batch = 0; batch < batches; batch++) {
        double start = bench_now(), time;

        for (int t = 0; t < trips; t++)
            trip(me, (int)bytes);
        time = (bench_now() - start) / trips;
        best = time < best ? time : best;
    }
    if (me == 0 && batches > 0)
        bench_report("channels", series, bytes, "roundtrip_us", best * 1e6);
}

static void open_window(int me)
{
    MPI_Group all;
    int       other = 1 - me;

    MPI_Win_allocate(FLAG_AT + 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, FLAG_AT + 64);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &partner);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    void (*trip)(int, int) = trip_send;
    const char *trips;
    int         me, ranks, flags;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3 || ranks != 2) {
        fprintf(stderr, "usage: mpirun -n 2 mpi_channels SERIES send|pscw|flag[,TRIPS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    trips = strchr(argv[2], ',');
    flags = strncmp(argv[2], "flag", 4) == 0;
    if (strncmp(argv[2], "send", 4) != 0)
        trip = flags ? trip_flag : trip_pscw;
    memset(source, 1, sizeof source);
    memset(target, 2, sizeof target);
    open_window(me);
    if (flags)
        MPI_Win_lock_all(0, window);
    for (size_t i = 1; i < BENCH_SIZES; i++)
        measure(argv[1], me, trip, bench_sizes[i], trips ? atoi(trips + 1) : 0);
    if (flags)
        MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Group_free(&partner);
    MPI_Finalize();
    return 0;
}
