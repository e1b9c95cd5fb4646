/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_network.c - skua bench network: communication between processes that share no memory.
 *
 * All programs print the metrics of bench/bench_network.h; Skua has a series for each driver. Tests
 * of ucx_perftest provide these metrics:
 *
 * - message_us, message_gbs: ucp_am_lat and ucp_am_bw, an active message to a callback, from and to
 *   one buffer.  A message of Skua passes the scheduler and has memory of its own.
 * - notify_us: ucp_put_lat, whose target polls the memory.
 * - put_gbs: ucp_put_bw, until the data may be overwritten; with Skua and MPI until they have
 *   arrived at the target.
 * - get_us, get_gbs: ucp_get, whose target polls the network once a millisecond (UCX 1.13).  They
 *   are printed, but are not part of a goal.
 * - fetchadd_us: ucp_fadd.
 *
 * fi_pingpong of libfabric, with the provider of the driver ofi, provides message_us.
 *
 * A put that completes when its data has arrived is a round trip: it is compared with MPI_Put and
 * MPI_Win_flush.
 *
 * With --pes, more than two processes, half of them at each end, are pairs that communicate at
 * once, and a time is that of the slowest pair.  They are measured with each driver and with the
 * MPIs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "base/seconds.h"
#include "base/topology.h"
#include "network.h"
#include "network_rails.h"
#include "network_zcopy.h"
#include "transport/secret.h"
#include "transport/select.h"

#define UCX_REPEATS 8  /* of each test of ucx_perftest in a round      */
#define FI_REPEATS  3  /* of each size of fi_pingpong in a round       */
#define START       64 /* processes of the start-up measurement        */
#define WIDTH       17
#define WITH_IO     "skua-tcp-io" /* the series of the driver tcp with I/O threads */

static const size_t latency_sizes[]   = {8, 64, 1024, 4096, 16384, 65536, 1048576};
static const size_t bandwidth_sizes[] = {4096, 65536, 1048576, 4194304};

static const size_t patch_sizes[]  = {32, 512, 8192, 131072, 2097152}; /* of 2 to 512 rows */
static const size_t behind_sizes[] = {8, 64, 1024, 4096, 16384, 65536};

static const size_t inflight_numbers[] = {10, 100, 1000, 10000, 100000};

#define INFLIGHTS  (sizeof inflight_numbers / sizeof *inflight_numbers)
#define PATCHES    (sizeof patch_sizes / sizeof *patch_sizes)
#define BEHINDS    (sizeof behind_sizes / sizeof *behind_sizes)
#define LATENCIES  (sizeof latency_sizes / sizeof *latency_sizes)
#define BANDWIDTHS (sizeof bandwidth_sizes / sizeof *bandwidth_sizes)

/* The first SKI_CANDIDATES are those of the drivers, in the order of ski_driver_names. */
static const char *const series[] = {
    "skua-tcp",       "skua-ucx",     "skua-ofi",    "skua-mpi-openmpi",
    "skua-mpi-mpich", "ucx_perftest", "fi_pingpong", "openmpi",
    "mpich",          WITH_IO};

#define SERIES (sizeof series / sizeof *series)

/* ---- ucx_perftest -------------------------------------------------------- */

static const struct {
    const char *test, *metric;
    bool        flood;
} tests[] = {
    {"ucp_am_lat", "message_us", false}, {"ucp_am_bw", "message_gbs", true},
    {"ucp_put_lat", "notify_us", false}, {"ucp_put_bw", "put_gbs", true},
    {"ucp_get", "get_us", false},        {"ucp_get", "get_gbs", true},
    {"ucp_fadd", "fetchadd_us", false},
};

/* Returns the number of iterations that take about a millisecond. */
static int bench_network_iterations(size_t bytes, bool flood)
{
    if (flood)
        return bytes < 262144 ? 64 : 8;
    return bytes <= 1024 ? 200 : bytes <= 16384 ? 100 : bytes <= 65536 ? 40 : 8;
}

