/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense.h - operations on dense matrices on one PE: by OpenBLAS (dense_openblas.c) if it is
 * installed, else by loops (dense_plain.c).
 *
 * Matrices are stored by rows; `la` is the distance between rows of a.
 */
#ifndef LU_DENSE_H
#define LU_DENSE_H

#include <stdint.h>

/** Adapts products to a level-2 cache of @p cache bytes; 0: to that of this machine.  The memory of
 *  the library for a product grows with its size: no product copies more than @p most numbers of
 *  a.  All PEs of a process pass the same values. */
void dense_prepare(int64_t cache, int64_t most);

/** c = c - a b, where a has m x k and b k x n numbers. */
void dense_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                  int64_t lb, double *c, int64_t lc);

/** Solves L x = b in place, for b with n x width numbers; L is lower triangular with ones on the
 *  diagonal, which are not stored. */
void dense_solve_lower(int64_t n, int64_t width, const double *l, int64_t ll, double *b,
                       int64_t lb);

/** Solves U x = b in place, for one column; U is upper triangular. */
void dense_solve_upper(int64_t n, const double *u, int64_t lu, double *b);

/** y = -a x, where a has n x n numbers. */
void dense_multiply_vector(int64_t n, const double *a, int64_t la, const double *x, double *y);

#endif
