/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pingpong.c - skua bench pingpong: the table of the CkDirect paper, apps/pingpong against
 * two MPIs. */
#include "bench.h"
#include "series.h"

#define ROUNDTRIP "roundtrip_us"
#define TRIPS     "10000" /* of each size, in batches of equal length in all programs */

static const size_t sizes[] = {100, 1000, 5000, 10000, 20000, 30000, 40000, 70000, 100000, 500000};

#define SIZES (sizeof sizes / sizeof *sizes)
#define SMALL 4 /* of them, up to 10000 */

/* The columns of the table, which are the curves of the plot.  Those from OTHERS on are of MPIs. */
static const struct series bench_pingpong_columns[] = {
    {"skua-messages", .colour = "#1f77b4"},
    {"skua-channel", .colour = "#d62728"},
    {"skua-get", .colour = "#9467bd"},
    {"openmpi-send", .colour = "#2ca02c"},
    {"openmpi-pscw", .colour = "#98df8a"},
    {"openmpi-flag", .colour = "#006d2c"},
    {"mpich-send", .colour = "#8c564b"},
    {"mpich-pscw", .colour = "#c49c94"},
    {"mpich-flag", .colour = "#543005"},
    {"messages / channel", "skua-messages", .over = "skua-channel"},
    {0}};

#define OTHERS 3

static const struct series_set bench_pingpong_all = {
    .list    = bench_pingpong_columns,
    .numbers = sizes,
    .count   = SIZES,
    .metric  = ROUNDTRIP,
    .title   = "Round trip between two objects, two processes",
    .unit    = "microseconds",
    .label   = "bytes"};

/* ---- running ------------------------------------------------------------------- */

/* Runs each variant in a job of its own, as the MPI programs do. */
static void bench_pingpong_run(struct results *results)
{
    static const char *const variants[] = {"--messages", "--channel", "--get"};

    for (size_t w = 0; w < sizeof variants / sizeof *variants; w++) {
        bench_step(results, variants[w] + 2);
        bench_run_job(
            results, "-n 2 --pin=auto @pingpong --iterations=" TRIPS " --repeat=1 --series=skua %s",
            variants[w]);
    }
    bench_run_mpi_channels(results, "," TRIPS, 2);
}

/* ---- table and goals ----------------------------------------------------------- */

/* Returns the largest ratio of a channel to @p other, over the first @p count sizes. */
static double bench_pingpong_worst(const struct results *r, const char *other, size_t count)
{
    return bench_find_worst(r, "skua-channel", ROUNDTRIP, other, ROUNDTRIP, sizes, count).ratio;
}

static void bench_pingpong_print(const struct results *r)
{
    series_print_columns(&bench_pingpong_all, r);
    bench_print_goals_head("Goals");
    bench_print_goal("channel / messages, worst size up to 10000",
                     bench_pingpong_worst(r, "skua-messages", SMALL), "<=", 0.7);
    bench_print_goal("channel / messages, worst size",
                     bench_pingpong_worst(r, "skua-messages", SIZES), "<=", 1);
    for (const struct series *s = bench_pingpong_columns + OTHERS; s->colour; s++)
        bench_print_goalf(bench_pingpong_worst(r, s->name, SIZES), "<", 1,
                          "channel / %s, worst size", s->name);
}

const struct bench bench_pingpong = {.name        = "pingpong",
                                     .run         = bench_pingpong_run,
                                     .print       = bench_pingpong_print,
                                     .series      = &bench_pingpong_all,
                                     .part_on_pes = "entries"};
