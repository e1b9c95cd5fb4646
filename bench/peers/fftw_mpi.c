/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fftw_mpi.c - one-dimensional transforms by FFTW: with MPI, and serially on one rank.
 *
 * The problem of apps/fft1d: n = 2^LOG2 complex numbers in natural order and distributed in blocks,
 * and so is the result (not FFTW_MPI_SCRAMBLED_OUT).  Planned with FFTW_MEASURE and with
 * FFTW_PATIENT, in place and out of place: the fastest counts.
 *
 * usage: mpirun -n N fftw_mpi SERIES LOG2[,LOG2...]
 */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdint.h>
#include <sys/mman.h>

#include "bench.h"

#define HUGE  ((size_t)2 << 20) /* a huge page */
#define LEAST 3                 /* least transforms and seconds to measure; the best is reported */
#define WHILE 0.2

static int rank, ranks;

/* Allocates memory in huge pages, as apps/fft1d does. */
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

/* Returns true if the measurement continues; rank 0 decides for all ranks. */
static int again(double since, int times)
{
    int more = times < LEAST || bench_now() - since < WHILE;

    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

/* Returns the time of the fastest transform, in seconds. */
static double measure(fftw_plan plan, fftw_complex *x, ptrdiff_t count)
{
    double best = 1e9, begin = bench_now();

    for (int times = 0; again(begin, times); times++) {
        double start, seconds;
        fill(x, count); /* otherwise repeated transforms would overflow */
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

static fftw_plan plan(ptrdiff_t n, fftw_complex *x, fftw_complex *y, unsigned effort)
{
    if (ranks == 1)
        return fftw_plan_dft_1d((int)n, x, y, FFTW_FORWARD, effort);
    return fftw_mpi_plan_dft_1d(n, x, y, MPI_COMM_WORLD, FFTW_FORWARD, effort);
}

/* Returns the local number of elements, and the number to allocate in *@p room. */
static ptrdiff_t share(ptrdiff_t n, unsigned effort, ptrdiff_t *room)
{
    ptrdiff_t in, in_first, out, out_first;

    *room = fftw_mpi_local_size_1d(n, MPI_COMM_WORLD, FFTW_FORWARD, effort, &in, &in_first, &out,
                                   &out_first);
    return in;
}

static void measure_size(const char *series, int log2, unsigned effort)
{
    ptrdiff_t     n = (ptrdiff_t)1 << log2, room, count = share(n, effort, &room);
    fftw_complex *x = allocate(room), *y = allocate(room);

    report(series, log2, measure(plan(n, x, x, effort), x, count));
    report(series, log2, measure(plan(n, x, y, effort), x, count));
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    const char *series  = argc > 1 ? argv[1] : "fftw-mpi";
    char        sizes[] = "20";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fftw_mpi_init();
    for (char *size = strtok(argc > 2 ? argv[2] : sizes, ","); size; size = strtok(NULL, ",")) {
        measure_size(series, atoi(size), FFTW_MEASURE);
        measure_size(series, atoi(size), FFTW_PATIENT);
    }
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
