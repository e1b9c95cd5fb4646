/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_network.c - between processes that share no memory: what is run, the
 * tables, the goals, the plot.
 *
 * All programs print the metrics of bench/bench_network.h; Skua has a series for
 * each driver.  The tests of ucx_perftest are taken for the same metrics, as far as
 * they measure the same:
 *
 *   message_us, message_gbs   ucp_am_lat and ucp_am_bw: an active message to a
 *                             callback, from and to one buffer.  Ours goes through
 *                             the scheduler, and each is memory of its own.
 *   notify_us                 ucp_put_lat: the target polls the memory
 *   put_gbs                   ucp_put_bw: until UCX has taken the data over; ours
 *                             and that of MPI until it is at the target
 *   get_us, get_gbs           ucp_get, whose target looks at the network once a
 *                             millisecond (UCX 1.13): shown, not a goal
 *   fetchadd_us               ucp_fadd
 *
 * fi_pingpong of libfabric, with the provider that Skua has there, gives message_us: what
 * is below the driver ofi.
 *
 * A put that is over when its data is at the target is a round trip: it is compared
 * with MPI_Put and MPI_Win_flush.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "network.h"
#include "transport/secret.h"
#include "transport/select.h"

#define REPEATS 8 /* of a test of ucx_perftest in a round */
#define PONGS   3 /* of fi_pingpong                       */
#define START   64
#define WIDTH   17

static const size_t latency_sizes[]   = {8, 64, 1024, 4096, 16384, 65536, 1048576};
static const size_t bandwidth_sizes[] = {4096, 65536, 1048576, 4194304};

#define LATENCIES  (sizeof latency_sizes / sizeof *latency_sizes)
#define BANDWIDTHS (sizeof bandwidth_sizes / sizeof *bandwidth_sizes)

/* First those of the drivers, in their order. */
static const char *const series[] = {"skua-tcp",         "skua-ucx",       "skua-ofi",
                                     "skua-mpi-openmpi", "skua-mpi-mpich", "ucx_perftest",
                                     "fi_pingpong",      "openmpi",        "mpich"};

#define SERIES (sizeof series / sizeof *series)

static const char *const mpis[] = {"openmpi", "mpich"};

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

/* Iterations that take about a millisecond. */
static int iterations(size_t bytes, bool flood)
{
    if (flood)
        return bytes < 262144 ? 64 : 8;
    return bytes <= 1024 ? 200 : bytes <= 16384 ? 100 : bytes <= 65536 ? 40 : 8;
}

static void write_test(FILE *to, size_t t, size_t bytes)
{
    bool one = strstr(tests[t].metric, "_us") != NULL; /* outstanding */

    if (strcmp(tests[t].test, "ucp_fadd") == 0 && bytes != 8)
        return;
    if (strcmp(tests[t].test, "ucp_get") == 0 && bytes != 8 && bytes != 65536)
        return; /* it takes long, for what it tells */
    for (int i = 0; i < REPEATS; i++)
        fprintf(to, "%s/%zu -t %s -s %zu -n %d -w 10 %s\n", tests[t].metric, bytes, tests[t].test,
                bytes, iterations(bytes, tests[t].flood), one ? "-O 1" : "");
}

static void write_tests(FILE *to)
{
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        const size_t *sizes = tests[t].flood ? bandwidth_sizes : latency_sizes;
        for (size_t i = 0; i < (tests[t].flood ? BANDWIDTHS : LATENCIES); i++)
            write_test(to, t, sizes[i]);
    }
}

/* name, iterations, median, average, ... in microseconds for each: the lesser of the
 * two, which is in its favour. */
static void read_test(const char *line, void *results)
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

static void run_ucx(const struct network *network, struct results *results)
{
    char  path[PROGRAM_PATH], file[64], cpu[2][16], port[16];
    char *server[] = {path, "-c", cpu[0], "-p", port, "-b", file, NULL};
    char *client[] = {
        path, (char *)network_address(network), "-c", cpu[1], "-p", port, "-f", "-v", "-b", file,
        NULL};
    int   fd;
    FILE *to;

    if (!program_in_path("ucx_perftest", path) || (fd = memfd_create("tests", 0)) < 0)
        return;
    to = fdopen(fd, "w");
    write_tests(to);
    fflush(to);
    snprintf(file, sizeof file, "/proc/%d/fd/%d", (int)getpid(), fd); /* goes when we go */
    for (int i = 0; i < 2; i++)
        snprintf(cpu[i], sizeof cpu[i], "%d", network->host->cpu[i]);
    snprintf(port, sizeof port, "%d", 20000 + (int)(getpid() % 10000));
    if (network_run_pair(network, server, client, read_test, results) != 0)
        fprintf(stderr, "skua: ucx_perftest failed; going on without it\n");
    fclose(to);
}

