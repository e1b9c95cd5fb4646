/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_plain.c - the matrix product by loops that a compiler vectorises.
 *
 * A transposed operand is first transposed into a copy.  Then multiples of some rows of b, four at
 * a time, are added to each row of c while they are in the cache.
 */
#include <stdlib.h>
#include <string.h>

#include "common/gemm.h"

#define ROWS 64 /* rows of b that stay in the cache */

#define DEFINE_GEMM(type)                                                                          \
    /* Returns a transposed copy of a matrix of rows x columns. */                                 \
    static type *transpose_##type(const type *from, int rows, int columns)                         \
    {                                                                                              \
        type *to = malloc((size_t)rows * (size_t)columns * sizeof *to);                            \
                                                                                                   \
        for (int i = 0; to && i < rows; i++)                                                       \
            for (int j = 0; j < columns; j++)                                                      \
                to[(size_t)j * (size_t)rows + (size_t)i] =                                         \
                    from[(size_t)i * (size_t)columns + (size_t)j];                                 \
        return to ? to : (abort(), NULL);                                                          \
    }                                                                                              \
                                                                                                   \
    static void scale_##type(type *restrict c, size_t count, type beta)                            \
    {                                                                                              \
        if (beta == 0)                                                                             \
            memset(c, 0, count * sizeof *c);                                                       \
        for (size_t i = 0; beta != 0 && beta != 1 && i < count; i++)                               \
            c[i] *= beta;                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Adds multiples of the rows [k, end) of b to a row of c, four at a time. */                  \
    static void row_##type(const struct gemm *s, const type *a, const type *restrict b,            \
                           type *restrict c, int k, int end)                                       \
    {                                                                                              \
        const size_t n = (size_t)s->n;                                                             \
        const type   f = (type)s->alpha;                                                           \
                                                                                                   \
        for (; k + 4 <= end; k += 4) {                                                             \
            const type *restrict r = b + (size_t)k * n;                                            \
            const type w = f * a[k], x = f * a[k + 1], y = f * a[k + 2], z = f * a[k + 3];         \
                                                                                                   \
            for (size_t j = 0; j < n; j++)                                                         \
                c[j] += w * r[j] + x * r[n + j] + y * r[2 * n + j] + z * r[3 * n + j];             \
        }                                                                                          \
        for (; k < end; k++)                                                                       \
            for (size_t j = 0; j < n; j++)                                                         \
                c[j] += f * a[k] * b[(size_t)k * n + j];                                           \
    }                                                                                              \
                                                                                                   \
    static void product_##type(const struct gemm *s, const type *a, const type *b, type *c)        \
    {                                                                                              \
        scale_##type(c, (size_t)s->m *(size_t)s->n, (type)s->beta);                                \
        for (int k = 0; k < s->k; k += ROWS)                                                       \
            for (int i = 0; i < s->m; i++)                                                         \
                row_##type(s, a + (size_t)i * (size_t)s->k, b, c + (size_t)i * (size_t)s->n, k,    \
                           k + ROWS < s->k ? k + ROWS : s->k);                                     \
    }                                                                                              \
                                                                                                   \
    void gemm_##type(const struct gemm *s, const type *a, const type *b, type *c)                  \
    {                                                                                              \
        type *transposed_a = s->a_transposed ? transpose_##type(a, s->k, s->m) : NULL;             \
        type *transposed_b = s->b_transposed ? transpose_##type(b, s->n, s->k) : NULL;             \
                                                                                                   \
        product_##type(s, transposed_a ? transposed_a : a, transposed_b ? transposed_b : b, c);    \
        free(transposed_a);                                                                        \
        free(transposed_b);                                                                        \
    }

DEFINE_GEMM(double)
DEFINE_GEMM(float)

void gemm_prepare(void)
{
}

const char *gemm_name(void)
{
    return "plain loops";
}
