/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pairs.c - skua bench pairs: the PairCalculator with messages and with channels. */
#include "scaling.h"
#include "series.h"

#define STATES 128
#define PLANES 16
#define POINTS 1000

#define PAIRS(grain) (PLANES * (STATES / (grain)) * (STATES / (grain) + 1) / 2 / 2) /* on a PE */

/* States per block, and pairs on a PE: a smaller block makes more pairs. */
static const size_t grains[] = {64, 32, 16, 8};
static const double pairs[]  = {PAIRS(64), PAIRS(32), PAIRS(16), PAIRS(8)};

#define GRAINS (sizeof grains / sizeof *grains)

/* Whole steps, and their forward part alone, as the CkDirect paper measures it. */
static const struct {
    const char *series, *options, *what;
} tasks[] = {{"skua", "--series=skua", "whole step"},
             {"forward", "--series=forward --forward-only", "forward part"}};

#define TASKS (sizeof tasks / sizeof *tasks)

/* ---- running ------------------------------------------------------------- */

/* The messages of all states are in flight at once, 130 to 500 MB.  arena_keep keeps that memory:
 * returning it to the system after each step would dominate the result. */
static void bench_pairs_run_one(struct results *results, size_t grain, int pes, int threads,
                                const char *options)
{
    bench_run_job(
        results,
        "-n %d -t %d --set arena_keep=2g @pairs --states=%d --planes=%d --points=%d --grain=%zu "
        "--steps=4 --repeat=2 %s",
        pes, threads, STATES, PLANES, POINTS, grain, options);
}

static void bench_pairs_run(struct results *results)
{
    for (size_t t = 0; t < TASKS; t++)
        for (size_t i = 0; i < GRAINS; i++) {
            bench_stepf(results, "pairs of blocks of %zu, %s", grains[i], tasks[t].what);
            bench_pairs_run_one(results, grains[i], 2, 1, tasks[t].options);
        }
}

/* ---- tables -------------------------------------------------------------- */

static const struct series bench_pairs_rows[] = {
    {"messages, whole step", "skua-messages", .colour = "#1f77b4", .curve = "messages"},
    {"channels, whole step", "skua-channels", .colour = "#d62728", .curve = "channels"},
    {"messages, forward part", "forward-messages", .colour = "#1f77b4", .dash = "4 3",
     .curve = "messages, forward"},
    {"channels, forward part", "forward-channels", .colour = "#d62728", .dash = "4 3",
     .curve = "channels, forward"},
    {0}};

static const struct series_set bench_pairs_all = {.list    = bench_pairs_rows,
                                                  .numbers = grains,
                                                  .count   = GRAINS,
                                                  .metric  = "step-2pe",
                                                  .factor  = 1e3,
                                                  .title   = "PairCalculator, 2 PEs",
                                                  .unit    = "ms per step",
                                                  .label   = "pairs per PE",
                                                  .x       = pairs};

static void bench_pairs_print(const struct results *r)
{
    printf("%d states on %d planes of %d points, 2 PEs: milliseconds per step\n%-30s", STATES,
           PLANES, POINTS, "states per block");
    for (size_t i = 0; i < GRAINS; i++)
        printf("%9zu", grains[i]);
    printf("\n%-30s", "pairs per PE");
    for (size_t i = 0; i < GRAINS; i++)
        printf("%9.0f", pairs[i]);
    printf("\n");
    series_print_rows(&bench_pairs_all, r);
    bench_print_goals_head("Goals");
    for (size_t t = 0; t < TASKS; t++)
        for (size_t i = 0; i < GRAINS; i++)
            bench_print_goalf(
                bench_ratio(
                    results_get_series(r, grains[i], "step-2pe", "%s-channels", tasks[t].series),
                    results_get_series(r, grains[i], "step-2pe", "%s-messages", tasks[t].series)),
                "<=", 1, "channels / messages, %s, %.0f pairs per PE", tasks[t].what, pairs[i]);
}

const struct bench bench_pairs = {.name   = "pairs",
                                  .run    = bench_pairs_run,
                                  .print  = bench_pairs_print,
                                  .series = &bench_pairs_all};

/* ---- any number of PEs ----------------------------------------------------- */

#define SCALE_GRAIN 16

static void bench_pairs_scale(const struct scaling *scaling, struct results *results, int pes)
{
    char argument[64];

    (void)scaling;
    bench_pairs_run_one(results, SCALE_GRAIN, pes, 1, tasks[0].options);
    if (pes > 1)
        bench_pairs_run_one(results, SCALE_GRAIN, pes, pes, "--series=skua-threads --channels");
    snprintf(argument, sizeof argument, "%d,%d,%d,%d,4,2", STATES, PLANES, POINTS, SCALE_GRAIN);
    scaling_run_limit(results, "pairs", argument, pes);
}

const struct scaling scaling_pairs = {
    .name    = "pairs",
    .problem = "PairCalculator, 128 states on 16 planes of 1000 points, blocks of 16 states",
    .unit    = "milliseconds per step",
    .factor  = 1e3,
    .bytes   = SCALE_GRAIN,
    .curve   = {{"skua-channels", "skua, channels"},
                {"skua-messages", "skua, messages"},
                {"skua-threads-channels", "threads, channels"},
                {"limit", "limit"}},
    .run     = bench_pairs_scale};
