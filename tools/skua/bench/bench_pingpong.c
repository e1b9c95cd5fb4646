/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pingpong.c - skua bench pingpong: the table of the CkDirect paper, apps/pingpong against
 * two MPIs. */
#include <stdint.h>

#include "bench.h"

#define ROUNDTRIP "roundtrip_us"
#define TRIPS     "10000" /* of each size, in batches of equal length in all programs */

static const size_t sizes[] = {100, 1000, 5000, 10000, 20000, 30000, 40000, 70000, 100000, 500000};

#define SIZES (sizeof sizes / sizeof *sizes)

static const char *const columns[] = {"skua-messages", "skua-channel", "skua-get",
                                      "openmpi-send",  "openmpi-pscw", "openmpi-flag",
                                      "mpich-send",    "mpich-pscw",   "mpich-flag"};

#define COLUMNS (sizeof columns / sizeof *columns)
#define OURS    3 /* the first ones, of Skua */

/* ---- running ------------------------------------------------------------------- */

/* Runs each variant in a job of its own, as the MPI programs do. */
static void bench_pingpong_run(struct results *results, const struct bench_host *host, int round,
                               int rounds)
{
    static const char *const variants[] = {"--messages", "--channel", "--get"};

    for (size_t w = 0; w < sizeof variants / sizeof *variants; w++) {
        bench_step(round, rounds, variants[w] + 2);
        bench_run_job(results, host,
                      "-n 2 --pin=auto @pingpong --iterations=" TRIPS
                      " --repeat=1 --series=skua %s",
                      variants[w]);
    }
    bench_run_mpi_channels(results, host, round, rounds, "," TRIPS);
}

/* ---- table and goals ----------------------------------------------------------- */

static double bench_pingpong_get(const struct results *r, const char *series, size_t bytes)
{
    return results_get(r, series, bytes, ROUNDTRIP);
}

static void bench_pingpong_print_line(const struct results *r, size_t bytes)
{
    printf("%9zu", bytes);
    for (size_t c = 0; c < COLUMNS; c++)
        bench_print_value(bench_pingpong_get(r, columns[c], bytes), 14);
    bench_print_value(bench_ratio(bench_pingpong_get(r, "skua-messages", bytes),
                                  bench_pingpong_get(r, "skua-channel", bytes)),
                      20);
    printf("\n");
}

static void bench_pingpong_print_table(const struct results *r)
{
    printf("Round trip between two objects, two processes, microseconds\n%9s", "bytes");
    for (size_t c = 0; c < COLUMNS; c++)
        printf("%14s", columns[c]);
    printf("%20s\n", "messages / channel");
    for (size_t i = 0; i < SIZES; i++)
        bench_pingpong_print_line(r, sizes[i]);
}

/* Returns the largest ratio of a channel to @p other, over sizes up to @p most. */
static double bench_pingpong_worst(const struct results *r, const char *other, size_t most)
{
    double found = 0;

    for (size_t i = 0; i < SIZES && sizes[i] <= most; i++) {
        double ratio = bench_ratio(bench_pingpong_get(r, "skua-channel", sizes[i]),
                                   bench_pingpong_get(r, other, sizes[i]));

        found = ratio > found ? ratio : found;
    }
    return found;
}

static void bench_pingpong_print(const struct results *r)
{
    bench_pingpong_print_table(r);
    bench_print_goals_head("Goals");
    bench_print_goal("channel / messages, worst size up to 10000",
                     bench_pingpong_worst(r, "skua-messages", 10000), "<=", 0.7);
    bench_print_goal("channel / messages, worst size",
                     bench_pingpong_worst(r, "skua-messages", SIZE_MAX), "<=", 1);
    for (size_t c = OURS; c < COLUMNS; c++)
        bench_print_goalf(bench_pingpong_worst(r, columns[c], SIZE_MAX), "<", 1,
                          "channel / %s, worst size", columns[c]);
}

/* ---- plot ---------------------------------------------------------------------- */

static void bench_pingpong_plot(const struct results *r, FILE *to)
{
    static const char *const colours[COLUMNS] = {"#1f77b4", "#d62728", "#9467bd",
                                                 "#2ca02c", "#98df8a", "#006d2c",
                                                 "#8c564b", "#c49c94", "#543005"};
    struct plot_curve        curve[COLUMNS]   = {0};
    struct plot picture = {"Round trip between two objects, two processes", "bytes", "microseconds",
                           curve, COLUMNS};

    for (size_t c = 0; c < COLUMNS; c++) {
        curve[c].name   = columns[c];
        curve[c].colour = colours[c];
        curve[c].dash   = "";
        bench_plot_curve(&curve[c], r, columns[c], ROUNDTRIP, sizes, SIZES);
    }
    plot_write(&picture, to);
}

const struct bench bench_pingpong = {.name        = "pingpong",
                                     .run         = bench_pingpong_run,
                                     .print       = bench_pingpong_print,
                                     .plot        = bench_pingpong_plot,
                                     .part_on_pes = "entries"};
