/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - k-ary spanning trees over the PEs, computed by arithmetic: no PE keeps a table.
 *
 * The rank of a PE in the tree of a root is (pe - root) modulo the number of PEs, so the root has
 * rank 0.  Rank r has the children k*r + 1 .. k*r + k, as far as these ranks exist.
 */
#ifndef SKI_TREE_H
#define SKI_TREE_H

#include <stdint.h>

/* The position of one PE in the tree of a root. */
struct ski_tree {
    int pes, root, arity;
    int rank;     /* of the PE in the tree   */
    int children; /* number of its children  */
};

/** Returns the position of @p pe in the tree of @p root over @p pes PEs. */
static inline struct ski_tree ski_tree_at(int pe, int pes, int root, int arity)
{
    struct ski_tree tree  = {pes, root, arity, pe < root ? pe - root + pes : pe - root, 0};
    int64_t         first = (int64_t)arity * tree.rank + 1;

    if (first < pes)
        tree.children = pes - first < arity ? (int)(pes - first) : arity;
    return tree;
}

/** Returns the PE that is child @p i of the PE of @p tree. */
static inline int ski_tree_child(const struct ski_tree *tree, int i)
{
    int64_t pe = (int64_t)tree->arity * tree->rank + 1 + i + tree->root;
    return (int)(pe < tree->pes ? pe : pe - tree->pes);
}

/** Returns the parent of the PE of @p tree, which is not the root. */
static inline int ski_tree_parent(const struct ski_tree *tree)
{
    return ((tree->rank - 1) / tree->arity + tree->root) % tree->pes;
}

#endif
