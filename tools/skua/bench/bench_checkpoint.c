/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_checkpoint.c - skua bench checkpoint: the cost of checkpoints, on disk against dd(1),
 * in memory against memcpy(), the time that a job takes to recover from the death of a process, and
 * the cost of protection for two applications.
 *
 * Files are written below the folder of the environment variable TMPDIR, or /var/tmp, which is on a
 * disk where /tmp often is not.  The applications make a checkpoint in memory each second.  A tenth
 * of its cost is taken as the cost of a checkpoint each ten seconds, which is too small to be
 * measured directly.
 *
 * With --pes, other numbers of PEs, each a process, divide the same state.  Goals are those of two.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/seconds.h"
#include "bench.h"
#include "series.h"

#define MEGABYTES "256"
#define STATE     ((size_t)256 << 20)
#define LARGE     "1024" /* MB of state that a job recovers */
#define BLOCK     ((size_t)1 << 20)

/* An application, its command line, and the result that is compared. */
static const struct checkpoint_app {
    const char *name, *arguments;
    const char *variant; /* that the program adds to the name of a series */
    size_t      bytes;   /* of the result */
} checkpoint_apps[] = {
    {"leanmd", "--size=4,4,4 --atoms=150 --steps=300", "", 64},
    {"stencil3d", "--size=128,128,128 --steps=1000 --repeat=3 --per-pe=8 --messages", "-messages",
     8},
};

#define CHECKPOINT_APPS (sizeof checkpoint_apps / sizeof *checkpoint_apps)

/* ---- running ------------------------------------------------------------------------------- */

/* The bandwidth of dd, which writes as many bytes and waits for the disk. */
static void bench_checkpoint_run_dd(struct results *results, const char *folder)
{
    char          of[PROGRAM_PATH_BYTES], dd[PROGRAM_PATH_BYTES];
    char         *argv[] = {dd,           "if=/dev/zero", of,  "bs=1M", "count=" MEGABYTES,
                            "conv=fsync", "status=none",  NULL};
    struct result result = {
        .bench = "checkpoint", .series = "dd", .metric = "write_gbs", .bytes = BLOCK};
    double begin = ski_seconds(CLOCK_MONOTONIC);

    snprintf(of, sizeof of, "of=%s/dd", folder);
    if (!program_in_path("dd", dd) || program_run(argv, false, NULL, NULL) != 0)
        return;
    result.value = 1e-9 * (double)STATE / (ski_seconds(CLOCK_MONOTONIC) - begin);
    results_add_measured(results, &result);
    unlink(of + 3);
}

/* Runs an application without checkpoints, or with one in memory each second. */
static void bench_checkpoint_run_app(struct results *results, const struct checkpoint_app *app,
                                     bool protected, int                                   pes)
{
    bench_run_job(results, "-n %d%s @%s %s --series=%s-%s", pes, protected ? " --survive=1" : "",
                  app->name, app->arguments, app->name, protected ? "protected" : "plain");
}

static void bench_checkpoint_measure(struct results *results, const char *folder, int pes)
{
    bench_step(results, "checkpoints on disk");
    bench_checkpoint_run_dd(results, folder);
    bench_run_job(results, "-n %d @bench-checkpoint disk %s/checkpoints " MEGABYTES, pes, folder);
    bench_step(results, "checkpoints in memory");
    bench_run_job(results, "-n %d @bench-checkpoint memory %s " MEGABYTES, pes, folder);
    bench_step(results, "recovery from the death of a process");
    bench_run_job(results, "-n %d --survive=1000 @bench-checkpoint recover %s " LARGE, pes, folder);
    for (size_t i = 0; i < CHECKPOINT_APPS; i++) {
        bench_step(results, checkpoint_apps[i].name);
        bench_checkpoint_run_app(results, &checkpoint_apps[i], false, pes);
        bench_checkpoint_run_app(results, &checkpoint_apps[i], true, pes);
    }
}

static int bench_checkpoint_remove_entry(const char *path, const struct stat *file, int type,
                                         struct FTW *entry)
{
    (void)file, (void)type, (void)entry;
    return remove(path);
}

