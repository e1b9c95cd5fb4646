/* SPDX-License-Identifier: Apache-2.0 */
/* bench_stencil3d.c - skua bench stencil3d: a stencil with messages, learned messages, channels and
 * zero-copy channels, against MPI. */
#include "scaling.h"

#define SIZE   "128,128,128"
#define STEPS  "100"
#define REPEAT "3"

static const int ratios[] = {1, 8, 64}; /* blocks per PE */

/* Arguments of MPI's program, with the blocks along y and z that messages and channels have. */
static const char *const mpi[] = {SIZE "," STEPS "," REPEAT ",1,2",
                                  SIZE "," STEPS "," REPEAT ",4,4",
                                  SIZE "," STEPS "," REPEAT ",8,16"};

#define RATIOS (sizeof ratios / sizeof *ratios)

/* ---- running ------------------------------------------------------------- */

/* Runs one variant in a job of its own, since each divides the grid in its own way. */
static void bench_stencil3d_run_variant(struct results *results, const struct bench_host *host,
                                        const char *size, int ratio, const char *options,
                                        const char *variant)
{
    bench_run_job(results, host,
                  "%s @stencil3d --size=%s --steps=" STEPS " --repeat=" REPEAT " --per-pe=%d %s",
                  options, size, ratio, variant);
}

static void bench_stencil3d_run_skua(struct results *results, const struct bench_host *host,
                                     int ratio)
{
    bench_stencil3d_run_variant(results, host, SIZE, ratio, "-n 2",
                                "--series=skua --messages --channels");
    bench_stencil3d_run_variant(results, host, SIZE, ratio, "-n 2 --set=learned_channels=1",
                                "--series=learned --messages");
    bench_stencil3d_run_variant(results, host, SIZE, ratio, "-n 2", "--series=skua --lent");
}

