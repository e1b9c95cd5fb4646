/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole_tree.h - all bodies of a problem and their tree in one process: what programs without the
 * runtime compute forces from.
 */
#ifndef WHOLE_TREE_H
#define WHOLE_TREE_H

#include "forces.h"
#include "options.h"

struct whole_tree {
    int64_t       bodies;
    struct body  *body;  /* in the order of their keys once the tree is built */
    struct field *field; /* of each body */
    struct tree   tree;
};

/** Creates the bodies, at their first positions.  Returns false if there is not enough memory. */
bool whole_tree_create(struct whole_tree *whole, const struct barneshut_options *options);

/** Builds the tree of the positions that the bodies have now.  Returns false if there is not enough
 *  memory. */
bool whole_tree_build(struct whole_tree *whole, const struct barneshut_options *options);

/** Computes the fields of the bodies of a node, if it is a leaf.  Returns the number of
 *  interactions. */
int64_t whole_tree_forces(struct whole_tree *whole, int32_t node, double eps);

#endif
