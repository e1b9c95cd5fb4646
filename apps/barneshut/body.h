/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h - bodies: their motion, and sums over them.
 *
 * Sums are computed in fixed point.  Integer addition is associative, so a sum does not depend on
 * the order of the bodies or on their distribution over PEs.
 */
#ifndef BODY_H
#define BODY_H

#include <stdint.h>

struct body {
    double   at[3], velocity[3], mass;
    uint64_t key; /* keys.h */
    int64_t  id;
};

/** A mass at a position: one body, or the total mass of a group of bodies at its centre of mass. */
struct point {
    double x, y, z, mass;
};

/** The acceleration of a body and its potential. */
struct field {
    double a[3], potential;
};

/** An axis-parallel box. */
struct bounds {
    double low[3], high[3];
};

/** Bounds that contain no point. */
#define BOUNDS_EMPTY                                                                               \
    {                                                                                              \
        {INFINITY, INFINITY, INFINITY},                                                            \
        {                                                                                          \
            -INFINITY, -INFINITY, -INFINITY                                                        \
        }                                                                                          \
    }

/** Sums over bodies; all but the integers are in fixed point.  A reduction adds them. */
struct body_sums {
    int64_t kinetic, potential;    /* kinetic and potential energy                 */
    int64_t force[3], force_total; /* the sum of m a, and of the magnitudes of m a */
    int64_t at[3], velocity[3];    /* mean position and velocity                   */
    int64_t bodies, hash;          /* hash: a hash of the bodies' ids              */
    int64_t state;                 /* a hash of the bits of positions, velocities  */
    int64_t interactions;
};

#define BODY_SUMS (int)(sizeof(struct body_sums) / sizeof(int64_t))

/** Converts a number, whose magnitude is below 8192, to fixed point. */
int64_t body_fixed(double number);

/** Converts a number from fixed point; the inverse of body_fixed(). */
double body_unfixed(int64_t fixed);

/** Returns the contribution of a body to the hash of ids. */
int64_t body_hash(int64_t id);

/** Extends @p bounds to contain the position. */
void bounds_add(struct bounds *bounds, const double at[3]);

/** Changes velocities by an acceleration during @p time. */
void bodies_kick(struct body *body, const struct field *field, int64_t count, double time);

/** Moves bodies during @p time. */
void bodies_drift(struct body *body, int64_t count, double time);

/** Subtracts the mean position and velocity of all bodies, which @p sums contain. */
void bodies_centre(struct body *body, int64_t count, const struct body_sums *sums);

/** Adds the positions and velocities of bodies to the means; the job has @p all bodies. */
void bodies_add_means(struct body_sums *sums, const struct body *body, int64_t count, int64_t all);

/** Adds bodies to all sums except the means. */
void bodies_add(struct body_sums *sums, const struct body *body, const struct field *field,
                int64_t count);

#endif
