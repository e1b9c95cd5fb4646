/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scalapack_pdgemm.c - the product of two square matrices by ScaLAPACK: the problem of
 * apps/matmul3d.
 *
 * The processes form one row or one column of the process grid, and blocks have 64 to 256 rows: the
 * fastest combination is reported.
 *
 * usage: mpirun -n N scalapack_pdgemm SERIES SIZE,STEPS,REPEAT
 */
#include <math.h>
#include <mpi.h>

#include "bench.h"

/* These are declared here because the headers of ScaLAPACK and OpenBLAS may not be installed. */
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
int  numroc_(const int *n, const int *block, const int *at, const int *first, const int *all);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row,
               const int *column, const int *context, const int *lead, int *info);
void pdgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *da,
             const double *b, const int *ib, const int *jb, const int *db, const double *beta,
             double *c, const int *ic, const int *jc, const int *dc);
void openblas_set_num_threads(int threads);

static const int zero = 0, one = 1;

/* A matrix is distributed in blocks over a grid of processes and stored by columns. */
struct layout {
    int size, block, rows, columns; /* size and block of the matrix; rows and columns of the grid */
    int row, column;                /* position of this process in the grid */
    int own_rows, own_columns;
    int desc[9];
};

/* Returns the global index of a local row or column. */
static int whole(int i, int block, int at, int all)
{
    return (i / block * all + at) * block + i % block;
}

/* Returns a small integer, so that sums of products are exact. */
static double number(int which, int i, int j)
{
    return ((i * 7 + j * 13 + which * 5) % 31 - 15) / 16.0;
}

static double *make(const struct layout *l, int which)
{
    double *m = malloc(((size_t)l->own_rows * (size_t)l->own_columns + 1) * sizeof *m);

    for (int j = 0; j < l->own_columns; j++)
        for (int i = 0; i < l->own_rows; i++)
            m[(size_t)j * (size_t)l->own_rows + (size_t)i] =
                number(which, whole(i, l->block, l->row, l->rows),
                       whole(j, l->block, l->column, l->columns));
    return m;
}

/* Checks that C times a vector of ones is A times B times that vector. */
static void check(const struct layout *l, const double *c)
{
    int     n  = l->size;
    double *br = calloc((size_t)n, sizeof *br), *got = calloc((size_t)n, sizeof *got);

    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            br[k] += number(1, k, j);
    for (int j = 0; j < l->own_columns; j++)
        for (int i = 0; i < l->own_rows; i++)
            got[whole(i, l->block, l->row, l->rows)] +=
                c[(size_t)j * (size_t)l->own_rows + (size_t)i];
    MPI_Allreduce(MPI_IN_PLACE, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            got[i] -= number(0, i, k) * br[k];
        if (fabs(got[i]) > 1e-9 * n) {
            fprintf(stderr, "pdgemm: row %d is wrong\n", i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    free(br);
    free(got);
}

/* Returns the time of a product in seconds: the fastest of @p repeat runs after a warm-up. */
static double measure(const struct layout *l, int steps, int repeat)
{
    double *a = make(l, 0), *b = make(l, 1), *c = make(l, 2), best = 1e9;

    for (int r = 0; r <= repeat; r++) {
        double start, seconds;

        MPI_Barrier(MPI_COMM_WORLD);
        start = bench_now();
        for (int s = 0; s < (r == 0 ? 1 : steps); s++)
            pdgemm_("N", "N", &l->size, &l->size, &l->size, &(double){1}, a, &one, &one, l->desc, b,
                    &one, &one, l->desc, &(double){0}, c, &one, &one, l->desc);
        MPI_Barrier(MPI_COMM_WORLD);
        seconds = (bench_now() - start) / steps;
        best    = r > 0 && seconds < best ? seconds : best;
    }
    check(l, c);
    free(a);
    free(b);
    free(c);
    return best;
}

static double try(int size, int block, int rows, int columns, int steps, int repeat)
{
    struct layout l = {.size = size, .block = block};
    int           context, lead, info;
    double        seconds;

    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, columns);
    Cblacs_gridinfo(context, &l.rows, &l.columns, &l.row, &l.column);
    l.own_rows    = numroc_(&size, &block, &l.row, &zero, &l.rows);
    l.own_columns = numroc_(&size, &block, &l.column, &zero, &l.columns);
    lead          = l.own_rows > 0 ? l.own_rows : 1;
    descinit_(l.desc, &size, &size, &block, &block, &zero, &zero, &context, &lead, &info);
    seconds = measure(&l, steps, repeat);
    Cblacs_gridexit(context);
    return seconds;
}

int main(int argc, char **argv)
{
    int    size = 0, steps = 1, repeat = 1, rank, ranks;
    double best = 1e9;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    openblas_set_num_threads(1);
    if (argc != 3 || sscanf(argv[2], "%d,%d,%d", &size, &steps, &repeat) != 3 || size < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int block = 64; block <= 256; block *= 2) {
        best = fmin(best, try(size, block, 1, ranks, steps, repeat));
        best = fmin(best, try(size, block, ranks, 1, steps, repeat));
    }
    if (rank == 0) {
        char metric[32];

        snprintf(metric, sizeof metric, "step-%dpe", ranks);
        bench_report("matmul3d", argv[1], (size_t)size, metric, best);
    }
    MPI_Finalize();
    return 0;
}
