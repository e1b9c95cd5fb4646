/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_messages.c - the measurements of messages.c, rate.c and network.c with MPI.
 *
 * usage: mpi_messages SERIES roundtrip|read|rate|network
 *   read: a round trip in which the receiver reads every byte
 */
#include <mpi.h>

#include "bench_network.h"

static char       buffer[2][NETWORK_BYTES_MAX];
static MPI_Status statuses[BENCH_WINDOW];

static void roundtrip(const char *series, int me, int read_all)
{
    volatile unsigned long sink;

    for (size_t i = 0; i < BENCH_SIZES; i++) {
        int    bytes = (int)bench_sizes[i], trips = bench_trips(bench_sizes[i]);
        double best = 1e9;

        for (int batch = 0; batch < BENCH_BATCHES; batch++) {
            double start = bench_now(), time;
            for (int t = 0; t < trips; t++) {
                if (me == 0)
                    MPI_Send(buffer[0], bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(buffer[1], bytes, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (read_all)
                    sink = bench_read(buffer[1], bench_sizes[i]);
                if (me == 1)
                    MPI_Send(buffer[0], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
            time = (bench_now() - start) / trips;
            best = time < best ? time : best;
        }
        if (me == 0)
            bench_report("messages", series, bench_sizes[i], "roundtrip_us", best * 1e6);
    }
    (void)sink;
}

static void send_windows(int partner, int windows)
{
    MPI_Request request[BENCH_WINDOW];

    for (int w = 0; w < windows; w++) {
        for (int i = 0; i < BENCH_WINDOW; i++)
            MPI_Isend(buffer[0], 8, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(BENCH_WINDOW, request, statuses);
        MPI_Recv(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void receive_windows(int partner, int windows)
{
    MPI_Request request[BENCH_WINDOW];

    for (int w = 0; w < windows; w++) {
        for (int i = 0; i < BENCH_WINDOW; i++)
            MPI_Irecv(buffer[1] + 8 * i, 8, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(BENCH_WINDOW, request, statuses);
        MPI_Send(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
    }
}

static void rate(const char *series, int me, int ranks)
{
    double best    = 0;
    int    windows = bench_windows(ranks);
    char   metric[32];

    for (int batch = 0; batch < bench_rate_batches(ranks); batch++) {
        double start, value;
        MPI_Barrier(MPI_COMM_WORLD);
        start = bench_now();
        if (me < ranks / 2)
            send_windows(me + ranks / 2, windows);
        else
            receive_windows(me - ranks / 2, windows);
        MPI_Barrier(MPI_COMM_WORLD);
        value = ranks / 2.0 * BENCH_WINDOW * windows / (bench_now() - start);
        best  = value > best ? value : best;
    }
    snprintf(metric, sizeof metric, "rate-%dpe", ranks);
    if (me == 0)
        bench_report("messages", series, 8, metric, best);
}

/* ---- between hosts: `me' is 0 on the origin of a pair and 1 on its target ------- */

static void network_largest(double *value, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, value, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* Returns the time at which a batch begins, on several pairs together. */
static double network_begin_batch(void)
{
    if (onesided_pair.largest)
        MPI_Barrier(MPI_COMM_WORLD);
    return bench_now();
}

static void network_trips(int me, int bytes, int trips)
{
    int other = onesided_pair.pe[1 - me];

    for (int t = 0; t < trips; t++) {
        if (me == 0)
            MPI_Send(buffer[0], bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer[1], bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 1)
            MPI_Send(buffer[0], bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
}

static void network_latency(const char *series, int me, size_t bytes)
{
    int    trips = onesided_trips(bytes), batches = network_batches(bytes);
    double time[NETWORK_BATCHES] = {0};

    for (int batch = 0; batch < batches; batch++) {
        double start = network_begin_batch();

        network_trips(me, (int)bytes, trips);
        if (me == 0)
            time[batch] = (bench_now() - start) / trips / 2;
    }
    onesided_report(me, series, bytes, "message_us", onesided_best(time, batches) * 1e6);
}

/* Sends a window of messages, which an empty message answers.  Each message has memory of its own,
 * as messages in flight have in any program. */
static void network_window(char *memory, int me, int bytes, int window)
{
    MPI_Request request[BENCH_WINDOW];
    int         other = onesided_pair.pe[1 - me];

    for (int i = 0; i < window; i++, memory += bytes)
        if (me == 0)
            MPI_Isend(memory, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request[i]);
        else
            MPI_Irecv(memory, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(window, request, statuses);
    if (me == 0)
        MPI_Recv(NULL, 0, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_BYTE, other, 1, MPI_COMM_WORLD);
}

static void network_bandwidth(const char *series, int me, size_t bytes)
{
    int    window = onesided_window(bytes), batches = network_batches(bytes);
    char  *memory                = malloc((size_t)window * bytes);
    double time[NETWORK_BATCHES] = {0};

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(memory, 1, (size_t)window * bytes);
    for (int batch = 0; batch < batches; batch++) {
        double start = network_begin_batch();

        network_window(memory, me, (int)bytes, window);
        if (me == 0)
            time[batch] = bench_now() - start;
    }
    free(memory);
    onesided_report(me, series, bytes, "message_gbs",
                    window * (double)bytes / onesided_best(time, batches) * 1e-9);
}

static void network(const char *series, int me)
{
    network_pace();
    memset(buffer, 1, sizeof buffer);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < NETWORK_SIZES; i++)
        network_latency(series, me, network_sizes[i]);
    for (size_t i = 0; i < NETWORK_FLOODS; i++)
        network_bandwidth(series, me, network_floods[i]);
}

int main(int argc, char **argv)
{
    int me, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3 || ranks % 2) {
        fprintf(stderr, "usage: mpirun -n 2 mpi_messages SERIES roundtrip|read|rate|network\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    } else if (strcmp(argv[2], "rate") == 0) {
        rate(argv[1], me, ranks);
    } else if (strcmp(argv[2], "network") == 0) {
        network(argv[1], onesided_set_pair(me, ranks, network_largest));
    } else {
        roundtrip(argv[1], me, strcmp(argv[2], "read") == 0);
    }
    MPI_Finalize();
    return 0;
}
