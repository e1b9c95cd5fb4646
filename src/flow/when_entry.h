/* SPDX-License-Identifier: Apache-2.0 */
/*
 * when_entry.h - a when-entry of an object (skuac_when): the messages buffered for it, and the
 * waits of frames for it.
 *
 * Both are lists in the order of arrival.  A search for a reference number walks the list for at
 * most SKI_WHEN_STEPS_MAX steps.  A search that would have to go further first builds an index by
 * reference number (refnum_index.h), which is freed when it becomes empty.
 *
 *   messages   stay in the list (link, previous), from which waits for any message take them.  The
 *              index chains those of one reference number (same).  Only the oldest message of a
 *              reference number is ever removed, so that this chain is singly linked.
 *   waits      with a reference number move from the list to that of their reference number; waits
 *              for any message stay.  A search merges the two lists by age.
 *
 * Invariant: with an index of waits, the list has only waits for any message.
 */
#ifndef SKI_WHEN_ENTRY_H
#define SKI_WHEN_ENTRY_H

#include <skua/skuac_flow.h>

#include "core/message/message.h"

#define SKI_WHEN_STEPS_MAX 16 /* steps of a search before it builds an index */

/** Frees the index of a when-entry, whose messages and waits are gone. */
void ski_when_destroy(skuac_when *entry);

/* ---- buffered messages -------------------------------------------------------------------- */

/** Returns the reference number of a message that belongs to a flow. */
static inline int64_t ski_when_refnum(const skua_msg *msg)
{
    return (int64_t)msg->target;
}

/** Buffers @p msg, whose reference number and when-entry are set. */
void ski_when_buffer(skuac_when *entry, skua_msg *msg);

/** Returns the oldest buffered message that matches @p wait, or NULL. */
skua_msg *ski_when_first(skuac_when *entry, const skuac_wait *wait);

/** Returns the next younger buffered message after @p msg that matches @p wait, or NULL. */
skua_msg *ski_when_next(skuac_when *entry, const skuac_wait *wait, const skua_msg *msg);

/** Removes @p msg, a result of ski_when_first(), from the buffer. */
void ski_when_unbuffer(skuac_when *entry, skua_msg *msg);

/* ---- waits -------------------------------------------------------------------------------- */

/** Adds @p wait as the youngest wait for a when-entry. */
void ski_when_add_wait(skuac_when *entry, skuac_wait *wait);

/** Removes @p wait from the waits for a when-entry. */
void ski_when_remove_wait(skuac_when *entry, skuac_wait *wait);

/** A search for the waits that match a reference number, in the order of age. */
struct ski_when_search {
    skuac_when *entry;
    int64_t     reference;
    skuac_wait *here; /* next candidate in the list of the when-entry       */
    skuac_wait *same; /* next candidate in the list of the reference number */
    uint64_t    age;  /* of the last result                                 */
    unsigned    steps;
    bool        indexed; /* an index has been built, or was not worth it */
};

/** Begins a search for the waits that a message with @p reference matches. */
void ski_when_search_begin(struct ski_when_search *search, skuac_when *entry, int64_t reference);

/** Returns the next matching wait, or NULL.  The waits must not change during a search. */
skuac_wait *ski_when_search_next(struct ski_when_search *search);

#endif
