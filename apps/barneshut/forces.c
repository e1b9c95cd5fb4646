/* SPDX-License-Identifier: Apache-2.0 */
/* forces.c - see forces.h. */
#include "forces.h"

#include <string.h>

#define PAIRS 16                       /* number of node pairs tested together */
#define STACK (PAIRS * (KEY_BITS + 3)) /* size of the stack; see forces_traverse() */

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

static void forces_add_leaf(struct forces_walk *walk, const struct node *leaf)
{
    for (int32_t k = 0; k < leaf->count; k++)
        forces_add(walk, &leaf->point[k]);
}

/* Tests pairs of nodes.  Adds those that are accepted to the list, opened leaves to @p leaf, and
 * the children of other opened nodes to *@p opened.  Returns the number of leaves.  The loop has no
 * branches: they could not be predicted. */
static int forces_test(struct forces_walk *walk, const struct bounds *bounds,
                       const struct node *const *pair, int pairs, const struct node **leaf,
                       const struct node ***opened)
{
    struct forces_list *list   = &walk->list;
    int                 leaves = 0;

    for (int i = 0; i < 2 * pairs; i++) {
        const struct node *node  = pair[i / 2] + i % 2;
        bool               opens = node_is_near(node, bounds), inner = node->count == 0;

        __builtin_prefetch(node->at);
        forces_put(list, &node->sum);
        list->count += !opens;
        leaf[leaves] = node;
        leaves += opens & !inner;
        **opened = node->child;
        *opened += opens & inner;
    }
    return leaves;
}

/* Takes pairs of nodes from the top of a stack and pushes the children of nodes that are opened. At
 * most PAIRS remain of those that were pushed together, and what is pushed next is deeper in the
 * tree: hence the size of the stack.  The root contains the leaf, so it is opened. */
static void forces_traverse(struct forces_walk *walk, const struct node *root,
                            const struct bounds *bounds)
{
    const struct node *stack[STACK], *pair[PAIRS], *leaf[2 * PAIRS], **top = stack;

    if (root->count > 0)
        forces_add_leaf(walk, root);
    else
        *top++ = root->child;
    while (top > stack) {
        int pairs = top - stack < PAIRS ? (int)(top - stack) : PAIRS, leaves;

        if (walk->list.count + 2 * PAIRS > FORCES_LIST)
            forces_flush(walk);
        top -= pairs;
        memcpy(pair, top, (size_t)pairs * sizeof *pair);
        leaves = forces_test(walk, bounds, pair, pairs, leaf, &top);
        for (int i = 0; i < leaves; i++)
            forces_add_leaf(walk, leaf[i]);
    }
}

/* A body is in its own interaction list. Its force on itself is zero; its potential on itself is
 * subtracted. */
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
