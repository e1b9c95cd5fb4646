/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_openblas.c - the matrix product by OpenBLAS. */
#include <cblas.h>

#include "common/gemm.h"

static CBLAS_TRANSPOSE operation(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

void gemm_double(const struct gemm *s, const double *a, const double *b, double *c)
{
    cblas_dgemm(CblasRowMajor, operation(s->a_transposed), operation(s->b_transposed), s->m, s->n,
                s->k, s->alpha, a, s->a_transposed ? s->m : s->k, b, s->b_transposed ? s->k : s->n,
                s->beta, c, s->n);
}

void gemm_float(const struct gemm *s, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, operation(s->a_transposed), operation(s->b_transposed), s->m, s->n,
                s->k, (float)s->alpha, a, s->a_transposed ? s->m : s->k, b,
                s->b_transposed ? s->k : s->n, (float)s->beta, c, s->n);
}

void gemm_prepare(void)
{
    openblas_set_num_threads(1);
}

const char *gemm_name(void)
{
    return "OpenBLAS";
}
