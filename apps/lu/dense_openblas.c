/* SPDX-License-Identifier: Apache-2.0 */
/* dense_openblas.c - operations on dense matrices by OpenBLAS. */
#include <cblas.h>

#include "dense.h"

void dense_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                  int64_t lb, double *c, int64_t lc)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, -1, a, (int)la,
                b, (int)lb, 1, c, (int)lc);
}

void dense_solve_lower(int64_t n, int64_t width, const double *l, int64_t ll, double *b, int64_t lb)
{
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, (int)n, (int)width,
                1, l, (int)ll, b, (int)lb);
}

void dense_solve_upper(int64_t n, const double *u, int64_t lu, double *b)
{
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)n, u, (int)lu, b, 1);
}

void dense_multiply_vector(int64_t n, const double *a, int64_t la, const double *x, double *y)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, (int)n, -1, a, (int)la, x, 1, 0, y, 1);
}