static void bench_stencil3d_run(struct results *results, const struct bench_host *host, int round,
                                int rounds)
{
    for (size_t i = 0; i < RATIOS; i++) {
        bench_stepf(round, rounds, "stencil, %d blocks per PE", ratios[i]);
        bench_stencil3d_run_skua(results, host, ratios[i]);
        scaling_run_mpis(results, host, "stencil3d", mpi[i], 2);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Returns the time of a step in seconds. */
static double bench_stencil3d_step(const struct results *r, const char *series, int ratio)
{
    return results_get(r, series, (size_t)ratio, "step-2pe");
}

/* Returns the part of the gain of channels over messages that learned messages reach; 0: not
 * known. */
static double bench_stencil3d_learned_gain(const struct results *r, int ratio)
{
    double messages = bench_stencil3d_step(r, "skua-messages", ratio),
           channels = bench_stencil3d_step(r, "skua-channels", ratio);
    double learned  = bench_stencil3d_step(r, "learned-messages", ratio);

    if (messages <= channels || learned == 0)
        return 0;
    return (messages - learned) / (messages - channels);
}

static void bench_stencil3d_print_line(const struct results *r, const char *what,
                                       const char *series)
{
    printf("%-32s", what);
    for (size_t i = 0; i < RATIOS; i++)
        bench_print_value(1e6 * bench_stencil3d_step(r, series, ratios[i]), 9);
    printf("\n");
}

static void bench_stencil3d_print_one_goal(const char *format, int ratio, double measured,
                                           const char *relation, double goal)
{
    bench_print_goalf(measured, relation, goal, format, ratio);
}

static void bench_stencil3d_print_goals(const struct results *r, int ratio)
{
    double channels = bench_stencil3d_step(r, "skua-channels", ratio),
           lent     = bench_stencil3d_step(r, "skua-lent", ratio);

    bench_stencil3d_print_one_goal(
        "channels / messages, %d blocks per PE", ratio,
        bench_ratio(channels, bench_stencil3d_step(r, "skua-messages", ratio)), "<", 1);
    bench_stencil3d_print_one_goal(
        "channels / better MPI, %d blocks per PE", ratio,
        bench_ratio(channels, bench_better_mpi(r, (size_t)ratio, "step-2pe")), "<", 1);
    bench_stencil3d_print_one_goal("zero-copy, %d blocks per PE / better MPI, 1 block", ratio,
                                   bench_ratio(lent, bench_better_mpi(r, 1, "step-2pe")), "<", 1);
    bench_stencil3d_print_one_goal("gain of learned messages / of channels, %d blocks per PE",
                                   ratio, bench_stencil3d_learned_gain(r, ratio), ">=", 0.5);
}

static void bench_stencil3d_print(const struct results *r)
{
    printf("Stencil of 7 points, " SIZE " cells of float, 2 PEs: microseconds per step\n%-32s",
           "blocks per PE");
    for (size_t i = 0; i < RATIOS; i++)
        printf("%9d", ratios[i]);
    printf("\n");
    bench_stencil3d_print_line(r, "skua, messages", "skua-messages");
    bench_stencil3d_print_line(r, "skua, messages, learned", "learned-messages");
    bench_stencil3d_print_line(r, "skua, channels", "skua-channels");
    bench_stencil3d_print_line(r, "skua, zero-copy channels", "skua-lent");
    bench_stencil3d_print_line(r, "Open MPI", "openmpi");
    bench_stencil3d_print_line(r, "MPICH", "mpich");
    bench_print_goals_head("Goals");
    for (size_t i = 1; i < RATIOS; i++)
        bench_stencil3d_print_goals(r, ratios[i]);
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_stencil3d_draw(struct plot_curve *curve, const struct results *r,
                                 const char *series)
{
    for (size_t i = 0; i < RATIOS; i++)
        plot_curve_add(curve, ratios[i], 1e6 * bench_stencil3d_step(r, series, ratios[i]));
}

static void bench_stencil3d_plot(const struct results *r, FILE *to)
{
    struct plot_curve curve[] = {
        {.name = "skua, messages", .colour = "#1f77b4", .dash = ""},
        {.name = "skua, learned", .colour = "#1f77b4", .dash = "5 3"},
        {.name = "skua, channels", .colour = "#d62728", .dash = ""},
        {.name = "skua, zero-copy", .colour = "#2ca02c", .dash = ""},
        {.name = "Open MPI", .colour = "#7f7f7f", .dash = "4 3"},
        {.name = "MPICH", .colour = "#8c564b", .dash = "4 3"},
    };
    struct plot picture = {"Stencil of 7 points, 2 PEs", "blocks per PE", "us per step", curve, 6};

    bench_stencil3d_draw(&curve[0], r, "skua-messages");
    bench_stencil3d_draw(&curve[1], r, "learned-messages");
    bench_stencil3d_draw(&curve[2], r, "skua-channels");
    bench_stencil3d_draw(&curve[3], r, "skua-lent");
    bench_stencil3d_draw(&curve[4], r, "openmpi");
    bench_stencil3d_draw(&curve[5], r, "mpich");
    plot_write(&picture, to);
}

const struct bench bench_stencil3d = {.name  = "stencil3d",
                                      .run   = bench_stencil3d_run,
                                      .print = bench_stencil3d_print,
                                      .plot  = bench_stencil3d_plot};

/* ---- any number of PEs ----------------------------------------------------- */

#define BLOCKS 8 /* of a PE */

/* A grid of blocks along y and z for @p pes times BLOCKS, as near to a square as powers of two
 * allow. */
static void bench_stencil3d_grid(int pes, int grid[2])
{
    grid[0] = grid[1] = 1;
    for (int left = pes * BLOCKS; left > 1 && left % 2 == 0; left /= 2)
        grid[grid[0] > grid[1]] *= 2;
}

static void bench_stencil3d_scale(const struct scaling *scaling, struct results *results,
                                  const struct bench_host *host, int pes)
{
    char options[32], size[48], argument[96];
    int  grid[2], cells[3];

    scaling_grow_cube(scaling, pes, cells);
    snprintf(size, sizeof size, "%d,%d,%d", cells[0], cells[1], cells[2]);
    snprintf(options, sizeof options, "-n %d", pes);
    bench_stencil3d_run_variant(results, host, size, BLOCKS, options,
                                "--series=skua --messages --channels");
    bench_stencil3d_run_variant(results, host, size, BLOCKS, options, "--series=skua --lent");
    snprintf(argument, sizeof argument, "%s," STEPS "," REPEAT ",%d", size, BLOCKS);
    scaling_run_limit(results, host, "stencil3d", argument, pes);
    bench_stencil3d_grid(pes, grid);
    snprintf(argument, sizeof argument, "%s," STEPS "," REPEAT ",%d,%d", size, grid[0], grid[1]);
    if (grid[0] * grid[1] == pes * BLOCKS) /* MPI's program divides in powers of two */
        scaling_run_mpis(results, host, "stencil3d", argument, pes);
}

const struct scaling scaling_stencil3d = {.name     = "stencil3d",
                                          .problem  = "Stencil of 7 points, ",
                                          .after    = "^3 cells of float, 8 blocks per PE",
                                          .size     = {128, 16, 2048, 0},
                                          .unit     = "microseconds per step",
                                          .factor   = 1e6,
                                          .bytes    = BLOCKS,
                                          .curve    = {{"skua-channels", "skua, channels"},
                                                       {"skua-messages", "skua, messages"},
                                                       {"skua-lent", "skua, zero-copy"},
                                                       {"openmpi", "Open MPI"},
                                                       {"mpich", "MPICH"},
                                                       {"limit", "limit"}},
                                          .run      = bench_stencil3d_scale,
                                          .of_limit = 0.9};
