/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - small numeric functions of the applications. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <math.h>
#include <stdint.h>

/** Returns the larger of two numbers; infinity if one of them is NaN. */
static inline double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? INFINITY : a > b ? a : b;
}

/** Returns the logarithm of n!.  lgamma() is not used because it stores a sign in a global
 * variable, which PEs that are threads share. */
static inline double log_factorial(int n)
{
    int sign;

    return lgamma_r(n + 1, &sign);
}

/** Returns a hash of @p x: the finaliser of splitmix64 (Sebastiano Vigna). */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** Adds @p count numbers of double. */
static inline void add_double(double *restrict to, const double *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

/** Adds @p count numbers of float. */
static inline void add_float(float *restrict to, const float *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

#endif
