/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_test.c - blocks of all classes do not overlap, slabs return to the arena when they are
 * empty, and blocks that another thread frees come back to the heap that they are of.
 */
#include "base/heap.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static void test_heap_classes(void)
{
    int    bad  = 0;
    size_t last = 0;

    for (size_t bytes = 1; bytes <= SKI_SMALL_BYTES; bytes++) {
        unsigned c = ski_size_class(bytes);
        bad += c >= SKI_CLASSES || ski_class_bytes(c) < bytes ||
               (c > 0 && ski_class_bytes(c - 1) >= bytes);
    }
    OK(bad == 0, "each size has the smallest class that holds it");
    for (unsigned c = 0; c < SKI_CLASSES; c++) {
        bad += ski_class_bytes(c) <= last || ski_class_bytes(c) % 64 != 0;
        last = ski_class_bytes(c);
    }
    OK(bad == 0 && last == SKI_SMALL_BYTES, "classes ascend in multiples of 64 bytes");
    OK(ski_class_bytes(SKI_HOME_CLASS - 1) == 1024, "SKI_HOME_CLASS is the first above 1 KiB");
}

/* More blocks than a slab has, each filled with a value of its own. */
static void test_heap_blocks(struct ski_heap *heap, unsigned size_class)
{
    enum { BLOCKS = 100 };
    size_t bytes  = ski_class_bytes(size_class);
    size_t before = ski_arena_free_bytes(heap->arena);
    void  *block[BLOCKS];
    int    bad = 0;

    for (unsigned n = 0; n < BLOCKS;) {
        unsigned got = ski_heap_take(heap, size_class, block + n, BLOCKS - n);
        bad += got == 0;
        n += got ? got : BLOCKS;
    }
    for (int i = 0; i < BLOCKS; i++)
        memset(block[i], i, bytes);
    for (int i = 0; i < BLOCKS; i++) {
        const unsigned char *b = block[i];
        bad += b[0] != i || b[bytes - 1] != i || (uintptr_t)b % 64 != 0;
        bad += ski_block_bytes(heap->arena, b) != bytes || !ski_block_begins(heap->arena, b) ||
               ski_block_begins(heap->arena, b + 1);
    }
    OK(bad == 0, "%d blocks of %zu bytes do not overlap", BLOCKS, bytes);
    ski_heap_give(heap, block, BLOCKS);
    ski_heap_trim(heap);
    OK(ski_arena_free_bytes(heap->arena) == before, "their slabs return to the arena");
}

struct heap_test_frees {
    struct ski_heap *own;
    void           **block;
    unsigned         count;
};

static void *heap_test_free_all(void *arg)
{
    struct heap_test_frees *frees = arg;

    ski_heap_give(frees->own, frees->block, frees->count);
    return NULL;
}

static bool heap_test_is_one_of(const void *block, void **blocks, int count)
{
    for (int i = 0; i < count; i++)
        if (blocks[i] == block)
            return true;
    return false;
}

static void test_heap_remote(struct ski_heap *heaps)
{
    enum { BLOCKS = 8 };
    void                  *block[BLOCKS], *again;
    struct heap_test_frees frees  = {&heaps[1], block, BLOCKS - 1};
    uint64_t               before = heaps[0].collected;
    pthread_t              thread;

    OK(ski_heap_take(&heaps[0], 3, block, BLOCKS) == BLOCKS, "a slab has 8 blocks at least");
    pthread_create(&thread, NULL, heap_test_free_all, &frees);
    pthread_join(thread, NULL);
    ski_heap_return(heaps, block[BLOCKS - 1]);
    OK(heaps[1].slabs[3] == 0, "blocks that another PE frees do not go into its heap");
    ski_heap_collect(&heaps[0]);
    OK(heaps[0].collected - before == BLOCKS, "the owner collects all of them");
    OK(ski_heap_take(&heaps[0], 3, &again, 1) == 1 && heap_test_is_one_of(again, block, BLOCKS),
       "and allocates from them again");
    ski_heap_give(&heaps[0], &again, 1);
    ski_heap_trim(&heaps[0]);
}

/* Where the arena has no room for a whole slab, one of a single block is made. */
static void test_heap_exhaustion(struct ski_heap *heap)
{
    size_t   left = ski_arena_free_bytes(heap->arena);
    unsigned last = SKI_CLASSES - 1, n = 0;
    void    *filler, *block[16];

    filler = ski_span_try(heap->arena, left - 3 * SKI_UNIT_BYTES, SKI_UNIT_LARGE);
    while (n < 16 && ski_heap_take(heap, last, &block[n], 1) == 1)
        n++;
    OK(filler && n == 1, "3 units of 64 KiB hold one block of 128 KiB");
    ski_heap_give(heap, block, n);
    ski_heap_trim(heap);
    ski_span_free(heap->arena, filler);
    OK(ski_arena_free_bytes(heap->arena) == left, "all memory is free again");
}

int main(void)
{
    struct ski_arena *arena;
    struct ski_heap  *heaps;
    int               fd;

    test_heap_classes();
    OK(ski_arena_create(64 * MIB, 0, 8 * MIB, &arena, &fd) == SKUA_OK &&
           ski_heap_create(arena, 2, &heaps) == SKUA_OK,
       "an arena with two heaps");
    for (unsigned c = 0; c < SKI_CLASSES; c += 13)
        test_heap_blocks(&heaps[0], c);
    test_heap_remote(heaps);
    test_heap_exhaustion(&heaps[0]);
    ski_arena_detach(arena);
    close(fd);
    return tap_end();
}
