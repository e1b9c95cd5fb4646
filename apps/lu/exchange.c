/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - the rows that the pivots of a step move; see lu.h.
 *
 * Pivots are given as in LAPACK: row c of the top was swapped with row pivot[c], one after the
 * other.  A row of the top is not touched again after its own swap, so rows outside the top receive
 * rows that the top had before the step.
 */
#include <skua/skua.h>

#include "lu.ci.h"

static int exchange_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Stores the pivots outside the top, in ascending order and without duplicates. */
static void exchange_find_outside(struct lu_exchange *x, int64_t end, const int64_t *pivot)
{
    int all = 0;

    for (int64_t c = 0; c < options.block; c++)
        if (pivot[c] >= end)
            x->outside[all++] = pivot[c];
    qsort(x->outside, (size_t)all, sizeof *x->outside, exchange_compare);
    x->count = 0;
    for (int o = 0; o < all; o++)
        if (o == 0 || x->outside[o] != x->outside[o - 1])
            x->outside[x->count++] = x->outside[o];
}

static int exchange_find(const struct lu_exchange *x, int64_t row)
{
    const int64_t *at =
        bsearch(&row, x->outside, (size_t)x->count, sizeof *x->outside, exchange_compare);

    return (int)(at - x->outside);
}

/* Swaps row numbers instead of rows. Rows of the top are numbered from 0, those outside from
 * `block`. */
static void exchange_swap(struct lu_exchange *x, int64_t begin, const int64_t *pivot)
{
    int width = (int)options.block;

    for (int c = 0; c < width; c++)
        x->within[c] = c;
    for (int o = 0; o < x->count; o++)
        x->from_top[o] = width + o;
    for (int c = 0; c < width; c++) {
        int *other = pivot[c] < begin + width ? &x->within[pivot[c] - begin]
                                              : &x->from_top[exchange_find(x, pivot[c])];
        int  one   = x->within[c];

        x->within[c] = *other;
        *other       = one;
    }
    for (int c = 0; c < width; c++)
        if (x->within[c] >= width) {
            x->to_top[x->within[c] - width] = c;
            x->within[c]                    = -1;
        }
}

bool exchange_create(struct lu_exchange *x, int64_t step, const int64_t *pivot)
{
    size_t  width = (size_t)options.block;
    int64_t begin = step * options.block;

    x->outside  = malloc(width * sizeof *x->outside);
    x->from_top = malloc(3 * width * sizeof *x->from_top);
    x->first    = malloc((size_t)(options.blocks + 1) * sizeof *x->first);
    if (!x->outside || !x->from_top || !x->first)
        return false;
    x->to_top = x->from_top + width;
    x->within = x->to_top + width;
    exchange_find_outside(x, begin + options.block, pivot);
    exchange_swap(x, begin, pivot);
    for (int64_t i = 0, o = 0; i <= options.blocks; i++) {
        while (o < x->count && x->outside[o] < i * options.block)
            o++;
        x->first[i] = (int)o;
    }
    return true;
}

void exchange_destroy(struct lu_exchange *x)
{
    free(x->outside);
    free(x->from_top);
    free(x->first);
}
