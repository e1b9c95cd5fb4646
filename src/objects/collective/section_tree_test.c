/* SPDX-License-Identifier: Apache-2.0 */
/* section_tree_test.c - each delegate is in the tree once, and the tree is as low as it can be. */
#include "objects/collective/section_tree.h"

#include <stdbool.h>
#include <string.h>

#include "tests/tap.h"

#define SECTION_TREE_TEST_MAX 200

struct section_tree_test {
    uint32_t arity, depth;
    bool     even; /* shares of a delegate differ by one at most */
    unsigned visits[SECTION_TREE_TEST_MAX];
};

/* The delegate of list @p first passes on those after it, up to @p end. */
static void section_tree_test_pass_down(struct section_tree_test *test, uint32_t first,
                                        uint32_t end, uint32_t depth)
{
    uint32_t others = end - first - 1, at = first + 1;
    uint32_t children = ski_section_tree_children(others, test->arity);

    test->visits[first]++;
    if (depth > test->depth)
        test->depth = depth;
    for (uint32_t i = 0; i < children; i++) {
        uint32_t share = ski_section_tree_share(others, children, i);

        test->even = test->even && share >= others / children && share <= others / children + 1;
        section_tree_test_pass_down(test, at, at + share, depth + 1);
        at += share;
    }
    test->even = test->even && at == end;
}

/* The depth of a complete tree of @p count nodes. */
static uint32_t section_tree_test_least_depth(uint32_t count, uint32_t arity)
{
    uint32_t depth = 0, level = 1, nodes = 1;

    while (nodes < count) {
        level *= arity;
        nodes += level;
        depth++;
    }
    return depth;
}

static bool section_tree_test_covers(uint32_t count, uint32_t arity)
{
    struct section_tree_test test = {.arity = arity, .even = true};

    section_tree_test_pass_down(&test, 0, count, 0);
    for (uint32_t i = 0; i < SECTION_TREE_TEST_MAX; i++)
        if (test.visits[i] != (i < count))
            return false;
    return test.even && test.depth == section_tree_test_least_depth(count, arity);
}

int main(void)
{
    for (uint32_t arity = 1; arity <= 9; arity++) {
        bool covers = true;

        for (uint32_t count = 1; count <= SECTION_TREE_TEST_MAX; count++)
            covers = covers && section_tree_test_covers(count, arity);
        OK(covers, "trees of arity %u reach each delegate once, at the least depth", arity);
    }
    return tap_end();
}
