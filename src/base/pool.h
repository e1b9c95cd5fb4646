/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - the allocator's fast path: blocks at hand, by size class.
 *
 * Each PE keeps a magazine of free blocks for every class and takes and puts
 * there with a few instructions.  An empty magazine is filled from the PE's own
 * heap, a full one is half emptied, each block going back to the heap it is of
 * (heap.h).
 *
 * A small block that another PE allocated goes into the magazine too: it came
 * with a message and is in the cache.  One above 1 KiB goes straight home, since
 * there are lines of it that only its owner has written, and they would have
 * to be fetched to be written here.
 *
 * Blocks above SKI_SMALL_BYTES are spans of their own: they are larger than the
 * caches in which that matters (docs/decisions/0026-large-blocks.md).
 *
 * A *checked* pool has magazines without room, so that each call takes a slow path, and
 * the fast ones cost nothing for it.  Its blocks end in a record (struct ski_record);
 * what is freed is overwritten and stays in a queue for a while, then is looked at for
 * writes (pool_check.c).
 */
#ifndef SKI_POOL_H
#define SKI_POOL_H

#include "base/heap.h"
#include "base/sanitizer.h"

#define SKI_MAGAZINE 31 /* most blocks of a class at hand; a magazine is 256 bytes */

struct ski_magazine {
    uint32_t count;
    uint32_t limit; /* fewer for large classes: 64 KiB, but at least 4 */
    void    *block[SKI_MAGAZINE];
};

/* What is known of a block of a checked pool: the last bytes of it.  All but `magic` and
 * `state` belong to the layer above (core/message/ownership.c). */
struct ski_record {
    uint64_t where; /* code that last gave the block away                  */
    uint64_t sum;   /* of what it held then, or 0                          */
    uint32_t magic; /* SKI_RECORD_MAGIC                                    */
    int32_t  pe;    /* the PE that gave it away                            */
    int32_t  owner; /* the PE that it was delivered to, or -1              */
    uint16_t handler;
    uint8_t  state; /* below   */
    uint8_t  call;  /* that gave it away: core/message/ownership.h */
};

#define SKI_RECORD_MAGIC 0x5ca1ab1eu

enum { SKI_BLOCK_HELD, SKI_BLOCK_SENT, SKI_BLOCK_FREED };

struct ski_quarantine;

struct ski_pool {
    struct ski_arena      *arena;
    struct ski_heap       *heap;
    struct ski_magazine    magazine[SKI_CLASSES];
    struct ski_quarantine *quarantine; /* of a checked pool, else NULL */
};

void ski_pool_init(struct ski_pool *pool, struct ski_heap *heap);

/** Make a new pool a checked one, and end that. */
void ski_pool_check_begin(struct ski_pool *pool);
void ski_pool_check_end(struct ski_pool *pool);

/** The record of a block of a checked pool, or NULL: @p block is no such. */
struct ski_record *ski_pool_record(struct ski_pool *pool, const void *block);

/** What to do about a block that is freed twice or was written to afterwards; set once. */
typedef void (*ski_pool_misuse_fn)(void *block, const struct ski_record *record, const char *what);
extern ski_pool_misuse_fn ski_pool_misuse;

/* pool_check.c, for pool.c. */
void *ski_pool_check_alloc(struct ski_pool *pool, size_t bytes);
void  ski_pool_check_free(struct ski_pool *pool, void *block);
void  ski_pool_check_flush(struct ski_pool *pool);

/** Give everything at hand back to the heaps. */
void ski_pool_flush(struct ski_pool *pool);

/** Take a block that has no record, nor will have, and give it back: of a pool that is
 *  checked or not.  NULL: the arena is exhausted, and nothing is said. */
void *ski_pool_try(struct ski_pool *pool, size_t bytes);
void  ski_pool_give(struct ski_pool *pool, void *block);

/* Slow paths of the two below. */
SKI_COLD void *ski_pool_alloc_slow(struct ski_pool *pool, size_t bytes);
void           ski_pool_free_slow(struct ski_pool *pool, void *block);

/** A block of a magazine, 64-byte aligned, for @p bytes, or NULL. */
static inline void *ski_magazine_take(struct ski_magazine *magazine, size_t bytes)
{
    void *block;

    if (SKI_UNLIKELY(magazine->count == 0))
        return NULL;
    block = magazine->block[--magazine->count];
    ski_unpoison(block, bytes);
    return block;
}

/** The same, of the class that @p bytes need. */
static inline void *ski_pool_at_hand(struct ski_pool *pool, size_t bytes)
{
    if (SKI_UNLIKELY(bytes > SKI_SMALL_BYTES))
        return NULL;
    return ski_magazine_take(&pool->magazine[ski_size_class(bytes)], bytes);
}

/** A block of at least @p bytes, 64-byte aligned, of undefined contents; NULL
 *  when the arena is exhausted, which has been logged. */
static inline void *ski_pool_alloc(struct ski_pool *pool, size_t bytes)
{
    void *block = ski_pool_at_hand(pool, bytes);
    return SKI_LIKELY(block != NULL) ? block : ski_pool_alloc_slow(pool, bytes);
}

/** Put a block into a magazine of its class; false: that is full. */
static inline bool ski_magazine_put(struct ski_magazine *magazine, void *block, size_t bytes)
{
    if (SKI_UNLIKELY(magazine->count == magazine->limit))
        return false;
    magazine->block[magazine->count++] = block;
    ski_poison(block, bytes);
    return true;
}

/** Put a block that any PE of the host allocated where it is at hand; false: it is for
 *  ski_pool_free_slow(). */
static inline bool ski_pool_put(struct ski_pool *pool, void *block)
{
    struct ski_unit *unit = ski_unit_of(pool->arena, block);

    return SKI_LIKELY(unit->kind != SKI_UNIT_LARGE && unit->size_class < SKI_HOME_CLASS &&
                      ski_magazine_put(&pool->magazine[unit->size_class], block,
                                       ski_class_bytes(unit->size_class)));
}

/** Give back a block that any PE of the host allocated. */
static inline void ski_pool_free(struct ski_pool *pool, void *block)
{
    if (SKI_UNLIKELY(!ski_pool_put(pool, block)))
        ski_pool_free_slow(pool, block);
}

#endif
