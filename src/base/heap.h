/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - small blocks: slabs of the arena that belong to one PE each.
 *
 * A heap is the allocator of one PE.  It lies in the arena; only its owner
 * takes blocks from it.  Blocks come in size classes (64-byte steps to 512,
 * then four to a power of two, to 128 KiB); a slab is a span cut into blocks of
 * one class, and knows its heap.
 *
 * Any PE may give a block back.  The owner puts it into its slab; another PE
 * pushes it onto the owner's `remote` stack, a chain at a time, with one
 * compare-and-swap; the owner takes the whole stack when it runs out of
 * blocks.  Push-only and take-all: the stack cannot suffer from ABA.
 *
 * Blocks are 64-byte aligned.  A slab all of whose blocks came back returns to
 * the arena unless it is the last one with room in its class, and that one too
 * when memory is short (ski_heap_trim).
 *
 * Nobody calls this per message: pool.h keeps blocks at hand in batches.
 */
#ifndef SKI_HEAP_H
#define SKI_HEAP_H

#include <stdatomic.h>

#include "base/arena.h"

#define SKI_CLASSES     40
#define SKI_SMALL_BYTES ((size_t)131072) /* the largest class */
#define SKI_HOME_CLASS  12               /* the first above 1 KiB: see pool.h */

struct ski_heap {
    _Alignas(SKI_CACHE_LINE) struct ski_arena *arena;
    struct ski_heap *all;                          /* heap 0 of the arena's heaps          */
    uint32_t         id;                           /* this one's place there               */
    uint32_t         slabs[SKI_CLASSES];           /* first of the slabs with room, by class */
    uint64_t         collected;                    /* blocks that came back from other PEs */
    _Alignas(SKI_CACHE_LINE) void *_Atomic remote; /* blocks freed by others      */
};

/** Make @p count heaps in @p arena, next to each other.  SKUA_ERR_NOMEM. */
skua_status_t ski_heap_create(struct ski_arena *arena, unsigned count, struct ski_heap **heaps);

/** Take up to @p want blocks of a class; returns how many were got, 0 only when
 *  the arena is exhausted (and nothing is said).  Owner only. */
unsigned ski_heap_take(struct ski_heap *heap, unsigned size_class, void **blocks, unsigned want);

/** Give @p count blocks back, whatever heaps they are of.  @p heap is the
 *  caller's own. */
void ski_heap_give(struct ski_heap *heap, void **blocks, unsigned count);

/** Give a block back to the heap it is of; @p all is heap 0.  Any thread. */
void ski_heap_return(struct ski_heap *all, void *block);

/** Put the blocks that other PEs gave back into their slabs.  Owner only. */
void ski_heap_collect(struct ski_heap *heap);

/** Give slabs that have no block out back to the arena.  Owner only. */
void ski_heap_trim(struct ski_heap *heap);

/** The class of blocks that hold @p bytes; only for up to SKI_SMALL_BYTES is
 *  there one. */
static inline unsigned ski_size_class(size_t bytes)
{
    unsigned log;

    if (bytes <= 512)
        return (unsigned)((bytes + 63) / 64) - (bytes > 0);
    log = 63u - (unsigned)__builtin_clzll(bytes - 1);
    return 8 + (log - 9) * 4 + (unsigned)((bytes - 1) >> (log - 2) & 3);
}

/** Bytes of a block of a class. */
static inline size_t ski_class_bytes(unsigned size_class)
{
    unsigned log = 9 + (size_class - 8) / 4;

    if (size_class < 8)
        return 64 * (size_t)(size_class + 1);
    return ((size_t)5 + (size_class - 8) % 4) << (log - 2);
}

/** Bytes of a block that is out: of a class, or a span of its own. */
static inline size_t ski_block_bytes(struct ski_arena *arena, const void *block)
{
    const struct ski_unit *unit = ski_unit_of(arena, block);

    return unit->kind == SKI_UNIT_LARGE ? (size_t)unit->units << SKI_UNIT_SHIFT
                                        : ski_class_bytes(unit->size_class);
}

/** Whether @p at is where a block begins. */
bool ski_block_begins(struct ski_arena *arena, const void *at);

#endif