static void bench_network_write_test(FILE *to, size_t t, size_t bytes)
{
    bool one = strstr(tests[t].metric, "_us") != NULL; /* operation outstanding */

    if (strcmp(tests[t].test, "ucp_fadd") == 0 && bytes != 8)
        return;
    if (strcmp(tests[t].test, "ucp_get") == 0 && bytes != 8 && bytes != 65536)
        return; /* slow, and no goal */
    for (int i = 0; i < UCX_REPEATS; i++)
        fprintf(to, "%s/%zu -t %s -s %zu -n %d -w 10 %s\n", tests[t].metric, bytes, tests[t].test,
                bytes, bench_network_iterations(bytes, tests[t].flood), one ? "-O 1" : "");
}

static void bench_network_write_tests(FILE *to)
{
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        const size_t *sizes = tests[t].flood ? bandwidth_sizes : latency_sizes;
        for (size_t i = 0; i < (tests[t].flood ? BANDWIDTHS : LATENCIES); i++)
            bench_network_write_test(to, t, sizes[i]);
    }
}

/* Reads "name, iterations, median, average, ..." in microseconds and takes the smaller of the two,
 * in favour of ucx_perftest. */
static void bench_network_read_test(const char *line, void *results)
{
    struct result result = {.bench = "network", .series = "ucx_perftest"};
    double        median, average;

    if (sscanf(line, "%31[^/]/%zu,%*d,%lf,%lf", result.metric, &result.bytes, &median, &average) !=
        4)
        return;
    if (strstr(result.metric, "_gbs"))
        result.value = (double)result.bytes / average * 1e-3;
    else
        result.value = fmin(median, average);
    results_add(results, &result);
}

static void bench_network_run_ucx(const struct network *network, struct results *results)
{
    char  path[PROGRAM_PATH_BYTES], file[64], cpu[2][16], port[16];
    char *server[] = {path, "-c", cpu[0], "-p", port, "-b", file, NULL};
    char *client[] = {
        path, (char *)network_address(network), "-c", cpu[1], "-p", port, "-f", "-v", "-b", file,
        NULL};
    int   fd;
    FILE *to;

    if (!program_in_path("ucx_perftest", path) || (fd = memfd_create("tests", 0)) < 0)
        return;
    to = fdopen(fd, "w");
    bench_network_write_tests(to);
    fflush(to);
    snprintf(file, sizeof file, "/proc/%d/fd/%d", (int)getpid(),
             fd); /* vanishes with this process */
    for (int i = 0; i < 2; i++)
        snprintf(cpu[i], sizeof cpu[i], "%d", network->host->cpu[i]);
    snprintf(port, sizeof port, "%d", 20000 + (int)(getpid() % 10000));
    if (network_run_pair(network, server, client, bench_network_read_test, results) != 0)
        fprintf(stderr, "skua: ucx_perftest failed; continuing without it\n");
    fclose(to);
}

/* ---- fi_pingpong --------------------------------------------------------- */

/* Reads "bytes (such as 64k), sent, acknowledged, total, time, MB/s, microseconds, ...".
 * fi_pingpong prints the average alone, so it makes more round trips and the best of several runs
 * is taken. */
static void bench_network_read_pingpong(const char *line, void *microseconds)
{
    double found;

    if (sscanf(line, "%*[0-9km] %*s %*s %*s %*s %*f %lf", &found) == 1)
        *(double *)microseconds = found;
}

static void bench_network_run_pingpong(const struct network *network, struct results *results,
                                       char *path, size_t bytes, int number)
{
    struct result result = {
        .bench = "network", .series = "fi_pingpong", .metric = "message_us", .bytes = bytes};
    char  cpu[2][16], port[16], size[24], trips[16];
    char *what[]     = {"-e", "rdm", "-p", "tcp", "-S", size, "-I", trips};
    char *server[16] = {"/usr/bin/taskset", "-c", cpu[0], path, "-B", port};
    char *client[16] = {"/usr/bin/taskset", "-c", cpu[1], path, "-P", port};

    memcpy(server + 6, what, sizeof what);
    memcpy(client + 6, what, sizeof what);
    client[14] = (char *)network_address(network);
    for (int i = 0; i < 2; i++)
        snprintf(cpu[i], sizeof cpu[i], "%d", network->host->cpu[i]);
    snprintf(port, sizeof port, "%d", 30000 + ((int)getpid() + number) % 10000);
    snprintf(size, sizeof size, "%zu", bytes);
    snprintf(trips, sizeof trips, "%d", 50 * bench_network_iterations(bytes, false));
    if (network_run_pair(network, server, client, bench_network_read_pingpong, &result.value) ==
            0 &&
        result.value > 0)
        results_add(results, &result);
}

