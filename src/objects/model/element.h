/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.h - the life of an element on this PE: created, running, destroyed.
 *
 * An element is destroyed, or migrates, when none of its entries is running.  Its memory stays
 * until the messages in this PE's queue that name it by address have been taken out; no message
 * names an element of a class by pointer so (chare/invoke.h), and its memory goes with it.  Each
 * step is an event that other modules observe (lifecycle_defs.h).
 */
#ifndef SKI_ELEMENT_H
#define SKI_ELEMENT_H

#include "objects/model/collection.h"
#include "objects/model/object.h"

/** Returns the record of an element that is on the list of its collection, which is `measured`. */
static inline struct ski_element_load *ski_element_load(const struct ski_object *object)
{
    ski_assert(object->of->measured && object->position < object->of->objects);
    return &object->of->load[object->position];
}

/** Adds an element with zeroed memory, which this PE finds by its index from now on; its
 * constructor has not run.  Ends the job if the element exists here. */
struct ski_object *ski_element_add(struct ski_collection *all, const skua_index *index);

/** Adds an element that has migrated, in @p block of the isomalloc range, which has arrived; NULL:
 * anywhere. */
struct ski_object *ski_element_add_at(struct ski_collection *all, const skua_index *index,
                                      struct ski_object_threads *block);

/** Adds an element that exists already: @p object, of its collection, is in memory that this PE
 * shares with the PE that had it before. */
void ski_element_place(struct ski_object *object, const skua_index *index);

/** Returns whether all messages that name @p object by address are in the queue. */
bool ski_element_can_replace(const struct ski_object *object);

/** Puts a stub, which is returned, in the place of an element that is about to leave and keeps its
 *  address: in the list of its collection and in the tables of all modules.  @p object belongs to
 *  another PE as soon as it is sent, and whatever remains to be done here is done with the stub.
 *  Messages in the queue that name the object name the stub from now on; without such messages the
 *  stub is in @p room, and the caller takes it off the list before @p room ends. */
struct ski_object *ski_element_replace(struct ski_object *object, struct ski_stub *room);

/** Runs the constructor of an element. */
void ski_element_construct(struct ski_object *object, const void *data, size_t bytes);

/** Adds and constructs an element, in no insertion.  Elements of its index have made @p moves
 * migrations before. */
struct ski_object *ski_element_create(struct ski_collection *all, const skua_index *index,
                                      uint32_t moves, const void *data, size_t bytes);

/** Acts on the state of an element whose last entry has returned, or whose last message was taken
 * out of the queue: destroys it, lets it migrate, or frees its memory. */
SKI_COLD void ski_element_settle(struct ski_object *object);

/** Keeps @p object from being destroyed or migrating, until ski_element_leave(): an entry runs. */
static inline void ski_element_enter(struct ski_object *object)
{
    object->life += SKI_LIFE_RUNNING;
}

/** Ends what ski_element_enter() began. */
static inline void ski_element_leave(struct ski_object *object)
{
    object->life -= SKI_LIFE_RUNNING;
    if (SKI_UNLIKELY(object->life & SKI_LIFE_CHANGED))
        ski_element_settle(object);
}

/** Destroys an element as soon as none of its entries is running. */
void ski_element_delete(struct ski_object *object);

/** Detaches an element and calls the destructor of its class. */
void ski_element_destroy(struct ski_object *object);

/** Takes an element off the list of its collection, and frees its memory when no message in the
 * queue names it, unless it is a stub in @p room; @p state is what those messages will see. */
void ski_element_remove(struct ski_object *object, int state, const struct ski_stub *room);

/** Destroys an element whose collection is destroyed. */
void ski_element_end(struct ski_object *object);

#endif
