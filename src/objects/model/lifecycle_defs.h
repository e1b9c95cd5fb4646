/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifecycle_defs.h - every event of a collection or an element that a module may observe.
 *
 * EVENT(name, (arguments), parameters) becomes the member `name` of struct ski_lifecycle, which a
 * module sets or leaves NULL, and the function ski_notify_name(), which calls the observers in the
 * order of the list in objects.c.
 */
/* clang-format off */

/* This PE first hears of a collection; has all elements that are created with it; is about to
 * delete its elements, since the collection is deleted; has deleted them; frees its record of the
 * collection, when the PE ends. */
EVENT(collection_added,     (all), struct ski_collection *all)
EVENT(collection_populated, (all), struct ski_collection *all)
EVENT(collection_ending,    (all), struct ski_collection *all)
EVENT(collection_ended,     (all), struct ski_collection *all)
EVENT(collection_freed,     (all), struct ski_collection *all)

/* An element is on this PE from now on: created, inserted or migrated.  Its constructor has not
 * run.  @absent is what was recorded of the element while it was absent, or NULL; an observer
 * frees it. */
EVENT(element_added, (object), struct ski_object *object)
EVENT(absence_ended, (all, absent), struct ski_collection *all, struct ski_absent *absent)

/* An element is created on this PE, in no insertion; is deleted, while its collection goes on; has
 * left the list of elements of its collection, deleted or migrated. */
EVENT(element_created, (object), struct ski_object *object)
EVENT(element_deleted, (object), struct ski_object *object)
EVENT(element_removed, (all), struct ski_collection *all)

/* The memory of an element is about to be read, to be packed, or to be freed: no other PE writes
 * to it any more when this returns. */
EVENT(element_detached, (object), struct ski_object *object)

/* An element that shall migrate has no entry running; is packed, and on its way to object->to;
 * has been unpacked on this PE, which it was sent to by PE @from. */
EVENT(element_leaving,  (object), struct ski_object *object)
EVENT(element_departed, (object), struct ski_object *object)
EVENT(element_arrived,  (object, from), struct ski_object *object, int from)

/* This PE inserts an element: the observer fills its part of the account.  The element is on the
 * PE where it is created, its constructor has not run.  At the root of a collection: no insertion
 * into the array is under way, and none follows. */
EVENT(insertion_begun,  (all, account), struct ski_collection *all, struct ski_account *account)
EVENT(element_inserted, (object, account), struct ski_object *object, const struct ski_account *account)
EVENT(insertions_ended, (all), struct ski_collection *all)

/* The idle report asks what waits on this PE: of a collection, and else. */
EVENT(collection_report, (all, text), struct ski_collection *all, struct ski_text *text)
EVENT(pe_report,         (objects, text), struct ski_objects *objects, struct ski_text *text)