static void bench_network_run_pingpongs(const struct network *network, struct results *results)
{
    char path[PROGRAM_PATH_BYTES];
    int  number = 0;

    if (!program_in_path("fi_pingpong", path))
        return;
    for (size_t i = 0; i < LATENCIES; i++)
        for (int k = 0; k < FI_REPEATS; k++)
            bench_network_run_pingpong(network, results, path, latency_sizes[i], number++);
}

/* ---- start-up ------------------------------------------------------------ */

/* Measures the time of a whole job of START processes on this host; @p share is a setting. */
static void bench_network_run_start(struct results *results, const char *name, char *share)
{
    struct result result = {.bench = "network", .metric = "start_s", .bytes = START};
    char          path[PROGRAM_PATH_BYTES], n[16];
    char  *argv[] = {(char *)results->host->skuarun, "-n", n,   "--pin=none", "-s", share, "-s",
                     "net_interfaces=auto",          path, NULL};
    double start  = ski_seconds(CLOCK_MONOTONIC);

    if (!program_find("hello", path))
        return;
    snprintf(result.series, sizeof result.series, "%s", name);
    snprintf(n, sizeof n, "%d", START);
    if (program_run(argv, false, NULL, NULL) != 0)
        return;
    result.value = ski_seconds(CLOCK_MONOTONIC) - start;
    results_add(results, &result);
}

static void bench_network_run_starts(struct results *results)
{
    bench_network_run_start(results, "skua-shared", "shared_memory=1");
    bench_network_run_start(results, "skua-spread", "shared_memory=0");
}

/* ---- running ------------------------------------------------------------- */

static void bench_network_run_skua(const struct network *network, struct results *results)
{
    char why[256];

    if (ski_config_load() != SKUA_OK)
        return;
    for (int i = 0; i < SKI_CANDIDATES; i++) {
        bench_step(results, ski_driver_names[i]);
        if (ski_driver_load(ski_driver_names[i], why, sizeof why)) {
            network_run_skua(network, results, ski_driver_names[i], SKI_SECURITY_JOB, series[i]);
            network_zcopy_run(network, results, ski_driver_names[i]);
        } else if (results->host->round == 1)
            fprintf(stderr, "skua: no driver %s: %s\n", ski_driver_names[i], why);
    }
}

/* Measures the driver tcp with each value of SKUA_SECURITY beyond job. */
static void bench_network_run_security(const struct network *network, struct results *results)
{
    char why[256];

    if (!ski_crypto_load(why, sizeof why)) {
        if (results->host->round == 1)
            fprintf(stderr, "skua: no SKUA_SECURITY=auth or encrypt: %s\n", why);
        return;
    }
    for (unsigned level = SKI_SECURITY_AUTH; level < SKI_SECURITIES; level++) {
        char name[48];

        bench_step(results, ski_security_name(level));
        snprintf(name, sizeof name, "skua-tcp-%s", ski_security_name(level));
        network_run_skua(network, results, "tcp", (enum ski_security)level, name);
    }
}

/* Measures the driver tcp with I/O threads, as skuarun starts it where CPUs are idle. */
static void bench_network_run_io(const struct network *network, struct results *results)
{
    char cpus[SKI_IO_CPUS_TEXT];

    ski_topology_idle_list(network->host->cpu, 2, cpus);
    if (strcmp(cpus, "none") == 0) {
        if (results->host->round == 1)
            fprintf(stderr, "skua: I/O threads are not measured: they need two idle CPUs beside "
                            "each of two PEs\n");
        return;
    }
    bench_step(results, "tcp, I/O threads");
    program_set_variable("SKUA_IO_CPUS", cpus);
    network_run_skua(network, results, "tcp", SKI_SECURITY_JOB, WITH_IO);
    program_restore_variable("SKUA_IO_CPUS");
}

