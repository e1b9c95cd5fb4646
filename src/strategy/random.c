/* SPDX-License-Identifier: Apache-2.0 */
/* random.c - the strategy random: moves every object to a PE at random, to a PE of twice the speed
 * twice as often.  Many small objects are balanced well by it, at the price of moving them all. */
#include "base/memory.h"
#include "strategy/loads.h"
#include "strategy/random_bits.h"
#include "strategy/strategy.h"

/* Returns the first PE whose sum of speeds is above a value. */
static int32_t random_pick(const double *sum, int32_t pes, double value)
{
    int32_t low = 0, high = pes - 1;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;

        if (sum[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

skua_status ski_strategy_random(const skua_strategy_problem *problem, int32_t *to)
{
    double  *sum   = ski_malloc((size_t)problem->pes * sizeof *sum);
    double   total = 0;
    uint64_t state = problem->seed;

    for (int32_t p = 0; p < problem->pes; p++)
        sum[p] = total += ski_pe_speed(&problem->pe[p]);
    for (uint32_t i = 0; i < problem->objects; i++)
        if (problem->object[i].flags & SKUA_OBJECT_MOVABLE)
            to[i] = random_pick(sum, problem->pes, ski_random_unit(&state) * total);
    free(sum);
    return SKUA_OK;
}
