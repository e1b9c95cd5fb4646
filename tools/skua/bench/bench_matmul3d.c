/* SPDX-License-Identifier: Apache-2.0 */
/* bench_matmul3d.c - skua bench matmul3d: matrix products with messages and with channels, against
 * ScaLAPACK. */
#include "scaling.h"

#define REPEAT 3

/* Rows of the matrices, and products per run, which takes some hundred milliseconds. */
static const struct {
    int size, steps;
} cases[] = {{192, 200}, {384, 40}, {768, 8}, {1536, 2}};

#define CASES (sizeof cases / sizeof *cases)

static const int ratios[] = {1, 4, 16, 64}; /* tiles on each PE */

#define RATIOS (sizeof ratios / sizeof *ratios)

/* ---- running ------------------------------------------------------------- */

static void bench_matmul3d_run_skua(struct results *results, size_t c, int ratio)
{
    bench_run_job(results,
                  "-n 2 --set arena_keep=1g @matmul3d --size=%d --per-pe=%d --steps=%d --repeat=%d "
                  "--series=skua-%d",
                  cases[c].size, ratio, cases[c].steps, REPEAT, ratio);
}

/* One tile on one PE: a product of OpenBLAS without any communication. */
static void bench_matmul3d_run_alone(struct results *results, int size, int steps)
{
    bench_run_job(
        results,
        "-n 1 @matmul3d --size=%d --grid=1,1,1 --messages --steps=%d --repeat=%d --series=alone",
        size, steps, REPEAT);
}

static void bench_matmul3d_run_scalapack(struct results *results, size_t c)
{
    char              argument[48];
    struct bench_peer peer = {"openmpi", "peer-scalapack", "scalapack", argument};

    snprintf(argument, sizeof argument, "%d,%d,%d", cases[c].size, cases[c].steps, REPEAT);
    bench_run_peer(results, &peer, 2);
}