static void bench_network_run_mpis(const struct network *network, struct results *results)
{
    for (size_t i = 0; i < BENCH_MPIS; i++) {
        char program[64];

        bench_step(results, bench_mpis[i]);
        snprintf(program, sizeof program, "peer-%s-messages", bench_mpis[i]);
        network_run_mpi(network, results, bench_mpis[i], program);
        snprintf(program, sizeof program, "peer-%s-onesided", bench_mpis[i]);
        network_run_mpi(network, results, bench_mpis[i], program);
    }
}

/* Runs what is measured between two processes alone, and closes the network. */
static void bench_network_run_two(struct network *network, struct results *results)
{
    bench_step(results, "ucx_perftest");
    bench_network_run_ucx(network, results);
    bench_step(results, "fi_pingpong");
    bench_network_run_pingpongs(network, results);
    bench_step(results, "start-up");
    bench_network_run_starts(results);
    bench_step(results, "rails");
    network_rails_run(network, results);
}

static void bench_network_run_on(struct results *results, int pes)
{
    struct network network;

    if (!network_open(&network, results->host))
        return;
    network.pes = pes;
    bench_network_run_skua(&network, results);
    if (pes == 2)
        bench_network_run_io(&network, results);
    bench_network_run_security(&network, results);
    bench_network_run_mpis(&network, results);
    if (pes == 2)
        bench_network_run_two(&network, results);
    else
        network_close(&network);
}

static void bench_network_run(struct results *results)
{
    bench_run_each(results, bench_network_run_on);
}

/* ---- tables -------------------------------------------------------------- */

static bool bench_network_has_series(const struct results *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->list[i].series, name) == 0)
            return true;
    return false;
}

/* Returns the sizes for which a metric is measured, and their number. */
static const size_t *bench_network_sizes_of(const char *metric, size_t *count)
{
    const size_t *sizes = network_zcopy_sizes(metric, count);

    if (sizes)
        return sizes;
    if (strncmp(metric, "patch_", 6) == 0)
        return *count = PATCHES, patch_sizes;
    if (strncmp(metric, "behind_", 7) == 0)
        return *count = BEHINDS, behind_sizes;
    if (strncmp(metric, "inflight_", 9) == 0)
        return *count = INFLIGHTS, inflight_numbers;
    if (strstr(metric, "_gbs"))
        return *count = BANDWIDTHS, bandwidth_sizes;
    return *count = strcmp(metric, "fetchadd_us") == 0 ? 1 : LATENCIES, latency_sizes;
}

/* Returns whether a metric was measured for a series at one of @p sizes. */
static bool bench_network_has_metric(const struct results *r, const char *name, const char *metric,
                                     const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results_get(r, name, sizes[i], metric) > 0)
            return true;
    return false;
}

/* Prints a metric; @p bandwidth: a time in microseconds is printed as GB/s. */
static void bench_network_print_columns(const struct results *r, const char *metric,
                                        const size_t *sizes, size_t count, bool bandwidth)
{
    bool shown[SERIES];

    printf("%9s", sizes == inflight_numbers ? "puts" : "bytes");
    for (size_t c = 0; c < SERIES; c++) {
        shown[c] = bench_network_has_metric(r, series[c], metric, sizes, count);
        if (shown[c])
            printf("%*s", WIDTH, series[c]);
    }
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        printf("%9zu", sizes[i]);
        for (size_t c = 0; c < SERIES; c++) {
            double value = results_get(r, series[c], sizes[i], metric);

            if (shown[c])
                bench_print_value(bandwidth ? bench_ratio((double)sizes[i] * 1e-3, value) : value,
                                  WIDTH);
        }
        printf("\n");
    }
}

/* The tables, whose sizes are those of their metric; among them, Figures 4 to 7 of the paper on
 * OSPRI and Figure 5 of the paper on zero copy. */
