/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - the symmetric heap of OpenSHMEM.
 *
 * The calls are collective and all PEs make them in one order with the same arguments, so the
 * allocators of all PEs (symmetric_heap.h) make the same decisions without communication. A barrier
 * at the end of an allocation ensures that the memory may be used on all PEs; a barrier at the
 * beginning of a release ensures that no PE uses it.
 */
#include <shmem.h>
#include <stdio.h>

#include "collective.h"
#include "rma.h"

static char *memory_base(void)
{
    return (char *)shmemi_job.segment[SHMEMI_HEAP].base;
}

static void memory_barrier(void)
{
    shmemi_quiet();
    shmemi_sync(&shmemi_team(SHMEM_TEAM_WORLD)->set);
}

/* Returns the offset of the allocation @p ptr, or SHMEMI_HEAP_NONE if it is none. */
static size_t memory_offset(const void *ptr)
{
    size_t                          offset = (uintptr_t)ptr - (uintptr_t)memory_base();
    const struct shmemi_heap_block *block  = shmemi_heap_find(&shmemi_job.heap, offset);

    if (offset >= shmemi_job.heap_bytes || !block || block->offset != offset)
        return SHMEMI_HEAP_NONE;
    return offset;
}

/* Allocates without a barrier. */
static void *memory_take(size_t align, size_t bytes)
{
    size_t offset = shmemi_heap_alloc(&shmemi_job.heap, align, bytes);

    return offset == SHMEMI_HEAP_NONE ? NULL : memory_base() + offset;
}

static void *memory_alloc(const char *call, size_t align, size_t bytes, bool zero)
{
    void *memory;

    shmemi_check_running(call);
    if (bytes == 0)
        return NULL;
    memory = memory_take(align, bytes);
    if (memory && zero)
        memset(memory, 0, bytes);
    memory_barrier();
    return memory;
}

void *shmem_malloc(size_t size)
{
    return memory_alloc(__func__, 1, size, false);
}

void *shmem_malloc_with_hints(size_t size, long hints)
{
    (void)hints; /* all memory suits atomics and signals */
    return memory_alloc(__func__, 1, size, false);
}

void *shmem_calloc(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX; /* larger than any heap */
    return memory_alloc(__func__, 1, bytes, true);
}

void *shmem_align(size_t alignment, size_t size)
{
    if (alignment == 0 || (alignment & (alignment - 1)))
        return NULL; /* not a power of two, on all PEs */
    if (alignment > SHMEMI_HEAP_BASE_ALIGN)
        size = SIZE_MAX; /* larger than any heap */
    return memory_alloc(__func__, alignment, size, false);
}

/* Moves the allocation at @p offset to a new block. Returns NULL if there is no such block. */
static void *memory_move(size_t offset, size_t bytes)
{
    size_t old   = shmemi_heap_find(&shmemi_job.heap, offset)->asked;
    void  *moved = memory_take(1, bytes);

    if (!moved)
        return NULL;
    memcpy(moved, memory_base() + offset, old < bytes ? old : bytes);
    shmemi_heap_free(&shmemi_job.heap, offset);
    return moved;
}

void *shmem_realloc(void *ptr, size_t size)
{
    size_t offset;

    if (!ptr)
        return shmem_malloc(size);
    if (size == 0) {
        shmem_free(ptr);
        return NULL;
    }
    shmemi_check_running(__func__);
    offset = memory_offset(ptr);
    if (offset == SHMEMI_HEAP_NONE) {
        fprintf(stderr, "%s: %p on PE %d is not an allocation of the symmetric heap\n", __func__,
                ptr, shmemi_job.pe);
        return NULL;
    }
    memory_barrier();
    if (!shmemi_heap_resize(&shmemi_job.heap, offset, size))
        ptr = memory_move(offset, size);
    memory_barrier();
    return ptr;
}

void shmem_free(void *ptr)
{
    size_t offset;

    shmemi_check_running(__func__);
    if (!ptr)
        return;
    offset = memory_offset(ptr);
    if (offset == SHMEMI_HEAP_NONE)
        skua_abort("%s: %p on PE %d is not an allocation of the symmetric heap", __func__, ptr,
                   shmemi_job.pe);
    memory_barrier();
    shmemi_heap_free(&shmemi_job.heap, offset);
}

void *shmalloc(size_t size)
{
    return shmem_malloc(size);
}

void *shmemalign(size_t alignment, size_t size)
{
    return shmem_align(alignment, size);
}

void *shrealloc(void *ptr, size_t size)
{
    return shmem_realloc(ptr, size);
}

void shfree(void *ptr)
{
    shmem_free(ptr);
}

/* ---- addresses ---------------------------------------------------------- */

void *shmem_ptr(const void *dest, int pe)
{
    skua_gaddr at;

    shmemi_check_running(__func__);
    if (!shmemi_segment_of(dest))
        return NULL;
    return pe == shmemi_job.pe ? (void *)(uintptr_t)dest
                               : shmemi_locate(__func__, dest, 0, pe, &at);
}

int shmem_addr_accessible(const void *addr, int pe)
{
    return shmem_pe_accessible(pe) && shmemi_segment_of(addr) != NULL;
}

int shmem_pe_accessible(int pe)
{
    shmemi_check_running(__func__);
    return pe >= 0 && pe < shmemi_job.pes;
}
