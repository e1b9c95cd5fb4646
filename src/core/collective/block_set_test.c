/* SPDX-License-Identifier: Apache-2.0 */
/* block_set_test.c - contributions of PEs that are spread over hosts at random are combined in the
 * order of all other reductions, whichever way the sets of the hosts are merged. */
#include "core/collective/block_set.h"

#include <string.h>

#include "core/collective/reduction_order.h"
#include "tests/tap.h"

#define PES    37
#define ROUNDS 300

static uint64_t block_set_test_seed;

static int block_set_test_below(int n)
{
    return (int)(tap_random(&block_set_test_seed) % (uint64_t)n);
}

static double block_set_test_value[PES];

/* Returns the sum of the block of @p level from @p first on, in the documented order. */
static double block_set_test_sum(int first, int level, int pes)
{
    double lower;

    if (level == 0)
        return block_set_test_value[first];
    lower = block_set_test_sum(first, level - 1, pes);
    if (first + (1 << (level - 1)) >= pes)
        return lower;
    return lower + block_set_test_sum(first + (1 << (level - 1)), level - 1, pes);
}

static void block_set_test_merge(struct ski_block_set *into, struct ski_block_set *from)
{
    for (int i = 0; i < from->count; i++)
        ski_block_set_add(into, &from->block[i], ski_block_set_partial(from, i));
    ski_block_set_free(from);
}

/* Combines the PEs of random hosts.  Returns whether the sum has the bits that it must have. */
static bool block_set_test_round(int pes, int hosts)
{
    struct ski_block_set set[PES];
    double               sum, expected = block_set_test_sum(0, ski_block_levels(pes), pes);
    bool                 complete;

    for (int i = 0; i < hosts; i++)
        ski_block_set_init(&set[i], pes, SKUA_SUM, SKUA_DOUBLE, 1, sizeof(double));
    for (int i = 0, first = block_set_test_below(pes); i < pes; i++) {
        int                  pe  = (first + i) % pes;
        struct ski_set_block own = {pe, 0, 0};

        ski_block_set_add(&set[block_set_test_below(hosts)], &own,
                          (const char *)&block_set_test_value[pe]);
    }
    for (; hosts > 1; hosts--) {
        int other = block_set_test_below(hosts - 1);

        block_set_test_merge(&set[other], &set[hosts - 1]);
    }
    complete = ski_block_set_complete(&set[0]);
    if (complete)
        memcpy(&sum, ski_block_set_partial(&set[0], 0), sizeof sum);
    ski_block_set_free(&set[0]);
    return complete && memcmp(&sum, &expected, sizeof sum) == 0;
}

static void block_set_test_refuses(void)
{
    struct ski_block_set       set;
    const struct ski_set_block two = {2, 1, 0}, three = {3, 0, 0}, odd = {1, 1, 0}, far = {8, 0, 0};
    const struct ski_set_block all = {0, 3, 0}, large = {0, 4, 0}, below = {-2, 1, 0};

    ski_block_set_init(&set, 7, SKUA_SUM, SKUA_INT32, 0, 0);
    ski_block_set_add(&set, &two, NULL);
    OK(!ski_block_set_accepts(&set, &two) && !ski_block_set_accepts(&set, &three) &&
           !ski_block_set_accepts(&set, &all),
       "a set refuses PEs that it has");
    OK(!ski_block_set_accepts(&set, &odd) && !ski_block_set_accepts(&set, &far) &&
           !ski_block_set_accepts(&set, &large) && !ski_block_set_accepts(&set, &below),
       "and blocks that do not exist");
    OK(set.count == 1 && !ski_block_set_complete(&set), "and is not complete");
    ski_block_set_free(&set);
}

int main(void)
{
    int same = 0;

    block_set_test_seed = tap_seed();
    for (int i = 0; i < PES; i++)
        block_set_test_value[i] = 1.0 / (3 + i) + (i % 5 ? 1e-9 * i : 1e6);
    for (int round = 0; round < ROUNDS; round++) {
        int pes = 1 + block_set_test_below(PES);

        same += block_set_test_round(pes, 1 + block_set_test_below(pes));
    }
    OK(same == ROUNDS, "%d of %d sums are exact to the last bit", same, ROUNDS);
    block_set_test_refuses();
    return tap_end();
}