static const struct {
    const char *title, *metric;
    bool        bandwidth; /* the times are printed as bandwidth */
} tables[] = {
    {"Message, one way (ucp_am_lat; fi_pingpong; MPI_Send, MPI_Recv), microseconds", "message_us",
     false},
    {"Put and notification that a waiting target sees, one way (ucp_put_lat, whose\n"
     "target polls memory; MPI_Put, flush, MPI_Put of a flag, flush), microseconds",
     "notify_us", false},
    {"Put that runs a handler at the target, one way, microseconds", "signal_us", false},
    {"Put until its source may change (MPI_Put, MPI_Win_flush_local), microseconds", "put_local_us",
     false},
    {"Put until its data has arrived (MPI_Put, flush), microseconds", "put_us", false},
    {"Get (ucp_get, whose target polls the network once a millisecond; MPI_Get,\n"
     "flush), microseconds",
     "get_us", false},
    {"Accumulate of doubles (MPI_Accumulate, flush), microseconds", "acc_us", false},
    {"Put of a patch of a matrix (MPI_Put of a vector type, flush), microseconds", "patch_put_us",
     false},
    {"Get of a patch, microseconds", "patch_get_us", false},
    {"Accumulate of a patch, microseconds", "patch_acc_us", false},
    {"Put of a patch, GB/s", "patch_put_us", true},
    {"Get of a patch, GB/s", "patch_get_us", true},
    {"Accumulate of a patch, GB/s", "patch_acc_us", true},
    {"Put of a local patch, microseconds", "patch_local_put_us", false},
    {"Get of a local patch, microseconds", "patch_local_get_us", false},
    {"Accumulate of a local patch, microseconds", "patch_local_acc_us", false},
    {"Get behind 8 pending puts, unordered (MPI_Put, MPI_Rget), microseconds",
     "behind_unordered_us", false},
    {"Get behind 8 pending puts, partial order, microseconds", "behind_partial_us", false},
    {"Get behind 8 pending puts, strict order (MPI_Put, flush, MPI_Get, flush), microseconds",
     "behind_strict_us", false},
    {"Put of 8 bytes while so many are in flight, microseconds", "inflight_us", false},
    {"Round trip through channels, microseconds", "channel_us", false},
    {"Round trip through channels into malloc() memory, microseconds", "channel_heap_us", false},
    {"Round trip of entry calls, copied in and out, microseconds", "channel_entry_us", false},
    {"Round trip of entry calls by a learned channel, microseconds", "channel_learned_us", false},
    {"Transfer one way, copied in and out, microseconds", "zcopy_copy_us", false},
    {"Transfer one way by a get of the receiver, microseconds", "zcopy_get_us", false},
    {"Transfer one way by a put, microseconds", "zcopy_put_us", false},
    {"Transfer one way of a nocopy argument, microseconds", "zcopy_send_us", false},
    {"Fetch-and-add, microseconds", "fetchadd_us", false},
    {"Messages in flight, GB/s", "message_gbs", false},
    {"Puts in flight, until all are at the target (ucp_put_bw: until the data\n"
     "may be overwritten), GB/s",
     "put_gbs", false},
    {"Gets in flight, GB/s", "get_gbs", false},
};

/* Returns whether a metric was measured for any series. */
static bool bench_network_was_measured(const struct results *r, const char *metric,
                                       const size_t *sizes, size_t count)
{
    for (size_t c = 0; c < SERIES; c++)
        if (bench_network_has_metric(r, series[c], metric, sizes, count))
            return true;
    return false;
}

static void bench_network_print_tables(const struct results *r, int pes)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t        count;
        const size_t *sizes = bench_network_sizes_of(tables[i].metric, &count);

        if (pes > 2 && !bench_network_was_measured(r, tables[i].metric, sizes, count))
            continue;
        printf("\n%s\n", tables[i].title);
        bench_network_print_columns(r, tables[i].metric, sizes, count, tables[i].bandwidth);
    }
}

