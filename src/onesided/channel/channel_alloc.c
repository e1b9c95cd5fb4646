/* SPDX-License-Identifier: Apache-2.0 */
/* channel_alloc.c - memory for the buffers of channels: skua_channel_alloc(). */
#include "base/assert.h"
#include "onesided/channel/channel.h"

/* The header of a block that skua_channel_alloc() returns. */
struct channel_block {
    _Alignas(SKI_CACHE_LINE) size_t bytes;
    uint64_t sign;
};

#define CHANNEL_BLOCK_SIGN UINT64_C(0x736b75612d6d656d)

/* A copy whose target is a little after its source, modulo a page, is slow: loads wait for
 * stores that seem to be to the same address.  Large memory of other allocators begins at a page;
 * this allocator's begins in the middle of one. */
#define CHANNEL_LEAD     2048
#define CHANNEL_LEAD_MIN 32768 /* bytes from which on a block has it: it should not cost much */

static size_t channel_block_lead(size_t bytes)
{
    return bytes > CHANNEL_LEAD_MIN ? CHANNEL_LEAD : 0;
}

void *skua_channel_alloc(size_t bytes)
{
    struct ski_pe *self   = SKI_SELF();
    size_t         before = channel_block_lead(bytes) + sizeof(struct channel_block);
    char *memory = bytes < PTRDIFF_MAX ? ski_pool_alloc(&self->pool, before + bytes) : NULL;
    struct channel_block *block;

    if (!memory)
        return NULL;
    ski_assert(((uintptr_t)memory & (SKI_CACHE_LINE - 1)) == 0);
    block        = (void *)(memory + channel_block_lead(bytes));
    block->bytes = bytes;
    block->sign  = CHANNEL_BLOCK_SIGN;
    return block + 1;
}

void skua_channel_free(void *memory)
{
    struct ski_pe        *self  = SKI_SELF();
    struct channel_block *block = memory ? (struct channel_block *)memory - 1 : NULL;

    if (!memory)
        return;
    if (!ski_arena_contains(self->pool.arena, block) || block->sign != CHANNEL_BLOCK_SIGN)
        ski_misuse("%s: %p is not from skua_channel_alloc(), or was freed before", __func__,
                   memory);
    ski_channel_check_freed(self, memory, block->bytes);
    block->sign = 0;
    ski_pool_free(&self->pool, (char *)block - channel_block_lead(block->bytes));
}
