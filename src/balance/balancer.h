/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balancer.h - the root of the balancer: one balancing after another.
 *
 *      idle -> gathering -> moving -> idle
 *
 * A balancing begins when the reports of a sync point say that all elements wait (sync_point.h), or
 * when one is requested (asynchronous).  It gathers the loads; at a sync point this is also the
 * second reading of the counts, and if that does not prove that all elements wait, the balancing is
 * abandoned and the next report begins another.  Then the strategy decides, the orders go out, and
 * when all elements have arrived all PEs are notified: at a sync point they resume their elements.
 *
 * Requests (skua_balance_now(), skua_balance_set_strategy(), skua_measure_start() ...) go to the
 * root, which distributes those that concern all PEs along the tree.
 */
#ifndef SKI_BALANCER_H
#define SKI_BALANCER_H

#include "balance/balance_pe.h"

/* Requests of a PE to the root, and of the root to all PEs. */
enum ski_balance_request {
    SKI_BALANCE_NOW,
    SKI_BALANCE_STRATEGY,
    SKI_BALANCE_MEASURE_START,
    SKI_BALANCE_MEASURE_GRAPH,
    SKI_BALANCE_MEASURE_STOP,
    SKI_BALANCE_MEASURE_RESET,
    SKI_BALANCE_REQUESTS
};

/** Begins the balancer of a PE, with the strategy that settings and program have chosen. */
void ski_balancer_init(struct ski_balance *balance);

/** Frees the balancer of a PE. */
void ski_balancer_destroy(struct ski_balance *balance);

/** At the root: begins the balancings of SKUA_BALANCE_PERIOD, once. */
void ski_balancer_start_timer(struct ski_balance *balance);

/* Called at the root at the end of a balancing at a sync point, before elements are resumed.
 * Returns true if they are resumed when the function calls ski_balancer_continue(). */
typedef bool (*ski_balancer_hold_fn)(struct ski_balance *balance);

/** Sets the function that may delay the end of balancings at sync points; NULL: there is none. */
void ski_balancer_set_hold(ski_balancer_hold_fn hold);

/** At the root: ends the balancing that ski_balancer_hold_fn has delayed. */
void ski_balancer_continue(struct ski_balance *balance);

/** Sets the strategy of this PE to @p name, that of the job from which it was restarted.  Returns
 * false if there is no such strategy. */
bool ski_balancer_restore(struct ski_balance *balance, const char *name);

#define SKI_BALANCE_REQUEST_MIN 68
#define SKI_BALANCE_RESUME_MIN  8

/** Handler: a request to the root, or of the root. */
void ski_on_balance_request(skua_msg *msg);

/** Handler: a balancing has ended. */
void ski_on_balance_resume(skua_msg *msg);

#endif
