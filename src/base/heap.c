/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c - slabs and remote frees (see heap.h).
 *
 * Of the first unit of a slab, the members `next`, `prev`, `used`, `fresh`, `blocks` and `listed`
 * are accessed by the owner alone.  `kind`, `size_class`, `heap` and `first` are written before the
 * first block of the slab is allocated and stay until all its blocks are freed, so any thread that
 * holds a block may read them.
 */
#include "base/heap.h"

#include <string.h>

#include "base/assert.h"

/* Returns the length of a slab for blocks of @p block bytes.  Several blocks of a class are used in
 * turn, so that cache lines which another PE has just read are not the next ones written.  Above 32
 * KiB four blocks are enough for that, as each heap keeps a slab of every class. */
static size_t heap_slab_bytes(size_t block)
{
    return block * (block > 32768 ? 4 : 8);
}

skua_status ski_heap_create(struct ski_arena *arena, unsigned count, struct ski_heap **heaps)
{
    void            *memory;
    struct ski_heap *all;
    skua_status      status;

    ski_assert(count > 0 && count <= UINT16_MAX); /* as ski_unit.heap counts them */
    status = ski_span_alloc(arena, count * sizeof *all, &memory);
    if (status != SKUA_OK)
        return status;
    all = memory;
    memset(all, 0, count * sizeof *all);
    for (unsigned i = 0; i < count; i++) {
        all[i].arena = arena;
        all[i].all   = all;
        all[i].id    = i;
    }
    *heaps = all;
    return SKUA_OK;
}

static struct ski_unit *heap_slab_of(struct ski_arena *arena, const void *block)
{
    return &arena->unit[ski_unit_of(arena, block)->first];
}

bool ski_block_begins(struct ski_arena *arena, const void *at)
{
    const struct ski_unit *unit = ski_unit_of(arena, at);
    const char            *slab;

    if (unit->kind == SKI_UNIT_LARGE)
        return at == ski_unit_memory(arena, unit);
    if (unit->kind != SKI_UNIT_SLAB)
        return false;
    slab = ski_unit_memory(arena, &arena->unit[unit->first]);
    return (size_t)((const char *)at - slab) % ski_class_bytes(unit->size_class) == 0;
}

static void heap_list_slab(struct ski_heap *heap, struct ski_unit *slab)
{
    struct ski_unit *unit = heap->arena->unit;
    uint32_t        *head = &heap->slabs[slab->size_class];

    ski_assert(!slab->listed && slab->kind == SKI_UNIT_SLAB);
    slab->listed = true;
    slab->prev   = 0;
    slab->next   = *head;
    if (*head)
        unit[*head].prev = (uint32_t)(slab - unit);
    *head = (uint32_t)(slab - unit);
}

static void heap_unlist_slab(struct ski_heap *heap, struct ski_unit *slab)
{
    struct ski_unit *unit = heap->arena->unit;

    ski_assert(slab->listed && slab->heap == heap->id);
    slab->listed = false;
    if (slab->next)
        unit[slab->next].prev = slab->prev;
    if (slab->prev)
        unit[slab->prev].next = slab->next;
    else
        heap->slabs[slab->size_class] = slab->next;
}

/* Makes a slab; where the arena has no room for a full one, of a single block. */
static struct ski_unit *heap_new_slab(struct ski_heap *heap, unsigned size_class)
{
    struct ski_arena *arena  = heap->arena;
    size_t            bytes  = ski_class_bytes(size_class);
    void             *memory = ski_span_try(arena, heap_slab_bytes(bytes), SKI_UNIT_SLAB);
    struct ski_unit  *slab;

    if (!memory)
        memory = ski_span_try(arena, bytes, SKI_UNIT_SLAB);
    if (!memory)
        return NULL;
    slab         = ski_unit_of(arena, memory);
    slab->used   = 0;
    slab->blocks = NULL;
    slab->fresh  = (uint32_t)(((size_t)slab->units << SKI_UNIT_SHIFT) / bytes);
    for (uint32_t i = 0; i < slab->units; i++) {
        slab[i].heap       = (uint16_t)heap->id;
        slab[i].size_class = (uint8_t)size_class;
        slab[i].first      = (uint32_t)(slab - arena->unit);
    }
    heap_list_slab(heap, slab);
    return slab;
}

