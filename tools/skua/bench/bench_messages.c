/* SPDX-License-Identifier: Apache-2.0 */
/* bench_messages.c - skua bench messages: round trips, rates and instruction counts of messages,
 * against the floor and MPI. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "series.h"

static const size_t sizes[] = {0,     8,     100,   1000,   5000,   10000,   20000,
                               30000, 40000, 70000, 100000, 500000, 1000000, 4000000};

#define SIZES (sizeof sizes / sizeof *sizes)

#define ROUNDTRIP "roundtrip_us"

/* ---- running ------------------------------------------------------------- */

static void bench_messages_run_skua(struct results *results, const char *name, int pes, int threads)
{
    char *halves = NULL;

    if (strcmp(name, "bench-ring") == 0) /* on two CPUs, however many this host has */
        halves = bench_halves(results->host, pes);
    bench_run_job(results, "-n %d -t %d --pin=%s @%s", pes, threads, halves ? halves : "auto",
                  name);
    free(halves);
}

static void bench_messages_read_collected(const char *line, void *instructions)
{
    const char *at = strstr(line, "Collected : ");

    if (at)
        *(double *)instructions = atof(at + strlen("Collected : "));
}

static double bench_messages_count_once(char *valgrind, char *path, char *what, char *times)
{
    char *argv[] = {
        valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", path, what, times, NULL};
    double total = 0;

    return program_run(argv, true, bench_messages_read_collected, &total) == 0 ? total : 0;
}

/* Counts the instructions of one operation: the difference between 128000 and 64000 of them,
 * divided by 64000. */
static void bench_messages_count_instructions(struct results *results, char *what)
{
    char          valgrind[PROGRAM_PATH_BYTES], path[PROGRAM_PATH_BYTES];
    struct result result = {.bench = "messages", .series = "skua", .bytes = 8};
    double        some, more;

    if (!program_in_path("valgrind", valgrind) || !program_find("bench-instructions", path))
        return;
    some = bench_messages_count_once(valgrind, path, what, "64000");
    more = bench_messages_count_once(valgrind, path, what, "128000");
    if (some == 0 || more <= some)
        return;
    snprintf(result.metric, sizeof result.metric, "instructions-%s", what);
    result.value = (more - some) / 64000;
    results_add(results, &result);
}

static void bench_messages_run_mpi(struct results *results, const char *mpi)
{
    char read[32];

    snprintf(read, sizeof read, "%s-read", mpi);
    bench_step(results, mpi);
    bench_run_mpi(results, mpi, "messages", mpi, "roundtrip", 2);
    bench_run_mpi(results, mpi, "messages", read, "read", 2);
    bench_run_mpi(results, mpi, "messages", mpi, "rate", 2);
    bench_run_mpi(results, mpi, "messages", mpi, "rate", 8);
}

static void bench_messages_run(struct results *results)
{
    bench_step(results, "floor");
    bench_run_floor(results, NULL);
    bench_run_floor(results, "threads");
    bench_step(results, "Skua, round trips");
    bench_messages_run_skua(results, "bench-messages", 2, 1);
    bench_messages_run_skua(results, "bench-messages", 2, 2);
    for (size_t i = 0; i < BENCH_MPIS; i++)
        bench_messages_run_mpi(results, bench_mpis[i]);
    bench_step(results, "Skua, rates");
    bench_messages_run_skua(results, "bench-rate", 2, 1);
    bench_messages_run_skua(results, "bench-rate", 2, 2);
    bench_messages_run_skua(results, "bench-rate", 8, 1);
    bench_messages_run_skua(results, "bench-rate", 8, 8);
    bench_step(results, "rings");
    bench_messages_run_skua(results, "bench-ring", 2, 1);
    bench_messages_run_skua(results, "bench-ring", 2, 2);
    bench_messages_run_skua(results, "bench-ring", 16, 1);
    bench_messages_run_skua(results, "bench-ring", 16, 16);
    if (results->host->round > 1)
        return; /* instruction counts do not vary */
    bench_step(results, "instructions (callgrind)");
    bench_messages_count_instructions(results, "self");
    bench_messages_count_instructions(results, "fresh");
    bench_messages_count_instructions(results, "copy");
    bench_messages_count_instructions(results, "pass");
    bench_messages_count_instructions(results, "yield");
}

/* ---- tables -------------------------------------------------------------- */

/* The columns of round trips.  Plots leave out those that read every byte. */
static const struct series bench_messages_columns[] = {
    {"floor-flag", .colour = "#999999", .dash = "5 4"},
    {"floor-copy", .colour = "#444444", .dash = "5 4"},
    {"skua-inline", .colour = "#1f77b4"},
    {"skua-owned", .colour = "#d62728"},
    {"skua-copy", .colour = "#9467bd"},
    {"openmpi", .colour = "#2ca02c"},
    {"mpich", .colour = "#8c564b"},
    {.name = "skua-owned-read"},
    {.name = "openmpi-read"},
    {.name = "mpich-read"},
    {0}};

#define THREADS 5 /* columns between threads, where the MPIs are not measured */

static const struct series_set bench_messages_processes = {
    .list       = bench_messages_columns,
    .numbers    = sizes,
    .count      = SIZES,
    .metric     = ROUNDTRIP,
    .title      = "Round trip between two processes",
    .unit       = "microseconds",
    .label      = "bytes",
    .plot_title = "Round trip of a message between two processes"};

static double bench_messages_get(const struct results *r, const char *series, size_t bytes)
{
    return results_get(r, series, bytes, ROUNDTRIP);
}

static void bench_messages_print_roundtrips(const struct results *r)
{
    struct series_set relative = bench_messages_processes, threads = bench_messages_processes;

    relative.title = "\nRound trip between two processes";
    relative.unit  = "relative to the floor \"flag\"";
    relative.over  = "floor-flag";
    threads.title  = "\nRound trip between two threads";
    threads.suffix = "-threads";
    threads.shown  = THREADS;
    series_print_columns(&bench_messages_processes, r);
    series_print_columns(&relative, r);
    series_print_columns(&threads, r);
}

static void bench_messages_print_rate(const struct results *r, const char *series)
{
    double two   = results_get(r, series, 8, "rate-2pe"),
           eight = results_get(r, series, 8, "rate-8pe");

    if (two > 0 || eight > 0)
        printf("%-24s%12.2f%12.2f\n", series, two * 1e-6, eight * 1e-6);
}

/* ---- goals --------------------------------------------------------------- */

/* Returns the largest ratio of @p series to the faster MPI, over all sizes. */
static double bench_messages_worst_against_mpi(const struct results *r, const char *series)
{
    double worst = 0;

    for (size_t i = 0; i < SIZES; i++)
        worst = fmax(worst, bench_ratio(bench_messages_get(r, series, sizes[i]),
                                        bench_better_mpi(r, sizes[i], ROUNDTRIP)));
    return worst;
}

static void bench_messages_print_goals(const struct results *r)
{
    double flag  = bench_messages_get(r, "floor-flag", 8);
    double owned = bench_messages_get(r, "skua-owned", 8);

    bench_print_goal("inline round trip / flag",
                     bench_ratio(bench_messages_get(r, "skua-inline", 8), flag), "<=", 1.5);
    bench_print_goal("by pointer, 8 bytes / flag", bench_ratio(owned, flag), "<=", 2);
    bench_print_goal("by pointer, 1 MB / by pointer, 8 bytes",
                     bench_ratio(bench_messages_get(r, "skua-owned", 1000000), owned), "<=", 1.5);
    bench_print_goal("by pointer / faster MPI, worst size",
                     bench_messages_worst_against_mpi(r, "skua-owned"), "<=", 1);
    for (int pes = 2; pes <= 8; pes += 6) {
        char metric[32];
        snprintf(metric, sizeof metric, "rate-%dpe", pes);
        bench_print_goalf(
            bench_ratio(results_get(r, "skua-inline", 8, metric), bench_better_mpi(r, 8, metric)),
            ">=", 2, "rate / better MPI, %d PEs", pes);
    }
    bench_print_goal("instructions, send to the same PE, and handler",
                     results_get(r, "skua", 8, "instructions-self"), "<=", 80);
    bench_print_goal("instructions, scheduler pass without work",
                     results_get(r, "skua", 8, "instructions-pass"), "<=", 25);
    bench_print_goal("ring hop, 16 PEs on 2 CPUs / 2 PEs",
                     bench_ratio(results_get(r, "skua-ring", 8, "hop_us-16pe"),
                                 results_get(r, "skua-ring", 8, "hop_us-2pe")),
                     "<=", 20);
    bench_print_goal("ring hop, 16 PEs on 2 CPUs / 2 PEs, threads",
                     bench_ratio(results_get(r, "skua-ring-threads", 8, "hop_us-16pe"),
                                 results_get(r, "skua-ring-threads", 8, "hop_us-2pe")),
                     "<=", 20);
}

static void bench_messages_print(const struct results *r)
{
    static const char *const rates[]  = {"skua-inline", "skua-inline-threads", "openmpi", "mpich"};
    static const char *const counts[] = {"self", "fresh", "copy", "pass", "yield"};

    bench_messages_print_roundtrips(r);
    printf("\nMessages of 8 bytes, millions per second%12s%12s\n", "2 PEs", "8 PEs");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        bench_messages_print_rate(r, rates[i]);
    printf("\nHop of a ring, microseconds%21s%12s\n", "2 PEs", "16 PEs");
    printf("%-36s%12.3f%12.3f\n", "processes, 2 CPUs", results_get(r, "skua-ring", 8, "hop_us-2pe"),
           results_get(r, "skua-ring", 8, "hop_us-16pe"));
    printf("%-36s%12.3f%12.3f\n", "threads, 2 CPUs",
           results_get(r, "skua-ring-threads", 8, "hop_us-2pe"),
           results_get(r, "skua-ring-threads", 8, "hop_us-16pe"));
    printf("\nInstructions\n");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        printf("%-36s%12.1f\n", counts[i],
               results_get_metric(r, "skua", 8, "instructions-%s", counts[i]));
    bench_print_goals_head("Goals");
    bench_messages_print_goals(r);
}

const struct bench bench_messages = {.name        = "messages",
                                     .run         = bench_messages_run,
                                     .print       = bench_messages_print,
                                     .series      = &bench_messages_processes,
                                     .part_on_pes = "messages"};
