/* SPDX-License-Identifier: Apache-2.0 */
/* bench_stencil3d.c - skua bench stencil3d: a stencil with messages, learned messages, channels and
 * zero-copy channels, against MPI. */
#include "scaling.h"
#include "series.h"

#define SIZE   "128,128,128"
#define STEPS  "100"
#define REPEAT "3"

static const size_t ratios[] = {1, 8, 64}; /* blocks per PE */

/* Arguments of MPI's program, with the blocks along y and z that messages and channels have. */
static const char *const mpi[] = {SIZE "," STEPS "," REPEAT ",1,2",
                                  SIZE "," STEPS "," REPEAT ",4,4",
                                  SIZE "," STEPS "," REPEAT ",8,16"};

#define RATIOS (sizeof ratios / sizeof *ratios)

/* ---- running ------------------------------------------------------------- */

/* Runs one variant in a job of its own, since each divides the grid in its own way. */
static void bench_stencil3d_run_variant(struct results *results, const char *size, size_t ratio,
                                        const char *options, const char *variant)
{
    bench_run_job(results,
                  "%s @stencil3d --size=%s --steps=" STEPS " --repeat=" REPEAT " --per-pe=%zu %s",
                  options, size, ratio, variant);
}

static void bench_stencil3d_run_skua(struct results *results, size_t ratio)
{
    bench_stencil3d_run_variant(results, SIZE, ratio, "-n 2",
                                "--series=skua --messages --channels");
    bench_stencil3d_run_variant(results, SIZE, ratio, "-n 2 --set=learned_channels=1",
                                "--series=learned --messages");
    bench_stencil3d_run_variant(results, SIZE, ratio, "-n 2", "--series=skua --lent");
}

static void bench_stencil3d_run(struct results *results)
{
    for (size_t i = 0; i < RATIOS; i++) {
        bench_stepf(results, "stencil, %zu blocks per PE", ratios[i]);
        bench_stencil3d_run_skua(results, ratios[i]);
        scaling_run_mpis(results, "stencil3d", mpi[i], 2);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Returns the time of a step in seconds. */
static double bench_stencil3d_step(const struct results *r, const char *series, size_t ratio)
{
    return results_get(r, series, ratio, "step-2pe");
}

/* Returns the part of the gain of channels over messages that learned messages reach; 0: not
 * known. */
static double bench_stencil3d_learned_gain(const struct results *r, size_t ratio)
{
    double messages = bench_stencil3d_step(r, "skua-messages", ratio),
           channels = bench_stencil3d_step(r, "skua-channels", ratio);
    double learned  = bench_stencil3d_step(r, "learned-messages", ratio);

    if (messages <= channels || learned == 0)
        return 0;
    return (messages - learned) / (messages - channels);
}

static const struct series bench_stencil3d_rows[] = {
    {"skua, messages", "skua-messages", .colour = "#1f77b4"},
    {"skua, messages, learned", "learned-messages", .colour = "#1f77b4", .dash = "5 3",
     .curve = "skua, learned"},
    {"skua, channels", "skua-channels", .colour = "#d62728"},
    {"skua, zero-copy channels", "skua-lent", .colour = "#2ca02c", .curve = "skua, zero-copy"},
    {"Open MPI", "openmpi", .colour = "#7f7f7f", .dash = "4 3"},
    {"MPICH", "mpich", .colour = "#8c564b", .dash = "4 3"},
    {0}};

static const struct series_set bench_stencil3d_all = {.list    = bench_stencil3d_rows,
                                                      .numbers = ratios,
                                                      .count   = RATIOS,
                                                      .metric  = "step-2pe",
                                                      .factor  = 1e6,
                                                      .title   = "Stencil of 7 points, " SIZE
                                                               " cells of float, 2 PEs",
                                                      .unit       = "microseconds per step",
                                                      .label      = "blocks per PE",
                                                      .plot_title = "Stencil of 7 points, 2 PEs",
                                                      .plot_unit  = "us per step"};

static void bench_stencil3d_print_goals(const struct results *r, size_t ratio)
{
    double channels = bench_stencil3d_step(r, "skua-channels", ratio),
           lent     = bench_stencil3d_step(r, "skua-lent", ratio);

    bench_print_goalf(bench_ratio(channels, bench_stencil3d_step(r, "skua-messages", ratio)), "<",
                      1, "channels / messages, %zu blocks per PE", ratio);
    bench_print_goalf(bench_ratio(channels, bench_better_mpi(r, ratio, "step-2pe")), "<", 1,
                      "channels / better MPI, %zu blocks per PE", ratio);
    bench_print_goalf(bench_ratio(lent, bench_better_mpi(r, 1, "step-2pe")), "<", 1,
                      "zero-copy, %zu blocks per PE / better MPI, 1 block", ratio);
    bench_print_goalf(bench_stencil3d_learned_gain(r, ratio), ">=", 0.5,
                      "gain of learned messages / of channels, %zu blocks per PE", ratio);
}

static void bench_stencil3d_print(const struct results *r)
{
    series_print_table(&bench_stencil3d_all, r);
    bench_print_goals_head("Goals");
    for (size_t i = 1; i < RATIOS; i++)
        bench_stencil3d_print_goals(r, ratios[i]);
}

const struct bench bench_stencil3d = {.name   = "stencil3d",
                                      .run    = bench_stencil3d_run,
                                      .print  = bench_stencil3d_print,
                                      .series = &bench_stencil3d_all};

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

static void bench_stencil3d_scale(const struct scaling *scaling, struct results *results, int pes)
{
    char options[32], threads[32], size[48], argument[96];
    int  grid[2], cells[3];

    scaling_grow_cube(scaling, pes, cells);
    snprintf(size, sizeof size, "%d,%d,%d", cells[0], cells[1], cells[2]);
    snprintf(options, sizeof options, "-n %d", pes);
    bench_stencil3d_run_variant(results, size, BLOCKS, options,
                                "--series=skua --messages --channels");
    bench_stencil3d_run_variant(results, size, BLOCKS, options, "--series=skua --lent");
    snprintf(threads, sizeof threads, "-n %d -t %d", pes, pes);
    if (pes > 1)
        bench_stencil3d_run_variant(results, size, BLOCKS, threads,
                                    "--series=skua-threads --channels");
    snprintf(argument, sizeof argument, "%s," STEPS "," REPEAT ",%d", size, BLOCKS);
    scaling_run_limit(results, "stencil3d", argument, pes);
    bench_stencil3d_grid(pes, grid);
    snprintf(argument, sizeof argument, "%s," STEPS "," REPEAT ",%d,%d", size, grid[0], grid[1]);
    if (grid[0] * grid[1] == pes * BLOCKS) /* MPI's program divides in powers of two */
        scaling_run_mpis(results, "stencil3d", argument, pes);
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
                                                       {"skua-threads-channels", "threads, channels"},
                                                       {"openmpi", "Open MPI"},
                                                       {"mpich", "MPICH"},
                                                       {"limit", "limit"}},
                                          .run      = bench_stencil3d_scale,
                                          .of_limit = 0.9};
