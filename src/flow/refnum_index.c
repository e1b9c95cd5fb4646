/* SPDX-License-Identifier: Apache-2.0 */
/* refnum_index.c - see refnum_index.h. */
#include "flow/refnum_index.h"

#include "base/assert.h"
#include "base/memory.h"

#define SLOTS_MIN 64 /* a power of two */

/* Returns the slot where the search for @p reference begins (Fibonacci hashing). */
static uint32_t refnum_home(const struct ski_refnum_index *index, int64_t reference)
{
    uint64_t mixed = (uint64_t)reference * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed >> 32) & index->mask;
}

/* Returns the slot of @p reference, or the free slot where it belongs. */
static struct ski_refnum_list *refnum_probe(const struct ski_refnum_index *index, int64_t reference)
{
    uint32_t at = refnum_home(index, reference);

    ski_assert(index->lists <= index->mask); /* a free slot ends the search */
    while (index->slot[at].first && index->slot[at].reference != reference)
        at = (at + 1) & index->mask;
    return &index->slot[at];
}

struct ski_refnum_list *ski_refnum_find(const struct ski_refnum_index *index, int64_t reference)
{
    struct ski_refnum_list *list;

    if (!index->slot)
        return NULL;
    list = refnum_probe(index, reference);
    return list->first ? list : NULL;
}

static void refnum_grow(struct ski_refnum_index *index)
{
    struct ski_refnum_index old   = *index;
    uint32_t                slots = old.slot ? 2 * (old.mask + 1) : SLOTS_MIN;

    ski_assert((slots & (slots - 1)) == 0);
    index->slot = ski_calloc(slots, sizeof *index->slot);
    index->mask = slots - 1;
    for (uint32_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].first)
            *refnum_probe(index, old.slot[i].reference) = old.slot[i];
    free(old.slot);
}

struct ski_refnum_list *ski_refnum_add(struct ski_refnum_index *index, int64_t reference)
{
    struct ski_refnum_list *list;

    if (!index->slot || index->lists >= (index->mask + 1) / 4 * 3)
        refnum_grow(index);
    list = refnum_probe(index, reference);
    if (!list->first) {
        list->reference = reference;
        index->lists++;
    }
    return list;
}

void ski_refnum_remove(struct ski_refnum_index *index, struct ski_refnum_list *list)
{
    uint32_t hole = (uint32_t)(list - index->slot);
    uint32_t at   = hole;

    ski_assert(index->lists > 0 && hole <= index->mask);
    for (;;) {
        uint32_t home;

        at = (at + 1) & index->mask;
        if (!index->slot[at].first)
            break;
        home = refnum_home(index, index->slot[at].reference);
        if (((at - home) & index->mask) < ((at - hole) & index->mask))
            continue; /* a search that begins at home would not reach the hole */
        index->slot[hole] = index->slot[at];
        hole              = at;
    }
    index->slot[hole].first = NULL;
    index->lists--;
}

void ski_refnum_index_destroy(struct ski_refnum_index *index)
{
    free(index->slot);
    *index = (struct ski_refnum_index){NULL, 0, 0};
}
