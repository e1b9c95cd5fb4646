/* SPDX-License-Identifier: Apache-2.0 */
/* whole_tree.c - see whole_tree.h. */
#include "whole_tree.h"

#include <stdlib.h>

#include "plummer.h"

bool whole_tree_create(struct whole_tree *whole, const struct barneshut_options *options)
{
    struct body_sums sums = {0};
    int64_t          n    = options->particles;

    *whole       = (struct whole_tree){.bodies = n};
    whole->body  = calloc((size_t)n, sizeof *whole->body);
    whole->field = calloc((size_t)n, sizeof *whole->field);
    if (!whole->body || !whole->field)
        return false;
    plummer_fill(whole->body, 0, n, n, (uint64_t)options->seed);
    bodies_add_means(&sums, whole->body, n, n);
    bodies_centre(whole->body, n, &sums);
    return true;
}

bool whole_tree_build(struct whole_tree *whole, const struct barneshut_options *options)
{
    struct bounds    bounds = BOUNDS_EMPTY;
    struct tree_rule rule   = {.theta = options->theta, .leaf = options->leaf};
    int64_t          n      = whole->bodies;

    for (int64_t k = 0; k < n; k++)
        bounds_add(&bounds, whole->body[k].at);
    rule.cube = cube_of(&bounds);
    keys_set(whole->body, (size_t)n, &rule.cube);
    if (!keys_sort(whole->body, (size_t)n))
        return false;
    tree_free(&whole->tree);
    return tree_build(&whole->tree, &rule, whole->body, &n, 1);
}

int64_t whole_tree_forces(struct whole_tree *whole, int32_t node, double eps)
{
    const struct tree *tree = &whole->tree;

    if (tree->node[node].count == 0)
        return 0;
    return forces_of_leaf(tree->node, &tree->node[node], &tree->bounds[node], eps,
                          whole->field + (tree->node[node].point - tree->point));
}
