/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home.h - the home of an element, and what a PE has recorded of elements that are elsewhere.
 *
 * The *home* of an element is a PE, by the map of its collection (index_map.h).  It knows where the
 * element is.  Any PE may have a record of an absent element (struct ski_absent): its last known
 * location, and messages that wait for it.
 */
#ifndef SKI_HOME_H
#define SKI_HOME_H

#include "objects/model/collection.h"

/** Returns the home of an element, by the kind and the map of its collection. */
int ski_home(const struct ski_collection *all, const skua_index *index);

/** Returns the PE to send a message to that is for an element which is not here: the last known
 * location of the element, or its home; or this PE, while it keeps its messages to the element
 * (ski_absent_keeps()). */
int ski_lookup_pe(struct ski_collection *all, const skua_index *index);

/** Returns the PE where an element that is not here most likely is, as far as this PE knows. */
int ski_lookup_believed(struct ski_collection *all, const skua_index *index);

/** Returns whether an order to create an element on this PE has arrived, and waits (route.h). */
bool ski_absent_arriving(const struct ski_collection *all, const skua_index *index);

/** Records that this PE sends messages for an element to its home and knows nothing of the element
 * (route.h). */
void ski_route_note(struct ski_collection *all, const skua_index *index);

/** Returns whether this PE may have called ski_route_note() for an element. */
bool ski_route_noted(const struct ski_collection *all, const skua_index *index);

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

    if (SKI_UNLIKELY(lookup->key != key || lookup->version != all->directory.version))
        *lookup = (struct ski_lookup){key, all->directory.version, ski_lookup_pe(all, index)};
    return lookup->pe;
}

/** Returns the record of an absent element, or NULL. */
struct ski_absent *ski_absent_find(const struct ski_collection *all, const skua_index *index);

/** Returns the record of an absent element; an empty one is added if there is none. */
struct ski_absent *ski_absent_get(struct ski_collection *all, const skua_index *index);

/** Adds an empty record in place of an element that leaves, or for one that has no record. */
struct ski_absent *ski_absent_enter(struct ski_collection *all, const skua_index *index);

/** Frees a record that is no longer in the directory. */
void ski_absent_free(struct ski_collection *all, struct ski_absent *absent);

/** Frees the records that are kept for further use. */
void ski_absent_free_spares(struct ski_collection *all);

/** Keeps @p msg, which was being delivered, with the record of the absent element it is for. */
void ski_absent_hold(struct ski_collection *all, const skua_index *index, skua_msg *msg);

/** Sends @p update, about the location of an element, to PE @p to. */
void ski_location_send(struct ski_collection *all, int to, const skua_index *index,
                       const struct ski_location_update *update);

#endif
