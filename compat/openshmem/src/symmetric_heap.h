/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric_heap.h - the allocator of the symmetric heap.
 *
 * It allocates offsets in a range, and its decisions depend only on the sequence of calls: PEs that
 * make the same calls get the same offsets, without communication. Its records are outside of the
 * range, so a program that writes beyond an allocation cannot damage them.
 */
#ifndef SHMEMI_SYMMETRIC_HEAP_H
#define SHMEMI_SYMMETRIC_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/** The result of a failed allocation, which is never the offset of an allocation. */
#define SHMEMI_HEAP_NONE ((size_t)-1)

/** The least alignment of an allocation: a cache line. */
#define SHMEMI_HEAP_ALIGN ((size_t)64)

struct shmemi_heap_block {
    size_t offset;
    size_t bytes; /* bytes up to the next block */
    size_t asked; /* bytes that the program requested; 0: the block is free */
};

struct shmemi_heap {
    struct shmemi_heap_block *block; /* blocks by offset, without gaps */
    size_t                    blocks;
    size_t                    room; /* number of entries that `block` can hold */
};

/** Makes @p heap a heap of @p bytes, all of them free. Returns false if there is no memory. */
bool shmemi_heap_open(struct shmemi_heap *heap, size_t bytes);

/** Frees the records of @p heap. */
void shmemi_heap_close(struct shmemi_heap *heap);

/** Allocates @p bytes, not 0, at a multiple of @p align, a power of two. Returns their offset, or
 *  SHMEMI_HEAP_NONE. */
size_t shmemi_heap_alloc(struct shmemi_heap *heap, size_t align, size_t bytes);

/** Frees the allocation at @p offset. Returns false if there is none. */
bool shmemi_heap_free(struct shmemi_heap *heap, size_t offset);

/** Changes the size of the allocation at @p offset to @p bytes, not 0, in place. Returns false if
 *  there is no such allocation, or too little free memory after it. */
bool shmemi_heap_resize(struct shmemi_heap *heap, size_t offset, size_t bytes);

/** Returns the allocation that @p offset is in, or NULL. It is valid until the next change. */
const struct shmemi_heap_block *shmemi_heap_find(const struct shmemi_heap *heap, size_t offset);

#endif
