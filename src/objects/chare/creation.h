/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creation.h - the creation and the deletion of collections.
 *
 * The creator broadcasts the creation, and each PE creates the elements whose home it is.  A
 * process group has one member in each process, on its first PE, which tells the others of the
 * process its address.  A deletion is a broadcast too, in one sequence with those that invoke the
 * elements (collective/array_broadcast.h).
 */
#ifndef SKI_CREATION_H
#define SKI_CREATION_H

#include "objects/model/collection.h"

/** Delete all elements of @p all that are here; its id stays known. */
void ski_collection_end(struct ski_collection *all);

/** Let the classes see to all objects of a PE that ends; they may still look for others. */
void ski_collections_destroy(struct ski_objects *objects);

/** Handler: create the elements of a collection whose home is here. */
void ski_on_create(skua_msg *msg);

/** Handler: the member of a process group is at this address in this process. */
void ski_on_adopt(skua_msg *msg);

#define SKI_CREATE_LEAST 128

#endif
