/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pairs.c - the PairCalculator with messages and with channels. */
#include "bench.h"

#define STATES 128
#define PLANES 16
#define POINTS 1000

static const int grains[] = {64, 32, 16, 8}; /* states of a block: fewer are more Pairs */

#define GRAINS (sizeof grains / sizeof *grains)

/* Steps forward and back; and forward only, as the paper measures them, too. */
static const struct {
    const char *series, *option, *what;
} tasks[] = {{"skua", "", "all of it"}, {"forward", " --forward-only", "only forward"}};

#define TASKS (sizeof tasks / sizeof *tasks)

/* ---- running ------------------------------------------------------------- */

/* Messages have rows of all States under way at once, 130 to 500 MB: were it given back to the
 * system after each step, that would be most of what is measured. */
static void run_one(struct results *results, const struct bench_host *host, size_t t, int grain)
{
    char arguments[160];

    snprintf(arguments, sizeof arguments,
             "--states=%d --planes=%d --points=%d --grain=%d --steps=4 --repeat=2 --series=%s%s",
             STATES, PLANES, POINTS, grain, tasks[t].series, tasks[t].option);
    bench_run_app(results, host, "pairs", "-n 2 --set arena_keep=2g", arguments);
}

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    for (size_t t = 0; t < TASKS; t++)
        for (size_t i = 0; i < GRAINS; i++) {
            char what[48];

            snprintf(what, sizeof what, "pairs of blocks of %d, %s", grains[i], tasks[t].what);
            bench_step(round, rounds, what);
            run_one(results, host, t, grains[i]);
        }
}

/* ---- tables -------------------------------------------------------------- */

/* Milliseconds of a step. */
static double step(const struct results *r, size_t t, const char *way, int grain)
{
    char series[48];

    snprintf(series, sizeof series, "%s-%s", tasks[t].series, way);
    return 1e3 * results_get(r, series, (size_t)grain, "step-2pe");
}

static int pairs_on_pe(int grain)
{
    int blocks = STATES / grain;

    return PLANES * blocks * (blocks + 1) / 2 / 2;
}

static void print_line(const struct results *r, size_t t, const char *way)
{
    printf("%s, %-20s", way, tasks[t].what);
    for (size_t i = 0; i < GRAINS; i++)
        bench_print_value(step(r, t, way, grains[i]), 9);
    printf("\n");
}

static void print(const struct results *r)
{
    printf("%d states on %d planes of %d points, 2 PEs: milliseconds a step\n%-30s", STATES, PLANES,
           POINTS, "states of a block");
    for (size_t i = 0; i < GRAINS; i++)
        printf("%9d", grains[i]);
    printf("\n%-30s", "Pairs on a PE");
    for (size_t i = 0; i < GRAINS; i++)
        printf("%9d", pairs_on_pe(grains[i]));
    printf("\n");
    for (size_t t = 0; t < TASKS; t++) {
        print_line(r, t, "messages");
        print_line(r, t, "channels");
    }
    bench_print_goals_head("Goals");
    for (size_t t = 0; t < TASKS; t++)
        for (size_t i = 0; i < GRAINS; i++) {
            double channels = step(r, t, "channels", grains[i]);
            char   what[64];

            snprintf(what, sizeof what, "channels / messages, %s, %d Pairs on a PE", tasks[t].what,
                     pairs_on_pe(grains[i]));
            bench_print_goal(what, bench_ratio(channels, step(r, t, "messages", grains[i])),
                             "<=", 1);
        }
}

/* ---- plot ---------------------------------------------------------------- */

static void draw(struct curve *curve, const struct results *r, size_t t, const char *way)
{
    for (size_t i = 0; i < GRAINS; i++)
        curve_add(curve, pairs_on_pe(grains[i]), step(r, t, way, grains[i]));
}

static void plot(const struct results *r, FILE *to)
{
    struct curve curve[] = {
        {.name = "messages", .colour = "#1f77b4", .dash = ""},
        {.name = "channels", .colour = "#d62728", .dash = ""},
        {.name = "messages, forward", .colour = "#1f77b4", .dash = "4 3"},
        {.name = "channels, forward", .colour = "#d62728", .dash = "4 3"},
    };
    struct plot picture = {"States in pairs of blocks, 2 PEs", "Pairs on each PE", "ms a step",
                           curve, 4};

    for (size_t t = 0; t < TASKS; t++) {
        draw(&curve[2 * t], r, t, "messages");
        draw(&curve[2 * t + 1], r, t, "channels");
    }
    plot_write(&picture, to);
}

const struct bench bench_pairs = {"pairs", run, print, plot};
