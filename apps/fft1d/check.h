/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the numbers that are transformed, and whether the result is right.
 *
 * Number i is a function of i: it need not be kept to be compared with.  Errors are given as
 * HPC Challenge does, max |x - x0| / (eps ln n), and must be below 16; those of the
 * transform itself, whose values are larger, relative to their root mean square.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>

#include "roots.h"

#define CHECK_LIMIT 16.0

/** The numbers from @p first on, real and imaginary parts in [-1/2, 1/2). */
void check_fill(number *numbers, int64_t first, int64_t count);

/** The largest distance of @p scale times the numbers from what they were filled with. */
double check_distance(const number *numbers, int64_t first, int64_t count, double scale);

/** A distance in units of eps ln n. */
double check_error(double distance, int64_t n);

/** The transform in one piece, by FFTW alone. */
struct reference {
    int64_t n;
    number *transform;
    double  size; /* root mean square */
};

/** Compute it; false if there is no memory for it. */
bool reference_make(struct reference *reference, int64_t n);
void reference_free(struct reference *reference);

/** The largest distance from it, relative to its size. */
double reference_distance(const struct reference *reference, const number *numbers, int64_t first,
                          int64_t count);

#endif
