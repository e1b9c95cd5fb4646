/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - the fast path of the allocator: free blocks cached by size class.
 *
 * Each PE has a *magazine* of free blocks for every class, in private memory; allocation and
 * freeing there take a few instructions.  An empty magazine is filled from the PE's own heap; half
 * of a full one is returned, each block to the heap that it came from (heap.h).
 *
 * A small block that another PE allocated also goes into the magazine: it came with a message and
 * is in the cache.  A block above 1 KiB goes straight to its owner's heap, since some of its cache
 * lines were written by the owner alone and would have to be fetched to be written here.
 *
 * A block above SKI_SMALL_BYTES is a span of its own (docs/decisions/0026-large-blocks.md).  The
 * pool keeps the last one that the PE has both allocated and freed, since its lines are in the
 * cache of this core; the next PE that allocates a span would have to fetch them.
 *
 * A *checked* pool has magazines of size 0, so every call takes a slow path and the fast paths cost
 * nothing for the checks.  Its blocks end in a record (struct ski_block_record).  A freed block is
 * overwritten and waits in a quarantine; then it is checked for writes (pool_check.c).
 */
#ifndef SKI_POOL_H
#define SKI_POOL_H

#include "base/heap.h"
#include "base/sanitizer.h"

#define SKI_MAGAZINE 31 /* blocks in a magazine, at most; a magazine takes 256 bytes */

/* The cached free blocks of one class. */
struct ski_magazine {
    uint32_t count;
    uint32_t limit; /* as many blocks as 64 KiB hold, but at least 4; 0 in a checked pool */
    void    *block[SKI_MAGAZINE];
};

/* The last bytes of a block of a checked pool: its history.  All members but `magic` and `state`
 * belong to core/message/ownership.c. */
struct ski_block_record {
    uint64_t where; /* return address of the call that last released the block */
    uint64_t sum;   /* checksum of its contents at that time, or 0             */
    uint32_t magic; /* SKI_RECORD_MAGIC                                        */
    int32_t  pe;    /* the PE that released the block                          */
    int32_t  owner; /* the PE that the block was delivered to, or -1           */
    uint16_t handler;
    uint8_t  state; /* SKI_BLOCK_HELD ...                                       */
    uint8_t  call;  /* the call that released it (core/message/ownership.h)     */
};

#define SKI_RECORD_MAGIC 0x5ca1ab1eu

/* The states of a block of a checked pool. */
enum { SKI_BLOCK_HELD, SKI_BLOCK_SENT, SKI_BLOCK_FREED };

struct ski_quarantine;

/* The allocator of one PE. */
struct ski_pool {
    struct ski_arena      *arena;
    struct ski_heap       *heap;
    struct ski_magazine    magazine[SKI_CLASSES];
    void                  *kept;       /* a free large block of this PE, or NULL   */
    uint32_t               kept_max;   /* units of such a block, at most           */
    struct ski_quarantine *quarantine; /* of a checked pool, else NULL             */
};

/** Makes an empty pool over the PE's own heap. */
void ski_pool_init(struct ski_pool *pool, struct ski_heap *heap);

/** Makes an empty pool a checked one. */
void ski_pool_check_begin(struct ski_pool *pool);

/** Empties the quarantine of a checked pool and frees it. */
void ski_pool_check_end(struct ski_pool *pool);

/** Returns the record of a block of a checked pool, or NULL if @p block is not such a block. */
struct ski_block_record *ski_pool_record(struct ski_pool *pool, const void *block);

/** The type of ski_pool_misuse. */
typedef void (*ski_pool_misuse_fn)(void *block, const struct ski_block_record *record,
                                   const char *what);

/** Called for a block that is freed twice or was written to after it was freed; set once. */
extern ski_pool_misuse_fn ski_pool_misuse;

/** Allocates a block with a record from a checked pool, or returns NULL (pool_check.c). */
void *ski_pool_check_alloc(struct ski_pool *pool, size_t bytes);

/** Moves a block of a checked pool into the quarantine (pool_check.c). */
void ski_pool_check_free(struct ski_pool *pool, void *block);

/** Empties the quarantine of a checked pool (pool_check.c). */
void ski_pool_check_flush(struct ski_pool *pool);

/** Returns all cached blocks to their heaps. */
void ski_pool_flush(struct ski_pool *pool);

/** Allocates a block without a record, also from a checked pool.  Returns NULL, without logging, if
 *  the arena is exhausted. */
void *ski_pool_try(struct ski_pool *pool, size_t bytes);

/** Frees a block of ski_pool_try(). */
void ski_pool_give(struct ski_pool *pool, void *block);

/** The slow path of ski_pool_alloc(): the magazine is empty, or the block large. */
SKI_COLD void *ski_pool_alloc_slow(struct ski_pool *pool, size_t bytes);

/** The slow path of ski_pool_free(): the magazine is full, or the block belongs elsewhere. */
void ski_pool_free_slow(struct ski_pool *pool, void *block);

/** Takes a block for @p bytes, aligned to 64, out of a magazine; NULL if it is empty. */
static inline void *ski_magazine_take(struct ski_magazine *magazine, size_t bytes)
{
    void *block;

    if (SKI_UNLIKELY(magazine->count == 0))
        return NULL;
    block = magazine->block[--magazine->count];
    ski_unpoison(block, bytes);
    return block;
}

/** Takes a block for @p bytes out of the magazine of its class; NULL if there is none. */
static inline void *ski_pool_cached(struct ski_pool *pool, size_t bytes)
{
    if (SKI_UNLIKELY(bytes > SKI_SMALL_BYTES))
        return NULL;
    return ski_magazine_take(&pool->magazine[ski_size_class(bytes)], bytes);
}

/** Allocates a block of at least @p bytes, aligned to 64, of undefined contents.  Returns NULL,
 *  which has been logged, if the arena is exhausted. */
static inline void *ski_pool_alloc(struct ski_pool *pool, size_t bytes)
{
    void *block = ski_pool_cached(pool, bytes);
    return SKI_LIKELY(block != NULL) ? block : ski_pool_alloc_slow(pool, bytes);
}

/** Puts a block into the magazine of its class.  Returns false if that is full. */
static inline bool ski_magazine_put(struct ski_magazine *magazine, void *block, size_t bytes)
{
    if (SKI_UNLIKELY(magazine->count == magazine->limit))
        return false;
    magazine->block[magazine->count++] = block;
    ski_poison(block, bytes);
    return true;
}

/** Caches a block that any PE of the host allocated.  Returns false if ski_pool_free_slow() must
 *  free it. */
static inline bool ski_pool_put(struct ski_pool *pool, void *block)
{
    struct ski_unit *unit = ski_unit_of(pool->arena, block);

    return SKI_LIKELY(unit->kind != SKI_UNIT_LARGE && unit->size_class < SKI_HOME_CLASS &&
                      ski_magazine_put(&pool->magazine[unit->size_class], block,
                                       ski_class_bytes(unit->size_class)));
}

/** Frees a block that any PE of the host allocated. */
static inline void ski_pool_free(struct ski_pool *pool, void *block)
{
    if (SKI_UNLIKELY(!ski_pool_put(pool, block)))
        ski_pool_free_slow(pool, block);
}

#endif
