/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger.h - the messages that are kept for a trigger, and the waits for it.
 *
 * Both are lists in the order in which they came.  One that looks for a reference walks a
 * few steps; the search that would have to go further makes an *index* of the list first
 * (reference.h): a list for each reference.  It goes when the last of them has gone.
 *
 *   messages   stay in the one list (link, previous), from which those are taken that may be
 *              any; and those of a reference are chained besides (same).  Only the oldest of
 *              a reference is ever taken, so that chain needs one direction
 *   waits      leave the one list for the list of their reference, and those for any stay:
 *              a search goes through the two by age
 *
 * Invariant: with an index of waits, all in the one list are for any.
 */
#ifndef SKI_TRIGGER_H
#define SKI_TRIGGER_H

#include <skua/flow.h>

#include "core/message/message.h"

#define SKI_FLOW_FEW 16 /* so many steps one walks */

/* ---- messages --------------------------------------------------------------------------- */

static inline int64_t ski_kept_reference(const skua_msg *msg)
{
    return (int64_t)msg->target;
}

/** Keep a message; its reference and trigger are set. */
void ski_kept_add(skua_trigger *trigger, skua_msg *msg);

/** The oldest that @p wait may have, or NULL; and the next after that. */
skua_msg *ski_kept_first(skua_trigger *trigger, const skua_wait *wait);
skua_msg *ski_kept_next(skua_trigger *trigger, const skua_wait *wait, const skua_msg *msg);

/** Take out one that ski_kept_first() has found. */
void ski_kept_take(skua_trigger *trigger, skua_msg *msg);

/* ---- waits -------------------------------------------------------------------------------- */

void ski_wait_add(skua_trigger *trigger, skua_wait *wait);
void ski_wait_remove(skua_trigger *trigger, skua_wait *wait);

/** The waits that may have a message, by age. */
struct ski_search {
    skua_trigger *trigger;
    int64_t       reference;
    skua_wait    *here; /* the next of the one list              */
    skua_wait    *same; /* the next of the list of the reference */
    uint64_t      age;  /* of what was found last                */
    unsigned      steps;
    bool          indexed; /* or tried to be */
};

void       ski_search_begin(struct ski_search *search, skua_trigger *trigger, int64_t reference);
skua_wait *ski_search_next(struct ski_search *search);

/** Give back the index, at the end. */
void ski_trigger_destroy(skua_trigger *trigger);

#endif
