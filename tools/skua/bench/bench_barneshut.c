/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_barneshut.c - skua bench barneshut: a step of gravity by the method of Barnes and Hut,
 * against the same traversal in one process without the runtime.
 *
 * Results: metric step-Npe, seconds per step on N PEs; size: the number of particles; series:
 * plain, skua and skua-threads.
 */
#include <math.h>

#include "scaling.h"

#define STEPS " --steps=6 --balance=2 --no-check"

static const int sizes[] = {10000, 100000}; /* particles */

#define SIZES (sizeof sizes / sizeof *sizes)

/* The goals of the efficiency at the larger size. */
static const struct {
    int    pes;
    double efficiency;
} goals[] = {{2, 0.9}, {16, 0.75}};

/* ---- running ------------------------------------------------------------- */

static void bench_barneshut_run_skua(struct results *results, int particles, int pes, int threads)
{
    bench_run_job(results, "-n %d -t %d @barneshut --particles=%d --series=skua%s" STEPS, pes,
                  threads, particles, threads > 1 ? "-threads" : "");
}

static void bench_barneshut_run_plain(struct results *results, int particles)
{
    char  path[PROGRAM_PATH_BYTES], size[32];
    char *argv[] = {path, size, "--series=plain", "--steps=3", "--no-check", NULL};

    if (!program_find("barneshut-plain", path))
        return;
    snprintf(size, sizeof size, "--particles=%d", particles);
    bench_run(results, argv);
}

static void bench_barneshut_run(struct results *results)
{
    for (size_t i = 0; i < SIZES; i++) {
        bench_stepf(results, "gravity of %d particles", sizes[i]);
        bench_barneshut_run_plain(results, sizes[i]);
        if (results->host->pes[0] != 1)
            bench_barneshut_run_skua(results, sizes[i], 1, 1);
        for (const int *pes = results->host->pes; *pes; pes++) {
            bench_barneshut_run_skua(results, sizes[i], *pes, 1);
            if (*pes > 1)
                bench_barneshut_run_skua(results, sizes[i], *pes, *pes);
        }
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Seconds per step. */
static double bench_barneshut_step(const struct results *r, const char *series, int particles,
                                   int pes)
{
    return results_get_metric(r, series, (size_t)particles, "step-%dpe", pes);
}

static double bench_barneshut_efficiency(const struct results *r, const char *series, int particles,
                                         int pes)
{
    return bench_ratio(bench_barneshut_step(r, "plain", particles, 1),
                       pes * bench_barneshut_step(r, series, particles, pes));
}

static void bench_barneshut_print_line(const struct results *r, const char *series, int pes)
{
    char what[48];

    snprintf(what, sizeof what, "%s, %d PE%s", series, pes, pes == 1 ? "" : "s");
    printf("%-24s", what);
    for (size_t i = 0; i < SIZES; i++) {
        bench_print_value(1e3 * bench_barneshut_step(r, series, sizes[i], pes), 10);
        bench_print_value(bench_barneshut_efficiency(r, series, sizes[i], pes), 12);
    }
    printf("\n");
}

static void bench_barneshut_print(const struct results *r)
{
    int largest = sizes[SIZES - 1];

    printf(
        "Gravity by Barnes and Hut: milliseconds per step, and efficiency: time of plain / (PEs x "
        "time)\n%-24s",
        "particles");
    for (size_t i = 0; i < SIZES; i++)
        printf("%10d  efficiency", sizes[i]);
    printf("\n");
    bench_barneshut_print_line(r, "plain", 1);
    bench_barneshut_print_line(r, "skua", 1);
    for (const int *pes = r->host->pes; *pes; pes++) {
        if (*pes == 1)
            continue;
        bench_barneshut_print_line(r, "skua", *pes);
        bench_barneshut_print_line(r, "skua-threads", *pes);
    }
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        bench_print_goalf(bench_barneshut_efficiency(r, "skua", largest, goals[i].pes),
                          ">=", goals[i].efficiency, "efficiency on %d PEs, %d particles",
                          goals[i].pes, largest);
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_barneshut_draw(struct plot_curve *curve, const struct results *r,
                                 const char *series, int particles)
{
    plot_curve_add(curve, 1, bench_barneshut_efficiency(r, series, particles, 1));
    for (const int *pes = r->host->pes; *pes; pes++)
        if (*pes > 1)
            plot_curve_add(curve, *pes, bench_barneshut_efficiency(r, series, particles, *pes));
}

static void bench_barneshut_plot(const struct results *r, FILE *to)
{
    struct plot_curve curve[] = {
        {.name = "processes, 100000 particles", .colour = "#d62728", .dash = ""},
        {.name = "threads, 100000 particles", .colour = "#1f77b4", .dash = ""},
        {.name = "processes, 10000 particles", .colour = "#d62728", .dash = "4 3"},
        {.name = "threads, 10000 particles", .colour = "#1f77b4", .dash = "4 3"},
    };
    struct plot picture = {"Gravity by Barnes and Hut", "PEs", "efficiency", curve, 4};

    for (size_t i = 0; i < 4; i++)
        bench_barneshut_draw(&curve[i], r, i % 2 ? "skua-threads" : "skua",
                             sizes[i < 2 ? SIZES - 1 : 0]);
    plot_write(&picture, to);
}

const struct bench bench_barneshut = {.name  = "barneshut",
                                      .run   = bench_barneshut_run,
                                      .print = bench_barneshut_print,
                                      .plot  = bench_barneshut_plot};

/* ---- any number of PEs ----------------------------------------------------- */

static void bench_barneshut_scale(const struct scaling *scaling, struct results *results, int pes)
{
    int  particles = scaling_grow_count(scaling, pes);
    char argument[32];

    bench_barneshut_run_skua(results, particles, pes, 1);
    if (pes > 1)
        bench_barneshut_run_skua(results, particles, pes, pes);
    else
        bench_barneshut_run_plain(results, particles);
    snprintf(argument, sizeof argument, "%d,4", particles);
    scaling_run_limit(results, "barneshut", argument, pes);
}

static size_t bench_barneshut_bytes_on(const struct scaling *scaling, int pes)
{
    return (size_t)scaling_grow_count(scaling, pes);
}

/* The interactions of a particle grow with the depth of the tree. */
static double bench_barneshut_work_on(const struct scaling *scaling, int pes)
{
    double one = scaling->size.of_one, all = scaling_grow_count(scaling, pes);

    return all * log(all) / (one * log(one));
}

const struct scaling scaling_barneshut = {.name     = "barneshut",
                                          .problem  = "Gravity by Barnes and Hut, ",
                                          .after    = " particles",
                                          .size     = {100000, 1000, 2000000, 0},
                                          .unit     = "milliseconds per step",
                                          .factor   = 1e3,
                                          .curve    = {{"skua", "skua"},
                                                       {"skua-threads", "skua, threads"},
                                                       {"plain", "without Skua"},
                                                       {"limit", "limit"}},
                                          .run      = bench_barneshut_scale,
                                          .bytes_on = bench_barneshut_bytes_on,
                                          .work_on  = bench_barneshut_work_on};
