/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.h - products of matrices on one PE: those of OpenBLAS (gemm_openblas.c) where it was found,
 * else loops of our own (gemm_plain.c).
 *
 * Matrices lie row by row without gaps.
 */
#ifndef GEMM_H
#define GEMM_H

#include <stdbool.h>

/** c = alpha op(a) op(b) + beta c, where op(a) has m x k and op(b) k x n elements. */
struct gemm {
    int    m, n, k;
    bool   a_transposed, b_transposed;
    double alpha, beta; /* beta 0: what is in c does not matter */
};

void gemm_double(const struct gemm *shape, const double *a, const double *b, double *c);
void gemm_float(const struct gemm *shape, const float *a, const float *b, float *c);

/** Once in each process, before PEs begin: they compute side by side, so that a product must
 *  not use threads of its own. */
void gemm_prepare(void);

/** Whose products these are. */
const char *gemm_name(void);

#endif
