/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plummer.h - initial conditions: two Plummer spheres, by the formula of SPLASH.
 *
 * The second half of the bodies is a copy of the first, displaced by 4 in each dimension.  A body
 * depends on the seed and its id only, so PEs generate bodies independently.
 *
 * The total energy is about -0.036: kinetic 0.085, potential -0.121.  The sum of the kinetic energy
 * and m phi over all bodies, in which each pair counts twice, is about -0.157.
 */
#ifndef PLUMMER_H
#define PLUMMER_H

#include "body.h"

/** Generates bodies [@p first, @p first + @p count) of @p all.  The caller subtracts the means of
 *  positions and velocities (bodies_centre()). */
void plummer_fill(struct body *body, int64_t first, int64_t count, int64_t all, uint64_t seed);

#endif
