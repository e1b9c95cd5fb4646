/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_check.c - checked pools: a record behind each block, and a quarantine.
 *
 * A block that is freed is overwritten with POISON, as far as BOUND, and its record says
 * SKI_BLOCK_FREED.  It then waits in a ring; when the ring is full, or holds too much, the
 * oldest goes back to its heap, after a look whether POISON is still there.  So a second
 * free, and a write to freed memory, is found as long as the block waits, and a second free
 * until the memory is given out again.
 *
 * A block may be freed by another PE than the one that allocated it; the record travels with
 * it, ordered by what handed the block over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

#define POOL_CHECK_POISON 0xdb
#define POOL_CHECK_POISON_MAX                                                                      \
    ((size_t)4096)            /* bytes of a block that are overwritten and looked at */
#define QUARANTINE_BLOCKS 256 /* blocks that wait at most                           */
#define QUARANTINE_BYTES  ((size_t)8 << 20) /* ... of so many bytes                            */
#define QUARANTINE_SHARE  256               /* ... and in so small a share of the arena           */

struct ski_quarantine {
    uint32_t first, count;
    size_t   bytes, max_bytes;
    void    *block[QUARANTINE_BLOCKS];
};

ski_pool_misuse_fn ski_pool_misuse;

void ski_pool_check_begin(struct ski_pool *pool)
{
    size_t share = pool->arena->bytes / QUARANTINE_SHARE;

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

static struct ski_record *pool_check_record(struct ski_pool *pool, void *block)
{
    char *end = (char *)block + ski_block_bytes(pool->arena, block);

    return (struct ski_record *)(void *)end - 1;
}

struct ski_record *ski_pool_record(struct ski_pool *pool, const void *block)
{
    struct ski_record *record;

    if (!ski_arena_contains(pool->arena, block) || !ski_block_begins(pool->arena, block))
        return NULL;
    record = pool_check_record(pool, (void *)(uintptr_t)block);
    return record->magic == SKI_RECORD_MAGIC ? record : NULL;
}

void *ski_pool_check_alloc(struct ski_pool *pool, size_t bytes)
{
    void *block = ski_pool_try(pool, bytes + sizeof(struct ski_record));

    if (!block)
        return NULL;
    ski_unpoison(block, ski_block_bytes(pool->arena, block));
    *pool_check_record(pool, block) =
        (struct ski_record){.magic = SKI_RECORD_MAGIC, .owner = -1, .state = SKI_BLOCK_HELD};
    return block;
}

/* ---- quarantine ---------------------------------------------------------- */

/* The bytes of a block that are overwritten. */
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

    quarantine->first = (quarantine->first + 1) % QUARANTINE_BLOCKS;
    quarantine->count--;
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
    struct ski_quarantine *quarantine = pool->quarantine;
    struct ski_record     *record     = ski_pool_record(pool, block);
    size_t                 bytes      = ski_block_bytes(pool->arena, block);

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
