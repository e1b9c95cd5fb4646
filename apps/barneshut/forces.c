/* SPDX-License-Identifier: Apache-2.0 */
/* forces.c - see forces.h. */
#include "forces.h"

#include <string.h>

#define BATCH 32                       /* nodes that are tested at once */
#define STACK (BATCH * (KEY_BITS + 2)) /* nodes; see forces_traverse()  */

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
    if (walk->list.count == FORCES_LIST)
        forces_flush(walk);
    forces_put(&walk->list, point);
    walk->list.count++;
}

/* Adds nodes that are accepted to the list, moves the others to *@p near, inner ones, and @p leaf.
 * Returns the number of leaves.  The loop has no branches, which could not be predicted. */
static int forces_test(struct forces_walk *walk, const struct bounds *bounds,
                       const struct node **batch, int count, const struct node **leaf,
                       const struct node ***near)
{
    struct forces_list *list   = &walk->list;
    int                 leaves = 0;

    for (int i = 0; i < count; i++) {
        const struct node *node  = batch[i];
        bool               opens = node_is_near(node, bounds), inner = node->count == 0;

        forces_put(list, &node->sum);
        list->count += !opens;
        leaf[leaves] = node;
        leaves += opens & !inner;
        __builtin_prefetch(node->at);
        (*near)[0] = node->child;
        (*near)[1] = node->child + 1;
        *near += opens & inner ? 2 : 0;
    }
    return leaves;
}

/* Takes batches from the top of a stack and pushes the children of nodes that are opened.  A batch
 * leaves at most BATCH nodes of those that were pushed together, and what is pushed next is deeper
 * in the tree: hence the size of the stack. */
static void forces_traverse(struct forces_walk *walk, const struct node *root,
                            const struct bounds *bounds)
{
    const struct node *stack[STACK], *batch[BATCH], *leaf[BATCH], **top = stack;

    *top++ = root;
    while (top > stack) {
        int count = top - stack < BATCH ? (int)(top - stack) : BATCH, leaves;

        if (walk->list.count + BATCH > FORCES_LIST)
            forces_flush(walk);
        top -= count;
        memcpy(batch, top, (size_t)count * sizeof *batch);
        leaves = forces_test(walk, bounds, batch, count, leaf, &top);
        for (int i = 0; i < leaves; i++)
            for (int32_t k = 0; k < leaf[i]->count; k++)
                forces_add(walk, &leaf[i]->point[k]);
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
