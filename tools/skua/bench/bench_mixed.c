/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_mixed.c - skua bench mixed: messages inside a host in a job of two hosts, against the same
 * in a job of one.  The second host is a second process on this one that shares no memory.  It has
 * cores of its own if there are four.  Otherwise it takes time from the CPUs of the first.  Goals
 * apply to the times as measured in either case; round trips without the waits for a CPU
 * (bench/mixed.c) are printed as well, and have no goal.  Limits are the round trips and the rates
 * that as many messages over a bare socket would leave (floor.c).
 *
 * With --pes, each host has more than two PEs.  Those of the first are pairs that communicate at
 * once; times and rates are those of the slowest pair, and have no goals and limits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench.h"
#include "series.h"

#define BYTES 8

/* A kind of message and its metric. */
static const struct mixed_row {
    const char *name, *series, *metric;
    double      scale;
    bool        rate; /* more is better */
} mixed_rows[] = {
    {"round trip of a message, us", "handler", "roundtrip_us", 1, false},
    {"round trip of an entry call, us", "element", "roundtrip_us", 1, false},
    {"messages, millions/s", "handler", "rate-messages", 1e-6, true},
    {"entry calls, millions/s", "element", "rate-messages", 1e-6, true},
    {"message, without waits for a CPU, us", "handler", "roundtrip_own_us", 1, false},
    {"entry call, without waits for a CPU, us", "element", "roundtrip_own_us", 1, false},
};

#define MIXED_ROWS  (sizeof mixed_rows / sizeof *mixed_rows)
#define MIXED_GOALS 4 /* rows with goals, the first ones */

/* Round trips inside the host for each message to the other host, in bench/mixed.c and floor.c. */
#define MIXED_FAR_EVERY 256

/* Returns the CPUs of @p pes PEs of each of two hosts, allocated, as --pin takes them: those of
 * both are the same ones if there are too few. */
static char *bench_mixed_cpus(const struct bench_host *host, int pes)
{
    char  *all = bench_cpus(host, 2 * pes, pes), *own;
    size_t room;

    if (all)
        return all;
    own = pes > 2 ? bench_cpus(host, pes, pes) : NULL;
    if (!own)
        own = bench_halves(host, pes);
    room = 2 * strlen(own) + sizeof ",";
    all  = ski_malloc(room);
    snprintf(all, room, "%s,%s", own, own);
    free(own);
    return all;
}

/* Runs bench-mixed with @p pes PEs on each of @p hosts; those of the first are on the same CPUs in
 * either case. */
static void bench_mixed_run_job(struct results *results, int pes, int hosts, const char *arguments)
{
    char *cpus = bench_mixed_cpus(results->host, pes), *end = strchr(cpus, ',');

    for (int i = 1; end && i < pes; i++)
        end = strchr(end + 1, ',');
    if (end && hosts == 1)
        *end = '\0';
    bench_run_job(results, "-n %d -t %d --pin=%s%s @bench-mixed %s", pes * hosts, pes, cpus,
                  hosts == 1 ? "" : " -s shared_memory=0", arguments);
    free(cpus);
}

/* Measures what messages over a bare socket cost a bare round trip on the same CPUs: the process at
 * its other end is where the last PE of the second host is. */
static void bench_mixed_run_floor(struct results *results)
{
    char  path[PROGRAM_PATH_BYTES], *cpus, *cpu[4];
    char *argv[] = {path, "mixed", NULL, NULL, NULL, NULL};

    if (!program_find("bench-floor", path))
        return;
    cpus = cpu[0] = bench_mixed_cpus(results->host, 2);
    for (int i = 1; i < 4; i++) {
        cpu[i]    = strchr(cpu[i - 1], ',');
        *cpu[i]++ = '\0';
    }
    argv[2] = cpu[0];
    argv[3] = cpu[1];
    argv[4] = cpu[3];
    bench_run(results, argv);
    free(cpus);
}

static void bench_mixed_run_on(struct results *results, int pes)
{
    if (pes == 2) {
        bench_step(results, "bare sockets");
        bench_mixed_run_floor(results);
    }
    bench_step(results, "a job of one host");
    bench_mixed_run_job(results, pes, 1, "alone");
    bench_step(results, "a job of two hosts, the network silent");
    bench_mixed_run_job(results, pes, 2, "silent");
    bench_step(results, "a job of two hosts, the network busy");
    bench_mixed_run_job(results, pes, 2, "busy busy");
}

