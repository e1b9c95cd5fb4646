/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - LANES numbers that the kernels of fmm process together.
 *
 * A vector of 16 bytes is a register of every 64-bit CPU; VECTORS of them are enough independent
 * operations to hide the latency of one.  The kernels that take most of the time (kernels.h) use
 * larger registers where there are some.
 */
#ifndef FMM_LANES_H
#define FMM_LANES_H

#define LANES   8
#define VECTORS 4 /* of two numbers */

/** Two numbers in a register. */
typedef double vec __attribute__((vector_size(16)));

/** LANES numbers. */
typedef struct {
    vec v[VECTORS];
} lanes;

/** Returns the number @p x in both elements of a vector. */
static inline vec vec_of(double x)
{
    return (vec){x, x};
}

/** Returns @p x in every lane. */
static inline lanes lanes_of(double x)
{
    lanes all;

    for (int k = 0; k < VECTORS; k++)
        all.v[k] = vec_of(x);
    return all;
}

/** Returns the sum of all lanes. */
static inline double lanes_sum(const lanes *x)
{
    vec sum = (x->v[0] + x->v[1]) + (x->v[2] + x->v[3]);

    return sum[0] + sum[1];
}

#endif
