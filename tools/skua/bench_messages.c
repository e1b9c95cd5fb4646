/* SPDX-License-Identifier: Apache-2.0 */
/* bench_messages.c - messages: what is run, the tables, the goals, the plot. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const size_t sizes[] = {0,     8,     100,   1000,   5000,   10000,   20000,
                               30000, 40000, 70000, 100000, 500000, 1000000, 4000000};

#define SIZES (sizeof sizes / sizeof *sizes)

#define ROUNDTRIP "roundtrip_us"

static const char *const mpis[] = {"openmpi", "mpich"};

#define MPIS (sizeof mpis / sizeof *mpis)

/* ---- running ------------------------------------------------------------- */

static void run_floor(struct results *results, const struct bench_host *host, char *threads)
{
    char  path[PROGRAM_PATH], cpu[2][16];
    char *argv[5] = {path, cpu[0], cpu[1], NULL, NULL};

    if (!program_find("bench-floor", path))
        return;
    for (int i = 0; i < 2; i++)
        snprintf(cpu[i], sizeof cpu[i], "%d", host->cpu[i]);
    if (threads) {
        argv[1] = threads;
        argv[2] = cpu[0];
        argv[3] = cpu[1];
    }
    bench_run(results, argv);
}

/* A list for --pin: the first half of the PEs on one CPU, the rest on the other. */
static void pin_list(char *text, size_t size, const struct bench_host *host, int pes)
{
    size_t n = (size_t)snprintf(text, size, "--pin=");

    for (int i = 0; i < pes && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%d", i ? "," : "", host->cpu[2 * i / pes]);
}

static void run_skua(struct results *results, const struct bench_host *host, const char *name,
                     int pes, int threads)
{
    char pin[256] = "--pin=auto";

    if (strcmp(name, "bench-ring") == 0) /* two CPUs, however many there are */
        pin_list(pin, sizeof pin, host, pes);
    bench_run_skua(results, host, name, pes, threads, pin);
}

/* Runs the peer of an MPI, "openmpi" or "mpich". */
static void run_mpi(struct results *results, const struct bench_host *host, const char *mpi,
                    int ranks, const char *what)
{
    char              program[64], series[64];
    struct bench_peer peer = {mpi, program, series, what};

    snprintf(program, sizeof program, "peer-%s-messages", mpi);
    snprintf(series, sizeof series, "%s%s", mpi, strcmp(what, "read") == 0 ? "-read" : "");
    bench_run_peer(results, host, &peer, ranks);
}

static void read_collected(const char *line, void *instructions)
{
    const char *at = strstr(line, "Collected : ");

    if (at)
        *(double *)instructions = atof(at + strlen("Collected : "));
}

static double count_once(char *valgrind, char *path, char *what, char *times)
{
    char *argv[] = {
        valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", path, what, times, NULL};
    double total = 0;

    return program_run(argv, true, read_collected, &total) == 0 ? total : 0;
}

/* Instructions of one of a thing: the difference of 128000 and 64000 of them. */
static void count_instructions(struct results *results, char *what)
{
    char          valgrind[PROGRAM_PATH], path[PROGRAM_PATH];
    struct result result = {.bench = "messages", .series = "skua", .bytes = 8};
    double        some, more;

    if (!program_in_path("valgrind", valgrind) || !program_find("bench-instructions", path))
        return;
    some = count_once(valgrind, path, what, "64000");
    more = count_once(valgrind, path, what, "128000");
    if (some == 0 || more <= some)
        return;
    snprintf(result.metric, sizeof result.metric, "instructions-%s", what);
    result.value = (more - some) / 64000;
    results_add(results, &result);
}

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    bench_step(round, rounds, "floor");
    run_floor(results, host, NULL);
    run_floor(results, host, "threads");
    bench_step(round, rounds, "Skua, round trips");
    run_skua(results, host, "bench-messages", 2, 1);
    run_skua(results, host, "bench-messages", 2, 2);
    for (size_t i = 0; i < MPIS; i++) {
        bench_step(round, rounds, mpis[i]);
        run_mpi(results, host, mpis[i], 2, "roundtrip");
        run_mpi(results, host, mpis[i], 2, "read");
        run_mpi(results, host, mpis[i], 2, "rate");
        run_mpi(results, host, mpis[i], 8, "rate");
    }
    bench_step(round, rounds, "Skua, rates");
    run_skua(results, host, "bench-rate", 2, 1);
    run_skua(results, host, "bench-rate", 2, 2);
    run_skua(results, host, "bench-rate", 8, 1);
    run_skua(results, host, "bench-rate", 8, 8);
    bench_step(round, rounds, "rings");
    run_skua(results, host, "bench-ring", 2, 1);
    run_skua(results, host, "bench-ring", 2, 2);
    run_skua(results, host, "bench-ring", 16, 1);
    run_skua(results, host, "bench-ring", 16, 16);
    if (round > 1)
        return; /* instructions do not vary */
    bench_step(round, rounds, "instructions (callgrind)");
    count_instructions(results, "self");
    count_instructions(results, "fresh");
    count_instructions(results, "copy");
    count_instructions(results, "pass");
    count_instructions(results, "yield");
}

/* ---- tables -------------------------------------------------------------- */

static const char *const columns[] = {
    "floor-flag", "floor-copy", "skua-inline",     "skua-owned",   "skua-copy",
    "openmpi",    "mpich",      "skua-owned-read", "openmpi-read", "mpich-read"};

#define COLUMNS (sizeof columns / sizeof *columns)

static double get(const struct results *r, const char *series, const char *suffix, size_t bytes)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", series, suffix);
    return results_get(r, name, bytes, ROUNDTRIP);
}

