/* SPDX-License-Identifier: Apache-2.0 */
/* bench_stencil3d.c - the stencil with messages, learned or not, with channels and lent, beside
 * MPI. */
#include <string.h>

#include "bench.h"

#define SIZE   "128,128,128"
#define STEPS  "100"
#define REPEAT "3"

static const int ratios[] = {1, 8, 64}; /* blocks on each PE */

/* For MPI: all blocks along y and z, as messages and channels have them. */
static const char *const grids[] = {"1,2", "4,4", "8,16"};

#define RATIOS (sizeof ratios / sizeof *ratios)

/* ---- running ------------------------------------------------------------- */

/* One job for each way: each cuts the grid as suits it. */
static void run_way(struct results *results, const struct bench_host *host, int ratio,
                    const char *options, const char *way)
{
    char arguments[160];

    snprintf(arguments, sizeof arguments,
             "--size=" SIZE " --steps=" STEPS " --repeat=" REPEAT " --per-pe=%d %s", ratio, way);
    bench_run_app(results, host, "stencil3d", options, arguments);
}

static void run_skua(struct results *results, const struct bench_host *host, int ratio)
{
    run_way(results, host, ratio, "-n 2", "--series=skua --messages --channels");
    run_way(results, host, ratio, "-n 2 --set=learned_channels=1", "--series=learned --messages");
    run_way(results, host, ratio, "-n 2", "--series=skua --lent");
}

static void run_mpi(struct results *results, const struct bench_host *host, const char *mpi,
                    const char *grid)
{
    char              program[48], what[64];
    struct bench_peer peer = {mpi, program, mpi, what};

    snprintf(program, sizeof program, "peer-%s-stencil3d", mpi);
    snprintf(what, sizeof what, SIZE "," STEPS "," REPEAT ",%s", grid);
    bench_run_peer(results, host, &peer, 2);
}

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    for (size_t i = 0; i < RATIOS; i++) {
        char what[48];

        snprintf(what, sizeof what, "stencil, %d blocks on a PE", ratios[i]);
        bench_step(round, rounds, what);
        run_skua(results, host, ratios[i]);
        run_mpi(results, host, "openmpi", grids[i]);
        run_mpi(results, host, "mpich", grids[i]);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Seconds of a step. */
static double step(const struct results *r, const char *series, int ratio)
{
    return results_get(r, series, (size_t)ratio, "step-2pe");
}

static double better_mpi(const struct results *r, int ratio)
{
    double a = step(r, "openmpi", ratio), b = step(r, "mpich", ratio);

    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

/* How much of what channels gain messages do, if they are learned; 0: not known. */
static double gained(const struct results *r, int ratio)
{
    double messages = step(r, "skua-messages", ratio), channels = step(r, "skua-channels", ratio);
    double learned = step(r, "learned-messages", ratio);

    if (messages <= channels || learned == 0)
        return 0;
    return (messages - learned) / (messages - channels);
}

static void print_line(const struct results *r, const char *what, const char *series)
{
    printf("%-32s", what);
    for (size_t i = 0; i < RATIOS; i++)
        bench_print_value(1e6 * step(r, series, ratios[i]), 9);
    printf("\n");
}

static void print_goal(const char *format, int ratio, double measured, const char *relation,
                       double goal)
{
    char what[64];

    snprintf(what, sizeof what, format, ratio);
    bench_print_goal(what, measured, relation, goal);
}

static void print_goals(const struct results *r, int ratio)
{
    double channels = step(r, "skua-channels", ratio), lent = step(r, "skua-lent", ratio);

    print_goal("channels / messages, %d blocks on a PE", ratio,
               bench_ratio(channels, step(r, "skua-messages", ratio)), "<", 1);
    print_goal("channels / the better MPI, %d blocks on a PE", ratio,
               bench_ratio(channels, better_mpi(r, ratio)), "<", 1);
    print_goal("lent, %d blocks on a PE / the better MPI, 1 block", ratio,
               bench_ratio(lent, better_mpi(r, 1)), "<", 1);
    print_goal("gained by learning / channels, %d blocks on a PE", ratio, gained(r, ratio),
               ">=", 0.5);
}

static void print(const struct results *r)
{
    printf("Stencil of 7 points, " SIZE " cells of float, 2 PEs: microseconds a step\n%-32s",
           "blocks on each PE");
    for (size_t i = 0; i < RATIOS; i++)
        printf("%9d", ratios[i]);
    printf("\n");
    print_line(r, "skua, messages", "skua-messages");
    print_line(r, "skua, messages, learned", "learned-messages");
    print_line(r, "skua, channels", "skua-channels");
    print_line(r, "skua, channels that lend", "skua-lent");
    print_line(r, "Open MPI", "openmpi");
    print_line(r, "MPICH", "mpich");
    bench_print_goals_head("Goals");
    for (size_t i = 1; i < RATIOS; i++)
        print_goals(r, ratios[i]);
}

/* ---- plot ---------------------------------------------------------------- */

static void draw(struct curve *curve, const struct results *r, const char *series)
{
    for (size_t i = 0; i < RATIOS; i++)
        curve_add(curve, ratios[i], 1e6 * step(r, series, ratios[i]));
}

static void plot(const struct results *r, FILE *to)
{
    struct curve curve[] = {
        {.name = "skua, messages", .colour = "#1f77b4", .dash = ""},
        {.name = "skua, learned", .colour = "#1f77b4", .dash = "5 3"},
        {.name = "skua, channels", .colour = "#d62728", .dash = ""},
        {.name = "skua, lent", .colour = "#2ca02c", .dash = ""},
        {.name = "Open MPI", .colour = "#7f7f7f", .dash = "4 3"},
        {.name = "MPICH", .colour = "#8c564b", .dash = "4 3"},
    };
    struct plot picture = {"Stencil of 7 points, 2 PEs", "blocks on each PE", "us a step", curve,
                           6};

    draw(&curve[0], r, "skua-messages");
    draw(&curve[1], r, "learned-messages");
    draw(&curve[2], r, "skua-channels");
    draw(&curve[3], r, "skua-lent");
    draw(&curve[4], r, "openmpi");
    draw(&curve[5], r, "mpich");
    plot_write(&picture, to);
}

const struct bench bench_stencil3d = {"stencil3d", run, print, plot};
