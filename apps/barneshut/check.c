/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - see check.h. */
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "forces.h"

#define SAMPLE_EVERY   100
#define ERROR_LIMIT    1e-2 /* limit of the relative error of forces, for theta up to THETA_LIMIT */
#define THETA_LIMIT    0.5
#define DRIFT_LIMIT    1e-3 /* limit of the relative drift of the energy */
#define MOMENTUM_LIMIT 1e-2 /* limit of the sum of forces */

bool check_is_sample(int64_t id)
{
    return id % SAMPLE_EVERY == 0;
}

struct check_sample check_sample_of(const struct body *body, const struct field *field)
{
    struct check_sample sample;

    memcpy(sample.at, body->at, sizeof sample.at);
    memcpy(sample.a, field->a, sizeof sample.a);
    return sample;
}

void check_add_direct(double *sum, const struct check_sample *sample, int64_t samples,
                      const struct point *point, int64_t count, double eps)
{
    struct forces_list list;

    for (int64_t first = 0; first < count; first += list.count) {
        for (list.count = 0; list.count < FORCES_LIST && first + list.count < count; list.count++)
            forces_put(&list, &point[first + list.count]);
        for (int64_t s = 0; s < samples; s++) {
            struct point to    = {sample[s].at[0], sample[s].at[1], sample[s].at[2], 0};
            struct field field = {{0, 0, 0}, 0};

            forces_kernel(&list, &to, eps, &field);
            for (int i = 0; i < 3; i++)
                sum[3 * s + i] += field.a[i];
        }
    }
}

static double check_energy(const struct body_sums *sums)
{
    return body_unfixed(sums->kinetic + sums->potential);
}

void check_add_step(struct check_run *run, const struct body_sums *sums, int64_t step)
{
    double energy = check_energy(sums);

    if (step == 0)
        *run = (struct check_run){.energy = energy, .force_error = -1, .first = sums->interactions};
    run->sums = *sums;
    run->interactions += sums->interactions;
    run->drift = fmax(run->drift, fabs((energy - run->energy) / run->energy));
}

void check_compare(struct check_run *run, const struct check_sample *sample, const double *direct,
                   int64_t samples)
{
    double square = 0, error = 0;

    for (int64_t s = 0; s < samples; s++)
        for (int i = 0; i < 3; i++) {
            double a = direct[3 * s + i], d = a - sample[s].a[i];

            square += a * a;
            error += d * d;
        }
    run->force_error = sqrt(error / square);
}

static double check_momentum(const struct body_sums *sums)
{
    double square = 0;

    for (int i = 0; i < 3; i++)
        square += body_unfixed(sums->force[i]) * body_unfixed(sums->force[i]);
    return sqrt(square) / body_unfixed(sums->force_total);
}

static int64_t check_hash(int64_t particles)
{
    int64_t hash = 0;

    for (int64_t id = 0; id < particles; id++)
        hash += body_hash(id);
    return hash;
}

static bool check_holds(bool holds, const char *what)
{
    if (!holds)
        printf("WRONG: %s\n", what);
    return holds;
}

static bool check_all(const struct check_run *run, const struct barneshut_options *o)
{
    const struct body_sums *sums = &run->sums;
    bool same = sums->bodies == o->particles && sums->hash == check_hash(o->particles);
    bool good = check_holds(same, "particles were lost or doubled");

    good &= check_holds(run->drift < DRIFT_LIMIT, "the energy drifts by more than 0.001");
    good &= check_holds(check_momentum(sums) < MOMENTUM_LIMIT, "forces do not sum up to 0");
    if (o->theta <= THETA_LIMIT)
        good &= check_holds(run->force_error < ERROR_LIMIT,
                            "forces differ by more than 0.01 from direct summation");
    return good;
}

bool check_report(const struct check_run *run, const struct barneshut_options *o)
{
    printf("result particles %" PRId64 " steps %" PRId64
           " theta %g energy %.9f kinetic %.9f potential %.9f drift %.2g interactions %" PRId64
           " momentum %.3g state %016" PRIx64,
           o->particles, o->steps, o->theta, check_energy(&run->sums),
           body_unfixed(run->sums.kinetic), body_unfixed(run->sums.potential), run->drift,
           run->interactions, check_momentum(&run->sums), (uint64_t)run->sums.state);
    if (run->force_error >= 0)
        printf(" force_error %.4f", run->force_error);
    printf("\nkinetic energy and sum of m phi, which counts pairs twice: %.6f\n",
           body_unfixed(run->sums.kinetic + 2 * run->sums.potential));
    return check_all(run, o);
}
