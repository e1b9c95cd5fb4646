/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_broadcast.h - invoking all elements of a collection.
 *
 * The root PE of a collection numbers its broadcasts and sends them down the tree of PEs, so that
 * all elements see them in one order.  A PE delivers a broadcast to its elements in a loop, without
 * messages.
 *
 * A migrating element has received the broadcasts up to some number.  If its new PE has received
 * fewer, that PE skips the element when they arrive.  If it has received more, the element misses
 * those in between: the old PE keeps broadcasts from the departure of the element until its arrival
 * is acknowledged, and resends to the element, wherever it is by then, those that the
 * acknowledgement shows to be missing.  Later broadcasts wait for the element until then.  Arrivals
 * of elements that miss nothing are acknowledged together, when the messages that are in the queue
 * have run.  An inserted element is treated as one that migrates from the inserting PE
 * (insertion.h).
 *
 * A broadcast with nocopy arguments (nocopy.h) goes from the root to one PE of each host, which may
 * have to fetch them, and from there to the other PEs of the host.  Broadcasts after it come down
 * the tree and may overtake it: a PE accepts broadcasts in the order of their numbers.
 */
#ifndef SKI_ARRAY_BROADCAST_H
#define SKI_ARRAY_BROADCAST_H

#include <skua/object.h>

#include "core/data/msg_list.h"
#include "objects/model/lifecycle.h"

struct ski_collection;
struct ski_object;
struct ski_missed_broadcast;
struct ski_early_broadcast;

/* The broadcasts of a collection, as one PE sees them. */
struct ski_array_broadcast {
    uint32_t        number;        /* the last broadcast that this PE has accepted */
    uint32_t        sent;          /* at the root: the last broadcast sent */
    uint32_t        heard;         /* the last broadcast that any element is known to have had */
    bool            ending;        /* at the root: the order to destroy the collection is sent */
    uint32_t        in_transit;    /* elements that left and whose arrival is not acknowledged */
    uint32_t        arrived;       /* elements that came, missed nothing and are not acknowledged */
    int32_t         arrived_from;  /* the PE that they came from */
    bool            acknowledging; /* the message to this PE that acknowledges them is queued */
    struct ski_list kept;          /* broadcasts since the first of them left, and those that a loop
                                      over the elements reads; a message in it never moves */
    struct ski_missed_broadcast *missed; /* elements to which broadcasts to come must be resent */
    struct ski_early_broadcast  *early;  /* broadcasts that wait for an element here */
    struct ski_list              ahead;  /* broadcasts that came before their turn */
};

/** The observer of array broadcasts. */
extern const struct ski_lifecycle ski_array_broadcast_lifecycle;

/** Records that some element has had broadcast @p number, which this PE may not have accepted. */
void ski_array_broadcast_heard(struct ski_collection *all, uint32_t number);

/** Returns the number of the last broadcast that this PE knows of. */
uint32_t ski_array_broadcast_last_known(const struct ski_collection *all);

/** Restores the broadcasts of a collection, which has no elements yet, from a checkpoint that was
 * made after broadcast @p number. */
void ski_array_broadcast_restore(struct ski_collection *all, uint32_t number);

/** Handler at the root: numbers a broadcast and sends it down the tree. */
void ski_on_array_broadcast_root(skua_msg *msg);

/** Handler: deliver a broadcast to the elements of this PE. */
void ski_on_array_broadcast(skua_msg *msg);

/** Handler: an element has arrived on its new PE, or several that miss nothing have; resend what is
 *  missing. */
void ski_on_array_broadcast_arrival(skua_msg *msg);

/** Handler, of a message that a PE sends to itself: acknowledge the arrivals of elements that miss
 *  nothing. */
void ski_on_array_broadcast_acknowledge(skua_msg *msg);

/** Handler: a broadcast that is resent to one element. */
void ski_on_array_broadcast_catch_up(skua_msg *msg);

#define SKI_ARRAY_BROADCAST_MIN         32 /* bytes of the smallest broadcast */
#define SKI_ARRAY_BROADCAST_ARRIVAL_MIN 16 /* bytes of an acknowledgement of an arrival */

#endif
