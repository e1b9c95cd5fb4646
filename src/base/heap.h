/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - the allocator of small blocks: one heap for each PE, of slabs in the arena.
 *
 * A heap is in the arena, and only the PE that owns it allocates from it.  Blocks have size
 * classes: steps of 64 bytes up to 512, then four to a power of two, up to 128 KiB.  A slab is a
 * span cut into blocks of one class; its units hold the id of its heap.
 *
 * Any PE may free a block.  The owner puts it back into its slab.  Another PE pushes it onto the
 * owner's `remote` stack, a chain of blocks at a time, with one compare-and-swap; the owner takes
 * the whole stack when it runs out of blocks.  As blocks are only pushed one chain at a time and
 * taken all at once, the stack has no ABA problem.
 *
 * Blocks are aligned to 64 bytes.  A slab without allocated blocks returns to the arena unless it
 * is the only one with room in its class; when memory is short that one returns, too
 * (ski_heap_trim).
 *
 * Messages do not call the heap one by one: pool.h caches blocks in batches.
 */
#ifndef SKI_HEAP_H
#define SKI_HEAP_H

#include <stdatomic.h>

#include "base/arena.h"

#define SKI_CLASSES     40
#define SKI_SMALL_BYTES ((size_t)131072) /* the largest class */
#define SKI_HOME_CLASS  12               /* the first class above 1 KiB: see pool.h */

/* The heap of one PE, in the arena. */
struct ski_heap {
    _Alignas(SKI_CACHE_LINE) struct ski_arena *arena;
    struct ski_heap *all;                          /* heap 0 of the arena                      */
    uint32_t         id;                           /* index of this heap from there            */
    uint32_t         slabs[SKI_CLASSES];           /* by class, the first slab that has room   */
    uint64_t         collected;                    /* blocks taken from `remote`               */
    _Alignas(SKI_CACHE_LINE) void *_Atomic remote; /* blocks that other PEs freed              */
};

/** Creates an array of @p count heaps in @p arena.  SKUA_ERR_NOMEM is logged. */
skua_status ski_heap_create(struct ski_arena *arena, unsigned count, struct ski_heap **heaps);

/** Allocates up to @p want blocks of a class.  Returns their number, which is 0 only if the arena
 *  is exhausted; that is not logged.  Called by the owner alone. */
unsigned ski_heap_take(struct ski_heap *heap, unsigned size_class, void **blocks, unsigned want);

/** Frees @p count blocks of any heaps of the arena.  @p heap is the caller's own. */
void ski_heap_give(struct ski_heap *heap, void **blocks, unsigned count);

/** Returns a block to the heap that it came from; @p all is heap 0.  Any thread may call it. */
void ski_heap_return(struct ski_heap *all, void *block);

/** Puts the blocks that other PEs freed back into their slabs.  Called by the owner alone. */
void ski_heap_collect(struct ski_heap *heap);

/** Frees all slabs without allocated blocks.  Called by the owner alone. */
void ski_heap_trim(struct ski_heap *heap);

/** Returns the smallest class whose blocks hold @p bytes, at most SKI_SMALL_BYTES. */
static inline unsigned ski_size_class(size_t bytes)
{
    unsigned log;

    if (bytes <= 512)
        return (unsigned)((bytes + 63) / 64) - (bytes > 0);
    log = 63u - (unsigned)__builtin_clzll(bytes - 1);
    return 8 + (log - 9) * 4 + (unsigned)((bytes - 1) >> (log - 2) & 3);
}

/** Returns the size in bytes of the blocks of a class. */
static inline size_t ski_class_bytes(unsigned size_class)
{
    unsigned log = 9 + (size_class - 8) / 4;

    if (size_class < 8)
        return 64 * (size_t)(size_class + 1);
    return ((size_t)5 + (size_class - 8) % 4) << (log - 2);
}

/** Returns the size in bytes of an allocated block, small or large. */
static inline size_t ski_block_bytes(struct ski_arena *arena, const void *block)
{
    const struct ski_unit *unit = ski_unit_of(arena, block);

    return unit->kind == SKI_UNIT_LARGE ? (size_t)unit->units << SKI_UNIT_SHIFT
                                        : ski_class_bytes(unit->size_class);
}

/** Returns whether the address @p at in the arena is the first byte of a block. */
bool ski_block_begins(struct ski_arena *arena, const void *at);

#endif
