/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.h - where an element is: updates, records of locations, and tombstones.
 *
 * The home of an element (home.h) knows where it is if it is elsewhere.  Other PEs send to the
 * home, or to the last known location of the element.  A PE that gets a message for an absent
 * element forwards it to the home, which knows where the element is, and the source is informed
 * (forward_window.h says by which PE, and how often; route.h, what the source does then).  An
 * update carries the number of migrations that the element had made, so that a PE ignores one that
 * is older than its record.
 *
 * The PE that an element leaves records its new location, and the PE where it arrives reports the
 * arrival to the home.  So a message always finds its element, by way of the home.
 *
 * A destroyed element leaves a *tombstone* where it was destroyed and at its home: a record that
 * says so, with its number of migrations, which a later element of the same index continues from.
 * Tombstones are dropped when they outnumber the elements here, and so are *hints*, records of a
 * location that the home knows as well.
 */
#ifndef SKI_LOCATION_H
#define SKI_LOCATION_H

#include "objects/location/lookup.h"

/** Records where an element is.  An update older than the record is ignored.  Messages that wait
 * for the element go there. */
void ski_location_update(struct ski_collection *all, const skua_index *index,
                         const struct ski_location_update *update);

/** Replaces the record of an absent element that this PE has claimed: it is where @p at says, or
 * nothing is known of it (SKI_ABSENT_UNKNOWN), and the messages that were kept go there or to the
 * home.  The record may be freed. */
void ski_location_set(struct ski_collection *all, struct ski_absent *absent,
                      const struct ski_location_update *at);

/** Ends the change of the route to an absent element: no message of this PE to it is under way. The
 * element was where @p at says, or its home knows of none (SKI_ABSENT_UNKNOWN); NULL: nothing new
 * is known of it.  The messages that were kept go where the element is believed to be, or to the
 * home.  The record may be freed. */
void ski_location_clear(struct ski_collection *all, struct ski_absent *absent,
                        const struct ski_location_update *at);

/** Records where an element of this PE goes, or that it is destroyed, in its slot of the directory.
 * Returns the record; messages may wait there that the element held (hold.h). */
struct ski_absent *ski_location_left(struct ski_collection *all, const skua_index *index,
                                     const struct ski_location_update *update);

/** Delivers again the messages that wait here for elements which do not exist. */
void ski_location_release_unknown(struct ski_collection *all);

/** Returns whether this is the home of an element that was destroyed, or that never existed. */
bool ski_element_gone(const struct ski_collection *all, const skua_index *index);

/** Returns whether this is the home of an element that was destroyed, and that no message creates
 * again. */
bool ski_element_deleted(const struct ski_collection *all, const skua_index *index);

/** Returns whether an element that was here has been destroyed here, or is about to be. */
bool ski_element_died_here(const struct ski_collection *all, const skua_index *index);

/** The observer of this module (model/lifecycle.h): the records of absent elements. */
extern const struct ski_lifecycle ski_location_lifecycle;

#endif
