/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - the matrix products of apps/common, in all shapes, against three loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/gemm.h"

#define MOST 70 /* largest number of rows or columns */

static double   a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], exact[MOST * MOST];
static float    fa[MOST * MOST], fb[MOST * MOST], fc[MOST * MOST];
static unsigned seed = 1;

static int draw(int most)
{
    seed = seed * 1103515245u + 12345u;
    return (int)(seed >> 16) % most;
}

/* Returns small integers, so that all sums are exact even in single precision. */
static void fill(double *to, float *single)
{
    for (int i = 0; i < MOST * MOST; i++)
        single[i] = (float)(to[i] = draw(17) - 8);
}

static void three_loops(const struct gemm *s)
{
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) {
            double sum = 0;

            for (int k = 0; k < s->k; k++)
                sum += a[s->a_transposed ? k * s->m + i : i * s->k + k] *
                       b[s->b_transposed ? j * s->k + k : k * s->n + j];
            exact[i * s->n + j] = s->alpha * sum + (s->beta == 0 ? 0 : s->beta * c[i * s->n + j]);
        }
}

static int wrong(const struct gemm *s)
{
    int count = 0;

    fill(a, fa);
    fill(b, fb);
    fill(c, fc);
    if (s->beta == 0)
        c[0] = fc[0] = NAN;
    three_loops(s);
    gemm_double(s, a, b, c);
    gemm_float(s, fa, fb, fc);
    for (int i = 0; i < s->m * s->n; i++)
        count += !(c[i] == exact[i]) + !((double)fc[i] == exact[i]);
    return count;
}

int main(void)
{
    const double factor[] = {0, 1, 1.5, -0.5};
    int          bad      = 0;

    gemm_prepare();
    for (int i = 0; i < 200; i++) {
        struct gemm s = {1 + draw(MOST), 1 + draw(MOST),      1 + draw(MOST), i & 1,
                         i & 2,          factor[1 + draw(3)], factor[draw(4)]};
        int         n = wrong(&s);

        if (n > 0)
            printf("%d x %d x %d, %d %d, %g %g: %d numbers are wrong\n", s.m, s.n, s.k,
                   s.a_transposed, s.b_transposed, s.alpha, s.beta, n);
        bad += n;
    }
    return bad > 0;
}
