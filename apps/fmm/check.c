/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - see check.h.
 *
 * Each PE adds the contribution of its own bodies to the sample.  Ewald's method divides the
 * periodic potential into a sum over near pairs, damped by the complementary error function, and a
 * sum over waves.
 */
#include "check.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "near.h"

#define EWALD_ALPHA 10.0 /* damping factor; with it the nearest image suffices, to 1e-12 */
#define EWALD_WAVES 16   /* waves in each direction, for an error of 1e-11 */

/* A body of the sample, with the computed and the exact field. */
struct check_sample {
    struct body  body;
    struct field found, exact;
};

#define SAMPLE_NUMBERS (sizeof(struct check_sample) / sizeof(double))

/* ---- Ewald summation ------------------------------------------------------------------------ */

static void check_add_damped(struct check_sample *to, const struct body *from)
{
    double r[3], rr = 0, distance, phi, slope;

    for (int d = 0; d < 3; d++) {
        r[d] = to->body.at[d] - from->at[d];
        r[d] -= round(r[d]);
        rr += r[d] * r[d];
    }
    if (rr == 0)
        return;
    distance = sqrt(rr);
    phi      = from->charge * erfc(EWALD_ALPHA * distance) / distance;
    slope    = 2 * EWALD_ALPHA / sqrt(M_PI) * from->charge * exp(-EWALD_ALPHA * EWALD_ALPHA * rr);
    to->exact.potential += phi;
    for (int d = 0; d < 3; d++)
        to->exact.at[d] += (phi + slope) / rr * r[d];
}

/* Computes the waves exp(2 pi i n x) of a body along each dimension. */
struct check_waves {
    double complex at[3][EWALD_WAVES + 1];
};

static void check_set_waves(struct check_waves *w, const double at[3])
{
    for (int d = 0; d < 3; d++) {
        double complex one = cexp(2 * M_PI * I * at[d]);

        w->at[d][0] = 1;
        for (int n = 1; n <= EWALD_WAVES; n++)
            w->at[d][n] = w->at[d][n - 1] * one;
    }
}

static double complex check_wave(const struct check_waves *w, const int n[3])
{
    double complex product = w->at[0][n[0]];

    for (int d = 1; d < 3; d++)
        product *= n[d] < 0 ? conj(w->at[d][-n[d]]) : w->at[d][n[d]];
    return product;
}

/* Advances to the next wave; only half of all waves are visited, since the others are
 * conjugates.  Returns false after the last. */
static bool check_next(int n[3])
{
    do
        for (int d = 2; d >= 0; d--) {
            if (++n[d] <= EWALD_WAVES)
                break;
            if (d == 0)
                return false;
            n[d] = -EWALD_WAVES;
        }
    while (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > EWALD_WAVES * EWALD_WAVES);
    return true;
}

/* Adds a wave of amplitude @p sum and, since the sum is real, its opposite. */
static void check_add_wave(struct check_sample *to, const struct check_waves *w, const int n[3],
                           double complex sum)
{
    double         nn      = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    double         weight  = 2 * exp(-M_PI * M_PI * nn / (EWALD_ALPHA * EWALD_ALPHA)) / (M_PI * nn);
    double complex product = weight * check_wave(w, n) * conj(sum);

    to->exact.potential += creal(product);
    for (int d = 0; d < 3; d++)
        to->exact.at[d] += 2 * M_PI * n[d] * cimag(product);
}

static bool check_half(const int n[3])
{
    return n[0] > 0 || n[1] > 0 || (n[1] == 0 && n[2] > 0);
}

static void check_add_waves(const struct solver *s, struct check_sample *sample, int64_t count)
{
    struct check_waves *from = malloc((size_t)(s->n + 1) * sizeof *from);
    struct check_waves *to   = malloc((size_t)(count + 1) * sizeof *to);
    int                 n[3] = {0, -EWALD_WAVES, -EWALD_WAVES - 1};

    if (!from || !to)
        s->comm->fail(s->comm, "there is not enough memory for Ewald summation; use --check=0");
    for (int64_t i = 0; i < s->n; i++)
        check_set_waves(&from[i], s->body[i].at);
    for (int64_t k = 0; k < count; k++)
        check_set_waves(&to[k], sample[k].body.at);
    while (check_next(n)) {
        double complex sum = 0;

        for (int64_t i = 0; i < s->n && check_half(n); i++)
            sum += s->body[i].charge * check_wave(&from[i], n);
        for (int64_t k = 0; k < count && check_half(n); k++)
            check_add_wave(&sample[k], &to[k], n, sum);
    }
    free(from);
    free(to);
}

