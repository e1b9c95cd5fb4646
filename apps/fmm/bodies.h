/* SPDX-License-Identifier: Apache-2.0 */
/* bodies.h - distributions of bodies: pseudo-random, and independent of the number of PEs. */
#ifndef FMM_BODIES_H
#define FMM_BODIES_H

#include "tree.h"

enum shape { SHAPE_CUBE, SHAPE_SPHERE, SHAPE_PLUMMER, SHAPES };

/** The names of the shapes. */
extern const char *const shape_names[SHAPES];

struct bodies_rule {
    enum shape shape;
    bool       equal; /* all charges are 1; else every second one is -1 */
    int64_t    seed;
};

/** Creates the @p n bodies from number @p first on.  Returns NULL if there is no memory. */
struct traveller *bodies_create(const struct bodies_rule *rule, int64_t first, int64_t n);

#endif
