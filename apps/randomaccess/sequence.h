/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - the pseudo-random numbers of RandomAccess, and a way into their middle.
 *
 * The benchmark defines a(0) = 1, a(k+1) = a(k) << 1, and ^ 7 if that shifts a one out.
 * Read as a polynomial over GF(2), bit i the coefficient of x^i, the step multiplies by x
 * modulo x^64 + x^2 + x + 1; so a(n) = x^n, which squaring gives in 64 steps.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include <stdint.h>

#define SEQUENCE_POLY UINT64_C(7)

static inline uint64_t sequence_next(uint64_t a)
{
    return a << 1 ^ ((uint64_t)((int64_t)a >> 63) & SEQUENCE_POLY);
}

/** a(n). */
uint64_t sequence_at(uint64_t n);

#endif
