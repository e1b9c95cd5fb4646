/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_check.c - checked pools: a record at the end of each block, and a quarantine.
 *
 * A freed block is overwritten with POOL_CHECK_POISON, up to POOL_CHECK_POISON_MAX bytes, and its
 * record says SKI_BLOCK_FREED.  It then waits in a ring.  When the ring is full, or holds too many
 * bytes, the oldest block is checked for the poison and returns to its heap.  So a write to freed
 * memory is found while the block waits, and a second free until the block is allocated again.
 *
 * A block may be freed by another PE than the one that allocated it.  The record moves with the
 * block, ordered by the operation that handed the block over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/pool.h"

#define POOL_CHECK_POISON 0xdb
/* bytes of a freed block that are overwritten and checked, at most */
#define POOL_CHECK_POISON_MAX ((size_t)4096)
#define QUARANTINE_BLOCKS     256               /* blocks that wait, at most        */
#define QUARANTINE_BYTES      ((size_t)8 << 20) /* their bytes, at most             */
#define QUARANTINE_SHARE      256               /* and their share of the arena: 1/256 */

/* A ring of freed blocks, oldest first. */
struct ski_quarantine {
    uint32_t first, count;
    size_t   bytes, max_bytes;
    void    *block[QUARANTINE_BLOCKS];
};

ski_pool_misuse_fn ski_pool_misuse;

void ski_pool_check_begin(struct ski_pool *pool)
{
    size_t share = pool->arena->bytes / QUARANTINE_SHARE;

    ski_assert(!pool->quarantine);
    pool->quarantine            = ski_calloc(1, sizeof *pool->quarantine);
    pool->quarantine->max_bytes = share < QUARANTINE_BYTES ? share : QUARANTINE_BYTES;
    for (unsigned c = 0; c < SKI_CLASSES; c++)
        pool->magazine[c].limit = 0;
}

void ski_pool_check_end(struct ski_pool *pool)
{
    if (!pool->quarantine)
        return;
    ski_pool_check_flush(pool);
    free(pool->quarantine);
    pool->quarantine = NULL;
}

/* ---- records ------------------------------------------------------------- */

static struct ski_block_record *pool_check_record(struct ski_pool *pool, void *block)
{
    char *end = (char *)block + ski_block_bytes(pool->arena, block);

    return (struct ski_block_record *)(void *)end - 1;
}

struct ski_block_record *ski_pool_record(struct ski_pool *pool, const void *block)
{
    struct ski_block_record *record;

    if (!ski_arena_contains(pool->arena, block) || !ski_block_begins(pool->arena, block))
        return NULL;
    record = pool_check_record(pool, (void *)(uintptr_t)block);
    return record->magic == SKI_RECORD_MAGIC ? record : NULL;
}

void *ski_pool_check_alloc(struct ski_pool *pool, size_t bytes)
{
    void *block = ski_pool_try(pool, bytes + sizeof(struct ski_block_record));

    if (!block)
        return NULL;
    ski_unpoison(block, ski_block_bytes(pool->arena, block));
    *pool_check_record(pool, block) =
        (struct ski_block_record){.magic = SKI_RECORD_MAGIC, .owner = -1, .state = SKI_BLOCK_HELD};
    return block;
}

/* ---- quarantine ---------------------------------------------------------- */

/* Returns how many bytes of a block are overwritten. */
static size_t pool_check_poisoned_bytes(struct ski_pool *pool, void *block)
{
    size_t bytes = (size_t)((char *)pool_check_record(pool, block) - (char *)block);

    return bytes < POOL_CHECK_POISON_MAX ? bytes : POOL_CHECK_POISON_MAX;
}

static bool pool_check_is_intact(const unsigned char *at, size_t bytes)
{
    return at[0] == POOL_CHECK_POISON && memcmp(at, at + 1, bytes - 1) == 0;
}

static void pool_check_release(struct ski_pool *pool)
{
    struct ski_quarantine *quarantine = pool->quarantine;
    void                  *block      = quarantine->block[quarantine->first];

    ski_assert(quarantine->count > 0);
    quarantine->first = (quarantine->first + 1) % QUARANTINE_BLOCKS;
    quarantine->count--;
    ski_assert(quarantine->bytes >= ski_block_bytes(pool->arena, block));
    quarantine->bytes -= ski_block_bytes(pool->arena, block);
    ski_unpoison(block, pool_check_poisoned_bytes(pool, block));
    if (ski_pool_misuse && !pool_check_is_intact(block, pool_check_poisoned_bytes(pool, block)))
        ski_pool_misuse(block, pool_check_record(pool, block), "was written to after it was");
    ski_pool_give(pool, block);
}

void ski_pool_check_flush(struct ski_pool *pool)
{
    while (pool->quarantine->count > 0)
        pool_check_release(pool);
}

void ski_pool_check_free(struct ski_pool *pool, void *block)
{
    struct ski_quarantine   *quarantine = pool->quarantine;
    struct ski_block_record *record     = ski_pool_record(pool, block);
    size_t                   bytes      = ski_block_bytes(pool->arena, block);

    if (!record || record->state == SKI_BLOCK_FREED) {
        if (ski_pool_misuse)
            ski_pool_misuse(block, record, "is freed, but was");
        return;
    }
    record->state = SKI_BLOCK_FREED;
    ski_unpoison(block, bytes);
    memset(block, POOL_CHECK_POISON, pool_check_poisoned_bytes(pool, block));
    if (bytes > quarantine->max_bytes) {
        ski_pool_give(pool, block);
        return;
    }
    ski_poison(block, pool_check_poisoned_bytes(pool, block));
    while (quarantine->count == QUARANTINE_BLOCKS ||
           quarantine->bytes + bytes > quarantine->max_bytes)
        pool_check_release(pool);
    quarantine->block[(quarantine->first + quarantine->count++) % QUARANTINE_BLOCKS] = block;
    quarantine->bytes += bytes;
}