static void bench_matmul3d_run(struct results *results)
{
    for (size_t c = 0; c < CASES; c++) {
        bench_stepf(results, "matrices of %d rows", cases[c].size);
        bench_matmul3d_run_alone(results, cases[c].size, cases[c].steps);
        for (size_t i = 0; i < RATIOS; i++)
            bench_matmul3d_run_skua(results, c, ratios[i]);
        bench_stepf(results, "ScaLAPACK, %d rows", cases[c].size);
        bench_matmul3d_run_scalapack(results, c);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Returns the rate of a series in GF/s. */
static double bench_matmul3d_rate(const struct results *r, const char *series, size_t c, int pes)
{
    double n       = cases[c].size;
    double seconds = results_get_metric(r, series, (size_t)cases[c].size, "step-%dpe", pes);

    return seconds > 0 ? 2e-9 * n * n * n / seconds : 0;
}

static double bench_matmul3d_skua_rate(const struct results *r, const char *variant, int ratio,
                                       size_t c)
{
    char series[48];

    snprintf(series, sizeof series, "skua-%d-%s", ratio, variant);
    return bench_matmul3d_rate(r, series, c, 2);
}

static void bench_matmul3d_print_peer(const struct results *r, const char *what, const char *series,
                                      int pes)
{
    printf("%-36s", what);
    for (size_t c = 0; c < CASES; c++)
        bench_print_value(bench_matmul3d_rate(r, series, c, pes), 9);
    printf("\n");
}

static void bench_matmul3d_print_variant(const struct results *r, const char *variant, int ratio)
{
    printf("skua, %s, tiles per PE: %-5d", variant, ratio);
    for (size_t c = 0; c < CASES; c++)
        bench_print_value(bench_matmul3d_skua_rate(r, variant, ratio, c), 9);
    printf("\n");
}

/* Returns the largest ratio of the time with channels to the time with messages, over all sizes. */
static double bench_matmul3d_worst(const struct results *r, int ratio)
{
    double found = 0;

    for (size_t c = 0; c < CASES; c++) {
        double one = bench_ratio(bench_matmul3d_skua_rate(r, "messages", ratio, c),
                                 bench_matmul3d_skua_rate(r, "channels", ratio, c));

        found = one > found ? one : found;
    }
    return found;
}

/* Returns the best rate over all numbers of tiles. */
static double bench_matmul3d_best(const struct results *r, const char *variant, size_t c)
{
    double found = 0;

    for (size_t i = 0; i < RATIOS; i++) {
        double one = bench_matmul3d_skua_rate(r, variant, ratios[i], c);

        found = one > found ? one : found;
    }
    return found;
}

static void bench_matmul3d_print_goals(const struct results *r)
{
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < RATIOS; i++)
        bench_print_goalf(bench_matmul3d_worst(r, ratios[i]), "<=", 1,
                          "time of channels / messages, %d tiles per PE, worst size", ratios[i]);
    for (size_t c = 0; c < CASES; c++)
        bench_print_goalf(bench_ratio(bench_matmul3d_best(r, "channels", c),
                                      bench_matmul3d_rate(r, "scalapack", c, 2)),
                          ">=", 1, "rate of channels / ScaLAPACK, %d rows", cases[c].size);
}

static void bench_matmul3d_print(const struct results *r)
{
    printf("Product of square matrices of doubles, 2 PEs, GF/s\n%-36s", "rows");
    for (size_t c = 0; c < CASES; c++)
        printf("%9d", cases[c].size);
    printf("\n");
    bench_matmul3d_print_peer(r, "OpenBLAS alone, 1 PE", "alone-messages", 1);
    for (size_t i = 0; i < RATIOS; i++) {
        bench_matmul3d_print_variant(r, "messages", ratios[i]);
        bench_matmul3d_print_variant(r, "channels", ratios[i]);
    }
    bench_matmul3d_print_peer(r, "ScaLAPACK, 2 ranks", "scalapack", 2);
    bench_matmul3d_print_goals(r);
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_matmul3d_plot(const struct results *r, FILE *to)
{
    struct plot_curve curve[] = {
        {.name = "messages, 4 tiles", .colour = "#1f77b4", .dash = ""},
        {.name = "channels, 4 tiles", .colour = "#d62728", .dash = ""},
        {.name = "messages, 64 tiles", .colour = "#1f77b4", .dash = "4 3"},
        {.name = "channels, 64 tiles", .colour = "#d62728", .dash = "4 3"},
        {.name = "ScaLAPACK", .colour = "#2ca02c", .dash = ""},
        {.name = "OpenBLAS alone, 1 PE", .colour = "#7f7f7f", .dash = ""},
    };
    struct plot picture = {"Matrix product, 2 PEs", "rows", "GF/s", curve,
                           sizeof curve / sizeof *curve};

    for (size_t c = 0; c < CASES; c++) {
        for (size_t i = 0; i < 4; i++)
            plot_curve_add(
                &curve[i], cases[c].size,
                bench_matmul3d_skua_rate(r, i % 2 ? "channels" : "messages", i < 2 ? 4 : 64, c));
        plot_curve_add(&curve[4], cases[c].size, bench_matmul3d_rate(r, "scalapack", c, 2));
        plot_curve_add(&curve[5], cases[c].size, bench_matmul3d_rate(r, "alone-messages", c, 1));
    }
    plot_write(&picture, to);
}

const struct bench bench_matmul3d = {.name  = "matmul3d",
                                     .run   = bench_matmul3d_run,
                                     .print = bench_matmul3d_print,
                                     .plot  = bench_matmul3d_plot};

/* ---- any number of PEs ----------------------------------------------------- */

#define SCALE_STEPS 2
#define SCALE_TILES 4  /* of a PE */
#define SCALE_ROWS  64 /* rows of a growing problem are a multiple of this */

/* Returns the rows of the matrices on a number of PEs: the products of a problem that grows are
 * those of the PEs. */
static int bench_matmul3d_rows(const struct scaling *scaling, int pes)
{
    return scaling_grow_rows(scaling, pes, SCALE_ROWS);
}

static void bench_matmul3d_scale_skua(struct results *results, int rows, int pes, int threads,
                                      const char *variant)
{
    bench_run_job(
        results,
        "-n %d -t %d --set arena_keep=1g @matmul3d --size=%d --per-pe=%d --steps=%d --repeat=%d %s",
        pes, threads, rows, SCALE_TILES, SCALE_STEPS, REPEAT, variant);
}

static void bench_matmul3d_scale(const struct scaling *scaling, struct results *results, int pes)
{
    int               rows = bench_matmul3d_rows(scaling, pes);
    char              argument[48];
    struct bench_peer peer = {"openmpi", "peer-scalapack", "scalapack", argument};

    bench_matmul3d_scale_skua(results, rows, pes, 1, "--series=skua");
    if (pes > 1)
        bench_matmul3d_scale_skua(results, rows, pes, pes, "--series=skua-threads --channels");
    else
        bench_matmul3d_run_alone(results, rows, SCALE_STEPS);
    snprintf(argument, sizeof argument, "%d,%d,%d", rows, SCALE_STEPS, REPEAT);
    bench_run_peer(results, &peer, pes);
    snprintf(argument, sizeof argument, "%d,%d,%d,%d", rows, SCALE_STEPS, REPEAT, SCALE_TILES);
    scaling_run_limit(results, "matmul3d", argument, pes);
}

static size_t bench_matmul3d_bytes_on(const struct scaling *scaling, int pes)
{
    return (size_t)bench_matmul3d_rows(scaling, pes);
}

static double bench_matmul3d_work_on(const struct scaling *scaling, int pes)
{
    double edge = (double)bench_matmul3d_rows(scaling, pes) / scaling->size.of_one;

    return edge * edge * edge;
}

const struct scaling scaling_matmul3d = {.name     = "matmul3d",
                                         .problem  = "Product of matrices of ",
                                         .after    = " rows, 4 tiles per PE",
                                         .size     = {1536, 64, 32768, 0},
                                         .unit     = "milliseconds per product",
                                         .factor   = 1e3,
                                         .curve    = {{"skua-channels", "skua, channels"},
                                                      {"skua-messages", "skua, messages"},
                                                      {"skua-threads-channels", "threads, channels"},
                                                      {"scalapack", "ScaLAPACK"},
                                                      {"alone-messages", "OpenBLAS alone"},
                                                      {"limit", "limit"}},
                                         .run      = bench_matmul3d_scale,
                                         .bytes_on = bench_matmul3d_bytes_on,
                                         .work_on  = bench_matmul3d_work_on,
                                         .of_limit = 0.9,
                                         .alone    = true};
