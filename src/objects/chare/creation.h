/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creation.h - the creation and the destruction of collections.
 *
 * The creator broadcasts the creation, and each PE creates the elements whose home it is.  A
 * process group has one member in each process, on its first PE, which announces its address to the
 * others of the process.  A destruction is a broadcast too, in one sequence with those that invoke
 * the elements (collective/array_broadcast.h).
 */
#ifndef SKI_CREATION_H
#define SKI_CREATION_H

#include "objects/model/collection.h"

/** Destroys all elements of @p all that are here; its id stays known. */
void ski_collection_end(struct ski_collection *all);

/** Calls the destructors of all objects of a PE that ends.  A destructor may still look up other
 *  objects. */
void ski_collections_destroy(struct ski_objects *objects);

/** Defines a collection of a job that is restarted by the @p bytes at @p creation that it was
 *  created with.  It has no elements yet, and messages to it wait until ski_creation_restored().
 *  Returns NULL if @p creation, which was read from a checkpoint, is not valid. */
struct ski_collection *ski_creation_restore(struct ski_objects *objects, const void *creation,
                                            size_t bytes);

/** Marks a collection that ski_creation_restore() defined as existing: its elements have been
 *  restored. */
void ski_creation_restored(struct ski_collection *all);

/** Announces the address of the member of a process group, which is here, to the other PEs of the
 *  process. */
void ski_creation_share_member(struct ski_collection *all);

/** Handler: create the elements of a collection whose home is here. */
void ski_on_create(skua_msg *msg);

/** Handler: the member of a process group is at this address in this process. */
void ski_on_adopt(skua_msg *msg);

#define SKI_CREATE_MIN 128

#endif
