/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - process-private memory that the runtime cannot do without.
 *
 * Queues, tables and the like grow by small amounts; when malloc() refuses
 * those, no caller can go on.  These end the process with a line that says so.
 */
#ifndef SKI_MEMORY_H
#define SKI_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "base/log.h"

static inline void *ski_checked(void *memory, size_t bytes)
{
    if (SKI_UNLIKELY(!memory))
        ski_fatal("malloc has no %zu bytes left for the runtime", bytes);
    return memory;
}

static inline void *ski_malloc(size_t bytes)
{
    return ski_checked(malloc(bytes), bytes);
}

/** Zeroed. */
static inline void *ski_calloc(size_t count, size_t bytes)
{
    return ski_checked(calloc(count, bytes), count * bytes);
}

/** Zeroed, and beginning with a cache line. */
static inline void *ski_calloc_line(size_t bytes)
{
    size_t lines  = (bytes + SKI_CACHE_LINE - 1) / SKI_CACHE_LINE;
    void  *memory = ski_checked(aligned_alloc(SKI_CACHE_LINE, lines * SKI_CACHE_LINE), bytes);

    return memset(memory, 0, bytes);
}

static inline void *ski_realloc(void *memory, size_t bytes)
{
    return ski_checked(realloc(memory, bytes), bytes);
}

#endif
