/* SPDX-License-Identifier: Apache-2.0 */
/* bench_leanmd.c - skua bench leanmd: molecular dynamics with cells and computes, against a spatial
 * decomposition with MPI that runs the same loops. */
#include "scaling.h"

#define EDGE  4 /* cells along each side of the box */
#define SIZE  "4,4,4"
#define CELLS 64
#define ATOMS "150"
#define STEPS "60"

static const int numbers[] = {1, 2}; /* of PEs */

#define NUMBERS (sizeof numbers / sizeof *numbers)

/* ---- running ------------------------------------------------------------- */

static void bench_leanmd_run_skua(struct results *results, const struct bench_host *host,
                                  const char *size, int pes, const char *threads,
                                  const char *series)
{
    bench_run_job(results, host,
                  "-n %d%s @leanmd --size=%s --atoms=" ATOMS " --steps=" STEPS " --series=%s", pes,
                  threads, size, series);
}

static void bench_leanmd_run_mpis(struct results *results, const struct bench_host *host,
                                  const char *size, int ranks)
{
    char argument[96];

    snprintf(argument, sizeof argument, "%s,1,1,1,2," ATOMS "," STEPS ",20,0,1", size);
    scaling_run_mpis(results, host, "leanmd", argument, ranks);
}

static void bench_leanmd_run(struct results *results, const struct bench_host *host, int round,
                             int rounds)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        bench_stepf(round, rounds, "molecular dynamics, %d PEs", numbers[i]);
        bench_leanmd_run_skua(results, host, SIZE, numbers[i], "", "skua");
        if (numbers[i] > 1)
            bench_leanmd_run_skua(results, host, SIZE, numbers[i], " -t 2", "skua-threads");
        bench_leanmd_run_mpis(results, host, SIZE, numbers[i]);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Returns the time of a step in milliseconds. */
static double bench_leanmd_step(const struct results *r, const char *series, int pes)
{
    return 1e3 * results_get_metric(r, series, CELLS, "step-%dpe", pes);
}

static void bench_leanmd_print_line(const struct results *r, const char *what, const char *series)
{
    printf("%-32s", what);
    for (size_t i = 0; i < NUMBERS; i++)
        bench_print_value(bench_leanmd_step(r, series, numbers[i]), 9);
    printf("\n");
}

static void bench_leanmd_print(const struct results *r)
{
    printf("Molecular dynamics, " SIZE " cells of " ATOMS " atoms: milliseconds per step\n%-32s",
           "PEs");
    for (size_t i = 0; i < NUMBERS; i++)
        printf("%9d", numbers[i]);
    printf("\n");
    bench_leanmd_print_line(r, "skua, processes", "skua");
    bench_leanmd_print_line(r, "skua, threads", "skua-threads");
    bench_leanmd_print_line(r, "Open MPI", "openmpi");
    bench_leanmd_print_line(r, "MPICH", "mpich");
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < NUMBERS; i++) {
        char metric[32];

        snprintf(metric, sizeof metric, "step-%dpe", numbers[i]);
        bench_print_goalf(
            bench_ratio(results_get(r, "skua", CELLS, metric), bench_better_mpi(r, CELLS, metric)),
            "<=", 1, "skua / better MPI, %d PEs", numbers[i]);
    }
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_leanmd_draw(struct plot_curve *curve, const struct results *r, const char *series)
{
    for (size_t i = 0; i < NUMBERS; i++)
        plot_curve_add(curve, numbers[i], bench_leanmd_step(r, series, numbers[i]));
}

static void bench_leanmd_plot(const struct results *r, FILE *to)
{
    struct plot_curve curve[] = {
        {.name = "skua", .colour = "#d62728", .dash = ""},
        {.name = "Open MPI", .colour = "#7f7f7f", .dash = "4 3"},
        {.name = "MPICH", .colour = "#8c564b", .dash = "4 3"},
    };
    struct plot picture = {"Molecular dynamics, 9600 atoms", "PEs", "ms per step", curve, 3};

    bench_leanmd_draw(&curve[0], r, "skua");
    bench_leanmd_draw(&curve[1], r, "openmpi");
    bench_leanmd_draw(&curve[2], r, "mpich");
    plot_write(&picture, to);
}

const struct bench bench_leanmd = {.name  = "leanmd",
                                   .run   = bench_leanmd_run,
                                   .print = bench_leanmd_print,
                                   .plot  = bench_leanmd_plot};

/* ---- any number of PEs ----------------------------------------------------- */

static void bench_leanmd_scale(const struct scaling *scaling, struct results *results,
                               const struct bench_host *host, int pes)
{
    char threads[32], size[48], argument[96];
    int  cells[3];

    scaling_grow_cube(scaling, pes, cells);
    snprintf(size, sizeof size, "%d,%d,%d", cells[0], cells[1], cells[2]);
    snprintf(threads, sizeof threads, " -t %d", pes);
    bench_leanmd_run_skua(results, host, size, pes, "", "skua");
    if (pes > 1)
        bench_leanmd_run_skua(results, host, size, pes, threads, "skua-threads");
    bench_leanmd_run_mpis(results, host, size, pes);
    snprintf(argument, sizeof argument, "%s," ATOMS "," STEPS, size);
    scaling_run_limit(results, host, "leanmd", argument, pes);
}

static size_t bench_leanmd_bytes_on(const struct scaling *scaling, int pes)
{
    int cells[3];

    scaling_grow_cube(scaling, pes, cells);
    return (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
}

const struct scaling scaling_leanmd = {.name     = "leanmd",
                                       .problem  = "Molecular dynamics, ",
                                       .after    = "^3 cells of " ATOMS " atoms",
                                       .size     = {EDGE, 3, 64, 0},
                                       .unit     = "milliseconds per step",
                                       .factor   = 1e3,
                                       .curve    = {{"skua", "skua"},
                                                    {"skua-threads", "skua, threads"},
                                                    {"openmpi", "Open MPI"},
                                                    {"mpich", "MPICH"},
                                                    {"limit", "limit"}},
                                       .run      = bench_leanmd_scale,
                                       .bytes_on = bench_leanmd_bytes_on};
