/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - the near field: the sum over pairs of bodies. */
#ifndef FMM_NEAR_H
#define FMM_NEAR_H

#include "expansion.h"

/** Bodies that act on others: displaced by a shift, if boundaries are periodic. */
struct near_sources {
    const struct body *body;
    int                n;
    double             shift[3];
};

/** Adds the potential and field of the bodies of @p count ranges to the fields of @p n bodies.  A
 *  body does not act on a body at the same position, and therefore not on itself. */
void near_add(const struct body *body, int n, struct field *field,
              const struct near_sources *sources, int count);

#endif
