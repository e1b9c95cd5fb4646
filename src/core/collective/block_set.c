/* SPDX-License-Identifier: Apache-2.0 */
/* block_set.c - see block_set.h. */
#include "core/collective/block_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/collective/reduction_order.h"

void ski_block_set_init(struct ski_block_set *set, int pes, skua_op op, skua_type type,
                        size_t elements, size_t bytes)
{
    *set = (struct ski_block_set){.pes      = pes,
                                  .levels   = ski_block_levels(pes),
                                  .bytes    = bytes,
                                  .stride   = ski_block_set_stride(bytes),
                                  .apply    = ski_op_function(op, type),
                                  .type     = type,
                                  .elements = elements};
}

void ski_block_set_free(struct ski_block_set *set)
{
    free(set->block);
    free(set->partials);
}

/* Returns the end of a block: the first PE after it. */
static int64_t block_set_end(const struct ski_set_block *block)
{
    return block->first + (INT64_C(1) << block->level);
}

/* Returns where @p block belongs in the order of a set. */
static int block_set_find(const struct ski_block_set *set, const struct ski_set_block *block)
{
    int i = 0;

    while (i < set->count && set->block[i].first < block->first)
        i++;
    return i;
}

bool ski_block_set_accepts(const struct ski_block_set *set, const struct ski_set_block *block)
{
    int i;

    if (block->level < 0 || block->level > set->levels || block->first < 0 ||
        block->first >= set->pes || ski_block_of(block->first, block->level) != block->first)
        return false;
    i = block_set_find(set, block);
    return (i == 0 || block_set_end(&set->block[i - 1]) <= block->first) &&
           (i == set->count || block_set_end(block) <= set->block[i].first);
}

/* Inserts a block and its partial result at position @p i. */
static void block_set_insert(struct ski_block_set *set, int i, const struct ski_set_block *block,
                             const char *partial)
{
    size_t behind = (size_t)(set->count - i);

    if (set->count == set->room) {
        set->room     = 2 * set->room + 2;
        set->block    = ski_realloc(set->block, (size_t)set->room * sizeof *set->block);
        set->partials = ski_realloc(set->partials, (size_t)set->room * set->stride + 1);
    }
    memmove(set->block + i + 1, set->block + i, behind * sizeof *set->block);
    set->block[i] = (struct ski_set_block){block->first, block->level, 0};
    if (set->bytes > 0) {
        memmove(ski_block_set_partial(set, i + 1), ski_block_set_partial(set, i),
                behind * set->stride);
        memcpy(ski_block_set_partial(set, i), partial, set->bytes);
    }
    set->count++;
}

/* Combines block @p i with the one after it, its upper sibling. */
static void block_set_combine(struct ski_block_set *set, int i)
{
    size_t behind = (size_t)(set->count - i - 2);

    set->block[i].level++;
    memmove(set->block + i + 1, set->block + i + 2, behind * sizeof *set->block);
    if (set->bytes > 0) {
        set->apply(ski_block_set_partial(set, i), ski_block_set_partial(set, i + 1), set->elements,
                   set->type);
        memmove(ski_block_set_partial(set, i + 1), ski_block_set_partial(set, i + 2),
                behind * set->stride);
    }
    set->count--;
}

/* Returns whether @p set has the block that is the sibling of block @p i at @p at. */
static bool block_set_has_sibling(const struct ski_block_set *set, int i, int at)
{
    const struct ski_set_block *block = &set->block[i];

    return at >= 0 && at < set->count && set->block[at].level == block->level &&
           set->block[at].first == ski_block_sibling(block->first, block->level);
}

void ski_block_set_add(struct ski_block_set *set, const struct ski_set_block *block,
                       const char *partial)
{
    int i = block_set_find(set, block);

    ski_assert(ski_block_set_accepts(set, block));
    block_set_insert(set, i, block, partial);
    while (set->block[i].level < set->levels) {
        struct ski_set_block *at = &set->block[i];

        if (ski_block_sibling(at->first, at->level) >= set->pes)
            at->level++; /* a block without a sibling is that of the next level */
        else if (block_set_has_sibling(set, i, i + 1))
            block_set_combine(set, i);
        else if (block_set_has_sibling(set, i, i - 1))
            block_set_combine(set, --i);
        else
            return;
    }
}