static void check_add_ewald(const struct solver *s, struct check_sample *sample, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        for (int64_t i = 0; i < s->n; i++)
            check_add_damped(&sample[k], &s->body[i]);
        if (s->comm->pe == 0) /* the interaction of a body with its own charge cloud */
            sample[k].exact.potential -= 2 * EWALD_ALPHA / sqrt(M_PI) * sample[k].body.charge;
    }
    check_add_waves(s, sample, count);
}

/* ---- the sample ----------------------------------------------------------------------------- */

static void check_add_direct(const struct solver *s, struct check_sample *sample, int64_t count)
{
    struct near_sources all = {s->body, (int)s->n, {0}};

    for (int64_t k = 0; k < count; k++)
        near_add(&sample[k].body, 1, &sample[k].exact, &all, 1);
}

/* The bodies of the sample are those whose numbers are multiples of @p step. */
static void check_collect(const struct solver *s, struct check_sample *sample, int64_t step)
{
    for (int64_t i = 0; i < s->n; i++)
        if (s->traveller[i].id % step == 0) {
            struct check_sample *to = &sample[s->traveller[i].id / step];

            to->body  = s->body[i];
            to->found = s->field[i];
        }
}

/* Estimates the error of the energy of all @p n bodies from the errors in a sample: their sum and
 * the sum of their squares. Independent errors grow with the square root of the number of bodies; a
 * systematic error, the part of the sum that exceeds chance, grows with the number. */
static double check_energy_error(int64_t n, int64_t count, double sum, double squares)
{
    double more = (double)n / (double)count, chance = fmin(fabs(sum), 3 * sqrt(squares));

    return 0.5 * (sqrt(more) * chance + more * (fabs(sum) - chance));
}

static struct check_errors check_compare(const struct check_sample *sample, int64_t count,
                                         int64_t n, double energy)
{
    double sum = 0, squares = 0, phi = 0, phi_off = 0, field = 0, field_off = 0;

    for (int64_t k = 0; k < count; k++) {
        double exact = sample[k].exact.potential, off = sample[k].found.potential - exact;

        sum += sample[k].body.charge * off;
        squares += pow(sample[k].body.charge * off, 2);
        phi += exact * exact;
        phi_off += off * off;
        for (int d = 0; d < 3; d++) {
            field += pow(sample[k].exact.at[d], 2);
            field_off += pow(sample[k].found.at[d] - sample[k].exact.at[d], 2);
        }
    }
    return (struct check_errors){check_energy_error(n, count, sum, squares) / fabs(energy),
                                 sqrt(phi_off / phi), sqrt(field_off / field), count};
}

/* Replaces the sums of each PE by the sums over all PEs. */
static void check_sum(const struct solver *s, struct check_sample *sample, int64_t count)
{
    s->comm->sum(s->comm, (double *)sample, (size_t)count * SAMPLE_NUMBERS);
}

static void check_sum_exact(const struct solver *s, struct check_sample *sample, int64_t count)
{
    struct field *exact = malloc((size_t)(count + 1) * sizeof *exact);

    if (!exact)
        s->comm->fail(s->comm, "there is not enough memory for the check; use --check=0");
    for (int64_t k = 0; k < count; k++)
        exact[k] = sample[k].exact;
    s->comm->sum(s->comm, (double *)exact, (size_t)count * sizeof *exact / sizeof(double));
    for (int64_t k = 0; k < count; k++)
        sample[k].exact = exact[k];
    free(exact);
}

struct check_errors check_solution(const struct solver *s, int64_t n, int64_t most, double energy)
{
    /* An odd step, so that the sample has charges of both signs. */
    int64_t              step   = n <= most ? 1 : (n / most + 1) | 1;
    int64_t              count  = (n + step - 1) / step;
    struct check_sample *sample = calloc((size_t)count + 1, sizeof *sample);
    struct check_errors  errors;

    if (!sample)
        s->comm->fail(s->comm, "there is not enough memory for the check; use --check=0");
    check_collect(s, sample, step);
    check_sum(s, sample, count);
    if (s->rule.periodic)
        check_add_ewald(s, sample, count);
    else
        check_add_direct(s, sample, count);
    check_sum_exact(s, sample, count);
    errors = check_compare(sample, count, n, energy);
    free(sample);
    return errors;
}
