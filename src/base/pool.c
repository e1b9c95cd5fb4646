/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - the slow paths of pool.h: filling and emptying magazines, and large blocks. */
#include "base/pool.h"

#include <string.h>

#include "base/assert.h"

#define POOL_KEPT_MAX   ((size_t)4 << 20) /* bytes of a large block that is kept, at most ... */
#define POOL_KEPT_SHARE 4096              /* ... and which part of the arena                  */

void ski_pool_init(struct ski_pool *pool, struct ski_heap *heap)
{
    size_t share = heap->arena->bytes / POOL_KEPT_SHARE;

    memset(pool, 0, sizeof *pool);
    pool->arena    = heap->arena;
    pool->heap     = heap;
    pool->kept_max = (uint32_t)((share < POOL_KEPT_MAX ? share : POOL_KEPT_MAX) >> SKI_UNIT_SHIFT);
    for (unsigned c = 0; c < SKI_CLASSES; c++) {
        size_t fit              = SKI_UNIT_BYTES / ski_class_bytes(c);
        pool->magazine[c].limit = fit > SKI_MAGAZINE ? SKI_MAGAZINE : fit < 4 ? 4 : (uint32_t)fit;
    }
}

/* Returns the oldest @p count blocks of a magazine to their heaps. */
static void pool_unload(struct ski_pool *pool, struct ski_magazine *magazine, uint32_t count)
{
    size_t bytes = ski_class_bytes((unsigned)(magazine - pool->magazine));

    ski_assert(count <= magazine->count && magazine->count <= SKI_MAGAZINE);
    for (uint32_t i = 0; i < count; i++)
        ski_unpoison(magazine->block[i], bytes);
    ski_heap_give(pool->heap, magazine->block, count);
    magazine->count -= count;
    memmove(magazine->block, magazine->block + count, magazine->count * sizeof(void *));
}

/* ---- large blocks ------------------------------------------------------------------- */

/* Allocates a large block: the one that is kept, if it has the right length. */
static void *pool_take_large(struct ski_pool *pool, size_t bytes)
{
    size_t units = (bytes >> SKI_UNIT_SHIFT) + (bytes % SKI_UNIT_BYTES != 0);
    void  *block = pool->kept;

    if (block && ski_unit_of(pool->arena, block)->units == units) {
        pool->kept = NULL;
        ski_unpoison(block, units << SKI_UNIT_SHIFT);
        return block;
    }
    block = ski_span_try(pool->arena, bytes, SKI_UNIT_LARGE);
    if (block)
        ski_unit_of(pool->arena, block)->heap = (uint16_t)pool->heap->id;
    return block;
}

/* Frees a large block, or keeps it and frees the one that was kept. */
static void pool_give_large(struct ski_pool *pool, void *block)
{
    const struct ski_unit *unit = ski_unit_of(pool->arena, block);

    if (unit->heap == pool->heap->id && unit->units <= pool->kept_max && !pool->quarantine) {
        void *kept = pool->kept;

        ski_assert(block != kept);
        ski_poison(block, (size_t)unit->units << SKI_UNIT_SHIFT);
        pool->kept = block;
        block      = kept;
    }
    if (block)
        ski_span_free(pool->arena, block);
}

void ski_pool_flush(struct ski_pool *pool)
{
    if (pool->quarantine)
        ski_pool_check_flush(pool);
    if (pool->kept)
        ski_span_free(pool->arena, pool->kept);
    pool->kept = NULL;
    for (unsigned c = 0; c < SKI_CLASSES; c++)
        pool_unload(pool, &pool->magazine[c], pool->magazine[c].count);
}

/* Fills an empty magazine from the heap and takes a block out of it. */
static void *pool_refill(struct ski_pool *pool, size_t bytes)
{
    unsigned             size_class = ski_size_class(bytes);
    struct ski_magazine *magazine   = &pool->magazine[size_class];
    uint32_t             want       = magazine->limit ? (magazine->limit + 1) / 2 : 1;

    ski_assert(magazine->count == 0);
    magazine->count = ski_heap_take(pool->heap, size_class, magazine->block, want);
    for (uint32_t i = 0; i < magazine->count; i++)
        ski_poison(magazine->block[i], ski_class_bytes(size_class));
    return ski_magazine_take(magazine, bytes);
}

static void *pool_try_alloc(struct ski_pool *pool, size_t bytes)
{
    if (bytes > SKI_SMALL_BYTES)
        return pool_take_large(pool, bytes);
    return pool_refill(pool, bytes);
}

/* Tries once more after everything that is free was returned to the arena: cached blocks, blocks
 * that other PEs freed, and empty slabs. */
static SKI_COLD void *pool_try_after_flush(struct ski_pool *pool, size_t bytes)
{
    ski_pool_flush(pool);
    ski_heap_collect(pool->heap);
    ski_heap_trim(pool->heap);
    return pool_try_alloc(pool, bytes);
}

static void *pool_try_slow(struct ski_pool *pool, size_t bytes)
{
    void *block = pool_try_alloc(pool, bytes);
    return SKI_LIKELY(block != NULL) ? block : pool_try_after_flush(pool, bytes);
}

void *ski_pool_try(struct ski_pool *pool, size_t bytes)
{
    void *block = ski_pool_cached(pool, bytes);
    return SKI_LIKELY(block != NULL) ? block : pool_try_slow(pool, bytes);
}

void *ski_pool_alloc_slow(struct ski_pool *pool, size_t bytes)
{
    void *block = pool->quarantine ? ski_pool_check_alloc(pool, bytes) : pool_try_slow(pool, bytes);

    if (SKI_UNLIKELY(!block))
        ski_span_exhausted(pool->arena, bytes);
    return block;
}

void ski_pool_free_slow(struct ski_pool *pool, void *block)
{
    if (pool->quarantine)
        ski_pool_check_free(pool, block);
    else
        ski_pool_give(pool, block);
}

void ski_pool_give(struct ski_pool *pool, void *block)
{
    struct ski_unit     *unit     = ski_unit_of(pool->arena, block);
    struct ski_magazine *magazine = &pool->magazine[unit->size_class];

    ski_assert(ski_arena_contains(pool->arena, block) && ski_block_begins(pool->arena, block));
    if (unit->kind == SKI_UNIT_LARGE) {
        pool_give_large(pool, block);
        return;
    }
    if (magazine->limit == 0 ||
        (unit->size_class >= SKI_HOME_CLASS && unit->heap != pool->heap->id)) {
        ski_heap_give(pool->heap, &block, 1);
        return;
    }
    if (magazine->count == magazine->limit)
        pool_unload(pool, magazine, (magazine->limit + 1) / 2);
    magazine->block[magazine->count++] = block;
    ski_poison(block, ski_class_bytes(unit->size_class));
}
