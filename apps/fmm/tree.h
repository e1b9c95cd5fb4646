/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - an adaptive octree on a space-filling curve, which all PEs know.
 *
 * Bodies are sorted along the Morton curve.  A box that has more bodies than a leaf may have is
 * divided into those of its eight octants that have bodies; so the bodies of a box are consecutive,
 * and leaves are ordered along the curve.  Each PE owns consecutive leaves, with their bodies.  All
 * PEs know all boxes and how many bodies each has, not the bodies: every PE computes which of its
 * data other PEs need, in the order in which they expect them.
 */
#ifndef FMM_TREE_H
#define FMM_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "comm.h"
#include "expansion.h"

#define LEVELS_MAX 20

/** A body that is moved to the PE that owns its leaf. */
struct traveller {
    struct body body;
    uint64_t    key; /* on the Morton curve: three bits for each level, LEVELS_MAX levels */
    int64_t     id;
};

/** A box. */
struct node {
    int     level, at[3]; /* position of the box, in boxes of that level */
    int32_t parent, child;
    int     children;       /* consecutive children; 0: the box is a leaf */
    int32_t leaf, leaf_end; /* leaves in the box */
    int64_t first, count;   /* bodies in the box, in the order of the curve */
};

struct tree {
    struct cube  cube; /* the root */
    struct node *node; /* parents before children, level by level */
    int32_t      nodes, room, leaves;
    int32_t     *leaf;     /* node of each leaf, along the curve */
    int         *owner;    /* PE of each leaf */
    int32_t     *first_of; /* the first leaf of each PE, and the end */
};

/** Sets the keys of @p n bodies in a cube. */
void tree_set_keys(struct traveller *body, size_t n, const struct cube *cube);

/** Sorts bodies by key; bodies of the same key keep their order.  Returns false if there is no
 * memory.
 */
bool tree_sort(struct traveller **body, size_t n);

/** Bodies in the order of their keys. */
struct tree_run {
    const struct traveller *body;
    size_t                  n;
};

/** Returns the bodies of all runs in the order of their keys, and stores their number in *@p n;
 *  those of the same key are in the order of the runs.  Returns NULL if there is no memory. */
struct traveller *tree_merge(const struct tree_run *run, int runs, int64_t *n);

/** Builds the tree of the sorted bodies of all PEs, with at most @p most bodies in a leaf.
 *  Collective.  Returns false if there is no memory. */
bool tree_build(struct tree *tree, struct comm *comm, const struct cube *cube,
                const struct traveller *body, size_t n, int64_t most);

/** Frees a tree. */
void tree_free(struct tree *tree);

/** Divides the leaves among the PEs so that each gets a cost in proportion to its @p speed. */
void tree_divide(struct tree *tree, int pes, const double *cost, const double *speed);

/** Returns the cube of a box. */
struct cube tree_cube(const struct tree *tree, const struct node *node);

/** Returns the first key of a box. */
uint64_t tree_key(const struct node *node);

/** Returns true if some of the leaves of a box belong to @p pe. */
static inline bool tree_owns(const struct tree *tree, const struct node *node, int pe)
{
    int32_t first = tree->first_of[pe], end = tree->first_of[pe + 1];

    return first < end && node->leaf < end && node->leaf_end > first;
}

/** Returns the PE that owns the first leaf of a box. */
static inline int tree_owner(const struct tree *tree, const struct node *node)
{
    return tree->owner[node->leaf];
}

/** Returns true if the leaves of a box belong to several PEs. */
static inline bool tree_shared(const struct tree *tree, const struct node *node)
{
    return tree->owner[node->leaf] != tree->owner[node->leaf_end - 1];
}

#endif
