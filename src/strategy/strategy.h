/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy.h - the registry of strategies, and how one is called: the internal side of
 * <skua/strategy.h>.
 *
 * The strategies of Skua stand in one table (registry.c), one file each.  This folder depends on
 * base/ alone and has no state but the registry.
 */
#ifndef SKI_STRATEGY_H
#define SKI_STRATEGY_H

#include <stdbool.h>

#include <skua/strategy.h>

/** The size of the texts that the functions below write. */
#define SKI_STRATEGY_TEXT 512

/** Writes the names of all strategies, separated by commas, into @p text of SKI_STRATEGY_TEXT
 * bytes. Returns @p text. */
char *ski_strategy_names(char *text);

/** Writes why skua_strategy_find() has not found @p name into @p text of SKI_STRATEGY_TEXT bytes:
 *  the list of names, or the library that is missing and its package.  Returns @p text. */
char *ski_strategy_explain(const char *name, char *text);

/** Sets @p to to the present PEs, calls a strategy, and checks its status and its result.  Returns
 *  true, or false with @p text of SKI_STRATEGY_TEXT bytes written and @p to at the present PEs.  A
 *  strategy that is local decides one round of one PE. */
bool ski_strategy_decide(const skua_strategy *strategy, const skua_strategy_problem *problem,
                         int32_t *to, char *text);

/* The strategies of Skua.  The head of each file describes its algorithm. */

/** Leaves every object where it is. */
skua_status ski_strategy_none(const skua_strategy_problem *problem, int32_t *to);

/** Moves every object to the next PE. */
skua_status ski_strategy_rotate(const skua_strategy_problem *problem, int32_t *to);

/** Moves every object to a PE at random. */
skua_status ski_strategy_random(const skua_strategy_problem *problem, int32_t *to);

/** Assigns the heaviest object to the PE that ends it first, then the next. */
skua_status ski_strategy_greedy(const skua_strategy_problem *problem, int32_t *to);

/** Moves few objects from PEs above the ideal time to PEs below. */
skua_status ski_strategy_refine(const skua_strategy_problem *problem, int32_t *to);

/** Assigns the heaviest object first, near the objects that it talks to. */
skua_status ski_strategy_greedy_comm(const skua_strategy_problem *problem, int32_t *to);

/** Divides the positions of objects by planes, recursively. */
skua_status ski_strategy_orb(const skua_strategy_problem *problem, int32_t *to);

/** Divides the communication graph by a partitioner. */
skua_status ski_strategy_graph(const skua_strategy_problem *problem, int32_t *to);

/** Brings objects that talk to one host, or to near hosts. */
skua_status ski_strategy_topology(const skua_strategy_problem *problem, int32_t *to);

/** Refines between hosts, then inside each host. */
skua_status ski_strategy_hierarchical(const skua_strategy_problem *problem, int32_t *to);

/** Gives objects of a PE to its neighbours that have less load: a local strategy. */
skua_status ski_strategy_diffusion(const skua_strategy_problem *problem, int32_t *to);

#endif
