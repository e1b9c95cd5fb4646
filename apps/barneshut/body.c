/* SPDX-License-Identifier: Apache-2.0 */
/* body.c - see body.h. */
#include "body.h"

#include <math.h>
#include <string.h>

#include "common/numbers.h"

#define FIXED_BITS 50 /* number of fraction bits in fixed point */

int64_t body_fixed(double number)
{
    return (int64_t)llrint(ldexp(number, FIXED_BITS));
}

double body_unfixed(int64_t fixed)
{
    return ldexp((double)fixed, -FIXED_BITS);
}

int64_t body_hash(int64_t id)
{
    return (int64_t)(mix((uint64_t)id + 1) >> 32);
}

void bounds_add(struct bounds *bounds, const double at[3])
{
    for (int i = 0; i < 3; i++) {
        bounds->low[i]  = fmin(bounds->low[i], at[i]);
        bounds->high[i] = fmax(bounds->high[i], at[i]);
    }
}

void bodies_kick(struct body *body, const struct field *field, int64_t count, double time)
{
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < 3; i++)
            body[k].velocity[i] += field[k].a[i] * time;
}

void bodies_drift(struct body *body, int64_t count, double time)
{
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < 3; i++)
            body[k].at[i] += body[k].velocity[i] * time;
}

void bodies_centre(struct body *body, int64_t count, const struct body_sums *sums)
{
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) {
            body[k].at[i] -= body_unfixed(sums->at[i]);
            body[k].velocity[i] -= body_unfixed(sums->velocity[i]);
        }
}

void bodies_add_means(struct body_sums *sums, const struct body *body, int64_t count, int64_t all)
{
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) {
            sums->at[i] += body_fixed(body[k].at[i] / (double)all);
            sums->velocity[i] += body_fixed(body[k].velocity[i] / (double)all);
        }
}

static int64_t body_state(const struct body *body)
{
    uint64_t bits[6], hash = (uint64_t)body->id;

    memcpy(bits, body->at, sizeof body->at);
    memcpy(bits + 3, body->velocity, sizeof body->velocity);
    for (int i = 0; i < 6; i++)
        hash = mix(hash ^ bits[i]) + 1;
    return (int64_t)(hash >> 1);
}

static double vector_square(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/* A pair of bodies has one potential energy, which counts half for each. */
void bodies_add(struct body_sums *sums, const struct body *body, const struct field *field,
                int64_t count)
{
    uint64_t state = 0;

    for (int64_t k = 0; k < count; k++) {
        sums->kinetic += body_fixed(0.5 * body[k].mass * vector_square(body[k].velocity));
        sums->potential += body_fixed(0.5 * body[k].mass * field[k].potential);
        for (int i = 0; i < 3; i++)
            sums->force[i] += body_fixed(body[k].mass * field[k].a[i]);
        sums->force_total += body_fixed(body[k].mass * sqrt(vector_square(field[k].a)));
        sums->hash += body_hash(body[k].id);
        state += (uint64_t)body_state(&body[k]);
    }
    sums->bodies += count;
    sums->state = (int64_t)((uint64_t)sums->state + state);
}
