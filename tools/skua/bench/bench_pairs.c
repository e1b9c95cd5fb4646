/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pairs.c - skua bench pairs: the PairCalculator with messages and with channels. */
#include "scaling.h"

#define STATES 128
#define PLANES 16
#define POINTS 1000

static const int grains[] = {64, 32, 16,
                             8}; /* states per block: a smaller block makes more pairs */

#define GRAINS (sizeof grains / sizeof *grains)

/* Whole steps, and their forward part alone, as the CkDirect paper measures it. */
static const struct {
    const char *series, *option, *what;
} tasks[] = {{"skua", "", "whole step"}, {"forward", " --forward-only", "forward part"}};

#define TASKS (sizeof tasks / sizeof *tasks)

/* ---- running ------------------------------------------------------------- */

/* The messages of all states are in flight at once, 130 to 500 MB.  arena_keep keeps that memory:
 * returning it to the system after each step would dominate the result. */
static void bench_pairs_run_one(struct results *results, const struct bench_host *host, size_t t,
                                int grain, int pes)
{
    bench_run_job(results, host,
                  "-n %d --set arena_keep=2g @pairs --states=%d --planes=%d --points=%d --grain=%d "
                  "--steps=4 --repeat=2 --series=%s%s",
                  pes, STATES, PLANES, POINTS, grain, tasks[t].series, tasks[t].option);
}

static void bench_pairs_run(struct results *results, const struct bench_host *host, int round,
                            int rounds)
{
    for (size_t t = 0; t < TASKS; t++)
        for (size_t i = 0; i < GRAINS; i++) {
            bench_stepf(round, rounds, "pairs of blocks of %d, %s", grains[i], tasks[t].what);
            bench_pairs_run_one(results, host, t, grains[i], 2);
        }
}

/* ---- tables -------------------------------------------------------------- */

/* Returns the time of a step in milliseconds. */
static double bench_pairs_step(const struct results *r, size_t t, const char *variant, int grain)
{
    return 1e3 *
           results_get_series(r, (size_t)grain, "step-2pe", "%s-%s", tasks[t].series, variant);
}

static int bench_pairs_pairs_on_pe(int grain)
{
    int blocks = STATES / grain;

    return PLANES * blocks * (blocks + 1) / 2 / 2;
}

static void bench_pairs_print_line(const struct results *r, size_t t, const char *variant)
{
    printf("%s, %-20s", variant, tasks[t].what);
    for (size_t i = 0; i < GRAINS; i++)
        bench_print_value(bench_pairs_step(r, t, variant, grains[i]), 9);
    printf("\n");
}

static void bench_pairs_print(const struct results *r)
{
    printf("%d states on %d planes of %d points, 2 PEs: milliseconds per step\n%-30s", STATES,
           PLANES, POINTS, "states per block");
    for (size_t i = 0; i < GRAINS; i++)
        printf("%9d", grains[i]);
    printf("\n%-30s", "pairs per PE");
    for (size_t i = 0; i < GRAINS; i++)
        printf("%9d", bench_pairs_pairs_on_pe(grains[i]));
    printf("\n");
    for (size_t t = 0; t < TASKS; t++) {
        bench_pairs_print_line(r, t, "messages");
        bench_pairs_print_line(r, t, "channels");
    }
    bench_print_goals_head("Goals");
    for (size_t t = 0; t < TASKS; t++)
        for (size_t i = 0; i < GRAINS; i++) {
            double channels = bench_pairs_step(r, t, "channels", grains[i]);

            bench_print_goalf(bench_ratio(channels, bench_pairs_step(r, t, "messages", grains[i])),
                              "<=", 1, "channels / messages, %s, %d pairs per PE", tasks[t].what,
                              bench_pairs_pairs_on_pe(grains[i]));
        }
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_pairs_draw(struct plot_curve *curve, const struct results *r, size_t t,
                             const char *variant)
{
    for (size_t i = 0; i < GRAINS; i++)
        plot_curve_add(curve, bench_pairs_pairs_on_pe(grains[i]),
                       bench_pairs_step(r, t, variant, grains[i]));
}

static void bench_pairs_plot(const struct results *r, FILE *to)
{
    struct plot_curve curve[] = {
        {.name = "messages", .colour = "#1f77b4", .dash = ""},
        {.name = "channels", .colour = "#d62728", .dash = ""},
        {.name = "messages, forward", .colour = "#1f77b4", .dash = "4 3"},
        {.name = "channels, forward", .colour = "#d62728", .dash = "4 3"},
    };
    struct plot picture = {"PairCalculator, 2 PEs", "pairs per PE", "ms per step", curve, 4};

    for (size_t t = 0; t < TASKS; t++) {
        bench_pairs_draw(&curve[2 * t], r, t, "messages");
        bench_pairs_draw(&curve[2 * t + 1], r, t, "channels");
    }
    plot_write(&picture, to);
}

const struct bench bench_pairs = {
    .name = "pairs", .run = bench_pairs_run, .print = bench_pairs_print, .plot = bench_pairs_plot};

/* ---- any number of PEs ----------------------------------------------------- */

#define SCALE_GRAIN 16

static void bench_pairs_scale(const struct scaling *scaling, struct results *results,
                              const struct bench_host *host, int pes)
{
    (void)scaling;
    bench_pairs_run_one(results, host, 0, SCALE_GRAIN, pes);
}

const struct scaling scaling_pairs = {
    .name    = "pairs",
    .problem = "PairCalculator, 128 states on 16 planes of 1000 points, blocks of 16 states",
    .unit    = "milliseconds per step",
    .factor  = 1e3,
    .bytes   = SCALE_GRAIN,
    .curve   = {{"skua-channels", "skua, channels"}, {"skua-messages", "skua, messages"}},
    .run     = bench_pairs_scale};
