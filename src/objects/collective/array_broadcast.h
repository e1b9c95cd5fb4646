/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_broadcast.h - invoking all objects of a collection.
 *
 * A broadcast goes down the tree of PEs whose root is the collection's; the root numbers
 * them, so that all elements of an array see them in one order.  A PE hands one to its
 * members in a loop, without messages.
 *
 * An element that moves has had the broadcasts up to a number.  If its new PE has had
 * fewer, it lets the element pass when they come.  If it has had more, the old PE owes the
 * element those in between: it keeps broadcasts from the departure of an element until
 * its arrival is acknowledged, and sends it, wherever it is by then, what the
 * acknowledgement says is missing.  Until they have come, later ones wait for the element.
 * An element that is inserted is one that moves from the inserting PE (insertion.h).
 *
 * One with parts (nocopy.h) goes from the root to one PE of each host, which may have to fetch
 * them, and from there to the others.  Those behind it come down the tree and may be faster: a PE
 * takes broadcasts in the order of their numbers.
 */
#ifndef SKI_ARRAY_BROADCAST_H
#define SKI_ARRAY_BROADCAST_H

#include <skua/object.h>

#include "core/data/msg_list.h"
#include "objects/model/lifecycle.h"

struct ski_collection;
struct ski_object;
struct ski_debt;
struct ski_early;

struct ski_everyone {
    uint32_t        number;  /* of the last broadcast this PE has had     */
    uint32_t        sent;    /* at the root: of the last it has sent      */
    uint32_t        heard;   /* of the last that some element is known to have had */
    bool            ending;  /* at the root: it has sent the order to end */
    uint32_t        on_way;  /* elements that left, not known to be there */
    struct ski_list kept;    /* broadcasts since then, and those in a loop over the members;
                                never moved                               */
    struct ski_debt  *debts; /* elements that are owed broadcasts to come */
    struct ski_early *early; /* broadcasts that elements here may not have yet */
    struct ski_list   ahead; /* broadcasts that came before their turn */
};

extern const struct ski_lifecycle ski_array_broadcast_lifecycle;

/** Invoke an entry of all with a message with parts, which is used up. */
void ski_everyone_parts(skua_collection target, skua_entry entry, skua_msg *msg);

/** Some element has had broadcast @p number, though this PE may not have. */
void ski_everyone_hear(struct ski_collection *all, uint32_t number);

/** The number of the last broadcast that this PE knows of. */
uint32_t ski_everyone_known(const struct ski_collection *all);

/* Handlers. */
void ski_on_everyone_root(skua_msg *msg);
void ski_on_everyone(skua_msg *msg);
void ski_on_everyone_came(skua_msg *msg);
void ski_on_everyone_late(skua_msg *msg);

#define SKI_EVERYONE_LEAST      32
#define SKI_EVERYONE_CAME_LEAST 12

#endif
