/* SPDX-License-Identifier: Apache-2.0 */
/* stack_test.c - stacks are reused by size, do not overlap, and can be written to their last byte.
 */
#include "core/thread/stack.h"

#include <string.h>

#include "base/config.h"
#include "tests/tap.h"

#define STACKS 100
#define SMALL  8192
#define LARGE  ((size_t)256 << 10) /* another number of pages, even of pages of 64 KiB */

static bool stack_test_overlap(struct ski_stack a, struct ski_stack b)
{
    return a.low < b.low + b.guard + b.bytes && b.low < a.low + a.guard + a.bytes;
}

/* Returns whether the first word of a stack is still what it was; pages that were given back are
 * zero. */
static bool stack_test_is_warm(struct ski_stack stack)
{
    return *(stack.low + stack.guard) != 0;
}

/* Gives back two stacks where one may stay warm, and gets that one again first. */
static bool stack_test_keeps(struct ski_stacks *stacks, const struct ski_stack *stack)
{
    struct ski_stack first, second;
    size_t           before = stacks->warm_bytes;

    ski_config.stack_cache = 2 * (before + stack[11].bytes + stack[13].bytes / 2);
    ski_stack_put(stacks, stack[11]);
    ski_stack_put(stacks, stack[13]);
    first  = ski_stack_get(stacks, stack[11].bytes);
    second = ski_stack_get(stacks, stack[11].bytes);
    return first.low == stack[11].low && stack_test_is_warm(first) && second.low == stack[13].low &&
           !stack_test_is_warm(second) && stacks->warm_bytes == before;
}

int main(void)
{
    struct ski_stacks stacks = {0};
    struct ski_stack  stack[STACKS], again;
    bool              apart = true;

    ski_config.stack_cache = (size_t)2 << 20;
    for (int i = 0; i < STACKS; i++) {
        stack[i] = ski_stack_get(&stacks, i % 2 ? SMALL : LARGE);
        memset(stack[i].low + stack[i].guard, i, stack[i].bytes);
        for (int j = 0; j < i; j++)
            apart &= !stack_test_overlap(stack[i], stack[j]);
    }
    OK(apart, "stacks and their guards do not overlap");
    OK(stack[0].bytes >= LARGE && stack[1].bytes >= SMALL && stack[1].bytes < LARGE,
       "a stack has at least the bytes that were asked for");
    ski_stack_put(&stacks, stack[3]);
    again = ski_stack_get(&stacks, LARGE);
    OK(again.low != stack[3].low, "a stack of another size is not reused");
    ski_stack_put(&stacks, again);
    again = ski_stack_get(&stacks, SMALL);
    OK(again.low == stack[3].low && again.bytes == stack[3].bytes, "one of the same size is");
    OK(stack_test_keeps(&stacks, stack),
       "a kept stack keeps its pages within half of stack_cache only");
    ski_stacks_destroy(&stacks);
    OK(!stacks.sizes, "nothing is left");
    return tap_end();
}
