/* SPDX-License-Identifier: Apache-2.0 */
/* dense_plain.c - operations on dense matrices by loops. */
#include "dense.h"

static void dense_subtract_row(int64_t n, double factor, const double *from, double *to)
{
    for (int64_t j = 0; j < n; j++)
        to[j] -= factor * from[j];
}

void dense_prepare(int64_t cache, int64_t most)
{
    (void)cache, (void)most;
}

void dense_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                  int64_t lb, double *c, int64_t lc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t x = 0; x < k; x++)
            dense_subtract_row(n, a[i * la + x], b + x * lb, c + i * lc);
}

void dense_solve_lower(int64_t n, int64_t width, const double *l, int64_t ll, double *b, int64_t lb)
{
    for (int64_t i = 1; i < n; i++)
        for (int64_t x = 0; x < i; x++)
            dense_subtract_row(width, l[i * ll + x], b + x * lb, b + i * lb);
}

void dense_solve_upper(int64_t n, const double *u, int64_t lu, double *b)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t x = i + 1; x < n; x++)
            b[i] -= u[i * lu + x] * b[x];
        b[i] /= u[i * lu + i];
    }
}

void dense_multiply_vector(int64_t n, const double *a, int64_t la, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < n; j++)
            y[i] -= a[i * la + j] * x[j];
    }
}