/* Allocates a block of a slab that has room. */
static void *heap_slab_take(struct ski_heap *heap, struct ski_unit *slab)
{
    char *block = slab->blocks;

    ski_assert(block || slab->fresh > 0);
    slab->used++;
    if (block) {
        memcpy(&slab->blocks, block, sizeof slab->blocks);
    } else {
        size_t bytes = ski_class_bytes(slab->size_class);
        size_t all   = ((size_t)slab->units << SKI_UNIT_SHIFT) / bytes;
        block        = (char *)ski_unit_memory(heap->arena, slab) + (all - slab->fresh) * bytes;
        slab->fresh--;
    }
    if (!slab->blocks && !slab->fresh)
        heap_unlist_slab(heap, slab);
    return block;
}

static void heap_return_slab(struct ski_heap *heap, struct ski_unit *slab)
{
    ski_assert(slab->used == 0);
    heap_unlist_slab(heap, slab);
    ski_span_free(heap->arena, ski_unit_memory(heap->arena, slab));
}

static void heap_slab_put(struct ski_heap *heap, void *block)
{
    struct ski_unit *slab = heap_slab_of(heap->arena, block);

    ski_assert(slab->heap == heap->id && slab->used > 0);
    ski_assert(ski_block_begins(heap->arena, block));
    memcpy(block, &slab->blocks, sizeof slab->blocks);
    slab->blocks = block;
    if (!slab->listed)
        heap_list_slab(heap, slab);
    if (--slab->used == 0 && (slab->next || slab->prev))
        heap_return_slab(heap, slab);
}

void ski_heap_trim(struct ski_heap *heap)
{
    struct ski_unit *unit = heap->arena->unit;

    for (unsigned c = 0; c < SKI_CLASSES; c++)
        for (uint32_t at = heap->slabs[c], next; at; at = next) {
            next = unit[at].next;
            if (unit[at].used == 0)
                heap_return_slab(heap, &unit[at]);
        }
}

void ski_heap_collect(struct ski_heap *heap)
{
    /* Acquire: pairs with the release in heap_push_chain(), so that all accesses of the other PEs
     * to the blocks have happened before. */
    char *block = atomic_exchange_explicit(&heap->remote, NULL, memory_order_acquire);

    while (block) {
        void *next;
        memcpy(&next, block, sizeof next);
        heap_slab_put(heap, block);
        heap->collected++;
        block = next;
    }
}

/* Returns a slab with room: a listed one, one whose blocks other PEs freed, or a new one. */
static struct ski_unit *heap_find_slab(struct ski_heap *heap, unsigned size_class)
{
    uint32_t *head = &heap->slabs[size_class];

    if (!*head)
        ski_heap_collect(heap);
    return *head ? &heap->arena->unit[*head] : heap_new_slab(heap, size_class);
}

unsigned ski_heap_take(struct ski_heap *heap, unsigned size_class, void **blocks, unsigned want)
{
    struct ski_unit *slab = heap_find_slab(heap, size_class);
    unsigned         got  = 0;

    ski_assert(size_class < SKI_CLASSES && want > 0);
    if (!slab)
        return 0;
    while (got < want && slab->listed) /* the blocks of one slab are enough for a batch */
        blocks[got++] = heap_slab_take(heap, slab);
    return got;
}

/* Hands a chain of blocks, linked through their first words, to their owner. */
static void heap_push_chain(struct ski_heap *owner, void *first, void *last)
{
    void *top = atomic_load_explicit(&owner->remote, memory_order_relaxed);

    do
        memcpy(last, &top, sizeof top);
    /* Release: pairs with the acquire in ski_heap_collect(). */
    while (!atomic_compare_exchange_weak_explicit(&owner->remote, &top, first, memory_order_release,
                                                  memory_order_relaxed));
}

void ski_heap_give(struct ski_heap *heap, void **blocks, unsigned count)
{
    for (unsigned i = 0; i < count;) {
        uint16_t owner = ski_unit_of(heap->arena, blocks[i])->heap;
        void    *first = blocks[i], *last = first;

        if (owner == heap->id) {
            heap_slab_put(heap, blocks[i++]);
            continue;
        }
        /* Consecutive blocks of one owner make one chain. */
        while (++i < count && ski_unit_of(heap->arena, blocks[i])->heap == owner) {
            memcpy(last, &blocks[i], sizeof blocks[i]);
            last = blocks[i];
        }
        heap_push_chain(heap->all + owner, first, last);
    }
}

void ski_heap_return(struct ski_heap *all, void *block)
{
    heap_push_chain(all + ski_unit_of(all->arena, block)->heap, block, block);
}
