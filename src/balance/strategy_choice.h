/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_choice.h - the strategy of a name: NAME, `auto` or `auto:NAME`.
 */
#ifndef SKI_STRATEGY_CHOICE_H
#define SKI_STRATEGY_CHOICE_H

#include <stdbool.h>

#include <skua/strategy.h>

#define SKI_STRATEGY_NAME 64 /* bytes of the longest name, with its final 0 */

/* A choice of the program, or of the setting SKUA_BALANCE. */
struct ski_strategy_choice {
    char                 name[SKI_STRATEGY_NAME]; /* as it was given                       */
    const skua_strategy *strategy;
    bool                 automatic; /* only where balancing pays */
};

/** Writes the choice of a name to @p choice.  Returns false if there is no such strategy. */
bool ski_strategy_choose(struct ski_strategy_choice *choice, const char *name);

/** Returns whether a strategy moves nothing, so that no loads are gathered for it. */
bool ski_strategy_is_none(const skua_strategy *strategy);

#endif
