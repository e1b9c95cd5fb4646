/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fft1d.c - the Fourier transform beside FFTW's over MPI, and in one piece. */
#include <string.h>

#include "bench.h"

#define NUMBER_BYTES 16 /* a complex number */

static const int logs[] = {16, 18, 20, 22, 24}; /* numbers, as powers of two */

#define SIZES (sizeof logs / sizeof *logs)

/* ---- running ------------------------------------------------------------- */

static void run_skua(struct results *results, const struct bench_host *host, int log2, int pes,
                     int threads)
{
    char  path[PROGRAM_PATH], n[16], t[16], size[16];
    char *series = threads > 1 ? "--series=skua-threads" : "--series=skua";
    char *argv[] = {(char *)host->skuarun, "-n",         n,      "-t", t, path, size,
                    "--seconds=0.5",       "--no-check", series, NULL};

    if (!program_find("fft1d", path))
        return;
    snprintf(n, sizeof n, "%d", pes);
    snprintf(t, sizeof t, "%d", threads);
    snprintf(size, sizeof size, "--log2=%d", log2);
    bench_run(results, argv);
}

static void run_fftw(struct results *results, const struct bench_host *host, int log2, int ranks)
{
    char              size[16];
    struct bench_peer peer = {"openmpi", "peer-fftw-mpi", ranks > 1 ? "fftw-mpi" : "fftw", size};

    snprintf(size, sizeof size, "%d", log2);
    bench_run_peer(results, host, &peer, ranks);
}

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    for (size_t i = 0; i < SIZES; i++) {
        char what[48];
        snprintf(what, sizeof what, "transforms of 2^%d numbers", logs[i]);
        bench_step(round, rounds, what);
        run_skua(results, host, logs[i], 1, 1);
        run_skua(results, host, logs[i], 2, 1);
        run_skua(results, host, logs[i], 2, 2);
        snprintf(what, sizeof what, "FFTW, 2^%d numbers", logs[i]);
        bench_step(round, rounds, what);
        run_fftw(results, host, logs[i], 1);
        run_fftw(results, host, logs[i], 2);
    }
}

/* ---- tables -------------------------------------------------------------- */

static double rate(const struct results *r, const char *series, int log2, int pes)
{
    char metric[32];

    snprintf(metric, sizeof metric, "rate-%dpe", pes);
    return results_get(r, series, ((size_t)1 << log2) * NUMBER_BYTES, metric);
}

static void print_line(const struct results *r, const char *what, const char *series, int pes)
{
    printf("%-32s", what);
    for (size_t i = 0; i < SIZES; i++)
        bench_print_value(1e-9 * rate(r, series, logs[i], pes), 8);
    printf("\n");
}

static void print_goals(const struct results *r)
{
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < SIZES; i++) {
        char what[64];
        snprintf(what, sizeof what, "2 PEs / FFTW-MPI on 2 ranks, 2^%d numbers", logs[i]);
        bench_print_goal(what,
                         bench_ratio(rate(r, "skua", logs[i], 2), rate(r, "fftw-mpi", logs[i], 2)),
                         ">=", 1);
    }
}

static void print(const struct results *r)
{
    printf("Fourier transform, GF/s of 5 n log2 n\n%-32s", "numbers");
    for (size_t i = 0; i < SIZES; i++)
        printf("    2^%d", logs[i]);
    printf("\n");
    print_line(r, "FFTW in one piece, 1 process", "fftw", 1);
    print_line(r, "skua, 1 PE", "skua", 1);
    print_line(r, "FFTW-MPI, 2 ranks", "fftw-mpi", 2);
    print_line(r, "skua, 2 PEs", "skua", 2);
    print_line(r, "skua, 2 PEs, threads", "skua-threads", 2);
    print_goals(r);
}

/* ---- plot ---------------------------------------------------------------- */

static void draw(struct curve *curve, const struct results *r, const char *series, int pes)
{
    for (size_t i = 0; i < SIZES; i++)
        curve_add(curve, (double)((size_t)1 << logs[i]), 1e-9 * rate(r, series, logs[i], pes));
}

static void plot(const struct results *r, FILE *to)
{
    struct curve curve[] = {
        {.name = "skua, 2 PEs", .colour = "#d62728", .dash = ""},
        {.name = "skua, 1 PE", .colour = "#d62728", .dash = "4 3"},
        {.name = "FFTW-MPI, 2 ranks", .colour = "#2ca02c", .dash = ""},
        {.name = "FFTW in one piece", .colour = "#7f7f7f", .dash = "4 3"},
    };
    struct plot picture = {"Fourier transform", "numbers", "GF/s", curve, 4};

    draw(&curve[0], r, "skua", 2);
    draw(&curve[1], r, "skua", 1);
    draw(&curve[2], r, "fftw-mpi", 2);
    draw(&curve[3], r, "fftw", 1);
    plot_write(&picture, to);
}

const struct bench bench_fft1d = {"fft1d", run, print, plot};
