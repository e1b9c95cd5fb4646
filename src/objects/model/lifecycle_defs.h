/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifecycle_defs.h - every event of a collection or an element that a module may observe.
 *
 * EVENT(name, (arguments), parameters) becomes the member `name` of struct ski_lifecycle, which a
 * module sets or leaves NULL, and the function ski_notify_name(), which calls the observers in the
 * order of the list in objects.c.
 */
/* clang-format off */

/* A collection has been added to the table of this PE: nothing is known but its id. */
EVENT(collection_added,     (all), struct ski_collection *all)
/* All elements are here that are created with the collection on this PE. */
EVENT(collection_populated, (all), struct ski_collection *all)
/* The collection is destroyed, and its elements here are about to be. */
EVENT(collection_ending,    (all), struct ski_collection *all)
/* The collection is destroyed, and its elements here are, but for those with entries that run. */
EVENT(collection_ended,     (all), struct ski_collection *all)
/* The record of the collection is freed: the PE ends. */
EVENT(collection_freed,     (all), struct ski_collection *all)

/* An element is on this PE from now on: created, inserted or migrated.  Its constructor has not run,
 * and this PE does not find it by its index yet. */
EVENT(element_added,    (object), struct ski_object *object)
/* The element of the record @absent is on this PE now; the observer frees the record. */
EVENT(absence_ended,    (all, absent), struct ski_collection *all, struct ski_absent *absent)
/* An element is created on this PE, by no insertion.  Its constructor has not run. */
EVENT(element_created,  (object), struct ski_object *object)
/* An element is destroyed, while its collection continues. */
EVENT(element_deleted,  (object), struct ski_object *object)
/* An element has left the list of elements of its collection here: destroyed or migrated. */
EVENT(element_removed,  (all), struct ski_collection *all)
/* The memory of an element is about to be packed or freed: when the observer returns, no other PE
 * writes to it. */
EVENT(element_detached, (object), struct ski_object *object)

/* An element that is to migrate or be destroyed has no entry running.  An observer that has transfers
 * in flight from or to its memory enters it (element.h), and leaves it when they are complete. */
EVENT(element_draining, (object), struct ski_object *object)
/* An element that was to migrate stays: its program has named this PE meanwhile, or it cannot go. */
EVENT(element_staying,  (object), struct ski_object *object)
/* An element that is to migrate has no entry running but threads that move with it: the observer
 * packs and sends it. */
EVENT(element_leaving,  (object), struct ski_object *object)
/* An element that is to migrate has entries running.  The observer packs and sends it if all of
 * them are threads that move with it. */
EVENT(element_delayed,  (object), struct ski_object *object)
/* An element that is to migrate cannot leave now: a thread of it waits where it does not move, and
 * may do so forever.  The observer may let it stay. */
EVENT(element_blocked,  (object), struct ski_object *object)
/* An element leaves at its address: @stub, which has no memory of the program, takes its place here, and
 * `object` belongs to PE object->to when the observers return. */
EVENT(element_replaced, (object, stub), struct ski_object *object, struct ski_object *stub)
/* An element is in flight to PE object->to; if it left at its address, `object` is its stub. */
EVENT(element_departed, (object), struct ski_object *object)
/* An element that PE @from sent has been unpacked here. */
EVENT(element_arrived,  (object, from), struct ski_object *object, int from)

/* This PE inserts an element: the observer fills its part of the account. */
EVENT(insertion_begun,  (all, account), struct ski_collection *all, struct ski_account *account)
/* An inserted element is on the PE where it is created.  Its constructor has not run. */
EVENT(element_inserted, (object, account), struct ski_object *object, const struct ski_account *account)
/* At the root of a collection: no insertion is in flight on any PE, and none follows. */
EVENT(insertions_ended, (all), struct ski_collection *all)

/* A message of the runtime or to an entry will not be delivered: its collection is destroyed, or its PE
 * ends.  The message is freed when the observers return. */
EVENT(message_discarded, (msg), skua_msg *msg)

/* The idle report asks what waits on this PE for a collection. */
EVENT(collection_report, (all, text), struct ski_collection *all, struct ski_text *text)
/* The idle report asks what else waits on this PE. */
EVENT(pe_report,         (objects, text), struct ski_objects *objects, struct ski_text *text)
