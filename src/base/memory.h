/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - malloc() for the runtime's own tables, which does not return NULL, and for texts of
 * threads.
 *
 * Queues and tables grow by small amounts.  When malloc() fails for these no caller can continue,
 * so these functions end the process with a line that says so.
 */
#ifndef SKI_MEMORY_H
#define SKI_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "base/log.h"

/** Returns @p memory, or ends the process if it is NULL: @p bytes were requested. */
static inline void *ski_memory_checked(void *memory, size_t bytes)
{
    if (SKI_UNLIKELY(!memory))
        ski_fatal("out of memory: malloc() has no %zu bytes for the runtime", bytes);
    return memory;
}

/** Allocates @p bytes of undefined contents. */
static inline void *ski_malloc(size_t bytes)
{
    return ski_memory_checked(malloc(bytes), bytes);
}

/** Allocates @p count objects of @p bytes, zeroed. */
static inline void *ski_calloc(size_t count, size_t bytes)
{
    return ski_memory_checked(calloc(count, bytes), count * bytes);
}

/** Allocates @p bytes, zeroed and aligned to a cache line. */
static inline void *ski_calloc_line(size_t bytes)
{
    size_t lines = (bytes + SKI_CACHE_LINE - 1) / SKI_CACHE_LINE;
    void *memory = ski_memory_checked(aligned_alloc(SKI_CACHE_LINE, lines * SKI_CACHE_LINE), bytes);

    return memset(memory, 0, bytes);
}

/** Resizes @p memory to @p bytes. */
static inline void *ski_realloc(void *memory, size_t bytes)
{
    return ski_memory_checked(realloc(memory, bytes), bytes);
}

/** Returns @p array, of *@p room items of @p size bytes, with room for one item more than @p count:
 * an array that is full is resized to twice as many, at least 16. */
static inline void *ski_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room ? 2 * *room : 16;
    return ski_realloc(array, *room * size);
}

/** Returns the block of @p bytes that the calling thread has for @p slot, a thread-local pointer
 *  which is NULL at first.  The first call of a thread allocates it, zeroed; it is freed when the
 *  thread ends.  Texts are there and not in thread-local arrays: a process that loads the library
 *  after its start, by dlopen(), has room for few thread-local variables. */
void *ski_thread_memory(void **slot, size_t bytes);

#endif
