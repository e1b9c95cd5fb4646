/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - see lookup.h. */
#include "objects/location/lookup.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/pe/handler.h"

#define LOOKUP_BITS_MIN 1024
#define LOOKUP_BITS_MAX (1u << 22)

/* ---- elements that this PE has no record of ----------------------------------------- */

/* Returns the bit of `sent_home` that stands for an index. */
static uint32_t lookup_bit(const struct ski_collection *all, const skua_index *index)
{
    return (uint32_t)(ski_directory_key(&all->directory, index) * all->directory.golden >> 32) &
           (all->sent_home_bits - 1);
}

/* Makes the first bits, or twice as many: each bit stands for one more hash then. */
static void lookup_grow(struct ski_collection *all)
{
    uint32_t former = all->sent_home_bits, bits = former ? 2 * former : LOOKUP_BITS_MIN;

    all->sent_home = ski_realloc(all->sent_home, bits / 8);
    if (former)
        memcpy((char *)all->sent_home + former / 8, all->sent_home, former / 8);
    else
        memset(all->sent_home, 0, bits / 8);
    all->sent_home_bits = bits;
}

/* Returns whether there are fewer bits than four for each element, if all PEs have as many. */
static bool lookup_is_small(const struct ski_collection *all)
{
    uint64_t elements = (uint64_t)all->objects * (unsigned)all->self->pes;

    return !all->sent_home ||
           (all->sent_home_bits < 4 * elements && all->sent_home_bits < LOOKUP_BITS_MAX);
}

void ski_lookup_note(struct ski_collection *all, const skua_index *index)
{
    uint32_t bit;

    while (SKI_UNLIKELY(lookup_is_small(all)))
        lookup_grow(all);
    bit = lookup_bit(all, index);
    all->sent_home[bit / 64] |= UINT64_C(1) << bit % 64;
}

bool ski_lookup_noted(const struct ski_collection *all, const skua_index *index)
{
    uint32_t bit;

    if (!all->sent_home)
        return false;
    bit = lookup_bit(all, index);
    return all->sent_home[bit / 64] >> bit % 64 & 1;
}

/* Returns whether an element may come to this PE although this PE has no record of it. */
static bool lookup_may_come(const struct ski_collection *all)
{
    return all->kind == SKI_ARRAY ? all->open || ski_class_moves(all->class)
                                  : all->kind == SKI_CHARES && ski_class_moves(all->class);
}

/* ---- routes ------------------------------------------------------------------------- */

/* Sends a marker with the number of the record to @p pe. */
static void lookup_mark(struct ski_collection *all, const struct ski_absent *absent, int pe)
{
    struct ski_route_marker marker = {all->self->pe, absent->marker};

    ski_element_post(all->self, pe, SKI_HANDLER_ROUTE_MARKER, all->id, &absent->index, &marker,
                     sizeof marker);
}

void ski_lookup_change(struct ski_collection *all, struct ski_absent *absent)
{
    ski_assert(!absent->changing);
    absent->changing = true;
    absent->queued   = false;
    absent->marker   = ++all->markers;
    all->directory.version++;
    lookup_mark(all, absent, absent->route >= 0 ? absent->route : all->self->pe);
}

int ski_lookup_pe(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *absent = ski_absent_find(all, index);
    int                to;

    if (!absent) {
        if (lookup_may_come(all))
            ski_lookup_note(all, index);
        return ski_home(all, index);
    }
    if (ski_absent_keeps(absent))
        return all->self->pe;
    to = absent->pe >= 0 ? absent->pe : ski_home(all, index);
    if (to == all->self->pe) /* the home, which knows of no such element */
        return to;
    if (absent->own || (absent->route >= 0 && absent->route != to)) {
        ski_lookup_change(all, absent);
        return all->self->pe;
    }
    absent->route = to;
    return to;
}

int ski_lookup_believed(const struct ski_collection *all, const skua_index *index)
{
    const struct ski_absent *absent = ski_absent_find(all, index);

    if (absent && ski_absent_expected(absent))
        return all->self->pe;
    return absent && absent->pe >= 0 ? absent->pe : ski_home(all, index);
}