/* ---- fi_pingpong --------------------------------------------------------- */

/* It prints the average alone, so it gets more trips than others, and the best of a few runs.
 * bytes (as in 64k), sent, acknowledged, total, time, MB/s, microseconds, ... */
static void read_pong(const char *line, void *microseconds)
{
    double found;

    if (sscanf(line, "%*[0-9km] %*s %*s %*s %*s %*f %lf", &found) == 1)
        *(double *)microseconds = found;
}

static void run_pong(const struct network *network, struct results *results, char *path,
                     size_t bytes, int number)
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
    snprintf(trips, sizeof trips, "%d", 50 * iterations(bytes, false));
    if (network_run_pair(network, server, client, read_pong, &result.value) == 0 &&
        result.value > 0)
        results_add(results, &result);
}

static void run_pongs(const struct network *network, struct results *results)
{
    char path[PROGRAM_PATH];
    int  number = 0;

    if (!program_in_path("fi_pingpong", path))
        return;
    for (size_t i = 0; i < LATENCIES; i++)
        for (int k = 0; k < PONGS; k++)
            run_pong(network, results, path, latency_sizes[i], number++);
}

/* ---- starting ------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void ignore_line(const char *line, void *arg)
{
    (void)line, (void)arg;
}

/* The seconds from the command to its end, on this host; @p share as the setting. */
static void run_start(struct results *results, const struct bench_host *host, const char *name,
                      char *share)
{
    struct result result = {.bench = "network", .metric = "start_s", .bytes = START};
    char          path[PROGRAM_PATH], n[16];
    char         *argv[] = {(char *)host->skuarun, "-n", n,   "--pin=none", "-s", share, "-s",
                            "net_interfaces=auto", path, NULL};
    double        start  = now();

    if (!program_find("hello", path))
        return;
    snprintf(result.series, sizeof result.series, "%s", name);
    snprintf(n, sizeof n, "%d", START);
    if (program_run(argv, false, ignore_line, NULL) != 0)
        return;
    result.value = now() - start;
    results_add(results, &result);
}

static void run_starts(struct results *results, const struct bench_host *host)
{
    run_start(results, host, "skua-shared", "shared_memory=1");
    run_start(results, host, "skua-spread", "shared_memory=0");
}

/* ---- running ------------------------------------------------------------- */

static void run_skua(const struct network *network, struct results *results, int round, int rounds)
{
    char why[256];

    if (ski_config_load() != SKUA_OK)
        return;
    for (int i = 0; i < SKI_CANDIDATES; i++) {
        bench_step(round, rounds, ski_driver_names[i]);
        if (ski_driver_load(ski_driver_names[i], why, sizeof why))
            network_run_skua(network, results, ski_driver_names[i], SKI_SECURITY_JOB);
        else if (round == 1)
            fprintf(stderr, "skua: no driver %s: %s\n", ski_driver_names[i], why);
    }
}

/* The driver tcp once more for each value of SKUA_SECURITY beyond job. */
static void run_security(const struct network *network, struct results *results, int round,
                         int rounds)
{
    char why[256];

    if (!ski_crypto_load(why, sizeof why)) {
        if (round == 1)
            fprintf(stderr, "skua: no SKUA_SECURITY=auth or encrypt: %s\n", why);
        return;
    }
    for (unsigned level = SKI_SECURITY_AUTH; level < SKI_SECURITIES; level++) {
        bench_step(round, rounds, ski_security_name(level));
        network_run_skua(network, results, "tcp", (enum ski_security)level);
    }
}

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    struct network network;

    if (!network_open(&network, host))
        return;
    run_skua(&network, results, round, rounds);
    run_security(&network, results, round, rounds);
    for (size_t i = 0; i < sizeof mpis / sizeof *mpis; i++) {
        char program[64];
        bench_step(round, rounds, mpis[i]);
        snprintf(program, sizeof program, "peer-%s-messages", mpis[i]);
        network_run_mpi(&network, results, mpis[i], program);
        snprintf(program, sizeof program, "peer-%s-onesided", mpis[i]);
        network_run_mpi(&network, results, mpis[i], program);
    }
    bench_step(round, rounds, "ucx_perftest");
    run_ucx(&network, results);
    bench_step(round, rounds, "fi_pingpong");
    run_pongs(&network, results);
    bench_step(round, rounds, "start-up");
    run_starts(results, host);
    network_close(&network);
}

