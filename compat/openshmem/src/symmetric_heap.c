/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric_heap.c - see symmetric_heap.h.
 *
 * The blocks, free and in use, are an array in the order of their offsets: block[i] ends where
 * block[i + 1] begins, and no two free blocks are neighbours. An allocation takes the smallest free
 * block into which it fits, the first among equal ones, and returns the parts that it does not need
 * before (for the alignment) and after it. A heap has few blocks, and collective calls are rare, so
 * a scan of the array is fast enough; offsets are found by binary search.
 */
#include "symmetric_heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t heap_round_up(size_t value, size_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* Returns the index of the block that @p offset is in. */
static size_t heap_index(const struct shmemi_heap *heap, size_t offset)
{
    size_t low = 0, high = heap->blocks;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (heap->block[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool heap_reserve(struct shmemi_heap *heap, size_t blocks)
{
    struct shmemi_heap_block *more;

    if (blocks <= heap->room)
        return true;
    more = realloc(heap->block, 2 * blocks * sizeof *more);
    if (!more)
        return false;
    heap->block = more;
    heap->room  = 2 * blocks;
    return true;
}

/* Divides block @p i after its first @p bytes, unless it ends there. The second part is free. The
 * array has room for it. */
static void heap_divide(struct shmemi_heap *heap, size_t i, size_t bytes)
{
    struct shmemi_heap_block *block = &heap->block[i];

    if (block->bytes == bytes)
        return;
    memmove(block + 2, block + 1, (heap->blocks - i - 1) * sizeof *block);
    heap->blocks++;
    block[1].offset = block->offset + bytes;
    block[1].bytes  = block->bytes - bytes;
    block[1].asked  = 0;
    block->bytes    = bytes;
}

/* Joins block @p i with the next one if both are free. */
static void heap_join(struct shmemi_heap *heap, size_t i)
{
    struct shmemi_heap_block *block = &heap->block[i];

    if (i + 1 >= heap->blocks || block[0].asked || block[1].asked)
        return;
    block->bytes += block[1].bytes;
    heap->blocks--;
    memmove(block + 1, block + 2, (heap->blocks - i - 1) * sizeof *block);
}

/* Returns true if @p bytes at a multiple of @p align fit into @p block. */
static bool heap_fits(const struct shmemi_heap_block *block, size_t align, size_t bytes)
{
    size_t front = heap_round_up(block->offset, align) - block->offset;

    return !block->asked && block->bytes >= front && block->bytes - front >= bytes;
}

static size_t heap_best(const struct shmemi_heap *heap, size_t align, size_t bytes)
{
    size_t best = SHMEMI_HEAP_NONE;

    for (size_t i = 0; i < heap->blocks; i++)
        if (heap_fits(&heap->block[i], align, bytes) &&
            (best == SHMEMI_HEAP_NONE || heap->block[i].bytes < heap->block[best].bytes))
            best = i;
    return best;
}

bool shmemi_heap_open(struct shmemi_heap *heap, size_t bytes)
{
    *heap = (struct shmemi_heap){0};
    if (!heap_reserve(heap, 16))
        return false;
    heap->blocks   = 1;
    heap->block[0] = (struct shmemi_heap_block){0, bytes & ~(SHMEMI_HEAP_ALIGN - 1), 0};
    return true;
}

void shmemi_heap_close(struct shmemi_heap *heap)
{
    free(heap->block);
    *heap = (struct shmemi_heap){0};
}

size_t shmemi_heap_alloc(struct shmemi_heap *heap, size_t align, size_t bytes)
{
    size_t asked = bytes, i, front;

    if (align < SHMEMI_HEAP_ALIGN)
        align = SHMEMI_HEAP_ALIGN;
    if (bytes > SIZE_MAX - SHMEMI_HEAP_ALIGN || !heap_reserve(heap, heap->blocks + 2))
        return SHMEMI_HEAP_NONE;
    bytes = heap_round_up(bytes, SHMEMI_HEAP_ALIGN);
    i     = heap_best(heap, align, bytes);
    if (i == SHMEMI_HEAP_NONE)
        return SHMEMI_HEAP_NONE;
    front = heap_round_up(heap->block[i].offset, align) - heap->block[i].offset;
    if (front > 0)
        heap_divide(heap, i++, front);
    heap_divide(heap, i, bytes);
    heap->block[i].asked = asked;
    return heap->block[i].offset;
}

bool shmemi_heap_free(struct shmemi_heap *heap, size_t offset)
{
    size_t i = heap_index(heap, offset);

    if (heap->block[i].offset != offset || !heap->block[i].asked)
        return false;
    heap->block[i].asked = 0;
    heap_join(heap, i);
    if (i > 0)
        heap_join(heap, i - 1);
    return true;
}

bool shmemi_heap_resize(struct shmemi_heap *heap, size_t offset, size_t bytes)
{
    size_t                    i = heap_index(heap, offset), whole;
    struct shmemi_heap_block *block;

    if (bytes > SIZE_MAX - SHMEMI_HEAP_ALIGN || !heap_reserve(heap, heap->blocks + 1))
        return false;
    block = &heap->block[i];
    if (block->offset != offset || !block->asked)
        return false;
    whole = heap_round_up(bytes, SHMEMI_HEAP_ALIGN);
    if (whole > block->bytes) { /* takes the free block after it, then returns the rest */
        if (i + 1 >= heap->blocks || block[1].asked || block->bytes + block[1].bytes < whole)
            return false;
        block->asked = 0;
        heap_join(heap, i);
    }
    block->asked = bytes;
    heap_divide(heap, i, whole);
    heap_join(heap, i + 1 < heap->blocks ? i + 1 : i);
    return true;
}

const struct shmemi_heap_block *shmemi_heap_find(const struct shmemi_heap *heap, size_t offset)
{
    const struct shmemi_heap_block *block = &heap->block[heap_index(heap, offset)];

    return block->asked && offset - block->offset < block->bytes ? block : NULL;
}
