/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closing.h - the insertions of a PE that are in flight: the closing of an array, and indices that
 * are inserted again.
 *
 * Closing.  A message for an element that does not exist is an error in a closed array.  So an
 * array is closed in two steps.  The order to close goes to all PEs as a broadcast; from then on a
 * PE inserts no more.  Each PE reports to its parent in the tree when all its insertions are
 * acknowledged and its children have reported.  Then the root broadcasts that the array is closed.
 * An insertion that the closing follows was called before its PE accepted the order, so its element
 * exists, and is known to its home, when the array is closed anywhere.
 *
 * An index that is inserted again.  A message to an element that was destroyed is an error, but the
 * insertion of its successor may be in flight to the home while a message that follows it is there.
 * So the home keeps such a message and queries all PEs; each replies when it has no insertion in
 * flight.  Either the insertion has arrived by then, or the message follows no insertion and is an
 * error.
 */
#ifndef SKI_CLOSING_H
#define SKI_CLOSING_H

#include "objects/model/collection.h"

/* The insertions of this PE into a collection, and how far its closing is. */
struct ski_closing {
    uint32_t inserting; /* insertions of this PE that are not acknowledged */
    int32_t  children;  /* children in the tree that have reported         */
    bool     ordered;   /* this PE has had the order to close              */
    bool     reported;  /* this PE has reported to its parent              */

    struct ski_list checks; /* queries of homes, until no insertion is in flight */
};

/** Returns whether an insertion of this PE is in flight. */
static inline bool ski_closing_inserting(const struct ski_collection *all)
{
    return all->closing->inserting > 0;
}

/** Records that an element which this PE has inserted has arrived where it is created.  Ends the
 * job if no insertion is in flight. */
void ski_closing_acknowledged(struct ski_collection *all);

/** Acts on the order to close the array, which has arrived. */
void ski_closing_ordered(struct ski_collection *all);

/** Records that the array is closed: messages that wait for elements which do not exist are in
 *  error. */
void ski_closing_done(struct ski_collection *all);

/** Records that the array, which is restored from a checkpoint, was closed before. */
void ski_closing_restore(struct ski_collection *all);

/** Returns whether @p msg, which is for an element that was destroyed, as @p absent says at its
 * home, has to wait until it is known that the element is not inserted again. */
bool ski_closing_check(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg);

/** The observer of this module (model/lifecycle.h): the insertions of a PE into a collection. */
extern const struct ski_lifecycle ski_closing_lifecycle;

/** Handler: a child in the tree has no insertion in flight, after the order to close. */
void ski_on_closing(skua_msg *msg);

/** Handler: the home of a destroyed element asks whether it is inserted again. */
void ski_on_check(skua_msg *msg);

/** Handler: a PE has no insertion of a destroyed element in flight. */
void ski_on_checked(skua_msg *msg);

#define SKI_CLOSING_MIN 8
#define SKI_CHECK_MIN   4

#endif
