/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast_tree.h - the spanning tree of a broadcast, computed by arithmetic: no PE keeps a table.
 *
 * The rank of a PE in the tree of a root is (pe - root) modulo the number of PEs.  Rank 1, the PE
 * after the root, is the first child of the root and has no children.  The other ranks form a tree
 * of k children each, in the order of a heap:
 *
 *      10 PEs, k = 3       0: 1 2 3 4      2: 5 6 7      3: 8 9
 *      8 PEs, k = 1        0: 1 2          2: 3          3: 4      ...     a chain
 *
 * Where the roots of broadcasts take turns, as in a factorization by panels, rank 1 is the next
 * root: it receives first and begins without having to forward anything.
 */
#ifndef SKI_BROADCAST_TREE_H
#define SKI_BROADCAST_TREE_H

#include <stdint.h>

/* The position of one PE in the tree of a root. */
struct ski_broadcast_tree {
    int     pes, root, arity;
    int     rank;     /* of the PE in the tree        */
    int     children; /* number of its children       */
    int64_t first;    /* rank of the first child      */
};

/** Returns the position of @p pe in the tree of @p root over @p pes PEs. */
static inline struct ski_broadcast_tree ski_broadcast_tree_at(int pe, int pes, int root, int arity)
{
    struct ski_broadcast_tree tree = {pes, root, arity, pe < root ? pe - root + pes : pe - root,
                                      0,   0};
    int64_t most = tree.rank == 0 ? (int64_t)arity + 1 : tree.rank == 1 ? 0 : arity;

    tree.first = tree.rank == 0 ? 1 : (int64_t)arity * (tree.rank - 1) + 2;
    if (tree.first < pes)
        tree.children = (int)(pes - tree.first < most ? pes - tree.first : most);
    return tree;
}

/** Returns the PE that is child @p i of the PE of @p tree. */
static inline int ski_broadcast_tree_child(const struct ski_broadcast_tree *tree, int i)
{
    int64_t pe = tree->first + i + tree->root;

    return (int)(pe < tree->pes ? pe : pe - tree->pes);
}

/** Returns the parent of the PE of @p tree, which is not the root. */
static inline int ski_broadcast_tree_parent(const struct ski_broadcast_tree *tree)
{
    int node   = tree->rank == 1 ? 0 : (tree->rank - 2) / tree->arity;
    int parent = node == 0 ? 0 : node + 1;

    return (int)(((int64_t)parent + tree->root) % tree->pes);
}

#endif