static void bench_mixed_run(struct results *results)
{
    bench_run_each(results, bench_mixed_run_on);
}

static double bench_mixed_get(const struct results *r, const struct mixed_row *row, const char *job)
{
    return results_get_series(r, BYTES, row->metric, "%s-%s", job, row->series);
}

/* Returns how much longer something takes in @p job than in a job of one host. */
static double bench_mixed_cost(const struct results *r, const struct mixed_row *row,
                               const char *job)
{
    double alone = bench_mixed_get(r, row, "alone"), mixed = bench_mixed_get(r, row, job);

    return row->rate ? bench_ratio(alone, mixed) : bench_ratio(mixed, alone);
}

/* Prints the ratio of a row, and the goal if the row has one. */
static void bench_mixed_print_ratio(const struct results *r, size_t row, const char *job,
                                    double goal)
{
    bench_print_goalf(bench_mixed_cost(r, &mixed_rows[row], job),
                      "<=", row < MIXED_GOALS ? goal : 0, "%s, network %s", mixed_rows[row].name,
                      job);
}

/* Returns by how much a busy network lengthens a row at least: by what messages over a bare socket,
 * as many as were sent, cost a bare round trip on these CPUs.  0: not measured. */
static double bench_mixed_limit(const struct results *r, const struct mixed_row *row)
{
    double floor = results_get(r, "floor-alone", BYTES, "roundtrip_us");
    double busy  = results_get(r, "floor-busy", BYTES, "roundtrip_us");
    double alone = bench_mixed_get(r, row, "alone"), share = 1.0 / MIXED_FAR_EVERY;

    if (row->rate) {
        share = results_get_series(r, BYTES, "far-share", "busy-%s", row->series);
        alone = bench_ratio(1e6, alone); /* microseconds of a message */
    }
    if (floor <= 0 || busy <= floor || alone <= 0 || share <= 0)
        return 0;
    return 1 + (busy - floor) * MIXED_FAR_EVERY * share / alone;
}

static void bench_mixed_print_limit(const struct results *r, const struct mixed_row *row)
{
    double limit = bench_mixed_limit(r, row);
    char   what[96];

    snprintf(what, sizeof what, "%s, bare sockets busy", row->name);
    if (limit > 0)
        printf("%-62s%8.2f  a limit\n", what, limit);
}

static const char *const mixed_jobs[] = {"alone", "silent", "busy"};

static void bench_mixed_print_goals(const struct results *r)
{
    bench_print_goals_head("Goals: two hosts / one host");
    for (int j = 1; j < 3; j++)
        for (size_t i = 0; i < MIXED_ROWS; i++)
            bench_mixed_print_ratio(r, i, mixed_jobs[j], j == 1 ? 1.1 : 1.25);
    for (size_t i = 0; i < MIXED_GOALS; i++)
        bench_mixed_print_limit(r, &mixed_rows[i]);
}

static void bench_mixed_print_on(const struct results *r, int pes)
{
    bench_print_pairs_head(r, pes);
    printf("%-44s%12s%12s%12s\n", "Between two PEs of a host", "one host", "silent", "busy");
    for (size_t i = 0; i < MIXED_ROWS; i++) {
        printf("%-44s", mixed_rows[i].name);
        for (int j = 0; j < 3; j++)
            bench_print_value(
                mixed_rows[i].scale * bench_mixed_get(r, &mixed_rows[i], mixed_jobs[j]), 12);
        printf("\n");
    }
    if (pes == 2)
        bench_mixed_print_goals(r);
}

static void bench_mixed_print(const struct results *r)
{
    bench_print_each(r, bench_mixed_print_on);
}

static const size_t bench_mixed_numbers[] = {BYTES};

static const struct series bench_mixed_curves[] = {
    {"alone-handler", .colour = "#444444", .dash = "5 4"},
    {"silent-handler", .colour = "#1f77b4"},
    {"busy-handler", .colour = "#d62728"},
    {0}};

static const struct series_set bench_mixed_all = {
    .list    = bench_mixed_curves,
    .numbers = bench_mixed_numbers,
    .count   = 1,
    .metric  = "roundtrip_us",
    .title   = "Round trip inside a host, in jobs of one and of two hosts",
    .unit    = "microseconds",
    .label   = "bytes"};

const struct bench bench_mixed = {.name   = "mixed",
                                  .run    = bench_mixed_run,
                                  .print  = bench_mixed_print,
                                  .series = &bench_mixed_all,
                                  .pairs  = true};
