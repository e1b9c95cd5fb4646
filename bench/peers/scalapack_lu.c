/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scalapack_lu.c - the solution of a dense system by ScaLAPACK's pdgesv: the problem of apps/lu.
 *
 * usage: mpirun -n N scalapack_lu SERIES SIZE,BLOCK,ROWS
 *
 * ROWS is the number of rows of the process grid.  The residual is checked as HPL does.
 */
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>

#include "bench.h"
#include "common/numbers.h"

/* These are declared here because the headers of ScaLAPACK and OpenBLAS may not be installed. */
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
int  numroc_(const int *n, const int *block, const int *at, const int *first, const int *all);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row,
               const int *column, const int *context, const int *lead, int *info);
void pdgesv_(const int *n, const int *nrhs, double *a, const int *ia, const int *ja, const int *da,
             int *pivot, double *b, const int *ib, const int *jb, const int *db, int *info);
void openblas_set_num_threads(int threads);

static const int zero = 0, one = 1;

/* A system, distributed in blocks over a grid of processes and stored by columns. */
struct system {
    /* Size and block of the matrix; rows and columns of the grid. */
    int     size, block, rows, columns;
    int     row, column; /* position of this process in the grid */
    int     own_rows, own_columns;
    int     desc[9], desc_b[9];
    double *a, *b;
};

static int system_row(const struct system *s, int i)
{
    return (i / s->block * s->rows + s->row) * s->block + i % s->block;
}

static int system_column(const struct system *s, int j)
{
    return (j / s->block * s->columns + s->column) * s->block + j % s->block;
}

/* Returns a random number between -1/2 and 1/2 for each row and column; column `size` is the right
 * side. */
static double system_number(int i, int j)
{
    uint64_t x = ((uint64_t)i << 32 | (uint64_t)j) + UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53 - 0.5;
}

static void system_create(struct system *s)
{
    int context, lead, info;

    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", s->rows, s->columns);
    Cblacs_gridinfo(context, &s->rows, &s->columns, &s->row, &s->column);
    s->own_rows    = numroc_(&s->size, &s->block, &s->row, &zero, &s->rows);
    s->own_columns = numroc_(&s->size, &s->block, &s->column, &zero, &s->columns);
    lead           = s->own_rows > 0 ? s->own_rows : 1;
    descinit_(s->desc, &s->size, &s->size, &s->block, &s->block, &zero, &zero, &context, &lead,
              &info);
    descinit_(s->desc_b, &s->size, &one, &s->block, &s->block, &zero, &zero, &context, &lead,
              &info);
    s->a = malloc(((size_t)s->own_rows * (size_t)s->own_columns + 1) * sizeof *s->a);
    s->b = malloc(((size_t)s->own_rows + 1) * sizeof *s->b);
    for (int j = 0; j < s->own_columns; j++)
        for (int i = 0; i < s->own_rows; i++)
            s->a[(size_t)j * (size_t)s->own_rows + (size_t)i] =
                system_number(system_row(s, i), system_column(s, j));
    for (int i = 0; i < s->own_rows; i++)
        s->b[i] = system_number(system_row(s, i), s->size);
}

/* Returns the time of the solution in seconds. */
static double system_solve(struct system *s)
{
    int   *pivot = malloc((size_t)(s->own_rows + s->block) * sizeof *pivot), info;
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now();
    pdgesv_(&s->size, &one, s->a, &one, &one, s->desc, pivot, s->b, &one, &one, s->desc_b, &info);
    if (info != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    free(pivot);
    return bench_now() - start;
}

/* Adds the rows of this process to |A| and to A x - b. */
static void system_check_rows(const struct system *s, const double *x, double *sum)
{
    for (int i = 0; i < s->own_rows; i++) {
        int row = system_row(s, i);

        for (int j = 0; j < s->own_columns; j++) {
            int    column = system_column(s, j);
            double number = system_number(row, column);

            sum[row] += number * x[column];
            sum[s->size + row] += fabs(number);
        }
        if (s->column == 0)
            sum[row] -= system_number(row, s->size);
    }
}

static double system_residual(const struct system *s)
{
    int     n = s->size;
    double *x = calloc((size_t)n, sizeof *x), *sum = calloc(2 * (size_t)n, sizeof *sum);
    double  a = 0, b = 0, most = 0, r = 0;

    for (int i = 0; i < s->own_rows && s->column == 0; i++)
        x[system_row(s, i)] = s->b[i];
    MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    system_check_rows(s, x, sum);
    MPI_Allreduce(MPI_IN_PLACE, sum, 2 * n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        r    = larger(r, fabs(sum[i]));
        a    = larger(a, sum[n + i]);
        b    = larger(b, fabs(system_number(i, n)));
        most = larger(most, fabs(x[i]));
    }
    free(x);
    free(sum);
    return r / (DBL_EPSILON * (a * most + b) * n);
}

int main(int argc, char **argv)
{
    struct system s = {.size = 0};
    int           rank, ranks;
    double        seconds, residual, n;
    char          metric[32];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    openblas_set_num_threads(1);
    if (argc != 3 || sscanf(argv[2], "%d,%d,%d", &s.size, &s.block, &s.rows) != 3 || s.size < 1 ||
        s.block < 1 || s.rows < 1 || ranks % s.rows)
        MPI_Abort(MPI_COMM_WORLD, 2);
    s.columns = ranks / s.rows;
    system_create(&s);
    seconds  = system_solve(&s);
    residual = system_residual(&s);
    n        = s.size;
    if (!(residual < 16)) {
        fprintf(stderr, "pdgesv: the residual is %g\n", residual);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    snprintf(metric, sizeof metric, "rate-%dpe", ranks);
    if (rank == 0)
        bench_report("lu", argv[1], (size_t)s.size, metric,
                     (2.0 / 3 * n * n * n + 1.5 * n * n) / seconds);
    MPI_Finalize();
    return 0;
}
