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

/** Returns the record of an element that is absent, or holds messages (hold.h), or NULL. */
struct ski_absent *ski_absent_find(const struct ski_collection *all, const skua_index *index);

/** Returns the record of the element that @p msg, an answer of @p bytes bytes to this PE, is about;
 *  copies these to @p answer, and frees @p msg.  NULL: there is no record, or @p msg is kept until
 *  *@p all exists here. */
struct ski_absent *ski_absent_answered(skua_msg *msg, void *answer, size_t bytes,
                                       struct ski_collection **all);

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

/** Records that @p msg, for an absent element, is about to be sent on to the home by this PE. */
void ski_absent_forwards(struct ski_collection *all, struct ski_absent *absent,
                         const skua_msg *msg);

/** Records that @p msg, for an absent element, is about to be forwarded, or to be held at the home:
 * if it may be of this PE, later ones that are sent directly to the element could overtake it. */
void ski_absent_passes(struct ski_collection *all, struct ski_absent *absent, const skua_msg *msg);

/** Sends @p update, about the location of an element, to PE @p to. */
void ski_location_send(struct ski_collection *all, int to, const skua_index *index,
                       const struct ski_location_update *update);

#endif
