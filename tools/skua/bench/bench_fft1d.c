/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fft1d.c - skua bench fft1d: a one-dimensional Fourier transform against FFTW and FFTW-MPI.
 */
#include "scaling.h"
#include "series.h"

#define POINT_BYTES 16 /* a complex number */

static const int logs[] = {16, 18, 20, 22, 24}; /* log2 of the number of points */

#define SIZES (sizeof logs / sizeof *logs)

#define POINTS(log2) ((size_t)1 << (log2))
#define BYTES(log2)  (POINTS(log2) * POINT_BYTES)

static const size_t bytes[SIZES]  = {BYTES(16), BYTES(18), BYTES(20), BYTES(22), BYTES(24)};
static const double points[SIZES] = {POINTS(16), POINTS(18), POINTS(20), POINTS(22), POINTS(24)};

/* ---- running ------------------------------------------------------------- */

static void bench_fft1d_run_skua(struct results *results, int log2, int pes, int threads)
{
    bench_run_job(results, "-n %d -t %d @fft1d --log2=%d --seconds=0.5 --no-check --series=skua%s",
                  pes, threads, log2, threads > 1 ? "-threads" : "");
}

static void bench_fft1d_run_fftw(struct results *results, int log2, int ranks)
{
    char              size[16];
    struct bench_peer peer = {"openmpi", "peer-fftw-mpi", ranks > 1 ? "fftw-mpi" : "fftw", size};

    snprintf(size, sizeof size, "%d", log2);
    bench_run_peer(results, &peer, ranks);
}

static void bench_fft1d_run(struct results *results)
{
    for (size_t i = 0; i < SIZES; i++) {
        bench_stepf(results, "transforms of 2^%d points", logs[i]);
        bench_fft1d_run_skua(results, logs[i], 1, 1);
        bench_fft1d_run_skua(results, logs[i], 2, 1);
        bench_fft1d_run_skua(results, logs[i], 2, 2);
        bench_stepf(results, "FFTW, 2^%d points", logs[i]);
        bench_fft1d_run_fftw(results, logs[i], 1);
        bench_fft1d_run_fftw(results, logs[i], 2);
    }
}

/* ---- tables -------------------------------------------------------------- */

static double bench_fft1d_rate(const struct results *r, const char *series, int log2, int pes)
{
    return results_get_metric(r, series, ((size_t)1 << log2) * POINT_BYTES, "rate-%dpe", pes);
}

static const struct series bench_fft1d_rows[] = {
    {"FFTW, 1 process", "fftw", "rate-1pe", .colour = "#7f7f7f", .dash = "4 3"},
    {"skua, 1 PE", "skua", "rate-1pe", .colour = "#d62728", .dash = "4 3"},
    {"FFTW-MPI, 2 ranks", "fftw-mpi", .colour = "#2ca02c"},
    {"skua, 2 PEs", "skua", .colour = "#d62728"},
    {"skua, 2 PEs, threads", .series = "skua-threads"},
    {0}};

static const struct series_set bench_fft1d_all = {.list    = bench_fft1d_rows,
                                                  .numbers = bytes,
                                                  .count   = SIZES,
                                                  .metric  = "rate-2pe",
                                                  .factor  = 1e-9,
                                                  .x       = points,
                                                  .title   = "Fourier transform",
                                                  .unit    = "GF/s",
                                                  .label   = "points"};

static void bench_fft1d_print_goals(const struct results *r)
{
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < SIZES; i++)
        bench_print_goalf(bench_ratio(bench_fft1d_rate(r, "skua", logs[i], 2),
                                      bench_fft1d_rate(r, "fftw-mpi", logs[i], 2)),
                          ">=", 1, "2 PEs / FFTW-MPI on 2 ranks, 2^%d points", logs[i]);
}

static void bench_fft1d_print(const struct results *r)
{
    printf("Fourier transform, GF/s (5 n log2 n operations)\n%-32s", "points");
    for (size_t i = 0; i < SIZES; i++)
        printf("     2^%d", logs[i]);
    printf("\n");
    series_print_rows(&bench_fft1d_all, r);
    bench_fft1d_print_goals(r);
}

const struct bench bench_fft1d = {.name   = "fft1d",
                                  .run    = bench_fft1d_run,
                                  .print  = bench_fft1d_print,
                                  .series = &bench_fft1d_all};

/* ---- any number of PEs ----------------------------------------------------- */

static void bench_fft1d_scale(const struct scaling *scaling, struct results *results, int pes)
{
    int  log2 = scaling_grow_log2(scaling, pes);
    char argument[16];

    bench_fft1d_run_skua(results, log2, pes, 1);
    if (pes > 1)
        bench_fft1d_run_skua(results, log2, pes, pes);
    snprintf(argument, sizeof argument, "%d", log2);
    scaling_run_limit(results, "fft1d", argument, pes);
    bench_fft1d_run_fftw(results, log2, pes);
}

static size_t bench_fft1d_bytes_on(const struct scaling *scaling, int pes)
{
    return ((size_t)1 << scaling_grow_log2(scaling, pes)) * POINT_BYTES;
}

const struct scaling scaling_fft1d = {.name     = "fft1d",
                                      .problem  = "Fourier transform of 2^",
                                      .after    = " points",
                                      .size     = {20, 10, 30, 2},
                                      .unit     = "GF/s",
                                      .factor   = 1e-9,
                                      .rate     = true,
                                      .curve    = {{"skua", "skua"},
                                                   {"skua-threads", "skua, threads"},
                                                   {"fftw-mpi", "FFTW-MPI"},
                                                   {"fftw", "FFTW"},
                                                   {"limit", "limit"}},
                                      .run      = bench_fft1d_scale,
                                      .bytes_on = bench_fft1d_bytes_on,
                                      .of_limit = 0.9,
                                      .alone    = true};
