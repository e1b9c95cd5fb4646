/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_check.h - the input of the transform, and the check of its result.
 *
 * Number i is a function of i, so the input need not be kept for the comparison.  Errors are those
 * of HPC Challenge, max |x - x0| / (eps ln n), and must be below 16; errors of the transform
 * itself, whose values are larger, are relative to their root mean square.
 */
#ifndef FFT_CHECK_H
#define FFT_CHECK_H

#include <stdint.h>

#include "roots.h"

#define CHECK_LIMIT 16.0

/** Writes the input from number @p first on; real and imaginary parts are in [-1/2, 1/2). */
void check_fill(number *numbers, int64_t first, int64_t count);

/** Returns the largest distance between @p scale times the numbers and the input. */
double check_distance(const number *numbers, int64_t first, int64_t count, double scale);

/** Converts a distance into units of eps ln n. */
double check_error(double distance, int64_t n);

/** The transform by FFTW on one PE. */
struct fft_reference {
    int64_t n;
    number *transform;
    double  size; /* root mean square */
};

/** Computes the reference.  Returns false if there is not enough memory. */
bool reference_make(struct fft_reference *reference, int64_t n);
/** Frees the reference. */
void reference_free(struct fft_reference *reference);

/** Returns the largest distance of numbers from the reference, relative to its size. */
double reference_distance(const struct fft_reference *reference, const number *numbers,
                          int64_t first, int64_t count);

#endif
