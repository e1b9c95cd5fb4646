/* SPDX-License-Identifier: Apache-2.0 */
/* bench_lu.c - skua bench lu: dense linear systems against HPL, ScaLAPACK and the rate of matrix
 * products. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scaling.h"
#include "series.h"

static const size_t bench_lu_sizes[] = {2048, 4096, 8192}; /* rows, on two PEs */

#define LU_SIZES  (sizeof bench_lu_sizes / sizeof *bench_lu_sizes)
#define LU_MANY   16 /* PEs, where there are as many cores */
#define LU_MANY_N 16384
#define LU_BLOCKS "64,128,192,256" /* of HPL */

/* ---- running ------------------------------------------------------------- */

/* Measures Skua, and the rate of matrix products in the same job. */
static void bench_lu_run_skua(struct results *results, int size, int pes, int threads)
{
    bench_run_job(results, "-n %d -t %d @lu --size=%d --dgemm --series=%s", pes, threads, size,
                  threads > 1 ? "skua-threads" : "skua");
}

static void bench_lu_run_scalapack(struct results *results, int size, int ranks)
{
    static const int  blocks[] = {64, 128, 192, 256};
    char              argument[48];
    struct bench_peer peer = {"openmpi", "peer-scalapack-lu", "scalapack", argument};

    for (int rows = 1; rows * rows <= ranks; rows++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks && ranks % rows == 0; b++) {
            snprintf(argument, sizeof argument, "%d,%d,%d", size, blocks[b], rows);
            bench_run_peer(results, &peer, ranks);
        }
}

/* Measures HPL with all of @p sizes, which commas separate, in one run, since its suite takes
 * seconds to begin.  Its grids have at most as many rows as columns, and more than an eighth, but
 * for numbers of ranks that have no such grid. */
static void bench_lu_run_hpl(struct results *results, const char *sizes, int ranks)
{
    char              argument[80];
    struct bench_peer peer = {"openmpi", "peer-hpl", "hpl", argument};
    int               most = 1;

    for (int rows = 1; rows * rows <= ranks; rows++)
        most = ranks % rows ? most : rows;
    for (int rows = 1; rows <= most; rows++)
        if (ranks % rows == 0 && (rows * rows * 8 > ranks || rows == most)) {
            snprintf(argument, sizeof argument, "%s:%s:%d", sizes, LU_BLOCKS, rows);
            bench_run_peer(results, &peer, ranks);
        }
}

/* Runs every library on processes. */
static void bench_lu_run_all(struct results *results, int rows, int pes)
{
    char sizes[16];

    snprintf(sizes, sizeof sizes, "%d", rows);
    bench_lu_run_skua(results, rows, pes, 1);
    bench_lu_run_scalapack(results, rows, pes);
    bench_lu_run_hpl(results, sizes, pes);
}

/* Returns whether a part is measured: the number of rows is its name. */
static bool bench_lu_wanted(const struct bench_host *host, int size)
{
    return !host->only || atoi(host->only) == size;
}

static bool bench_lu_has_part(const char *name)
{
    bool found = false;

    for (size_t i = 0; i < LU_SIZES; i++) {
        char rows[24];

        snprintf(rows, sizeof rows, "%zu", bench_lu_sizes[i]);
        found = found || strcmp(name, rows) == 0;
    }
    return found;
}

static void bench_lu_run_size(struct results *results, int size)
{
    bench_stepf(results, "systems of %d rows", size);
    bench_lu_run_skua(results, size, 2, 1);
    bench_lu_run_skua(results, size, 2, 2);
    bench_stepf(results, "ScaLAPACK, %d rows", size);
    bench_lu_run_scalapack(results, size, 2);
}

