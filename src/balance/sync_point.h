/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_point.h - sync points: finding out when every element has called skua_at_sync().
 *
 * Elements come, go and migrate meanwhile, so no PE knows how many there are.  Each PE counts
 * *units* instead: one is produced where an element begins to run towards the sync point (it is
 * created, or resumed after the one before), and consumed where it reaches the sync point or is
 * destroyed.  An element in transit is a unit as well, whether it waits or not, from the PE that
 * sends it (or inserts it) to where it arrives or is dropped; so is a collection for each PE that
 * has not created its elements.  At any time, produced minus consumed, summed over all PEs, is the
 * number of elements that have not reached the sync point, or are in transit.
 *
 * A PE without a running element reports its counts to its parent in the tree, when all children
 * have reported theirs; again whenever something has changed since.  If the counts of all PEs are
 * equal at the root, that is only a hint: they were read at different times.  A second reading,
 * which the balancer makes when it gathers the loads, proves it if what the first one saw as
 * consumed is what the second sees as produced (objects/services/termination.h has the argument).
 * A report that comes later starts over.
 *
 * The number of its sync point migrates with an element.  A PE that has passed the one that an
 * element waits at resumes the element when it arrives.  A PE that receives an element, an
 * insertion or a creation from a PE which has passed a later sync point learns from it that the
 * sync point is passed, and passes it before the message of the root arrives: else a new element
 * could wait at a sync point that is over.  So a PE is never behind its elements.  Elements are
 * resumed by messages of the PE to itself, so that they run one after another and in turn with
 * others; an element that has migrated meanwhile is resumed where it arrives.
 */
#ifndef SKI_SYNC_POINT_H
#define SKI_SYNC_POINT_H

#include "balance/balance_pe.h"

/** Begins the sync points of a PE. */
void ski_sync_point_init(struct ski_balance *balance);

/** Frees the state of the sync points of a PE. */
void ski_sync_point_destroy(struct ski_balance *balance);

/** Returns the counts of this PE, as they are now. */
struct ski_sync_counts ski_sync_point_counts(const struct ski_balance *balance);

/** Adds the counts of another PE, or of a subtree, to @p sum. */
void ski_sync_counts_add(struct ski_sync_counts *sum, const struct ski_sync_counts *more);

/** Records that @p number is the next sync point of another PE.  If this PE is behind, it passes
 * its own now. */
void ski_sync_point_reach(struct ski_balance *balance, uint32_t number);

/** Returns whether sync point @p number is passed on this PE. */
bool ski_sync_point_passed(const struct ski_balance *balance, uint32_t number);

/** Records that an element which runs towards the sync point has reached it, and waits there. */
void ski_sync_point_wait(struct ski_balance *balance, struct ski_object *object);

/** Sets the next sync point of a restarted job to @p number, as it was in the checkpoint; no
 * element is here yet.  Returns false if there is no such number. */
bool ski_sync_point_restore(struct ski_balance *balance, uint32_t number);

/** Returns whether an element of a SKUA_BALANCE_AT_SYNC class waits at a sync point. */
bool ski_sync_point_waits(const struct ski_object *object);

/** Resumes the elements that wait at sync point @p number; the next one begins. */
void ski_sync_point_pass(struct ski_balance *balance, uint32_t number);

/* ---- events of elements and collections (model/lifecycle_defs.h) -------------------------- */

/** Records the sync point of a new collection; at its root, counts a unit for each PE, which the PE
 *  consumes when it has created its elements. */
void ski_sync_point_collection_added(struct ski_balance *balance, struct ski_collection *all);

/** Counts that this PE has created its elements of a collection. */
void ski_sync_point_collection_populated(struct ski_balance *balance);

/** Counts the elements of a collection that is being destroyed. */
void ski_sync_point_collection_ending(struct ski_balance *balance, struct ski_collection *all);

/** Counts an element that is created here. */
void ski_sync_point_created(struct ski_balance *balance, struct ski_object *object);

/** Counts an element that is destroyed here. */
void ski_sync_point_deleted(struct ski_balance *balance, struct ski_object *object);

/** Counts an element that leaves this PE: it is in transit. */
void ski_sync_point_departed(struct ski_balance *balance, struct ski_object *object);

/** Counts an element that arrives on this PE, and resumes it if its sync point is passed. */
void ski_sync_point_arrived(struct ski_balance *balance, struct ski_object *object);

/** Counts an insertion by this PE: its element is in transit.  Returns the number of the first sync
 *  point of the element. */
uint32_t ski_sync_point_insertion_begun(struct ski_balance *balance);

/** Counts the arrival of an inserted element on this PE. */
void ski_sync_point_inserted(struct ski_balance *balance, struct ski_object *object);

/** Counts an element in transit that is dropped because its collection was destroyed. */
void ski_sync_point_dropped(struct ski_balance *balance);

#define SKI_SYNC_REPORT_MIN 48

/** Handler: the counts of a child. */
void ski_on_sync_report(skua_msg *msg);

/** Handler: an element here is resumed, unless it is gone. */
void ski_on_sync_resume(skua_msg *msg);

/** Handler: this PE checks whether it has something to report. */
void ski_on_sync_check(skua_msg *msg);

#endif
