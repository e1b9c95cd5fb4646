/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c - see reference.h. */
#include "flow/reference.h"

#include "base/memory.h"

#define FEWEST 64 /* slots; a power of two */

static uint32_t begin_of(const struct ski_references *all, int64_t reference)
{
    uint64_t mixed = (uint64_t)reference * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed >> 32) & all->mask;
}

/* The list of a reference, or the slot where it would be. */
static struct ski_reference *probe(const struct ski_references *all, int64_t reference)
{
    uint32_t at = begin_of(all, reference);

    while (all->slot[at].first && all->slot[at].reference != reference)
        at = (at + 1) & all->mask;
    return &all->slot[at];
}

struct ski_reference *ski_reference_find(const struct ski_references *all, int64_t reference)
{
    struct ski_reference *list;

    if (!all->slot)
        return NULL;
    list = probe(all, reference);
    return list->first ? list : NULL;
}

static void grow(struct ski_references *all)
{
    struct ski_references old   = *all;
    uint32_t              slots = old.slot ? 2 * (old.mask + 1) : FEWEST;

    all->slot = ski_calloc(slots, sizeof *all->slot);
    all->mask = slots - 1;
    for (uint32_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].first)
            *probe(all, old.slot[i].reference) = old.slot[i];
    free(old.slot);
}

struct ski_reference *ski_reference_add(struct ski_references *all, int64_t reference)
{
    struct ski_reference *list;

    if (!all->slot || all->lists >= (all->mask + 1) / 4 * 3)
        grow(all);
    list = probe(all, reference);
    if (!list->first) {
        list->reference = reference;
        all->lists++;
    }
    return list;
}

void ski_reference_remove(struct ski_references *all, struct ski_reference *list)
{
    uint32_t hole = (uint32_t)(list - all->slot);
    uint32_t at   = hole;

    for (;;) {
        uint32_t begin;

        at = (at + 1) & all->mask;
        if (!all->slot[at].first)
            break;
        begin = begin_of(all, all->slot[at].reference);
        if (((at - begin) & all->mask) < ((at - hole) & all->mask))
            continue; /* it would not be found from the hole */
        all->slot[hole] = all->slot[at];
        hole            = at;
    }
    all->slot[hole].first = NULL;
    all->lists--;
}

void ski_references_destroy(struct ski_references *all)
{
    free(all->slot);
    *all = (struct ski_references){NULL, 0, 0};
}
