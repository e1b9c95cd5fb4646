/* SPDX-License-Identifier: Apache-2.0 */
/* rotate.c - the strategy rotate: moves every object to the next PE.  It balances nothing, and
 * tests the migration of every class of a program. */
#include "strategy/strategy.h"

skua_status ski_strategy_rotate(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        if (problem->object[i].flags & SKUA_OBJECT_MOVABLE)
            to[i] = (to[i] + 1) % problem->pes;
    return SKUA_OK;
}
