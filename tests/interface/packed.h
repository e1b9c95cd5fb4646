/* SPDX-License-Identifier: Apache-2.0 */
/* packed.h - the declarations of packed.c for packed.ci: a tree, which consists of pointers. */
#ifndef PACKED_H
#define PACKED_H

#include <skua/api.h>

#include "../tap.h"

SKUA_BEGIN_DECLS

/* A binary search tree of integers. */
struct tree {
    int               size; /* number of nodes */
    struct tree_node *root;
};

struct forest;
struct Main;

void tree_add(struct tree *to, int value);
void check_tree(const struct tree *of, int size);
void check_forest(const struct forest *all, int n);
void start_blocks(struct Main *self);

/* Returns a tree with the given number of nodes, which is valid until the next call of this
 * thread. */
const struct tree *tree_of(int size);

SKUA_END_DECLS

#endif
