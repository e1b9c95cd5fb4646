/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_order_test.c - a reduction to any target combines every PE once, in one order. */
#include <stdint.h>

#include "core/collective/reduction_order.h"
#include "tests/tap.h"

#define ORDER_PES_MAX 40

/* The PEs that a partial result comprises: [from, to). */
struct order_range {
    int from, to;
};

static bool order_join(struct order_range *into, struct order_range lower, struct order_range upper)
{
    *into = (struct order_range){lower.from, upper.to};
    return lower.to == upper.from;
}

/* Moves the partial results of a reduction to @p target along the delegates, which @p delegate
 * returns. */
static bool test_tree(int pes, int target, int (*delegate)(int, int, int, int))
{
    struct order_range held[ORDER_PES_MAX];
    bool               ok = true;

    for (int pe = 0; pe < pes; pe++)
        held[pe] = (struct order_range){pe, pe + 1};
    for (int k = 0; k < ski_block_levels(pes); k++)
        for (int low = 0; low < pes; low += 2 << k) {
            int high = ski_block_sibling(low, k), a, b, to;

            if (high >= pes)
                continue;
            a  = delegate(low, k, target, pes);
            b  = delegate(high, k, target, pes);
            to = delegate(low, k + 1, target, pes);
            ok = ok && a < high && b < pes && (to == a || to == b);
            ok = ok && order_join(&held[to], held[a], held[b]);
        }
    return ok && held[target].from == 0 && held[target].to == pes;
}

/* Returns whether the PE before @p root sends its partial result to the root and to no other PE. */
static bool test_before_root(int pes, int root)
{
    int before = (root + pes - 1) % pes, level = 0;

    while (ski_block_of(before, level) != ski_block_of(root, level)) {
        if (ski_block_root_delegate(ski_block_of(before, level), level, root, pes) != before)
            return false;
        level++;
    }
    return ski_block_root_delegate(ski_block_of(root, level), level, root, pes) == root;
}

/* Returns whether all PEs receive as many partial results in a reduction to each PE in turn. */
static bool test_balance(int pes)
{
    int received[ORDER_PES_MAX] = {0};

    for (int root = 0; root < pes; root++)
        for (int k = 0; k < ski_block_levels(pes); k++)
            for (int low = 0; low < pes; low += 2 << k)
                received[ski_block_root_delegate(low, k + 1, root, pes)]++;
    for (int pe = 0; pe < pes; pe++)
        if (received[pe] != pes - 1)
            return false;
    return true;
}

/* Returns whether @p from sends its partial result of a round to @p to. */
static bool order_sends_to(int from, int to, int k, int pes)
{
    int ignores = ski_block_ignores(from, k, pes);

    return ((from ^ to ^ (1 << k)) & ~ignores) == 0;
}

/* Checks that in an exchange each PE receives the result of the sibling block from its delegate. */
static bool test_exchange(int pes)
{
    bool ok = true;

    for (int k = 0; k < ski_block_levels(pes); k++)
        for (int to = 0; to < pes; to++) {
            int sibling = ski_block_sibling(to, k), senders = 0;

            if (sibling >= pes)
                continue;
            for (int from = sibling; from < pes && from < sibling + (1 << k); from++)
                if (order_sends_to(from, to, k, pes))
                    senders += from == ski_block_delegate(sibling, k, to, pes) ? 1 : 100;
            ok = ok && senders == 1;
        }
    return ok;
}

int main(void)
{
    bool trees = true, rooted = true, before = true, exchanges = true;

    for (int pes = 1; pes <= ORDER_PES_MAX; pes++) {
        for (int target = 0; target < pes; target++) {
            trees  = trees && test_tree(pes, target, ski_block_delegate);
            rooted = rooted && test_tree(pes, target, ski_block_root_delegate);
            before = before && test_before_root(pes, target);
        }
        exchanges = exchanges && test_exchange(pes);
    }
    OK(trees, "a reduction to any target combines all PEs in their order");
    OK(rooted, "so does a reduction to any root");
    OK(before, "the PE before the root sends to the root");
    OK(test_balance(2) && test_balance(8) && test_balance(32),
       "of roots that take turns, 2^k PEs receive equally much");
    OK(exchanges, "in an exchange each PE receives from its sibling once a round");
    OK(ski_block_levels(1) == 0 && ski_block_levels(INT32_MAX) == 31,
       "the numbers of levels at the ends of the range");
    return tap_end();
}
