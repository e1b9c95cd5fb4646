/* SPDX-License-Identifier: Apache-2.0 */
/* narrow_dense.c - see narrow.h. */
#include "dense.h"
#include "narrow.h"

void narrow_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                   int64_t lb, double *c, int64_t lc)
{
    dense_update(m, n, k, a, la, b, lb, c, lc);
}
