/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_orders.h - moving elements as a balancing has decided, and finding out when all have
 * arrived.
 *
 * The orders go down the tree; each PE takes its own orders and passes on those of its subtree.  A
 * PE learns with its orders how many elements arrive here.  An element that is destroyed, or that
 * the program moves elsewhere, before it can follow its order is reported to the PE that expects
 * it.  A PE reports to its parent once, when its elements and those of its children's subtrees have
 * arrived.
 *
 * On the wire: struct orders_head, then for each PE of the subtree a struct orders_block with its
 * orders after it.
 */
#ifndef SKI_MOVE_ORDERS_H
#define SKI_MOVE_ORDERS_H

#include "balance/balance_pe.h"

/** At the root: orders object i of @p all, whose objects are in the order of their PEs, to move to
 *  the PE to[i].  It is not called if no object moves. */
void ski_move_orders_start(struct ski_balance *balance, const skua_strategy_problem *all,
                           const int32_t *to);

/** Records that an element which was ordered here has arrived. */
void ski_move_orders_arrived(struct ski_balance *balance);

/** Cancels the order of an element, which is destroyed, stays, or moves elsewhere.  Does nothing if
 * it has none. */
void ski_move_orders_void(struct ski_object *object);

/** Makes the object of a number in the snapshot migrate to PE @p pe, now or at the end of its
 * running entries.  Returns false if it is gone. */
bool ski_move_orders_follow(struct ski_balance *balance, uint32_t number, int pe);

/** Records that moves.expected is final: this PE is done when that many elements have arrived. */
void ski_move_orders_settle(struct ski_balance *balance);

/** Resets the orders of this PE: the balancing has ended. */
void ski_move_orders_end(struct ski_balance *balance);

#define SKI_ORDERS_MIN 8
#define SKI_MOVED_MIN  24

/** Handler: the orders of a subtree. */
void ski_on_balance_orders(skua_msg *msg);

/** Handler: an element that was expected here does not come. */
void ski_on_balance_void(skua_msg *msg);

/** Handler: the subtree of a child is done. */
void ski_on_balance_moved(skua_msg *msg);

#endif
