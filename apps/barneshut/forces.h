/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forces.h - the forces on the bodies of a leaf: one traversal of the tree for all of them.
 *
 * The traversal collects what the bodies of a leaf interact with, nodes and bodies alike, in a list
 * of points.  The kernel (kernel.c) adds the list to the field of each body.  The order of the list
 * is that of the tree, depth first, so forces are identical in bits on any number of PEs.
 */
#ifndef FORCES_H
#define FORCES_H

#include <stdint.h>

#include "tree.h"

#define FORCES_LANES 8    /* number of values that the kernel processes together */
#define FORCES_LIST  1024 /* capacity of a list; a multiple of FORCES_LANES */

/** A list of points in the layout of the kernel: one array for each component. */
struct forces_list {
    _Alignas(64) double x[FORCES_LIST];
    _Alignas(64) double y[FORCES_LIST];
    _Alignas(64) double z[FORCES_LIST];
    _Alignas(64) double mass[FORCES_LIST];
    int count;
};

/** Writes a point after the end of a list, which has room for it; the caller increments `count`. */
static inline void forces_put(struct forces_list *list, const struct point *point)
{
    list->x[list->count]    = point->x;
    list->y[list->count]    = point->y;
    list->z[list->count]    = point->z;
    list->mass[list->count] = point->mass;
}

/** Adds the field of the points of a list at the position of @p to.  The potential is positive. The
 *  list is padded with points of mass zero.  @p eps > 0 is the softening length. */
void forces_kernel(struct forces_list *list, const struct point *to, double eps,
                   struct field *field);

/** Computes the field of the whole tree for each body of a leaf; all nodes that its bodies open are
 *  on this PE.  Returns the number of interactions. */
int64_t forces_of_leaf(const struct node *root, const struct node *leaf,
                       const struct bounds *bounds, double eps, struct field *field);

#endif
