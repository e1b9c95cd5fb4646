/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decision.h - from gathered loads to the moves that a strategy decides on.
 *
 * Loads come in the order of messages.  The problem that a strategy sees does not depend on it: PEs
 * are in the order of their numbers, their objects one after the other in the order of each
 * snapshot. What a strategy returns is checked before it is used.
 */
#ifndef SKI_DECISION_H
#define SKI_DECISION_H

#include "balance/balance_pe.h"

/* A problem, and what a strategy has made of it. */
struct ski_decision {
    skua_strategy_problem problem;
    skua_strategy_pe     *pe;
    skua_strategy_object *object;
    skua_strategy_edge   *edge;
    int32_t              *to;

    double   max_before, mean, max_after; /* loads of PEs            */
    double   idle;                        /* mean share of idle time */
    uint64_t moved, bytes;                /* objects, and their size */
};

/** Makes the problem of @p all, the loads of @p pes PEs, whose numbers are in range.  Returns false
 * if the loads are not valid: an error was logged, and there is no problem to free. */
bool ski_decision_init(struct ski_decision *decision, const struct ski_gathered *all, int pes,
                       uint64_t seed);

/** Adds the hops between the hosts of this job to @p problem, if they are known. */
void ski_decision_use_hops(skua_strategy_problem *problem);

/** Calls @p strategy to decide.  Returns false if its result was refused: an error was logged, and
 * no object moves. */
bool ski_decision_run(struct ski_decision *decision, const skua_strategy *strategy);

/** Frees the problem. */
void ski_decision_destroy(struct ski_decision *decision);

#endif