/* Also after an interrupt, when no program is started any more. */
static void bench_checkpoint_remove(const char *folder)
{
    nftw(folder, bench_checkpoint_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void bench_checkpoint_run_on(struct results *results, int pes)
{
    const char *parent = getenv("TMPDIR");
    char        folder[128];

    snprintf(folder, sizeof folder, "%s/skua-bench-XXXXXX", parent ? parent : "/var/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        return;
    }
    bench_checkpoint_measure(results, folder, pes);
    bench_checkpoint_remove(folder);
}

static void bench_checkpoint_run(struct results *results)
{
    bench_run_each(results, bench_checkpoint_run_on);
}

/* ---- tables -------------------------------------------------------------------------------- */

static double bench_checkpoint_get(const struct results *r, const char *series, const char *metric)
{
    return results_get(r, series, BLOCK, metric);
}

/* Returns the cost of a checkpoint every ten seconds: 1.02 is two percent. */
static double bench_checkpoint_cost(const struct results *r, const struct checkpoint_app *app)
{
    double plain = results_get_series(r, app->bytes, "step", "%s-plain%s", app->name, app->variant);
    double saved =
        results_get_series(r, app->bytes, "step", "%s-protected%s", app->name, app->variant);
    double ratio = bench_ratio(saved, plain);

    return ratio > 1 ? 1 + (ratio - 1) / 10 : ratio;
}

static void bench_checkpoint_print_goals(const struct results *r)
{
    bench_print_goals_head("Goals");
    bench_print_goal("on disk / dd",
                     bench_ratio(bench_checkpoint_get(r, "disk", "write_gbs"),
                                 bench_checkpoint_get(r, "dd", "write_gbs")),
                     ">=", 0.7);
    bench_print_goal("stop / write",
                     bench_ratio(bench_checkpoint_get(r, "disk", "stop_s"),
                                 bench_checkpoint_get(r, "disk", "write_s")),
                     "<=", 0.1);
    bench_print_goal("in memory / memcpy",
                     bench_ratio(bench_checkpoint_get(r, "memory", "copy_gbs"),
                                 bench_checkpoint_get(r, "memcpy", "copy_gbs")),
                     ">=", 0.6);
    bench_print_goal("seconds to recover " LARGE " MB",
                     bench_checkpoint_get(r, "recover", "recover_s"), "<", 1);
    for (size_t i = 0; i < CHECKPOINT_APPS; i++)
        bench_print_goalf(bench_checkpoint_cost(r, &checkpoint_apps[i]), "<=", 1.02,
                          "%s with a checkpoint every 10 s / without", checkpoint_apps[i].name);
}

/* Prints what has goals on two PEs. */
static void bench_checkpoint_print_costs(const struct results *r)
{
    for (size_t i = 0; i < CHECKPOINT_APPS; i++) {
        char what[64];

        snprintf(what, sizeof what, "%s, a checkpoint every 10 s / none", checkpoint_apps[i].name);
        printf("%-44s%12.3g\n", what, bench_checkpoint_cost(r, &checkpoint_apps[i]));
    }
}

static void bench_checkpoint_print_on(const struct results *r, int pes)
{
    double stop  = bench_checkpoint_get(r, "disk", "stop_s"),
           write = bench_checkpoint_get(r, "disk", "write_s");

    printf("%sCheckpoints of " MEGABYTES " MB on %d PEs\n%-44s%12s\n",
           pes == r->host->pes[0] ? "" : "\n", pes, "", "");
    printf("%-44s%12.3g\n", "on disk, GB/s", bench_checkpoint_get(r, "disk", "write_gbs"));
    printf("%-44s%12.3g\n", "dd conv=fsync, GB/s", bench_checkpoint_get(r, "dd", "write_gbs"));
    printf("%-44s%12.3g\n", "the program stops for, s", stop);
    printf("%-44s%12.3g\n", "then files are written for, s", write);
    printf("%-44s%12.3g\n", "in memory, GB/s", bench_checkpoint_get(r, "memory", "copy_gbs"));
    printf("%-44s%12.3g\n", "memcpy, GB/s", bench_checkpoint_get(r, "memcpy", "copy_gbs"));
    printf("%-44s%12.3g\n", "recovery of " LARGE " MB, s",
           bench_checkpoint_get(r, "recover", "recover_s"));
    if (pes == 2)
        bench_checkpoint_print_goals(r);
    else
        bench_checkpoint_print_costs(r);
}

static void bench_checkpoint_print(const struct results *r)
{
    bench_print_each(r, bench_checkpoint_print_on);
}

/* ---- plot ---------------------------------------------------------------------------------- */

static const size_t bench_checkpoint_numbers[] = {BLOCK};

static const struct series bench_checkpoint_curves[] = {
    {"disk", .metric = "write_gbs", .colour = "#d62728"},
    {"dd", .metric = "write_gbs", .colour = "#444444", .dash = "5 4"},
    {"memory", .metric = "copy_gbs", .colour = "#1f77b4"},
    {"memcpy", .metric = "copy_gbs", .colour = "#7f7f7f", .dash = "4 3"},
    {0}};

static const struct series_set bench_checkpoint_all = {.list    = bench_checkpoint_curves,
                                                       .numbers = bench_checkpoint_numbers,
                                                       .count   = 1,
                                                       .title   = "Checkpoints of " MEGABYTES " MB",
                                                       .unit    = "GB/s",
                                                       .label   = "bytes of an element"};

const struct bench bench_checkpoint = {.name        = "checkpoint",
                                       .run         = bench_checkpoint_run,
                                       .print       = bench_checkpoint_print,
                                       .series      = &bench_checkpoint_all,
                                       .several_pes = true};
