/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - which PE the messages of this PE to an absent element go to.
 *
 * That is the last known location of the element, or its home: the *route* of this PE's messages.
 * route.h says why each route keeps the order of messages.  If the next message would take another
 * route than the one before it, this PE sends a *marker* by the former route and keeps its messages
 * until the marker shows that the earlier ones have arrived.  An element that leaves this PE had
 * the queue of this PE as its route; so the marker goes through that queue.
 *
 * A PE that knows nothing of an element has no record of it.  It records by a hash of the index
 * that it has sent messages to the home; two equal hashes cost a marker that was not needed.
 */
#ifndef SKI_LOOKUP_H
#define SKI_LOOKUP_H

#include "objects/location/home.h"

/* A marker on the wire. */
struct ski_route_marker {
    int32_t  pe;     /* that has sent it          */
    uint32_t number; /* which that PE has given it */
};

/** Returns the PE to send the next message of this PE to, for an element which is not here: the
 * last known location of the element, or its home; or this PE, while it keeps its messages to the
 * element (ski_absent_keeps()).  The route of this PE begins or changes. */
int ski_lookup_pe(struct ski_collection *all, const skua_index *index);

/** Returns the PE where an element most likely is, as far as this PE knows; or this PE, if it has
 * claimed the element.  A message that is sent there is in no order with others.
 */
int ski_lookup_believed(const struct ski_collection *all, const skua_index *index);

/** Sends a marker by the route of this PE to an absent element, and keeps later messages. */
void ski_lookup_change(struct ski_collection *all, struct ski_absent *absent);

/** Records that this PE sends messages for an element to its home and has no record of the element.
 */
void ski_lookup_note(struct ski_collection *all, const skua_index *index);

/** Returns whether this PE may have called ski_lookup_note() for an element. */
bool ski_lookup_noted(const struct ski_collection *all, const skua_index *index);

/** Returns where the result of ski_lookup_pe() is cached for an element whose index is @p key. */
static inline struct ski_lookup *ski_lookup_slot(struct ski_collection *all, uint64_t key)
{
    return &all->lookup[(key ^ key >> 32) % SKI_LOOKUPS];
}

/** Returns ski_lookup_pe() of an absent element whose index is its key; the result is cached until
 *  the directory changes. */
static inline int ski_lookup_pe_cached(struct ski_collection *all, const skua_index *index,
                                       uint64_t key)
{
    struct ski_lookup *lookup = ski_lookup_slot(all, key);

    if (SKI_UNLIKELY(lookup->key != key || lookup->version != all->directory.version)) {
        int pe = ski_lookup_pe(all, index); /* first: it may change the directory */

        *lookup = (struct ski_lookup){key, all->directory.version, pe};
    }
    return lookup->pe;
}

#endif
