/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbour_rounds.h - balancing by a local strategy: each PE decides with its neighbours.
 *
 * Nothing is gathered.  The root starts all PEs, along the tree.  A PE has at most
 * SKUA_NEIGHBOURS_MAX neighbours (strategy/neighbours.h), whatever the number of PEs.  In each
 * round:
 *
 *      report  it sends its load to each neighbour;
 *      decide  with the loads of all neighbours it calls the strategy, sends objects to neighbours,
 *              and sends each neighbour the number of objects that come to it;
 *      await   when it knows the numbers from all neighbours, and so many objects have arrived, the
 *              round is over.
 *
 * A neighbour is at most one round ahead, so what it sends is kept by the parity of its round.
 * After the last round the PE is done as after orders (move_orders.h), and the tree finds out when
 * all PEs are done.
 *
 * On the wire: struct neighbour_update.
 */
#ifndef SKI_NEIGHBOUR_ROUNDS_H
#define SKI_NEIGHBOUR_ROUNDS_H

#include "balance/balance_pe.h"

/** At the root: starts a balancing of all PEs by the local strategy @p choice. */
void ski_neighbour_rounds_start(struct ski_balance               *balance,
                                const struct ski_strategy_choice *choice, uint32_t round,
                                unsigned flags);

#define SKI_NEIGHBOUR_START_MIN  72
#define SKI_NEIGHBOUR_UPDATE_MIN 40

/** Handler: the root starts the rounds. */
void ski_on_neighbour_start(skua_msg *msg);

/** Handler: the load of a neighbour, or how many objects come from it. */
void ski_on_neighbour_update(skua_msg *msg);

#endif
