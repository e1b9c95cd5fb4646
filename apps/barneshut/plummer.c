/* SPDX-License-Identifier: Apache-2.0 */
/* plummer.c - see plummer.h. */
#include "plummer.h"

#include <math.h>
#include <stddef.h>

#include "common/numbers.h"

#define OFFSET     4.0   /* displacement of the second sphere */
#define MASS_LIMIT 0.999 /* bodies lie within this fraction of the mass */
#define RADIUS_MAX 9.0
#define PI         3.14159265358979323846

/* Returns a number of [0, most); *state is that of a splitmix64 generator. */
static double plummer_random(uint64_t *state, double most)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return most * (double)(mix(*state) >> 11) * 0x1p-53;
}

/* Stores a vector of this length in a random direction. */
static void plummer_shell(uint64_t *state, double length, double to[3])
{
    double square;

    do {
        square = 0;
        for (int i = 0; i < 3; i++) {
            to[i] = plummer_random(state, 2) - 1;
            square += to[i] * to[i];
        }
    } while (square > 1 || square == 0);
    for (int i = 0; i < 3; i++)
        to[i] *= length / sqrt(square);
}

static double plummer_radius(uint64_t *state)
{
    double r;

    do
        r = 1 / sqrt(pow(plummer_random(state, MASS_LIMIT), -2.0 / 3) - 1);
    while (!(r <= RADIUS_MAX));
    return r;
}

/* Samples the speed, in units of the escape speed, by rejection. */
static double plummer_speed(uint64_t *state)
{
    double x, y;

    do {
        x = plummer_random(state, 1);
        y = plummer_random(state, 0.1);
    } while (y > x * x * pow(1 - x * x, 3.5));
    return x;
}

static void plummer_make(struct body *body, int64_t id, int64_t all, uint64_t seed)
{
    int64_t  half   = (all + 1) / 2;
    double   length = 9 * PI / 16, r, v;
    uint64_t state  = mix(seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(id % half) + 1);

    r = plummer_radius(&state);
    plummer_shell(&state, length * r, body->at);
    v = sqrt(2) * plummer_speed(&state) / pow(1 + r * r, 0.25);
    plummer_shell(&state, v / sqrt(length), body->velocity);
    for (int i = 0; i < 3 && id >= half; i++)
        body->at[i] += OFFSET;
    body->mass = 1 / (double)all;
    body->id   = id;
}

void plummer_fill(struct body *body, int64_t first, int64_t count, int64_t all, uint64_t seed)
{
    for (int64_t k = 0; k < count; k++)
        plummer_make(&body[k], first + k, all, seed);
}
