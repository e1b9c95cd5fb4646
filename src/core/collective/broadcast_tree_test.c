/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast_tree_test.c - each PE but the root has one parent, which counts it as a child. */
#include "core/collective/broadcast_tree.h"

#include <stdbool.h>

#include "tests/tap.h"

/* Counts @p pe as a child of its parent in the tree of @p root. Returns false if the parent denies
 * it. */
static bool tree_test_parent_agrees(int pe, int pes, int root, int arity)
{
    struct ski_broadcast_level tree   = ski_broadcast_level_at(pe, pes, root, arity);
    int                        parent = ski_broadcast_level_parent(&tree), found = 0;

    tree = ski_broadcast_level_at(parent, pes, root, arity);
    for (int i = 0; i < tree.children; i++)
        found += ski_broadcast_level_child(&tree, i) == pe;
    return parent >= 0 && parent < pes && parent != pe && found == 1;
}

/* Returns the number of steps from @p pe to the root. */
static int tree_test_depth(int pe, int pes, int root, int arity)
{
    int depth = 0;

    for (; pe != root && depth <= pes; depth++) {
        struct ski_broadcast_level tree = ski_broadcast_level_at(pe, pes, root, arity);

        pe = ski_broadcast_level_parent(&tree);
    }
    return depth;
}

static bool tree_test_spans(int pes, int root, int arity)
{
    int children = 0;

    for (int pe = 0; pe < pes; pe++) {
        children += ski_broadcast_level_at(pe, pes, root, arity).children;
        if (pe != root && (!tree_test_parent_agrees(pe, pes, root, arity) ||
                           tree_test_depth(pe, pes, root, arity) >= pes))
            return false;
    }
    return children == pes - 1;
}

/* Returns whether no PE that has children, but the root, is followed by one before the root that
 * has none. */
static bool tree_test_forwarders_are_last(int pes, int root, int arity)
{
    bool forwards = false;

    for (int rank = 1; rank < pes; rank++) {
        bool now = ski_broadcast_level_at((root + rank) % pes, pes, root, arity).children > 0;

        if (forwards && !now)
            return false;
        forwards = now;
    }
    return true;
}

int main(void)
{
    bool spans = true, leaf = true, later = true;

    for (int pes = 1; pes <= 40; pes++)
        for (int arity = 1; arity <= 6; arity++)
            for (int root = 0; root < pes; root++) {
                spans = spans && tree_test_spans(pes, root, arity);
                leaf  = leaf &&
                       (pes == 1 ||
                        ski_broadcast_level_at((root + 1) % pes, pes, root, arity).children == 0);
                later = later && (arity < 3 || tree_test_forwarders_are_last(pes, root, arity));
            }
    OK(spans, "each PE has one parent, which counts it as a child");
    OK(leaf, "the PE after the root forwards nothing");
    OK(later, "those that forward to three PEs or more come before the root");
    OK(tree_test_depth(7, 10, 0, 3) == 2, "ten PEs with three children each have two levels");
    OK(tree_test_depth(7, 8, 0, 1) == 6, "with one child each they are a chain");
    return tap_end();
}
