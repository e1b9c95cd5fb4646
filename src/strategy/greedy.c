/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greedy.c - the strategy greedy: the heaviest object first, to the PE that ends it first.
 *
 * This is the rule of the longest processing time (Graham 1969): on P PEs of equal speed and
 * without background the largest time is at most 4/3 - 1/(3P) of the least possible one.  Where the
 * object is matters only between equal PEs, so most objects move.  O(n log n).
 */
#include "base/memory.h"
#include "strategy/pe_heap.h"
#include "strategy/strategy.h"

/* Returns the PE for an object: the one where it is, if no other ends it earlier. */
static int32_t greedy_pick(const struct ski_pe_heaps *heaps, int32_t now, double load)
{
    const struct ski_loads *loads = heaps->loads;
    int32_t                 best  = ski_pe_heaps_best(heaps, load);
    double                  stay  = loads->time[now] + load * loads->rate[now];

    return stay <= loads->time[best] + load * loads->rate[best] ? now : best;
}

skua_status ski_strategy_greedy(const skua_strategy_problem *problem, int32_t *to)
{
    struct ski_loads    loads;
    struct ski_pe_heaps heaps;
    uint32_t           *sorted, count;

    ski_loads_init(&loads, problem, SKI_LOADS_FIXED);
    ski_pe_heaps_init(&heaps, &loads);
    sorted = ski_loads_sorted(&loads, problem, &count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = sorted[k];

        to[i] = greedy_pick(&heaps, to[i], loads.load[i]);
        ski_loads_add(&loads, to[i], i);
        ski_pe_heaps_update(&heaps, to[i]);
    }
    free(sorted);
    ski_pe_heaps_destroy(&heaps);
    ski_loads_destroy(&loads);
    return SKUA_OK;
}
