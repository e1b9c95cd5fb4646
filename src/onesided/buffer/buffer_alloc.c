/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_alloc.c - memory for buffers: skua_buffer_alloc().
 *
 * It is memory of the arena, from the allocator of messages (base/pool.h), which keeps freed blocks
 * by size.  Where a driver pins memory, a registration of the arena is kept without a holder
 * (onesided/region/registration.h), so a block that is allocated again is registered already.
 */
#include "base/assert.h"
#include "onesided/buffer/buffer.h"

void *skua_buffer_alloc(size_t bytes)
{
    struct ski_pe *self  = SKI_SELF();
    void          *block = ski_pool_alloc(&self->pool, bytes ? bytes : 1);

    if (!block)
        ski_fatal("no memory for a buffer of %zu bytes; raise SKUA_ARENA_SIZE", bytes);
    ski_assert((uintptr_t)block % SKI_CACHE_LINE == 0);
    return block;
}

void skua_buffer_free(void *memory)
{
    struct ski_pe *self = SKI_SELF();

    if (!memory)
        return;
    if (!ski_arena_contains(self->job->arena, memory))
        ski_misuse("skua_buffer_free: %p is not from skua_buffer_alloc()", memory);
    ski_pool_free(&self->pool, memory);
}
