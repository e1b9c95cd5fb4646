/* SPDX-License-Identifier: Apache-2.0 */
/* bench_channels.c - skua bench channels: data from buffer to buffer through a channel, against a
 * memcpy and a flag, messages, and MPI; and between hosts over TCP, against bare send() and recv(),
 * messages and entry calls that are copied in and out.
 *
 * With --pes, more than two PEs are pairs that communicate at once, and a time is that of the
 * slowest pair.  Floors and goals are those of two PEs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "series.h"

static const size_t sizes[] = {8,     100,   1000,   5000,   10000,   20000,  30000,
                               40000, 70000, 100000, 500000, 1000000, 4000000};

#define SIZES (sizeof sizes / sizeof *sizes)

#define ROUNDTRIP "roundtrip_us"

static const char *const variants[] = {"send", "pscw", "flag"};

#define VARIANTS (sizeof variants / sizeof *variants)

/* ---- running ------------------------------------------------------------------ */

static void bench_channels_run_mpi(struct results *results, const char *mpi, const char *variant,
                                   const char *trips, int ranks)
{
    char series[64], argument[64];

    snprintf(series, sizeof series, "%s-%s", mpi, variant);
    snprintf(argument, sizeof argument, "%s%s", variant, trips);
    bench_run_mpi(results, mpi, "channels", series, argument, ranks);
}

void bench_run_mpi_channels(struct results *results, const char *trips, int ranks)
{
    for (size_t i = 0; i < BENCH_MPIS; i++) {
        bench_step(results, bench_mpis[i]);
        for (size_t w = 0; w < VARIANTS; w++)
            bench_channels_run_mpi(results, bench_mpis[i], variants[w], trips, ranks);
    }
}

static void bench_channels_run_on(struct results *results, int pes)
{
    char *pin = bench_pin(results->host, pes);

    for (int threads = 0; threads < 2; threads++) {
        bench_step(results, threads ? "threads" : "floor and channels");
        if (pes == 2)
            bench_run_floor(results, threads ? "threads" : NULL);
        bench_run_job(results, "-n %d -t %d --pin=%s @bench-channels", pes, threads ? pes : 1, pin);
    }
    free(pin);
    bench_step(results, "between hosts over TCP");
    if (pes == 2)
        bench_run_floor(results, "tcp");
    bench_run_between_hosts(results, pes, "bench-channels", "100000 8");
    bench_run_mpi_channels(results, "", pes);
}

static void bench_channels_run(struct results *results)
{
    bench_run_each(results, bench_channels_run_on);
}

/* ---- tables -------------------------------------------------------------------- */

/* The columns between processes; the first ones are measured between threads, too. */
static const struct series bench_channels_columns[] = {
    {"floor-copy", .colour = "#999999", .dash = "5 4"},
    {"channel", .colour = "#d62728"},
    {"channel-heap", .colour = "#ff9896"},
    {"message", .colour = "#1f77b4"},
    {"openmpi-send", .colour = "#2ca02c"},
    {"openmpi-pscw", .colour = "#98df8a"},
    {"openmpi-flag", .colour = "#006d2c"},
    {"mpich-send", .colour = "#8c564b"},
    {"mpich-pscw", .colour = "#c49c94"},
    {"mpich-flag", .colour = "#543005"},
    {"/ floor", "channel", .over = "floor-copy"},
    {"/ message", "channel", .over = "message"},
    {0}};

#define PEERS 4 /* from here on, columns are of MPIs */

static const struct series bench_channels_threads[] = {{.name = "floor-copy"},
                                                       {.name = "channel"},
                                                       {.name = "channel-heap"},
                                                       {.name = "message"},
                                                       {"/ floor", "channel", .over = "floor-copy"},
                                                       {"/ message", "channel", .over = "message"},
                                                       {0}};

static const struct series_set bench_channels_processes = {
    .list    = bench_channels_columns,
    .numbers = sizes,
    .count   = SIZES,
    .metric  = ROUNDTRIP,
    .title   = "Round trip from buffer to buffer, two processes",
    .unit    = "microseconds",
    .label   = "bytes"};

static double bench_channels_get(const struct results *r, const char *series, const char *suffix,
                                 size_t bytes)
{
    return results_get_series(r, bytes, ROUNDTRIP, "%s%s", series, suffix);
}

/* ---- goals ----------------------------------------------------------------------- */

/* Returns the largest ratio of a series to another, over the sizes from @p least to @p most. */
static double bench_channels_worst(const struct results *r, const char *suffix, const char *series,
                                   const char *other, size_t least, size_t most)
{
    double found = 0;

    for (size_t i = 0; i < SIZES; i++) {
        double ratio = bench_ratio(bench_channels_get(r, series, suffix, sizes[i]),
                                   bench_channels_get(r, other, suffix, sizes[i]));

        if (sizes[i] >= least && sizes[i] <= most && ratio > found)
            found = ratio;
    }
    return found;
}

static void bench_channels_print_goals(const struct results *r, const char *suffix)
{
    bench_print_goal("channel / memcpy + flag, worst size",
                     bench_channels_worst(r, suffix, "channel", "floor-copy", 0, SIZE_MAX),
                     "<=", 1.3);
    bench_print_goal("channel / message, worst size from 100 to 10000",
                     bench_channels_worst(r, suffix, "channel", "message", 100, 10000), "<=", 0.7);
    bench_print_goal("channel / message, worst size",
                     bench_channels_worst(r, suffix, "channel", "message", 0, SIZE_MAX), "<=", 1);
    bench_print_goal("channel into malloc() memory / message, worst size",
                     bench_channels_worst(r, suffix, "channel-heap", "message", 0, SIZE_MAX),
                     "<=", 1);
}

