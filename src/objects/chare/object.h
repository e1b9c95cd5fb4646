/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - an object in memory, and its life on this PE.
 *
 *      | struct ski_object, 64 bytes | the program's, zeroed at first ...
 *                                    ^ self
 *
 * `life` has three parts, so that a message can change and test them at once: how many
 * messages in this PE's queue name it by address (32 bits), until when the memory stays;
 * how many of its entries have not returned (24 bits), until when it is not deleted and
 * does not leave; and whether its state is another than SKI_ALIVE (the sign).
 */
#ifndef SKI_OBJECT_H
#define SKI_OBJECT_H

#include "objects/chare/class.h"
#include "objects/chare/collection.h"

enum { SKI_ALIVE, SKI_DYING, SKI_LEAVING, SKI_DEAD, SKI_LEFT };

struct ski_object {
    struct ski_collection *of;
    uint64_t               life;  /* see above                                   */
    uint32_t               place; /* in of->member                               */
    uint32_t               next;  /* the number of its next reduction            */
    uint32_t               seen;  /* the number of the last broadcast it has had */
    uint32_t               moves; /* so often it has migrated                    */
    int32_t                to;    /* where it leaves for                         */
    uint8_t                state;
    uint8_t                index_bytes;
    uint16_t               enrolled; /* in so many sections: section.h */
    union {
        unsigned char  raw[24];
        unsigned char *long_one; /* of more than 24 bytes */
    } index;
};

_Static_assert(sizeof(struct ski_object) == 64, "what follows is as aligned as malloc's memory");

#define SKI_LIFE_QUEUED  UINT64_C(1)
#define SKI_LIFE_RUNNING (UINT64_C(1) << 32)
#define SKI_LIFE_CHANGED (UINT64_C(1) << 63)

static inline bool ski_object_running(const struct ski_object *object)
{
    return (object->life & ~SKI_LIFE_CHANGED) >= SKI_LIFE_RUNNING;
}

static inline bool ski_object_queued(const struct ski_object *object)
{
    return (uint32_t)object->life != 0;
}

static inline void ski_object_change(struct ski_object *object, int state)
{
    object->state = (uint8_t)state;
    object->life  = (object->life & ~SKI_LIFE_CHANGED) | (state ? SKI_LIFE_CHANGED : 0);
}

static inline struct ski_object *ski_object_of(const void *self)
{
    return (struct ski_object *)self - 1;
}

static inline const unsigned char *ski_object_index(const struct ski_object *object)
{
    return object->index_bytes > sizeof object->index.raw ? object->index.long_one
                                                          : object->index.raw;
}

/** Whether it has this index. */
static inline bool ski_object_is(const struct ski_object *object, const skua_index *index)
{
    return object->index_bytes == index->bytes &&
           memcmp(ski_object_index(object), &index->at, index->bytes) == 0;
}

skua_index ski_object_index_get(const struct ski_object *object);

/** "Block (1, 2)", for lines to people; in a buffer of this thread. */
const char *ski_object_text(const struct ski_object *object);
const char *ski_element_text(const struct ski_collection *all, const skua_index *index);
const char *ski_ref_text(const skua_ref *ref);

/** An object with zeroed memory, known here by its index; its constructor has not run. */
struct ski_object *ski_object_add(struct ski_collection *all, const skua_index *index);

/** The same, constructed: a birth, which reductions count (array_reduction.h).  @p moves
 *  journeys were made under its index before. */
struct ski_object *ski_object_create(struct ski_collection *all, const skua_index *index,
                                     uint32_t moves, const void *data, size_t bytes);

/** Creates and constructs an element that is inserted: a birth on the PE of its account
 *  (insertion.h). */
struct ski_object *ski_object_insert(struct ski_collection *all, const skua_index *index,
                                     uint32_t moves, const struct ski_account *account,
                                     const void *data, size_t bytes);

/** Its last entry has returned, or its last message was delivered: see to what it has
 *  become. */
SKI_COLD void ski_object_settle(struct ski_object *object);

/** Before and after an entry runs. */
static inline void ski_object_enter(struct ski_object *object)
{
    object->life += SKI_LIFE_RUNNING;
}

static inline void ski_object_leave(struct ski_object *object)
{
    object->life -= SKI_LIFE_RUNNING;
    if (SKI_UNLIKELY(object->life & SKI_LIFE_CHANGED))
        ski_object_settle(object);
}

/** Delete it as soon as it is not running. */
void ski_object_delete(struct ski_object *object);

/** Let the class give back what the object holds. */
void ski_object_destroy(struct ski_object *object);

/** Take it off the lists of its collection, and give it back when its messages have been
 *  delivered; @p state is what they will see. */
void ski_object_discard(struct ski_object *object, int state);

/** Delete one whose collection ends. */
void ski_object_end(struct ski_object *object);

/** When the job ends: let the class see to each object, which may still look for others;
 *  and give back their memory. */
void ski_objects_destroy(struct ski_collection *all);
void ski_objects_free(struct ski_collection *all);

#endif
