/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - spanning trees over the PEs, by arithmetic.
 *
 * The tree of a root numbers the PEs from it on, around the end: the root is
 * rank 0, and rank r has the children k*r + 1 .. k*r + k, as far as they exist.
 * No PE keeps a table.
 */
#ifndef SKI_TREE_H
#define SKI_TREE_H

#include <stdint.h>

struct ski_tree {
    int pes, root, arity;
    int rank;     /* of the PE that asks              */
    int children; /* how many it has                  */
};

static inline struct ski_tree ski_tree_at(int pe, int pes, int root, int arity)
{
    struct ski_tree tree  = {pes, root, arity, pe < root ? pe - root + pes : pe - root, 0};
    int64_t         first = (int64_t)arity * tree.rank + 1;

    if (first < pes)
        tree.children = pes - first < arity ? (int)(pes - first) : arity;
    return tree;
}

static inline int ski_tree_child(const struct ski_tree *tree, int i)
{
    int64_t pe = (int64_t)tree->arity * tree->rank + 1 + i + tree->root;
    return (int)(pe < tree->pes ? pe : pe - tree->pes);
}

static inline int ski_tree_parent(const struct ski_tree *tree)
{
    return ((tree->rank - 1) / tree->arity + tree->root) % tree->pes;
}

#endif
