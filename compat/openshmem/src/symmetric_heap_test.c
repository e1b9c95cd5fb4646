/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric_heap_test.c - the allocator against a model: a byte for each unit that is in use. Two
 * heaps that get the same calls give the same offsets.
 */
#include "symmetric_heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_TEST_UNITS 512
#define HEAP_TEST_BYTES (HEAP_TEST_UNITS * SHMEMI_HEAP_ALIGN)
#define HEAP_TEST_LIVE  64

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static struct shmemi_heap heap, twin;
static unsigned char      used[HEAP_TEST_UNITS];
static size_t             offsets[HEAP_TEST_LIVE], sizes[HEAP_TEST_LIVE];
static uint32_t           state = 12345;

static uint32_t heap_test_random(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void heap_test_mark(size_t offset, size_t bytes, unsigned char now)
{
    for (size_t u = offset / SHMEMI_HEAP_ALIGN; u * SHMEMI_HEAP_ALIGN < offset + bytes; u++) {
        CHECK(used[u] != now);
        used[u] = now;
    }
}

static void heap_test_allocate(int i)
{
    size_t bytes = 1 + heap_test_random(20 * (uint32_t)SHMEMI_HEAP_ALIGN);
    size_t align = (size_t)1 << heap_test_random(12);

    offsets[i] = shmemi_heap_alloc(&heap, align, bytes);
    CHECK(offsets[i] == shmemi_heap_alloc(&twin, align, bytes));
    sizes[i] = bytes;
    if (offsets[i] == SHMEMI_HEAP_NONE)
        return;
    CHECK(offsets[i] % align == 0 && offsets[i] + bytes <= HEAP_TEST_BYTES);
    heap_test_mark(offsets[i], bytes, 1);
    CHECK(shmemi_heap_find(&heap, offsets[i] + bytes - 1)->offset == offsets[i]);
}

static void heap_test_release(int i)
{
    CHECK(shmemi_heap_free(&heap, offsets[i]) && shmemi_heap_free(&twin, offsets[i]));
    CHECK(!shmemi_heap_free(&heap, offsets[i]));
    heap_test_mark(offsets[i], sizes[i], 0);
    offsets[i] = SHMEMI_HEAP_NONE;
}

static void heap_test_resize(int i)
{
    size_t bytes   = 1 + heap_test_random(20 * (uint32_t)SHMEMI_HEAP_ALIGN);
    bool   resized = shmemi_heap_resize(&heap, offsets[i], bytes);

    CHECK(resized == shmemi_heap_resize(&twin, offsets[i], bytes));
    if (!resized)
        return;
    heap_test_mark(offsets[i], sizes[i], 0);
    sizes[i] = bytes;
    heap_test_mark(offsets[i], sizes[i], 1);
}

int main(void)
{
    CHECK(shmemi_heap_open(&heap, HEAP_TEST_BYTES) && shmemi_heap_open(&twin, HEAP_TEST_BYTES));
    for (int i = 0; i < HEAP_TEST_LIVE; i++)
        offsets[i] = SHMEMI_HEAP_NONE;
    for (int round = 0; round < 20000; round++) {
        int i = (int)heap_test_random(HEAP_TEST_LIVE);

        if (offsets[i] == SHMEMI_HEAP_NONE)
            heap_test_allocate(i);
        else if (heap_test_random(2))
            heap_test_release(i);
        else
            heap_test_resize(i);
    }
    for (int i = 0; i < HEAP_TEST_LIVE; i++)
        if (offsets[i] != SHMEMI_HEAP_NONE)
            heap_test_release(i);
    CHECK(heap.blocks == 1); /* all free blocks have been joined */
    CHECK(shmemi_heap_alloc(&heap, 1, HEAP_TEST_BYTES + 1) == SHMEMI_HEAP_NONE);
    CHECK(shmemi_heap_alloc(&heap, 1, SIZE_MAX) == SHMEMI_HEAP_NONE);
    CHECK(shmemi_heap_alloc(&heap, 1, HEAP_TEST_BYTES) == 0);
    CHECK(!shmemi_heap_find(&twin, 0) && !shmemi_heap_free(&twin, 0));
    shmemi_heap_close(&heap);
    shmemi_heap_close(&twin);
    return 0;
}
