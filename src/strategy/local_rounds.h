/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_rounds.h - runs a local strategy on a whole problem, as the PEs of a job would run it.
 *
 * Each round shows every PE the times of its neighbours at the beginning of the round, then moves
 * what the PEs have decided.
 */
#ifndef SKI_LOCAL_ROUNDS_H
#define SKI_LOCAL_ROUNDS_H

#include <stdbool.h>

#include <skua/strategy.h>

/* What a run has cost. */
struct ski_local_cost {
    int    rounds;         /* until no PE moved an object, or the most               */
    double seconds_per_pe; /* in decisions of one PE in one round, the mean          */
};

/** Runs a local strategy for at most @p rounds rounds, or for those that it asks for if that is 0.
 *  @p to becomes the mapping.  Returns true, or false with @p text of SKI_STRATEGY_TEXT bytes
 *  written and @p to at the present PEs.  @p cost may be NULL. */
bool ski_local_rounds(const skua_strategy *strategy, const skua_strategy_problem *problem,
                      int rounds, int32_t *to, struct ski_local_cost *cost, char *text);

/** Returns the seed of a round on a PE, for the problem that a job or a simulation shows it. */
uint64_t ski_local_seed(uint64_t seed, int round, int pe);

#endif
