/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.h - the matrix product on one PE. OpenBLAS computes it (gemm_openblas.c) if it is installed,
 * otherwise loops do (gemm_plain.c).
 *
 * Matrices are stored by rows, without gaps.
 */
#ifndef GEMM_H
#define GEMM_H

#include <stdbool.h>

/** c = alpha op(a) op(b) + beta c, where op(a) has m x k and op(b) k x n elements. */
struct gemm {
    int    m, n, k;
    bool   a_transposed, b_transposed;
    double alpha, beta; /* beta 0: the contents of c are ignored */
};

/** Computes the product of matrices of double. */
void gemm_double(const struct gemm *shape, const double *a, const double *b, double *c);
/** Computes the product of matrices of float. */
void gemm_float(const struct gemm *shape, const float *a, const float *b, float *c);

/** Restricts a matrix product to the calling thread, since PEs compute in parallel. Each process
 *  calls it once before its PEs start. */
void gemm_prepare(void);

/** Returns the name of the implementation. */
const char *gemm_name(void);

#endif
