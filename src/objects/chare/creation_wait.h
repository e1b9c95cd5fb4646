/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creation_wait.h - looking at a collection that this PE has not created its part of yet.
 *
 * The name of a collection may reach a PE before its creation, which goes down a tree.  A
 * message to the collection is held until then (collection.h).  A call that looks at the
 * collection on this PE cannot be held: it waits in place.  The creation is on its way, since
 * there is a name; so the wait ends.
 *
 * A user thread just blocks.  On the scheduler's own stack an entry is in the middle of its
 * work, and no other may run: the PE runs on with a table of handlers which lets nothing pass
 * but creations (and the end of the job) and keeps all other messages, as the gate of program.h
 * does.  A constructor that runs by that may wait itself, for any message; so while it runs the
 * table is the usual one, and what was kept is in the queue again, before what came later.
 *
 * No two PEs wait for each other.  A creation is sent before its name is known to anybody, and
 * a PE that waits passes creations on to its children in the tree.
 */
#ifndef SKI_CREATION_WAIT_H
#define SKI_CREATION_WAIT_H

#include "objects/chare/collection.h"

/** Waits until the objects of @p all which are created with it on this PE are there.  Returns
 *  at once during their construction, and before the program begins (program.h), when none can
 *  be created. */
SKI_COLD void ski_creation_wait(struct ski_collection *all);

/** Waits until it is known at least what @p all is; ends the job if that cannot be. */
SKI_COLD void ski_creation_wait_defined(const char *call, struct ski_collection *all);

/** A collection that a call of the program looks at, by ski_collection_get(). */
static inline struct ski_collection *ski_collection_look(struct ski_objects *objects,
                                                         const char *call, uint64_t id)
{
    struct ski_collection *all = ski_collection_get(objects, call, id);

    if (SKI_UNLIKELY(all->state != SKI_EXISTS))
        ski_creation_wait(all);
    return all;
}

#endif
