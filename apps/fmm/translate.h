/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translate.h - translations of expansions between boxes of an octree.
 *
 *     M2M  multipoles of a child to those of its parent
 *     M2L  multipoles of a box to the local expansion of a distant box of the same level
 *     L2L  the local expansion of a parent to those of a child
 *
 * A translation rotates an expansion so that the z axis points to the other box, translates along
 * z, where coefficients of different m are independent, and rotates back: O(p^3) operations instead
 * of the O(p^4) of one matrix.  LANES translations in the same direction are computed together:
 * each step multiplies small matrices, which are the same for all lanes, by one expansion per lane.
 */
#ifndef FMM_TRANSLATE_H
#define FMM_TRANSLATE_H

#include <stdbool.h>

#include "expansion.h"
#include "lanes.h"

struct translate_step;

/** The translations of one order between boxes that are at most 2 * separation + 1 boxes apart. */
struct translator {
    const struct expansion  *expansion;
    int                      reach;     /* boxes in each direction */
    struct translate_step   *to_parent; /* one for each octant     */
    struct translate_step   *to_child;
    struct translate_step   *to_local; /* (2 reach + 1)^3, by translate_direction() */
    struct translate_tables *tables;
};

/** Prepares translations.  Returns false if there is no memory. */
bool translator_create(struct translator *t, const struct expansion *e, int separation);

/** Frees what translator_create() has allocated. */
void translator_free(struct translator *t);

/** Returns the index of the direction to the box at an offset in x, y and z, in boxes. */
static inline int translate_direction(const struct translator *t, const int distance[3])
{
    int side = 2 * t->reach + 1;

    return ((distance[2] + t->reach) * side + distance[1] + t->reach) * side + distance[0] +
           t->reach;
}

/** Returns the number of directions. */
int translate_directions(const struct translator *t);

/** Adds the multipoles of @p n <= LANES children in one octant (bit d: the upper half in dimension
 *  d) to their parents. */
void translate_to_parent(const struct translator *t, int octant, const double *const *child,
                         double *const *parent, int n);

/** Adds the local expansions of @p n <= LANES parents to those of their children in one octant. */
void translate_to_child(const struct translator *t, int octant, const double *const *parent,
                        double *const *child, int n);

/** Adds the multipoles of @p n <= LANES boxes to the local expansions of boxes; each box of @p from
 *  lies in the same direction of its box of @p to. */
void translate_to_local(const struct translator *t, int direction, const double *const *from,
                        double *const *to, int n);

#endif
