/* SPDX-License-Identifier: Apache-2.0 */
/* bench_leanmd.c - skua bench leanmd: molecular dynamics with cells and computes, against a spatial
 * decomposition with MPI that runs the same loops. */
#include "scaling.h"
#include "series.h"

#define EDGE  4 /* cells along each side of the box */
#define SIZE  "4,4,4"
#define CELLS 64
#define ATOMS "150"
#define STEPS "60"

static const size_t numbers[] = {1, 2}; /* of PEs */

#define NUMBERS (sizeof numbers / sizeof *numbers)

/* ---- running ------------------------------------------------------------- */

static void bench_leanmd_run_skua(struct results *results, const char *size, int pes,
                                  const char *threads, const char *series)
{
    bench_run_job(results,
                  "-n %d%s @leanmd --size=%s --atoms=" ATOMS " --steps=" STEPS " --series=%s", pes,
                  threads, size, series);
}

static void bench_leanmd_run_mpis(struct results *results, const char *size, int ranks)
{
    char argument[96];

    snprintf(argument, sizeof argument, "%s,1,1,1,2," ATOMS "," STEPS ",20,0,1", size);
    scaling_run_mpis(results, "leanmd", argument, ranks);
}

static void bench_leanmd_run(struct results *results)
{
    for (int pes = 1; pes <= 2; pes++) {
        bench_stepf(results, "molecular dynamics, %d PEs", pes);
        bench_leanmd_run_skua(results, SIZE, pes, "", "skua");
        if (pes > 1)
            bench_leanmd_run_skua(results, SIZE, pes, " -t 2", "skua-threads");
        bench_leanmd_run_mpis(results, SIZE, pes);
    }
}

/* ---- tables -------------------------------------------------------------- */

static const struct series bench_leanmd_rows[] = {
    {"skua, processes", "skua", .colour = "#d62728", .curve = "skua"},
    {"skua, threads", .series = "skua-threads"},
    {"Open MPI", "openmpi", .colour = "#7f7f7f", .dash = "4 3"},
    {"MPICH", "mpich", .colour = "#8c564b", .dash = "4 3"},
    {0}};

static const struct series_set bench_leanmd_all = {.list    = bench_leanmd_rows,
                                                   .numbers = numbers,
                                                   .count   = NUMBERS,
                                                   .metric  = "step",
                                                   .factor  = 1e3,
                                                   .bytes   = CELLS,
                                                   .title   = "Molecular dynamics, " SIZE
                                                            " cells of " ATOMS " atoms",
                                                   .unit       = "milliseconds per step",
                                                   .label      = "PEs",
                                                   .plot_title = "Molecular dynamics, 9600 atoms",
                                                   .plot_unit  = "ms per step"};

static void bench_leanmd_print(const struct results *r)
{
    series_print_table(&bench_leanmd_all, r);
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < NUMBERS; i++) {
        char metric[32];

        snprintf(metric, sizeof metric, "step-%zupe", numbers[i]);
        bench_print_goalf(
            bench_ratio(results_get(r, "skua", CELLS, metric), bench_better_mpi(r, CELLS, metric)),
            "<=", 1, "skua / better MPI, %zu PEs", numbers[i]);
    }
}

const struct bench bench_leanmd = {.name   = "leanmd",
                                   .run    = bench_leanmd_run,
                                   .print  = bench_leanmd_print,
                                   .series = &bench_leanmd_all};

/* ---- any number of PEs ----------------------------------------------------- */

static void bench_leanmd_scale(const struct scaling *scaling, struct results *results, int pes)
{
    char threads[32], size[48], argument[96];
    int  cells[3];

    scaling_grow_cube(scaling, pes, cells);
    snprintf(size, sizeof size, "%d,%d,%d", cells[0], cells[1], cells[2]);
    snprintf(threads, sizeof threads, " -t %d", pes);
    bench_leanmd_run_skua(results, size, pes, "", "skua");
    if (pes > 1)
        bench_leanmd_run_skua(results, size, pes, threads, "skua-threads");
    bench_leanmd_run_mpis(results, size, pes);
    snprintf(argument, sizeof argument, "%s," ATOMS "," STEPS, size);
    scaling_run_limit(results, "leanmd", argument, pes);
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
