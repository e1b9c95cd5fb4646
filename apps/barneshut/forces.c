/* SPDX-License-Identifier: Apache-2.0 */
/* forces.c - see forces.h. */
#include "forces.h"

#define STACK 256 /* nodes; a path has at most KEY_BITS nodes, with one sibling each */

struct forces_walk {
    struct forces_list list;
    const struct node *leaf;
    double             eps;
    struct field      *field;
    int64_t            interactions;
};

static void forces_flush(struct forces_walk *walk)
{
    for (int32_t k = 0; k < walk->leaf->count; k++)
        forces_kernel(&walk->list, &walk->leaf->point[k], walk->eps, &walk->field[k]);
    walk->interactions += (int64_t)walk->list.count * walk->leaf->count;
    walk->list.count = 0;
}

static inline void forces_add(struct forces_walk *walk, const struct point *point)
{
    struct forces_list *list = &walk->list;

    if (list->count == FORCES_LIST)
        forces_flush(walk);
    list->x[list->count]      = point->x;
    list->y[list->count]      = point->y;
    list->z[list->count]      = point->z;
    list->mass[list->count++] = point->mass;
}

static void forces_traverse(struct forces_walk *walk, const struct node *root,
                            const struct bounds *bounds)
{
    const struct node *stack[STACK] = {root};

    for (int top = 1; top > 0;) {
        const struct node *node = stack[--top];

        if (!node_is_near(node, bounds)) {
            forces_add(walk, &node->sum);
        } else if (node->count > 0) {
            for (int32_t k = 0; k < node->count; k++)
                forces_add(walk, &node->point[k]);
        } else {
            stack[top++] = node->child + 1;
            stack[top++] = node->child;
        }
    }
}

/* A body is in its own list.  It attracts itself by no force; its potential is subtracted. */
int64_t forces_of_leaf(const struct node *root, const struct node *leaf,
                       const struct bounds *bounds, double eps, struct field *field)
{
    struct forces_walk walk;

    walk.list.count   = 0;
    walk.leaf         = leaf;
    walk.eps          = eps;
    walk.field        = field;
    walk.interactions = 0;
    for (int32_t k = 0; k < leaf->count; k++)
        field[k] = (struct field){{0, 0, 0}, 0};
    forces_traverse(&walk, root, bounds);
    forces_flush(&walk);
    for (int32_t k = 0; k < leaf->count; k++)
        field[k].potential = leaf->point[k].mass / eps - field[k].potential;
    return walk.interactions;
}
