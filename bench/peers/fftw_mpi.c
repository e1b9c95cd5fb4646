/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fftw_mpi.c - one-dimensional transforms by FFTW, over MPI and in one piece.
 *
 * The same problem as apps/fft1d: n = 2^LOG2 complex numbers in natural order, dealt out in
 * blocks, and the result so, too (not FFTW_MPI_SCRAMBLED_OUT).  Planned with FFTW_MEASURE,
 * in place and out of place, of which the faster counts; with "patient" FFTW_PATIENT.  On
 * one rank FFTW in one piece is measured as well, as series "fftw".
 *
 * usage: mpirun -n N fftw_mpi SERIES LOG2[,LOG2...][,patient]
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>

#include "bench.h"

#define HUGE  ((size_t)2 << 20) /* a huge page */
#define LEAST 5                 /* transforms, and so many seconds: the best counts */
#define WHILE 0.5

static int      rank, ranks;
static unsigned effort = FFTW_MEASURE;

/* As ours has it: huge pages. */
static fftw_complex *allocate(ptrdiff_t count)
{
    size_t bytes  = ((size_t)count * sizeof(fftw_complex) + HUGE - 1) / HUGE * HUGE;
    void  *memory = aligned_alloc(HUGE, bytes);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void fill(fftw_complex *x, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        x[i][0] = (double)(i % 7) - 3;
        x[i][1] = (double)(i % 11) - 5;
    }
}

/* Whether to go on must be known to all. */
static int again(double since, int times)
{
    int more = times < LEAST || bench_now() - since < WHILE;

    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

/* Seconds of the fastest transform. */
static double measure(fftw_plan plan, fftw_complex *x, ptrdiff_t count)
{
    double best = 1e9, begin = bench_now();

    for (int times = 0; again(begin, times); times++) {
        double start, seconds;
        fill(x, count); /* or it grows without end */
        MPI_Barrier(MPI_COMM_WORLD);
        start = bench_now();
        fftw_execute(plan);
        MPI_Barrier(MPI_COMM_WORLD);
        seconds = bench_now() - start;
        best    = seconds < best ? seconds : best;
    }
    fftw_destroy_plan(plan);
    return best;
}

static void report(const char *series, int log2, double seconds)
{
    double n = (double)(UINT64_C(1) << log2);
    char   metric[32];

    snprintf(metric, sizeof metric, "rate-%dpe", ranks);
    if (rank == 0)
        bench_report("fft1d", series, (size_t)n * sizeof(fftw_complex), metric,
                     5 * n * log2 / seconds);
}

static void measure_mpi(const char *series, int log2)
{
    ptrdiff_t n = (ptrdiff_t)1 << log2, in, in_at, out, out_at;
    ptrdiff_t room =
        fftw_mpi_local_size_1d(n, MPI_COMM_WORLD, FFTW_FORWARD, effort, &in, &in_at, &out, &out_at);
    fftw_complex *x = allocate(room), *y = allocate(room);

    report(series, log2,
           measure(fftw_mpi_plan_dft_1d(n, x, x, MPI_COMM_WORLD, FFTW_FORWARD, effort), x, in));
    report(series, log2,
           measure(fftw_mpi_plan_dft_1d(n, x, y, MPI_COMM_WORLD, FFTW_FORWARD, effort), x, in));
    free(x);
    free(y);
}

static void measure_one_piece(int log2)
{
    ptrdiff_t     n = (ptrdiff_t)1 << log2;
    fftw_complex *x = allocate(n), *y = allocate(n);

    report("fftw", log2, measure(fftw_plan_dft_1d((int)n, x, x, FFTW_FORWARD, effort), x, n));
    report("fftw", log2, measure(fftw_plan_dft_1d((int)n, x, y, FFTW_FORWARD, effort), x, n));
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    const char *series = argc > 1 ? argv[1] : "fftw-mpi";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fftw_mpi_init();
    if (argc > 2 && strstr(argv[2], "patient"))
        effort = FFTW_PATIENT;
    for (char *size = strtok(argc > 2 ? argv[2] : NULL, ","); size; size = strtok(NULL, ",")) {
        if (atoi(size) == 0)
            continue; /* "patient" */
        measure_mpi(series, atoi(size));
        if (ranks == 1)
            measure_one_piece(atoi(size));
    }
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
