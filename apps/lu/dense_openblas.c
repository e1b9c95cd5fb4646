/* SPDX-License-Identifier: Apache-2.0 */
/* dense_openblas.c - operations on dense matrices by OpenBLAS. */
#include <cblas.h>
#include <stdatomic.h>
#include <unistd.h>

#include "dense.h"

#define CACHE_BYTES ((int64_t)512 << 10) /* if the system does not tell the size of the cache */

/* Numbers of A in one product: OpenBLAS reads its copy of them again for every few columns of C,
 * from the level-2 cache if they fit into it.  PEs that are threads store the same value, in no
 * order. */
static _Atomic int64_t product_numbers = CACHE_BYTES / (int64_t)sizeof(double);

void dense_prepare(int64_t cache, int64_t most)
{
    int64_t system = sysconf(_SC_LEVEL2_CACHE_SIZE);
    int64_t bytes  = cache ? cache : system > 0 ? system : CACHE_BYTES;
    int64_t fit    = bytes / (int64_t)sizeof(double);

    atomic_store_explicit(&product_numbers, fit < most ? fit : most, memory_order_relaxed);
}

void dense_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                  int64_t lb, double *c, int64_t lc)
{
    int64_t numbers = atomic_load_explicit(&product_numbers, memory_order_relaxed);
    int64_t most    = k < numbers ? numbers / k : 1;

    for (int64_t row = 0; row < m; row += most) {
        int64_t rows = m - row < most ? m - row : most;

        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)n, (int)k, -1,
                    a + row * la, (int)la, b, (int)lb, 1, c + row * lc, (int)lc);
    }
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
