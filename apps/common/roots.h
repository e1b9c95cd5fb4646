/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roots.h - the roots of unity exp(-2 pi i p / N^2), 0 <= p < N^2, from two tables of N entries.
 *
 * p = a N + b gives coarse[a] * fine[b]: two entries, each as accurate as a double can be, and one
 * product.  There is no recurrence in which errors would grow.
 */
#ifndef ROOTS_H
#define ROOTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    double re, im;
} number;

struct fft_roots {
    int64_t side;          /* N                                        */
    number *coarse, *fine; /* exp(-2 pi i a / N), exp(-2 pi i b / N^2) */
};

static inline number number_times(number x, number y)
{
    return (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/** Returns the root of p = a N + b. */
static inline number roots_at(const struct fft_roots *roots, int64_t a, int64_t b)
{
    return number_times(roots->coarse[a], roots->fine[b]);
}

/** Computes the tables. */
void roots_make(struct fft_roots *roots, int64_t side);
/** Frees the tables. */
void roots_free(struct fft_roots *roots);

/** Returns exp(-2 pi i p / n), 0 <= p < n. */
number root_of_unity(int64_t p, int64_t n);

#endif
