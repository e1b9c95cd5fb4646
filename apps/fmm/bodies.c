/* SPDX-License-Identifier: Apache-2.0 */
/* bodies.c - see bodies.h. */
#include "bodies.h"

#include <math.h>
#include <stdlib.h>

#include "common/numbers.h"

/* Fraction of the mass of a Plummer sphere, which is infinite, that is used. */
#define MASS_MAX 0.999

const char *const shape_names[SHAPES] = {"cube", "sphere", "plummer"};

/* Returns a number from 0 to 1 that depends only on the body and on @p which. */
static double bodies_random(const struct bodies_rule *rule, int64_t id, uint64_t which)
{
    uint64_t x =
        mix((uint64_t)id * 4 + which + mix((uint64_t)rule->seed + UINT64_C(0x9e3779b97f4a7c15)));

    return (double)(x >> 11) * 0x1p-53;
}

/* Stores a point on a sphere around the origin. */
static void bodies_on_sphere(const struct bodies_rule *rule, int64_t id, double radius,
                             double at[3])
{
    double z = 2 * bodies_random(rule, id, 0) - 1, phi = 2 * M_PI * bodies_random(rule, id, 1);
    double r = sqrt(1 - z * z);

    at[0] = radius * r * cos(phi);
    at[1] = radius * r * sin(phi);
    at[2] = radius * z;
}

static void bodies_set(const struct bodies_rule *rule, int64_t id, struct body *body)
{
    double part = MASS_MAX * bodies_random(rule, id, 2);

    switch (rule->shape) {
    case SHAPE_SPHERE: bodies_on_sphere(rule, id, 1, body->at); break;
    case SHAPE_PLUMMER:
        bodies_on_sphere(rule, id, 1 / sqrt(pow(part, -2.0 / 3) - 1), body->at);
        break;
    default:
        for (int d = 0; d < 3; d++)
            body->at[d] = bodies_random(rule, id, (uint64_t)d);
    }
    body->charge = rule->equal || id % 2 == 0 ? 1 : -1;
}

struct traveller *bodies_create(const struct bodies_rule *rule, int64_t first, int64_t n)
{
    struct traveller *body = calloc((size_t)n + 1, sizeof *body);

    for (int64_t i = 0; i < n && body; i++) {
        body[i].id = first + i;
        bodies_set(rule, first + i, &body[i].body);
    }
    return body;
}
