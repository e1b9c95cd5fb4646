/* SPDX-License-Identifier: Apache-2.0 */
/* home.c - see home.h. */
#include "objects/location/home.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/msg_counts.h"
#include "core/pe/handler.h"
#include "objects/location/index_map.h"

/* The home in the index of a single object is a PE of the job that created it, which may have had
 * more PEs than the one that was restarted. */
static int home_of_chare(const struct ski_pe *self, int home)
{
    return SKI_LIKELY(home < self->pes) ? home : home % self->pes;
}

int ski_home(const struct ski_collection *all, const skua_index *index)
{
    switch (all->kind) {
    case SKI_GROUP: return index->at.x[0];
    case SKI_CHARES: return home_of_chare(all->self, index->at.x[0]);
    case SKI_PROCESS_GROUP: return skua_process_first(index->at.x[0]);
    default: return ski_index_map_home(&all->def, index, all->self->pes);
    }
}

struct ski_absent *ski_absent_find(const struct ski_collection *all, const skua_index *index)
{
    return ski_directory_absent(ski_directory_find(&all->directory, index));
}

struct ski_absent *ski_absent_get(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *absent = ski_absent_find(all, index);

    return absent ? absent : ski_absent_enter(all, index);
}

/* Thousands of elements may migrate at a time, and come back: records are kept, since the C
 * library's malloc() keeps few blocks at hand. */
struct ski_absent *ski_absent_enter(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *absent = all->spare;

    ski_assert(!ski_absent_find(all, index));
    if (absent)
        all->spare = absent->spare;
    else
        absent = ski_malloc(sizeof *absent);
    *absent = (struct ski_absent){.index = *index, .pe = SKI_ABSENT_UNKNOWN};
    ski_list_init(&absent->held);
    ski_directory_set(&all->directory, index, (uintptr_t)absent | SKI_ABSENT_BIT);
    return absent;
}

void ski_absent_free(struct ski_collection *all, struct ski_absent *absent)
{
    ski_assert(!absent->held.first && !absent->forward);
    absent->spare = all->spare;
    all->spare    = absent;
}

void ski_absent_free_spares(struct ski_collection *all)
{
    struct ski_absent *absent;

    while ((absent = all->spare)) {
        all->spare = absent->spare;
        free(absent);
    }
}

void ski_absent_hold(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    ski_msg_hold(all->self, &ski_absent_get(all, index)->held, msg);
}

bool ski_absent_arriving(const struct ski_collection *all, const skua_index *index)
{
    const struct ski_absent *absent = ski_absent_find(all, index);

    return absent && absent->pe == SKI_ABSENT_ARRIVING;
}

/* Returns the bit of `sent_home` that stands for an index. */
static uint32_t home_bit(const struct ski_collection *all, const skua_index *index)
{
    return (uint32_t)(ski_directory_key(&all->directory, index) * all->directory.golden >> 32) %
           SKI_SENT_HOME_BITS;
}

void ski_route_note(struct ski_collection *all, const skua_index *index)
{
    uint32_t bit = home_bit(all, index);

    all->sent_home[bit / 64] |= UINT64_C(1) << bit % 64;
}

bool ski_route_noted(const struct ski_collection *all, const skua_index *index)
{
    uint32_t bit = home_bit(all, index);

    return all->sent_home[bit / 64] >> bit % 64 & 1;
}

int ski_lookup_pe(struct ski_collection *all, const skua_index *index)
{
    struct ski_absent *absent = ski_absent_find(all, index);

    if (absent && ski_absent_keeps(absent))
        return all->self->pe;
    if (absent && absent->pe >= 0)
        return absent->pe;
    if (all->open) /* it may be inserted on this PE */
        ski_route_note(all, index);
    return ski_home(all, index);
}

int ski_lookup_believed(struct ski_collection *all, const skua_index *index)
{
    const struct ski_absent *absent = ski_absent_find(all, index);

    return absent && absent->pe == SKI_ABSENT_CHANGING ? absent->told.pe
                                                       : ski_lookup_pe(all, index);
}

void ski_location_send(struct ski_collection *all, int to, const skua_index *index,
                       const struct ski_location_update *update)
{
    ski_element_post(all->self, to, SKI_HANDLER_LOCATION, all->id, index, update, sizeof *update);
}
