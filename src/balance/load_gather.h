/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_gather.h - gathering the counts and loads of all PEs at the root, along the tree.
 *
 * The root asks, each PE lists its objects, adds what its children have sent, and sends the sum to
 * its parent.  So a host sends one message to another host, and no PE gets more messages than it
 * has children.  A PE remembers its list, the *snapshot*: orders name its objects by their numbers
 * in it.  An object that leaves is removed from the snapshot.
 *
 * On the wire: struct gather_head, then the arrays of struct ski_gathered.
 */
#ifndef SKI_LOAD_GATHER_H
#define SKI_LOAD_GATHER_H

#include "balance/balance_pe.h"

/** At the root: asks all PEs for the loads that @p flags (SKI_GATHER_...) name. */
void ski_load_gather_start(struct ski_balance *balance, uint32_t round, unsigned flags);

/** Lists the objects of this PE anew, for the round and flags that are set; no other PE is
 * asked. */
const struct ski_gathered *ski_load_gather_local(struct ski_balance *balance);

/** Returns the object of a number in the snapshot of this PE; NULL: it is gone, or there was
 * none. */
struct ski_object *ski_load_gather_object(const struct ski_balance *balance, uint32_t number);

/** Removes an object that leaves from the snapshot. */
void ski_load_gather_forget(struct ski_balance *balance, struct ski_object *object);

/** Frees the snapshot and the loads: the balancing has ended. */
void ski_load_gather_end(struct ski_balance *balance);

#define SKI_GATHER_MIN 8
#define SKI_LOADS_MIN  64

/** Handler: the root asks for loads. */
void ski_on_balance_gather(skua_msg *msg);

/** Handler: the loads of a child. */
void ski_on_balance_loads(skua_msg *msg);

#endif