/* ---- tables -------------------------------------------------------------- */

static bool has(const struct results *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->list[i].series, name) == 0)
            return true;
    return false;
}

static void print_table(const struct results *r, const char *title, const char *metric,
                        const size_t *sizes, size_t count)
{
    printf("\n%s\n%9s", title, "bytes");
    for (size_t c = 0; c < SERIES; c++)
        if (has(r, series[c]))
            printf("%*s", WIDTH, series[c]);
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        printf("%9zu", sizes[i]);
        for (size_t c = 0; c < SERIES; c++)
            if (has(r, series[c]))
                bench_print_value(results_get(r, series[c], sizes[i], metric), WIDTH);
        printf("\n");
    }
}

static void print_latency(const struct results *r, const char *title, const char *metric)
{
    print_table(r, title, metric, latency_sizes, LATENCIES);
}

static void print_bandwidth(const struct results *r, const char *title, const char *metric)
{
    print_table(r, title, metric, bandwidth_sizes, BANDWIDTHS);
}

/* What the values of SKUA_SECURITY cost: each a row. */
static void print_security(const struct results *r)
{
    static const char *const rows[] = {"skua-tcp", "skua-tcp-auth", "skua-tcp-encrypt"};
    const size_t             large  = 1048576;

    printf("\nSKUA_SECURITY, over the driver tcp\n%-10s%*s%*s%*s\n", "", WIDTH, "8 B, us", WIDTH,
           "1 MB, GB/s", WIDTH, "put 1 MB, GB/s");
    for (unsigned level = 0; level < SKI_SECURITIES; level++) {
        if (!has(r, rows[level]))
            continue;
        printf("%-10s", ski_security_name(level));
        bench_print_value(results_get(r, rows[level], 8, "message_us"), WIDTH);
        bench_print_value(results_get(r, rows[level], large, "message_gbs"), WIDTH);
        bench_print_value(results_get(r, rows[level], large, "put_gbs"), WIDTH);
        printf("\n");
    }
}

static void print_starts(const struct results *r)
{
    printf("\nFrom the command to the end of hello, %d processes, seconds\n", START);
    printf("%-24s%8.2f\n", "sharing memory", results_get(r, "skua-shared", START, "start_s"));
    printf("%-24s%8.2f\n", "through the network", results_get(r, "skua-spread", START, "start_s"));
}

/* ---- goals --------------------------------------------------------------- */

/* How one series does against another in a metric of each: the worst size. */
static void print_against(const struct results *r, const char *mine, const char *metric,
                          const char *other, const char *their_metric, const char *what,
                          double goal)
{
    bool          flood = strstr(metric, "_gbs") != NULL; /* more is better */
    const size_t *sizes = flood ? bandwidth_sizes : latency_sizes;
    size_t        count = flood ? BANDWIDTHS : LATENCIES, bytes = 0;
    double        worst = 0;
    char          text[128];

    for (size_t i = 0; i < count; i++) {
        double a     = results_get(r, mine, sizes[i], metric);
        double b     = results_get(r, other, sizes[i], their_metric);
        double ratio = flood ? bench_ratio(b, a) : bench_ratio(a, b);
        if (ratio > worst) {
            worst = ratio;
            bytes = sizes[i];
        }
    }
    if (worst == 0)
        return;
    snprintf(text, sizeof text, "%s / %s, worst: %zu B", what, other, bytes);
    bench_print_goal(text, worst, "<=", goal);
}

static void print_ucx_goals(const struct results *r, const char *mine)
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
        print_against(r, mine, goals[i].metric, "ucx_perftest", goals[i].theirs, goals[i].what,
                      1.15);
}

