/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - the pseudo-random numbers of RandomAccess, with random access to the sequence.
 *
 * The benchmark defines a(0) = 1 and a(k+1) = a(k) << 1, ^ 7 if that shifts a one out.  If bit i is
 * the coefficient of x^i in a polynomial over GF(2), a step multiplies by x modulo
 * x^64 + x^2 + x + 1.  So a(n) = x^n, which repeated squaring computes in 64 steps.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include <stdint.h>

#define SEQUENCE_POLY UINT64_C(7)

/** Returns a(k+1), given a(k). */
static inline uint64_t sequence_next(uint64_t a)
{
    return a << 1 ^ ((uint64_t)((int64_t)a >> 63) & SEQUENCE_POLY);
}

/** Returns a(n), for any n. */
uint64_t sequence_at(uint64_t n);

#endif
