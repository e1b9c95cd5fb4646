/* SPDX-License-Identifier: Apache-2.0 */
/* fft_check.c - see fft_check.h. */
#include "fft_check.h"

#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "numbers.h"

static double random_at(uint64_t i)
{
    return (double)(mix((i + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 11) * 0x1p-53 - 0.5;
}

static number number_at(int64_t i)
{
    return (number){random_at(2 * (uint64_t)i), random_at(2 * (uint64_t)i + 1)};
}

void check_fill(number *numbers, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        numbers[i] = number_at(first + i);
}

static double distance(number x, number y)
{
    return hypot(x.re - y.re, x.im - y.im);
}

double check_distance(const number *numbers, int64_t first, int64_t count, double scale)
{
    double most = 0;

    for (int64_t i = 0; i < count; i++) {
        number x = {numbers[i].re * scale, numbers[i].im * scale};
        most     = larger(most, distance(x, number_at(first + i)));
    }
    return most;
}

double check_error(double distance, int64_t n)
{
    return distance / (DBL_EPSILON * log((double)n));
}

/* ---- the reference ---------------------------------------------------------------------- */

static double root_mean_square(const number *numbers, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += numbers[i].re * numbers[i].re + numbers[i].im * numbers[i].im;
    return sqrt(sum / (double)count);
}

bool reference_make(struct fft_reference *reference, int64_t n)
{
    number       *numbers = fftw_malloc((size_t)n * sizeof *numbers);
    fftw_complex *data    = (fftw_complex *)numbers;
    int           length  = (int)n;
    fftw_plan     plan;

    if (!numbers || length != n)
        return false;
    plan = fftw_plan_dft_1d(length, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
    check_fill(numbers, 0, n);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    *reference = (struct fft_reference){n, numbers, root_mean_square(numbers, n)};
    return true;
}

void reference_free(struct fft_reference *reference)
{
    fftw_free(reference->transform);
}

double reference_distance(const struct fft_reference *reference, const number *numbers,
                          int64_t first, int64_t count)
{
    double most = 0;

    for (int64_t i = 0; i < count; i++)
        most = larger(most, distance(numbers[i], reference->transform[first + i]));
    return most / reference->size;
}