/* The goal is 1; for messages @p message, which is more where Skua runs on that MPI. */
static void print_mpi_goals(const struct results *r, const char *mine, const char *mpi,
                            double message)
{
    static const struct {
        const char *what, *metric;
    } goals[] = {
        {"message", "message_us"},           {"messages in flight", "message_gbs"},
        {"put, at the target", "put_us"},    {"get", "get_us"},
        {"put + notification", "notify_us"}, {"puts in flight", "put_gbs"},
        {"gets in flight", "get_gbs"},       {"fetch-add", "fetchadd_us"},
    };

    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        print_against(r, mine, goals[i].metric, mpi, goals[i].metric, goals[i].what,
                      strncmp(goals[i].metric, "message", 7) == 0 ? message : 1);
}

static void print_goals(const struct results *r)
{
    for (size_t c = 0; c < SKI_CANDIDATES; c++) {
        char title[64];
        bool on_mpi = strstr(series[c], "-mpi-") != NULL;

        if (!has(r, series[c]))
            continue;
        snprintf(title, sizeof title, "Goals, %s", series[c]);
        bench_print_goals_head(title);
        if (strcmp(series[c], "skua-tcp") == 0 || strcmp(series[c], "skua-ucx") == 0)
            print_ucx_goals(r, series[c]);
        if (strcmp(series[c], "skua-ofi") == 0)
            print_against(r, series[c], "message_us", "fi_pingpong", "message_us", "message", 1.15);
        for (size_t i = 0; i < sizeof mpis / sizeof *mpis; i++)
            if (!on_mpi)
                print_mpi_goals(r, series[c], mpis[i], 1);
            else if (strstr(series[c], mpis[i]))
                print_against(r, series[c], "message_us", mpis[i], "message_us", "message", 1.3);
    }
    bench_print_goals_head("Goals, start-up of 64 processes, seconds");
    bench_print_goal("sharing memory", results_get(r, "skua-shared", START, "start_s"), "<=", 2);
    bench_print_goal("through the network", results_get(r, "skua-spread", START, "start_s"),
                     "<=", 2);
}

static void print(const struct results *r)
{
    print_latency(r, "Message, one way (ucp_am_lat; fi_pingpong; MPI_Send, MPI_Recv), microseconds",
                  "message_us");
    print_latency(r,
                  "Put and notification that a waiting target sees, one way (ucp_put_lat, whose\n"
                  "target polls memory; MPI_Put, flush, MPI_Put of a flag, flush), microseconds",
                  "notify_us");
    print_latency(r, "Put that runs a handler at the target, one way, microseconds", "signal_us");
    print_latency(r, "Put until its data is at the target (MPI_Put, flush), microseconds",
                  "put_us");
    print_latency(r,
                  "Get (ucp_get, whose target looks at the network once a millisecond; MPI_Get,\n"
                  "flush), microseconds",
                  "get_us");
    print_table(r, "Fetch-and-add, microseconds", "fetchadd_us", latency_sizes, 1);
    print_bandwidth(r, "Messages in flight, GB/s", "message_gbs");
    print_bandwidth(r,
                    "Puts in flight, until all are at the target (ucp_put_bw: until UCX has the\n"
                    "data), GB/s",
                    "put_gbs");
    print_bandwidth(r, "Gets in flight, GB/s", "get_gbs");
    print_security(r);
    print_starts(r);
    print_goals(r);
}

/* ---- plot ---------------------------------------------------------------- */

static void plot(const struct results *r, FILE *to)
{
    static const char *const colours[SERIES] = {"#d62728", "#1f77b4", "#ff7f0e",
                                                "#e377c2", "#9467bd", "#444444",
                                                "#7f7f7f", "#2ca02c", "#8c564b"};
    static struct curve      curve[2][SERIES];
    struct plot              plots[2] = {
                     {"A message between two processes over TCP, one way", "bytes", "microseconds", curve[0], 0},
                     {"Messages in flight between them", "bytes", "GB/s", curve[1], 0}};

    for (size_t c = 0; c < SERIES; c++)
        for (int p = 0; p < 2 && has(r, series[c]); p++) {
            struct curve *one = &curve[p][plots[p].curves++];
            one->name         = series[c];
            one->colour       = colours[c];
            one->dash         = series[c][3] == '_' || series[c][2] == '_' ? "5 4" : "";
            bench_plot_curve(one, r, series[c], p == 0 ? "message_us" : "message_gbs",
                             p == 0 ? latency_sizes : bandwidth_sizes,
                             p == 0 ? LATENCIES : BANDWIDTHS);
        }
    plot_write_all(plots, 2, to);
}

const struct bench bench_network = {"network", run, print, plot};