/* Microseconds; with @p relative, multiples of the flag floor. */
static void print_roundtrips(const struct results *r, const char *suffix, bool relative)
{
    size_t shown = suffix[0] ? 5 : COLUMNS; /* the MPIs have no threads to show */

    printf("%9s", "bytes");
    for (size_t c = 0; c < shown; c++)
        printf("%16s", columns[c]);
    printf("\n");
    for (size_t i = 0; i < SIZES; i++) {
        double unit = relative ? get(r, "floor-flag", suffix, sizes[i]) : 1;
        printf("%9zu", sizes[i]);
        for (size_t c = 0; c < shown; c++)
            bench_print_value(unit > 0 ? get(r, columns[c], suffix, sizes[i]) / unit : 0, 16);
        printf("\n");
    }
}

static void print_rate(const struct results *r, const char *series)
{
    double two   = results_get(r, series, 8, "rate-2pe"),
           eight = results_get(r, series, 8, "rate-8pe");

    if (two > 0 || eight > 0)
        printf("%-24s%12.2f%12.2f\n", series, two * 1e-6, eight * 1e-6);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- goals --------------------------------------------------------------- */

/* The largest ratio of @p series to either MPI, over all sizes. */
static double worst_against_mpi(const struct results *r, const char *series)
{
    double worst = 0;

    for (size_t i = 0; i < SIZES; i++) {
        double mine = get(r, series, "", sizes[i]);
        worst       = larger(worst, bench_ratio(mine, get(r, "openmpi", "", sizes[i])));
        worst       = larger(worst, bench_ratio(mine, get(r, "mpich", "", sizes[i])));
    }
    return worst;
}

static void print_goals(const struct results *r)
{
    double flag  = get(r, "floor-flag", "", 8);
    double owned = get(r, "skua-owned", "", 8);

    bench_print_goal("inline round trip / flag", bench_ratio(get(r, "skua-inline", "", 8), flag),
                     "<=", 1.5);
    bench_print_goal("by pointer, 8 bytes / flag", bench_ratio(owned, flag), "<=", 2);
    bench_print_goal("by pointer, 1 MB / by pointer, 8 bytes",
                     bench_ratio(get(r, "skua-owned", "", 1000000), owned), "<=", 1.5);
    bench_print_goal("by pointer / the faster MPI, worst size", worst_against_mpi(r, "skua-owned"),
                     "<=", 1);
    for (int pes = 2; pes <= 8; pes += 6) {
        char metric[32], what[64];
        snprintf(metric, sizeof metric, "rate-%dpe", pes);
        snprintf(what, sizeof what, "rate / the better MPI's, %d PEs", pes);
        bench_print_goal(what,
                         bench_ratio(results_get(r, "skua-inline", 8, metric),
                                     larger(results_get(r, "openmpi", 8, metric),
                                            results_get(r, "mpich", 8, metric))),
                         ">=", 2);
    }
    bench_print_goal("instructions, send to oneself and handler",
                     results_get(r, "skua", 8, "instructions-self"), "<=", 80);
    bench_print_goal("instructions, a pass with nothing to do",
                     results_get(r, "skua", 8, "instructions-pass"), "<=", 25);
    bench_print_goal("ring hop, 16 PEs on 2 CPUs / 2 PEs",
                     bench_ratio(results_get(r, "skua-ring", 8, "hop_us-16pe"),
                                 results_get(r, "skua-ring", 8, "hop_us-2pe")),
                     "<=", 20);
    bench_print_goal("the same, PEs as threads",
                     bench_ratio(results_get(r, "skua-ring-threads", 8, "hop_us-16pe"),
                                 results_get(r, "skua-ring-threads", 8, "hop_us-2pe")),
                     "<=", 20);
}

static void print(const struct results *r)
{
    static const char *const rates[]  = {"skua-inline", "skua-inline-threads", "openmpi", "mpich"};
    static const char *const counts[] = {"self", "fresh", "copy", "pass", "yield"};

    printf("Round trip between two processes, microseconds\n");
    print_roundtrips(r, "", false);
    printf("\nThe same, relative to the flag floor\n");
    print_roundtrips(r, "", true);
    printf("\nRound trip between two threads, microseconds\n");
    print_roundtrips(r, "-threads", false);
    printf("\nMessages of 8 bytes, millions a second%12s%12s\n", "2 PEs", "8 PEs");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        print_rate(r, rates[i]);
    printf("\nHop of a ring, microseconds%21s%12s\n", "2 PEs", "16 PEs");
    printf("%-36s%12.3f%12.3f\n", "processes, 2 CPUs", results_get(r, "skua-ring", 8, "hop_us-2pe"),
           results_get(r, "skua-ring", 8, "hop_us-16pe"));
    printf("%-36s%12.3f%12.3f\n", "threads, 2 CPUs",
           results_get(r, "skua-ring-threads", 8, "hop_us-2pe"),
           results_get(r, "skua-ring-threads", 8, "hop_us-16pe"));
    printf("\nInstructions\n");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char metric[32];
        snprintf(metric, sizeof metric, "instructions-%s", counts[i]);
        printf("%-36s%12.1f\n", counts[i], results_get(r, "skua", 8, metric));
    }
    bench_print_goals_head("Goals");
    print_goals(r);
}

/* ---- plot ---------------------------------------------------------------- */

static void plot(const struct results *r, FILE *to)
{
    enum { CURVES = 7 }; /* without those that read every byte */
    static const char *const colours[CURVES] = {"#999999", "#444444", "#1f77b4", "#d62728",
                                                "#9467bd", "#2ca02c", "#8c564b"};
    struct curve             curve[CURVES]   = {0};
    struct plot picture = {"Round trip of a message between two processes", "bytes", "microseconds",
                           curve, CURVES};

    for (size_t c = 0; c < CURVES; c++) {
        curve[c].name   = columns[c];
        curve[c].colour = colours[c];
        curve[c].dash   = strncmp(columns[c], "floor", 5) == 0 ? "5 4" : "";
        bench_plot_curve(&curve[c], r, columns[c], ROUNDTRIP, sizes, SIZES);
    }
    plot_write(&picture, to);
}

const struct bench bench_messages = {"messages", run, print, plot};