/* Prints a row for each value of SKUA_SECURITY. */
static void bench_network_print_security(const struct results *r)
{
    static const char *const rows[] = {"skua-tcp", "skua-tcp-auth", "skua-tcp-encrypt"};
    const size_t             large  = 1048576;

    printf("\nSKUA_SECURITY, over the driver tcp\n%-10s%*s%*s%*s\n", "", WIDTH, "8 B, us", WIDTH,
           "1 MB, GB/s", WIDTH, "put 1 MB, GB/s");
    for (unsigned level = 0; level < SKI_SECURITIES; level++) {
        if (!bench_network_has_series(r, rows[level]))
            continue;
        printf("%-10s", ski_security_name(level));
        bench_print_value(results_get(r, rows[level], 8, "message_us"), WIDTH);
        bench_print_value(results_get(r, rows[level], large, "message_gbs"), WIDTH);
        bench_print_value(results_get(r, rows[level], large, "put_gbs"), WIDTH);
        printf("\n");
    }
}

static void bench_network_print_starts(const struct results *r)
{
    printf("\nWhole run of hello, %d processes, seconds\n", START);
    printf("%-24s%8.2f\n", "sharing memory", results_get(r, "skua-shared", START, "start_s"));
    printf("%-24s%8.2f\n", "through the network", results_get(r, "skua-spread", START, "start_s"));
}

/* ---- goals --------------------------------------------------------------- */

/* Prints the worst ratio of one series to another, each in its own metric, over all sizes. */
static void bench_network_print_against(const struct results *r, const char *mine,
                                        const char *metric, const char *other,
                                        const char *their_metric, const char *what, double goal)
{
    size_t             count;
    const size_t      *sizes = bench_network_sizes_of(metric, &count);
    struct bench_worst worst = bench_find_worst(r, mine, metric, other, their_metric, sizes, count);

    if (worst.ratio > 0)
        bench_print_goalf(worst.ratio, "<=", goal, "%s / %s, worst: %zu B", what, other,
                          worst.bytes);
}

static void bench_network_print_ucx_goals(const struct results *r, const char *mine)
{
    static const struct {
        const char *what, *metric, *theirs;
    } goals[] = {
        {"message", "message_us", "message_us"},
        {"messages in flight", "message_gbs", "message_gbs"},
        {"put + notification", "notify_us", "notify_us"},
        {"put that runs a handler", "signal_us", "notify_us"},
        {"puts in flight", "put_gbs", "put_gbs"},
        {"fetch-add", "fetchadd_us", "fetchadd_us"},
    };

    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        bench_network_print_against(r, mine, goals[i].metric, "ucx_perftest", goals[i].theirs,
                                    goals[i].what, 1.15);
}

/* The goal is 1; for messages it is @p message, which is larger where Skua runs on that MPI. */
static void bench_network_print_mpi_goals(const struct results *r, const char *mine,
                                          const char *mpi, double message)
{
    static const struct {
        const char *what, *metric;
    } goals[] = {
        {"message", "message_us"},
        {"messages in flight", "message_gbs"},
        {"put, source free", "put_local_us"},
        {"put, arrived", "put_us"},
        {"get", "get_us"},
        {"put + notification", "notify_us"},
        {"puts in flight", "put_gbs"},
        {"gets in flight", "get_gbs"},
        {"fetch-add", "fetchadd_us"},
        {"accumulate", "acc_us"},
        {"put of a patch", "patch_put_us"},
        {"get of a patch", "patch_get_us"},
        {"accumulate of a patch", "patch_acc_us"},
        {"get behind puts, strict", "behind_strict_us"},
        {"small put, by number in flight", "inflight_us"},
    };

    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        bench_network_print_against(r, mine, goals[i].metric, mpi, goals[i].metric, goals[i].what,
                                    strncmp(goals[i].metric, "message", 7) == 0 ? message : 1);
}

static void bench_network_print_io_goals(const struct results *r)
{
    if (!bench_network_has_series(r, WITH_IO))
        return;
    bench_print_goals_head("Goals, " WITH_IO);
    for (size_t i = 0; i < BENCH_MPIS; i++)
        bench_network_print_mpi_goals(r, WITH_IO, bench_mpis[i], 1);
}

