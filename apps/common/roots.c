/* SPDX-License-Identifier: Apache-2.0 */
/* roots.c - see roots.h. */
#include "roots.h"

#include <math.h>
#include <stdlib.h>

#define TWO_PI 6.283185307179586476925

/* Reduces the angle below pi / 4 while it is an exact fraction of integers, since the sine and
 * cosine of such a small angle are accurate nearly to the last bit. */
number root_of_unity(int64_t p, int64_t n)
{
    bool   lower = 2 * p > n; /* mirrored at the real axis */
    bool   left, steep;
    double angle, c, s, swap;

    p     = lower ? n - p : p;
    left  = 4 * p > n;
    p     = left ? n - 2 * p : 2 * p; /* from here on in units of 2 n, since n may be odd */
    steep = 4 * p > n;
    p     = steep ? n - 2 * p : 2 * p; /* in units of 4 n */
    angle = TWO_PI * (double)p / (4 * (double)n);
    c     = cos(angle);
    s     = sin(angle);
    if (steep) {
        swap = c;
        c    = s;
        s    = swap;
    }
    return (number){left ? -c : c, lower ? s : -s};
}

void roots_make(struct fft_roots *roots, int64_t side)
{
    roots->side   = side;
    roots->coarse = malloc((size_t)side * sizeof(number));
    roots->fine   = malloc((size_t)side * sizeof(number));
    if (!roots->coarse || !roots->fine)
        abort();
    for (int64_t i = 0; i < side; i++) {
        roots->coarse[i] = root_of_unity(i, side);
        roots->fine[i]   = root_of_unity(i, side * side);
    }
}

void roots_free(struct fft_roots *roots)
{
    free(roots->coarse);
    free(roots->fine);
}
