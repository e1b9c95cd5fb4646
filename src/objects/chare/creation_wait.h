/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creation_wait.h - calls that inspect a collection whose elements this PE has not created yet.
 *
 * The id of a collection may reach a PE before its creation, which goes down a tree.  A message to
 * the collection is held until then (collection.h).  A call that inspects the elements on this PE
 * cannot be held: it waits in place.  The creation is on its way, since there is an id; so the wait
 * ends.
 *
 * A user thread blocks.  On the scheduler's own stack an entry is in the middle of its work, and no
 * other may run: the PE continues with a table of handlers which lets nothing pass but creations
 * (and the end of the job) and keeps all other messages, as the gate of program.h does.  A
 * constructor that runs then may wait itself, for any message; so while it runs the table is the
 * usual one, and the messages that were kept are in the queue again, before those that came later.
 *
 * No two PEs wait for each other.  A creation is sent before its id is known to any other PE, and a
 * PE that waits passes creations on to its children in the tree.
 */
#ifndef SKI_CREATION_WAIT_H
#define SKI_CREATION_WAIT_H

#include "objects/model/collection.h"

/** Waits until this PE has created the elements that it creates with @p all.  Returns immediately
 *  during their construction, and before the program begins (program.h), when none can be created.
 */
SKI_COLD void ski_creation_wait(struct ski_collection *all);

/** Waits until class and kind of @p all are known at least; ends the job if that cannot be. */
SKI_COLD void ski_creation_wait_defined(const char *call, struct ski_collection *all);

/** Returns the collection that a call of the program inspects, as ski_collection_get() does, after
 *  a wait for its creation. */
static inline struct ski_collection *ski_collection_look(struct ski_objects *objects,
                                                         const char *call, uint64_t id)
{
    struct ski_collection *all = ski_collection_get(objects, call, id);

    if (SKI_UNLIKELY(all->state != SKI_EXISTS))
        ski_creation_wait(all);
    return all;
}

#endif