/* ---- between hosts ---------------------------------------------------------------- */

#define TCP     "-tcp"
#define TCP_MIN 8
#define TCP_MAX 100000

#define TCP_SIZES 10 /* how many of the sizes are measured between hosts */

static const struct series bench_channels_tcp[] = {
    {.name = "floor"},   {.name = "packet"},       {.name = "copied"},
    {.name = "channel"}, {.name = "channel-heap"}, {.name = "message"},
    {.name = "entry"},   {.name = "learned"},      {0}};

/* A goal for @p other / channel, the inverse of the largest ratio. */
static void bench_channels_print_gain(const struct results *r, const char *what, const char *other,
                                      size_t least, size_t most, double goal)
{
    double worst = bench_channels_worst(r, TCP, "channel", other, least, most);

    bench_print_goal(what, worst > 0 ? 1 / worst : 0, ">=", goal);
}

/* Prints the largest ratio that a channel can reach: that of @p other to @p floor. */
static void bench_channels_print_limit(const struct results *r, const char *what, const char *other,
                                       const char *floor, size_t bytes)
{
    double worst = bench_channels_worst(r, TCP, floor, other, bytes, bytes);
    char   text[80];

    snprintf(text, sizeof text, "%s, %zu bytes", what, bytes);
    if (worst > 0)
        printf("%-62s%8.2f  a limit\n", text, 1 / worst);
}

/* Prints, for sizes that have goals, the ratio of an entry call to a channel, and limits: that
 * of a bare message, copied in and out, to data that are received where they belong, which no
 * runtime exceeds whose messages are as fast as their system calls; and those of this runtime's
 * entry calls to bare packets with a header, which tells the receiver of several channels where the
 * data belong, and to data alone. */
static void bench_channels_print_size_limits(const struct results *r)
{
    static const size_t shown[] = {8, 100, 1000, 10000, 20000, 30000, 40000, 100000};

    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char what[80];

        snprintf(what, sizeof what, "entry call / channel, %zu bytes", shown[i]);
        if (shown[i] >= 10000) /* smaller ones have a goal together */
            bench_channels_print_gain(r, what, "entry", shown[i], shown[i], 1.3);
        bench_channels_print_limit(r, "bare message with copies / bare send and recv", "copied",
                                   "floor", shown[i]);
        bench_channels_print_limit(r, "entry call / bare packets with a header", "entry", "packet",
                                   shown[i]);
        bench_channels_print_limit(r, "entry call / bare send and recv", "entry", "floor",
                                   shown[i]);
    }
}

/* The first rows are the ratios of the CkDirect paper, whose messages are entry calls, and what
 * they would be for a channel that takes no longer than its system calls. */
static void bench_channels_print_tcp_goals(const struct results *r)
{
    bench_print_goals_head("Goals, between hosts over TCP");
    bench_channels_print_gain(r, "entry call / channel, worst size up to 1000", "entry", 0, 1000,
                              1.25);
    bench_channels_print_gain(r, "entry call / channel, worst size from 10000 to 100000", "entry",
                              10000, 100000, 1.3);
    bench_channels_print_size_limits(r);
    bench_channels_print_gain(r, "message / channel, worst size from 10000 to 100000", "message",
                              10000, 100000, 1.3);
    bench_print_goal("learned channel / entry call, worst size from 10000 to 100000",
                     bench_channels_worst(r, TCP, "learned", "entry", 10000, 100000), "<=", 1);
    bench_print_goal("channel / bare send and recv, worst size",
                     bench_channels_worst(r, TCP, "channel", "floor", TCP_MIN, TCP_MAX), "<=", 1.2);
}

static void bench_channels_print_all_goals(const struct results *r)
{
    bench_print_goals_head("Goals, two processes");
    bench_channels_print_goals(r, "");
    for (const struct series *s = bench_channels_columns + PEERS; s->colour; s++)
        bench_print_goalf(bench_channels_worst(r, "", "channel", s->name, 0, SIZE_MAX), "<=", 1,
                          "channel / %s, worst size", s->name);
    bench_print_goals_head("Goals, two threads");
    bench_channels_print_goals(r, "-threads");
}

static void bench_channels_print_on(const struct results *r, int pes)
{
    struct series_set threads = bench_channels_processes, tcp = bench_channels_processes;

    threads.title  = "\nRound trip from buffer to buffer, two threads";
    threads.list   = bench_channels_threads;
    threads.suffix = "-threads";
    tcp.title      = "\nRound trip from buffer to buffer between hosts over TCP (loopback)";
    tcp.list       = bench_channels_tcp;
    tcp.suffix     = TCP;
    tcp.numbers    = sizes;
    tcp.count      = TCP_SIZES;
    bench_print_pairs_head(r, pes);
    series_print_columns(&bench_channels_processes, r);
    series_print_columns(&threads, r);
    if (pes == 2)
        bench_channels_print_all_goals(r);
    series_print_columns(&tcp, r);
    if (pes == 2)
        bench_channels_print_tcp_goals(r);
}

static void bench_channels_print(const struct results *r)
{
    bench_print_each(r, bench_channels_print_on);
}

const struct bench bench_channels = {.name   = "channels",
                                     .run    = bench_channels_run,
                                     .print  = bench_channels_print,
                                     .series = &bench_channels_processes,
                                     .pairs  = true};
