/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pingpong.c - the table of the CkDirect paper: apps/pingpong beside two MPIs. */
#include <stdint.h>

#include "bench.h"

#define ROUNDTRIP "roundtrip_us"
#define TRIPS     "10000" /* of each size, in the same batches here and there */

static const size_t sizes[] = {100, 1000, 5000, 10000, 20000, 30000, 40000, 70000, 100000, 500000};

#define SIZES (sizeof sizes / sizeof *sizes)

static const char *const columns[] = {"skua-messages", "skua-channel", "skua-get",
                                      "openmpi-send",  "openmpi-pscw", "openmpi-flag",
                                      "mpich-send",    "mpich-pscw",   "mpich-flag"};

#define COLUMNS (sizeof columns / sizeof *columns)
#define OURS    3 /* of them */

/* ---- running ------------------------------------------------------------------- */

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    char  path[PROGRAM_PATH];
    char *argv[] = {(char *)host->skuarun, "-n",         "2", "--pin=auto", path, "--series=skua",
                    "--iterations=" TRIPS, "--repeat=1", NULL};

    bench_step(round, rounds, "messages, channels and gets");
    if (program_find("pingpong", path))
        bench_run(results, argv);
    bench_run_mpi_channels(results, host, round, rounds, "," TRIPS);
}

/* ---- table and goals ----------------------------------------------------------- */

static double get(const struct results *r, const char *series, size_t bytes)
{
    return results_get(r, series, bytes, ROUNDTRIP);
}

static void print_line(const struct results *r, size_t bytes)
{
    printf("%9zu", bytes);
    for (size_t c = 0; c < COLUMNS; c++)
        bench_print_value(get(r, columns[c], bytes), 14);
    bench_print_value(bench_ratio(get(r, "skua-messages", bytes), get(r, "skua-channel", bytes)),
                      20);
    printf("\n");
}

static void print_table(const struct results *r)
{
    printf("Data of one object to another and back, two processes, microseconds\n%9s", "bytes");
    for (size_t c = 0; c < COLUMNS; c++)
        printf("%14s", columns[c]);
    printf("%20s\n", "messages / channel");
    for (size_t i = 0; i < SIZES; i++)
        print_line(r, sizes[i]);
}

/* The largest ratio of a channel to @p other, up to a size. */
static double worst(const struct results *r, const char *other, size_t most)
{
    double found = 0;

    for (size_t i = 0; i < SIZES && sizes[i] <= most; i++) {
        double ratio = bench_ratio(get(r, "skua-channel", sizes[i]), get(r, other, sizes[i]));

        found = ratio > found ? ratio : found;
    }
    return found;
}

static void print(const struct results *r)
{
    print_table(r);
    bench_print_goals_head("Goals");
    bench_print_goal("channel / messages, worst size to 10000", worst(r, "skua-messages", 10000),
                     "<=", 0.7);
    bench_print_goal("channel / messages, worst size", worst(r, "skua-messages", SIZE_MAX),
                     "<=", 1);
    for (size_t c = OURS; c < COLUMNS; c++) {
        char what[64];

        snprintf(what, sizeof what, "channel / %s, worst size", columns[c]);
        bench_print_goal(what, worst(r, columns[c], SIZE_MAX), "<", 1);
    }
}

/* ---- plot ---------------------------------------------------------------------- */

static void plot(const struct results *r, FILE *to)
{
    static const char *const colours[COLUMNS] = {"#1f77b4", "#d62728", "#9467bd",
                                                 "#2ca02c", "#98df8a", "#006d2c",
                                                 "#8c564b", "#c49c94", "#543005"};
    struct curve             curve[COLUMNS]   = {0};
    struct plot picture = {"From object to object and back, two processes", "bytes", "microseconds",
                           curve, COLUMNS};

    for (size_t c = 0; c < COLUMNS; c++) {
        curve[c].name   = columns[c];
        curve[c].colour = colours[c];
        curve[c].dash   = "";
        bench_plot_curve(&curve[c], r, columns[c], ROUNDTRIP, sizes, SIZES);
    }
    plot_write(&picture, to);
}

const struct bench bench_pingpong = {"pingpong", run, print, plot};
