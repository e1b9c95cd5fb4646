/* SPDX-License-Identifier: Apache-2.0 */
/* bench_randomaccess.c - skua bench randomaccess: random updates of a table against MPI, and items
 * of a stream against messages. */
#include <string.h>

#include "scaling.h"
#include "series.h"

#define LOG2_WORDS 25
#define LOG2       "25" /* of the number of words of the table: 256 MiB, far more than any cache */

/* ---- running ------------------------------------------------------------- */

/* Runs the application with PEs as processes or, if @p threads is not 1, as threads. */
static void bench_randomaccess_run_skua(struct results *results, int pes, int threads, int log2,
                                        const char *series)
{
    bench_run_job(results, "-n %d -t %d @randomaccess --log2=%d --series=%s", pes, threads, log2,
                  series);
}

static void bench_randomaccess_run(struct results *results)
{
    for (int pes = 1; pes <= 2; pes++) {
        bench_step(results, "RandomAccess");
        bench_randomaccess_run_skua(results, pes, 1, LOG2_WORDS, "skua");
        bench_randomaccess_run_skua(results, pes, pes, LOG2_WORDS, "skua-threads");
        bench_step(results, "RandomAccess of MPI");
        scaling_run_mpis(results, "randomaccess", LOG2, pes);
    }
    bench_step(results, "streams and messages");
    bench_run_job(results, "-n 2 -t 1 @bench-stream");
    bench_run_job(results, "-n 2 -t 1 @bench-stream items");
    bench_run_job(results, "-n 2 -t 1 @bench-rate");
}

/* ---- tables -------------------------------------------------------------- */

static double bench_randomaccess_rate(const struct results *r, const char *series, int pes)
{
    return results_get_metric(r, series, 8, "rate-%dpe", pes);
}

static void bench_randomaccess_print_goals(const struct results *r)
{
    bench_print_goals_head("Goals");
    bench_print_goal(
        "updates / better MPI, 1 PE",
        bench_ratio(bench_randomaccess_rate(r, "skua", 1), bench_better_mpi(r, 8, "rate-1pe")),
        ">=", 1);
    bench_print_goal(
        "updates / better MPI, 2 PEs",
        bench_ratio(bench_randomaccess_rate(r, "skua", 2), bench_better_mpi(r, 8, "rate-2pe")),
        ">=", 1);
    bench_print_goal("updates per PE, 2 PEs / 1 PE",
                     bench_ratio(bench_randomaccess_rate(r, "skua", 2) / 2,
                                 bench_randomaccess_rate(r, "skua", 1)),
                     ">=", 0.66);
    bench_print_goal("items of a stream / messages of 8 bytes",
                     bench_ratio(bench_randomaccess_rate(r, "skua-stream", 2),
                                 bench_randomaccess_rate(r, "skua-inline", 2)),
                     ">=", 5);
}

static void bench_randomaccess_print(const struct results *r)
{
    static const char *const updates[] = {"skua", "skua-threads", "openmpi", "mpich"};
    static const char *const items[]   = {"skua-stream", "skua-stream-items", "skua-inline"};

    printf("RandomAccess, 2^" LOG2 " words, GUP/s%10s%12s%14s\n", "1 PE", "2 PEs", "per PE of 2");
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        printf("%-28s", updates[i]);
        printf("%12.4f%12.4f%14.4f\n", 1e-9 * bench_randomaccess_rate(r, updates[i], 1),
               1e-9 * bench_randomaccess_rate(r, updates[i], 2),
               0.5e-9 * bench_randomaccess_rate(r, updates[i], 2));
    }
    printf("\nItems of 8 bytes between 2 PEs, millions per second\n");
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        printf("%-28s%12.1f\n", items[i], 1e-6 * bench_randomaccess_rate(r, items[i], 2));
    bench_randomaccess_print_goals(r);
}

/* ---- plot ---------------------------------------------------------------- */

static const size_t bench_randomaccess_numbers[] = {1, 2};

static const struct series bench_randomaccess_curves[] = {{"skua", .colour = "#d62728"},
                                                          {"openmpi", .colour = "#2ca02c"},
                                                          {"mpich", .colour = "#8c564b"},
                                                          {0}};

static const struct series_set bench_randomaccess_all = {.list    = bench_randomaccess_curves,
                                                         .numbers = bench_randomaccess_numbers,
                                                         .count   = 2,
                                                         .metric  = "rate",
                                                         .factor  = 1e-9,
                                                         .bytes   = 8,
                                                         .title = "RandomAccess, 2^" LOG2 " words",
                                                         .unit  = "GUP/s",
                                                         .label = "PEs"};

const struct bench bench_randomaccess = {.name   = "randomaccess",
                                         .run    = bench_randomaccess_run,
                                         .print  = bench_randomaccess_print,
                                         .series = &bench_randomaccess_all};

/* ---- any number of PEs ----------------------------------------------------- */

static void bench_randomaccess_scale(const struct scaling *scaling, struct results *results,
                                     int pes)
{
    int  log2 = scaling_grow_log2(scaling, pes);
    char argument[16];

    bench_randomaccess_run_skua(results, pes, 1, log2, "skua");
    if (pes > 1)
        bench_randomaccess_run_skua(results, pes, pes, log2, "skua-threads");
    snprintf(argument, sizeof argument, "%d", log2);
    scaling_run_limit(results, "randomaccess", argument, pes);
    scaling_run_mpis(results, "randomaccess", argument, pes);
}

const struct scaling scaling_randomaccess = {.name     = "randomaccess",
                                             .problem  = "RandomAccess, 2^",
                                             .after    = " words",
                                             .size     = {LOG2_WORDS, 10, 34, 0},
                                             .unit     = "GUP/s",
                                             .factor   = 1e-9,
                                             .rate     = true,
                                             .bytes    = 8,
                                             .curve    = {{"skua", "skua"},
                                                          {"skua-threads", "skua, threads"},
                                                          {"openmpi", "Open MPI"},
                                                          {"mpich", "MPICH"},
                                                          {"limit", "limit"}},
                                             .run      = bench_randomaccess_scale,
                                             .of_limit = 0.85};
