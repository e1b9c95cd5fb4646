/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creation_wait.h - calls that inspect a collection whose elements this PE has not created yet.
 *
 * The id of a collection may reach a PE before its creation, which goes down a tree.  A message to
 * the collection is held until then (collection.h).  A call that inspects the elements on this PE
 * cannot be held: it waits in place.  The creation is in flight, since there is an id, so the wait
 * ends.
 *
 * A user thread blocks.  On the scheduler's own stack the wait interrupts an entry, so no other
 * entry may run: the PE uses a table of handlers that runs only creations (and the end of the job)
 * and keeps all other messages, as the gate of program.h does.  A constructor may itself wait for
 * any message, so while one runs the ordinary table is used, and the messages that were kept are in
 * the queue again, before those that came later.
 *
 * There is no deadlock: a creation is sent before its id is known to any other PE, and a PE that
 * waits forwards creations to its children in the tree.
 */
#ifndef SKI_CREATION_WAIT_H
#define SKI_CREATION_WAIT_H

#include "objects/model/collection.h"

/** Waits until this PE has created the elements that it creates with @p all.  Returns immediately
 *  during their construction, and before the program begins (program.h), when none can be created.
 */
SKI_COLD void ski_creation_wait(struct ski_collection *all);

/** Waits until at least the class and kind of @p all are known; ends the job if they cannot become
 *  known. */
SKI_COLD void ski_creation_wait_defined(const char *call, struct ski_collection *all);

/** Returns the collection that a call of the program inspects, as ski_collection_get() does, after
 *  a wait for its creation. */
static inline struct ski_collection *ski_collection_inspect(struct ski_objects *objects,
                                                            const char *call, uint64_t id)
{
    struct ski_collection *all = ski_collection_get(objects, call, id);

    if (SKI_UNLIKELY(all->state != SKI_EXISTS))
        ski_creation_wait(all);
    return all;
}

#endif
