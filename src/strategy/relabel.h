/* SPDX-License-Identifier: Apache-2.0 */
/* relabel.h - which PE gets which part of a division, so that few bytes move. */
#ifndef SKI_RELABEL_H
#define SKI_RELABEL_H

#include <skua/strategy.h>

/** Exchanges whole parts of the mapping @p to between PEs, so that more objects stay where they
 *  are.  Only PEs of the same speed and about the same background exchange, and none with immovable
 *  objects; so no time changes by more than one percent of the ideal. */
void ski_relabel(const skua_strategy_problem *problem, int32_t *to);

#endif
