/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the Barnes-Hut tree: cells, with their mass and centre of mass.
 *
 * A node is the smallest cell (keys.h) that contains a set of neighbouring bodies.  A node with
 * more than `leaf` bodies is divided by the next bit of the key; both halves contain bodies.  So
 * the tree is a function of the keys alone, and so are its moments, which are summed bottom-up:
 * they are identical in bits however the bodies are distributed over pieces and PEs.
 *
 * A node is opened by bodies closer to its centre of mass than the longest side of its cell /
 * theta, and always by bodies inside the cell.
 */
#ifndef TREE_H
#define TREE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "body.h"
#include "keys.h"

struct node {
    struct point sum;  /* the mass of the bodies, at their centre of mass           */
    double       open; /* the square of the distance below which the node is opened */
    union {
        struct node  *child;  /* the two children of an inner node               */
        struct point *point;  /* the bodies of a leaf                            */
        int64_t       offset; /* in a message: index of the first child or point */
        void         *at;     /* the untyped address; NULL: on another PE        */
    };
    int32_t count;   /* number of bodies of a leaf; 0: an inner node */
    int32_t piece;   /* the piece that built the node */
    int32_t index;   /* index of the node in that piece */
    int32_t request; /* number of the request for the children, or NODE_... */
};

/** Values of `request` that are not the number of a request. NODE_LOCAL: the whole tree below the
 *  node is on this PE. NODE_HERE: the children or points are in the same message. NODE_UNREQUESTED:
 *  they are on another PE and have not been requested. */
enum { NODE_LOCAL = -1, NODE_HERE = -2, NODE_UNREQUESTED = -3 };

/** How a tree is built. */
struct tree_rule {
    struct cube cube;
    double      theta;
    int64_t     leaf; /* the largest number of bodies of a leaf */
};

/** Trees of sorted bodies.  The first nodes are the roots. */
struct tree {
    struct node   *node;
    struct bounds *bounds; /* bounds of the bodies of each node */
    struct point  *point;  /* positions of the bodies */
    int32_t        nodes;
};

/** Builds @p roots trees of sorted bodies; tree i contains the next count[i] > 0 bodies.  Returns
 *  false if there is no memory. */
bool tree_build(struct tree *tree, const struct tree_rule *rule, const struct body *body,
                const int64_t *count, int32_t roots);

/** Frees the memory of a tree; a zeroed tree has none. */
void tree_free(struct tree *tree);

/** Sets the moments of a node of the cell @p key, @p depth from those of its children. */
void node_join(struct node *node, const struct tree_rule *rule, uint64_t key, int depth);

/** Returns true if bodies within @p bounds open the node.  If bounds open a node, larger bounds
 * that contain them open it, too, in spite of rounding.  x + |x| is 2 max(x, 0), without a branch.
 */
static inline bool node_is_near(const struct node *node, const struct bounds *bounds)
{
    const double *com = &node->sum.x;
    double        d2  = 0;

    for (int i = 0; i < 3; i++) {
        double below = bounds->low[i] - com[i], above = com[i] - bounds->high[i];
        double d = below + fabs(below) + (above + fabs(above));

        d2 += d * d;
    }
    return d2 < 4 * node->open;
}

#endif