static void bench_network_print_goals(const struct results *r)
{
    for (size_t c = 0; c < SKI_CANDIDATES; c++) {
        char title[64];
        bool on_mpi = strstr(series[c], "-mpi-") != NULL;

        if (!bench_network_has_series(r, series[c]))
            continue;
        snprintf(title, sizeof title, "Goals, %s", series[c]);
        bench_print_goals_head(title);
        if (strcmp(series[c], "skua-tcp") == 0 || strcmp(series[c], "skua-ucx") == 0)
            bench_network_print_ucx_goals(r, series[c]);
        if (strcmp(series[c], "skua-ofi") == 0)
            bench_network_print_against(r, series[c], "message_us", "fi_pingpong", "message_us",
                                        "message", 1.15);
        for (size_t i = 0; i < BENCH_MPIS; i++)
            if (!on_mpi)
                bench_network_print_mpi_goals(r, series[c], bench_mpis[i], 1);
            else if (strstr(series[c], bench_mpis[i]))
                bench_network_print_against(r, series[c], "message_us", bench_mpis[i], "message_us",
                                            "message", 1.3);
        bench_print_goal("small put, 100000 / 10 in flight",
                         bench_ratio(results_get(r, series[c], 100000, "inflight_us"),
                                     results_get(r, series[c], 10, "inflight_us")),
                         "<=", 1);
        network_zcopy_print_goals(r, series[c]);
    }
    bench_network_print_io_goals(r);
    bench_print_goals_head("Goals, start-up of 64 processes, seconds");
    bench_print_goal("sharing memory", results_get(r, "skua-shared", START, "start_s"), "<=", 2);
    bench_print_goal("through the network", results_get(r, "skua-spread", START, "start_s"),
                     "<=", 2);
}

static void bench_network_print_on(const struct results *r, int pes)
{
    bench_print_pairs_head(r, pes);
    bench_network_print_tables(r, pes);
    if (pes == 2)
        network_rails_print(r);
    bench_network_print_security(r);
    if (pes > 2)
        return;
    bench_network_print_starts(r);
    bench_network_print_goals(r);
}

static void bench_network_print(const struct results *r)
{
    bench_print_each(r, bench_network_print_on);
}

/* ---- plot ---------------------------------------------------------------- */

/* Makes the plots of the results on one number of PEs. */
static void bench_network_draw(const struct results *r, struct plot plots[2])
{
    static const char *const colours[SERIES] = {"#d62728", "#1f77b4", "#ff7f0e",
                                                "#e377c2", "#9467bd", "#444444",
                                                "#7f7f7f", "#2ca02c", "#8c564b"};
    for (size_t c = 0; c < SERIES; c++)
        for (int p = 0; p < 2 && bench_network_has_series(r, series[c]); p++) {
            struct plot_curve *one = &plots[p].curve[plots[p].curves++];
            one->name              = series[c];
            one->colour            = colours[c];
            one->dash              = series[c][3] == '_' || series[c][2] == '_' ? "5 4" : "";
            bench_plot_curve(one, r, series[c], p == 0 ? "message_us" : "message_gbs",
                             p == 0 ? latency_sizes : bandwidth_sizes,
                             p == 0 ? LATENCIES : BANDWIDTHS);
        }
}

static void bench_network_plot(const struct results *r, FILE *to)
{
    static const char *const titles[2] = {"A message between two processes over TCP, one way",
                                          "Messages in flight between them"};
    static const char *const units[2]  = {"microseconds", "GB/s"};
    static struct plot_curve curve[BENCH_PES_MAX][2][SERIES];
    static char              title[BENCH_PES_MAX][2][80];
    static struct plot       plots[BENCH_PES_MAX][2];
    size_t                   count = 0;

    for (const int *pes = r->host->pes; *pes; pes++, count++) {
        struct results on;

        for (int p = 0; p < 2; p++) {
            bench_title(title[count][p], sizeof title[count][p], *pes, titles[p]);
            plots[count][p] = (struct plot){title[count][p], "bytes", units[p], curve[count][p], 0};
        }
        results_select(r, *pes, &on);
        bench_network_draw(&on, plots[count]);
        results_free(&on);
    }
    plot_write_all(plots[0], 2 * count, to);
}

const struct bench bench_network = {.name  = "network",
                                    .run   = bench_network_run,
                                    .print = bench_network_print,
                                    .plot  = bench_network_plot,
                                    .pairs = true};
