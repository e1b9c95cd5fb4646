/* SPDX-License-Identifier: Apache-2.0 */
/* none.c - the strategy none: leaves every object where it is.  A sync point stays a cheap one. */
#include "strategy/strategy.h"

skua_status ski_strategy_none(const skua_strategy_problem *problem, int32_t *to)
{
    (void)problem, (void)to;
    return SKUA_OK;
}
