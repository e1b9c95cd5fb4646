/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - an object in memory.
 *
 *      | struct ski_object, 64 bytes | the program's, zeroed at first ...
 *                                    ^ self
 *
 * `life` has three parts, so that one operation can change and test them together: how many
 * messages in this PE's queue name the object by address (32 bits), until when its memory stays;
 * how many of its entries have not returned (24 bits), until when it is neither destroyed nor
 * migrated; and whether its state is another than SKI_ALIVE (the sign).
 *
 * An object of a class that migrates with threads inside is in a block of the isomalloc range
 * (core/isomalloc/isomalloc.h), after a struct ski_object_threads, and keeps its address on every
 * PE.
 *
 * The numbers of broadcasts, reductions and sections belong to those modules (collective/).  They
 * stand here since each contribution and each broadcast reads them.
 */
#ifndef SKI_OBJECT_H
#define SKI_OBJECT_H

#include "base/assert.h"
#include "base/pool.h"
#include "core/isomalloc/isomalloc.h"
#include "objects/model/index.h"

struct ski_collection;

/* Runs; will be destroyed or migrate when its entries have returned; is destroyed; has migrated. */
enum ski_object_state { SKI_ALIVE, SKI_DYING, SKI_LEAVING, SKI_DEAD, SKI_LEFT };

/* The header of an object, before the memory of the program. */
struct ski_object {
    struct ski_collection *of;
    uint64_t               life;           /* see above                            */
    uint32_t               position;       /* in of->object                        */
    uint32_t               next_reduction; /* number of its next reduction         */
    uint32_t               last_broadcast; /* number of the last broadcast it had  */
    uint32_t               moves;          /* number of its migrations, a seqnum   */
    int32_t                to;             /* the PE that it migrates to           */
    uint8_t                state;          /* enum ski_object_state                */
    uint8_t                index_bytes;
    uint16_t               sections; /* sections that it is a member of */
    union {
        unsigned char  raw[24];
        unsigned char *long_one; /* of more than 24 bytes */
    } index;
};

_Static_assert(sizeof(struct ski_object) == 64, "what follows is as aligned as malloc's memory");

/* The header of an object in the isomalloc range, before its struct ski_object. */
struct ski_object_threads {
    _Alignas(64) struct skua_thread *first; /* the threads that run for the object */
};

#define SKI_LIFE_QUEUED  UINT64_C(1)
#define SKI_LIFE_RUNNING (UINT64_C(1) << 32)
#define SKI_LIFE_CHANGED (UINT64_C(1) << 63)

/** Returns how many entries of @p object have not returned. */
static inline uint32_t ski_object_entries(const struct ski_object *object)
{
    return (uint32_t)((object->life & ~SKI_LIFE_CHANGED) >> 32);
}

/** Returns whether an entry of @p object has not returned. */
static inline bool ski_object_running(const struct ski_object *object)
{
    return (object->life & ~SKI_LIFE_CHANGED) >= SKI_LIFE_RUNNING;
}

/** Returns whether a message in this PE's queue names @p object by address. */
static inline bool ski_object_queued(const struct ski_object *object)
{
    return (uint32_t)object->life != 0;
}

/** Sets the state of @p object. */
static inline void ski_object_change(struct ski_object *object, int state)
{
    object->state = (uint8_t)state;
    object->life  = (object->life & ~SKI_LIFE_CHANGED) | (state ? SKI_LIFE_CHANGED : 0);
}

/** Returns the object whose memory, as the program knows it, is @p self. */
static inline struct ski_object *ski_object_of(const void *self)
{
    return (struct ski_object *)self - 1;
}

/** Returns the bytes of the index of @p object. */
static inline const unsigned char *ski_object_index(const struct ski_object *object)
{
    return object->index_bytes > sizeof object->index.raw ? object->index.long_one
                                                          : object->index.raw;
}

/** Returns whether @p object has this index. */
static inline bool ski_object_is(const struct ski_object *object, const skua_index *index)
{
    return object->index_bytes == index->bytes &&
           memcmp(ski_object_index(object), &index->at, index->bytes) == 0;
}

/** Returns the memory of malloc() that has the index of @p object, which is in no pool; NULL:
 * there is none. */
static inline unsigned char *ski_object_long_index(const struct ski_object *object)
{
    return object->index_bytes > sizeof object->index.raw ? object->index.long_one : NULL;
}

/** Writes the index of @p object to @p index.  Memory of objects is zeroed, so all of a short one
 * is copied: a few moves of fixed size. */
static inline void ski_object_index_read(skua_index *index, const struct ski_object *object)
{
    index->bytes = object->index_bytes;
    memset(&index->at, 0, sizeof index->at);
    if (SKI_LIKELY(object->index_bytes <= sizeof object->index.raw))
        memcpy(&index->at, object->index.raw, sizeof object->index.raw);
    else
        memcpy(&index->at, object->index.long_one, object->index_bytes);
}

/** Returns the index of @p object. */
static inline skua_index ski_object_index_get(const struct ski_object *object)
{
    skua_index index;

    ski_object_index_read(&index, object);
    return index;
}

/** Returns a new object of @p bytes of the program's memory, zeroed, with an index, from @p pool,
 * which has memory of the arena, long indices too; NULL: from malloc(). */
struct ski_object *ski_object_alloc(struct ski_pool *pool, size_t bytes, const skua_index *index);

/** Returns a copy, from @p pool, of what precedes the program's memory in @p object, without that
 * memory. */
struct ski_object *ski_object_stub(const struct ski_object *object, struct ski_pool *pool);

/* Room for a stub outside of a pool. */
struct ski_stub {
    struct ski_object object;
    unsigned char     index[SKUA_INDEX_MAX]; /* a long one */
};

/** Returns a copy, in @p room, of what precedes the program's memory in @p object, without that
 * memory. */
struct ski_object *ski_object_stub_in(struct ski_stub *room, const struct ski_object *object);

/** Frees an object that no message in the queue names; its memory is of @p pool or, NULL, of
 * malloc(). */
void ski_object_free(struct ski_object *object, struct ski_pool *pool);

/** Returns the block of the isomalloc range that @p object is in; NULL: it is elsewhere. */
static inline struct ski_object_threads *ski_object_block(const struct ski_object *object)
{
    return SKI_UNLIKELY(ski_isomalloc_contains(object))
               ? (struct ski_object_threads *)(uintptr_t)object - 1
               : NULL;
}

/** Returns a new object of @p bytes of the program's memory, zeroed, with an index, in @p block of
 * the isomalloc range. */
struct ski_object *ski_object_place(struct ski_object_threads *block, size_t bytes,
                                    const skua_index *index);

/** Returns the bytes of the block for an object of @p bytes of the program's memory. */
static inline size_t ski_object_block_bytes(size_t bytes)
{
    return sizeof(struct ski_object_threads) + sizeof(struct ski_object) + bytes;
}

#endif