static void bench_lu_run(struct results *results)
{
    for (size_t i = 0; i < LU_SIZES; i++)
        if (bench_lu_wanted(results->host, (int)bench_lu_sizes[i]))
            bench_lu_run_size(results, (int)bench_lu_sizes[i]);
    bench_step(results, "HPL and the rest of the HPC Challenge");
    bench_lu_run_hpl(results, results->host->only ? results->host->only : "2048,4096,8192", 2);
    if (results->host->cores >= LU_MANY && !results->host->only) {
        bench_step(results, "16 PEs");
        bench_lu_run_all(results, LU_MANY_N, LU_MANY);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Returns a rate in GF/s. */
static double bench_lu_rate(const struct results *r, const char *series, int size, int pes)
{
    return 1e-9 * results_get_metric(r, series, (size_t)size, "rate-%dpe", pes);
}

/* Returns the better rate of processes and threads. */
static double bench_lu_skua(const struct results *r, int size, int pes)
{
    return fmax(bench_lu_rate(r, "skua", size, pes), bench_lu_rate(r, "skua-threads", size, pes));
}

static const struct series bench_lu_rows[] = {
    {"matrix products (OpenBLAS)", "dgemm", .colour = "#7f7f7f", .dash = "4 3",
     .curve = "matrix products"},
    {"skua", .colour = "#d62728"},
    {"skua, threads", .series = "skua-threads"},
    {"HPL", "hpl", .colour = "#1f77b4"},
    {"ScaLAPACK", "scalapack", .colour = "#2ca02c"},
    {"memory / matrix", "skua", "memory-2pe", .factor = 1},
    {0}};

static const struct series_set bench_lu_all = {.list    = bench_lu_rows,
                                               .numbers = bench_lu_sizes,
                                               .count   = LU_SIZES,
                                               .metric  = "rate-2pe",
                                               .factor  = 1e-9,
                                               .title   = "Dense linear systems, 2 PEs",
                                               .unit    = "GF/s",
                                               .label   = "rows",
                                               .x_scale = PLOT_LOG2,
                                               .y_scale = PLOT_LINEAR};

static void bench_lu_print_peer_goals(const struct results *r, const char *name, const char *series)
{
    for (size_t i = 0; i < LU_SIZES; i++) {
        int size = (int)bench_lu_sizes[i];

        bench_print_goalf(bench_ratio(bench_lu_skua(r, size, 2), bench_lu_rate(r, series, size, 2)),
                          ">=", 1, "rate / %s, 2 PEs, %d rows", name, size);
    }
}

static void bench_lu_print_goals(const struct results *r)
{
    double peers = fmax(bench_lu_rate(r, "hpl", LU_MANY_N, LU_MANY),
                        bench_lu_rate(r, "scalapack", LU_MANY_N, LU_MANY));

    bench_print_goals_head("Goals");
    bench_print_goal("rate / matrix products, 2 PEs, 8192 rows",
                     bench_ratio(bench_lu_skua(r, 8192, 2), bench_lu_rate(r, "dgemm", 8192, 2)),
                     ">=", 0.88);
    bench_lu_print_peer_goals(r, "HPL", "hpl");
    bench_lu_print_peer_goals(r, "ScaLAPACK", "scalapack");
    for (size_t i = 0; i < LU_SIZES; i++)
        bench_print_goalf(results_get(r, "skua", bench_lu_sizes[i], "memory-2pe"), "<=", 1.3,
                          "memory / matrix, 2 PEs, %zu rows", bench_lu_sizes[i]);
    bench_print_goal("memory / matrix, 16 PEs, 16384 rows (needs 16 cores)",
                     results_get(r, "skua", LU_MANY_N, "memory-16pe"), "<=", 1.3);
    bench_print_goal("rate / better peer, 16 PEs, 16384 rows (needs 16 cores)",
                     bench_ratio(bench_lu_skua(r, LU_MANY_N, LU_MANY), peers), ">=", 0.95);
}

static void bench_lu_print(const struct results *r)
{
    series_print_table(&bench_lu_all, r);
    bench_lu_print_goals(r);
}

const struct bench bench_lu = {.name     = "lu",
                               .run      = bench_lu_run,
                               .print    = bench_lu_print,
                               .series   = &bench_lu_all,
                               .has_part = bench_lu_has_part};

/* ---- any number of PEs ----------------------------------------------------- */

#define LU_SCALE_N    4096
#define LU_SCALE_ROWS 128 /* rows of a growing system are a multiple of this */

/* Adds the rate of matrix products, which lu has measured, as the series "limit". */
static void bench_lu_add_limit(struct results *results, int rows, int pes)
{
    struct result limit = {.bench = "lu", .series = "limit", .bytes = (size_t)rows};

    snprintf(limit.metric, sizeof limit.metric, "rate-%dpe", pes);
    limit.value = results_get(results, "dgemm", limit.bytes, limit.metric);
    if (limit.value > 0)
        results_add(results, &limit);
}

static void bench_lu_scale(const struct scaling *scaling, struct results *results, int pes)
{
    int rows = scaling_grow_rows(scaling, pes, LU_SCALE_ROWS);

    bench_lu_run_all(results, rows, pes);
    if (pes > 1)
        bench_lu_run_skua(results, rows, pes, pes);
    bench_lu_add_limit(results, rows, pes);
}

static size_t bench_lu_bytes_on(const struct scaling *scaling, int pes)
{
    return (size_t)scaling_grow_rows(scaling, pes, LU_SCALE_ROWS);
}

const struct scaling scaling_lu = {.name     = "lu",
                                   .problem  = "Dense linear system of ",
                                   .after    = " rows",
                                   .size     = {LU_SCALE_N, 128, 65536, 0},
                                   .unit     = "GF/s",
                                   .factor   = 1e-9,
                                   .rate     = true,
                                   .curve    = {{"skua", "skua"},
                                                {"skua-threads", "skua, threads"},
                                                {"hpl", "HPL"},
                                                {"scalapack", "ScaLAPACK"},
                                                {"limit", "limit"}},
                                   .run      = bench_lu_scale,
                                   .bytes_on = bench_lu_bytes_on};
