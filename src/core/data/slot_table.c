/* SPDX-License-Identifier: Apache-2.0 */
/* slot_table.c - see slot_table.h. */
#include "core/data/slot_table.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"

static void slots_grow(struct ski_slots *slots)
{
    uint32_t room = slots->room ? 2 * slots->room : 16;

    slots->slot = ski_realloc(slots->slot, room * sizeof *slots->slot);
    for (uint32_t i = slots->room; i < room; i++)
        slots->slot[i] = (struct ski_slot_use){.generation = 1, .next = i + 1};
    slots->free = slots->room;
    slots->room = room;
}

uint64_t ski_slots_add(struct ski_slots *slots, void *item)
{
    uint32_t             at;
    struct ski_slot_use *use;

    if (slots->free == slots->room)
        slots_grow(slots);
    ski_assert(item && slots->free < slots->room);
    at          = slots->free;
    use         = &slots->slot[at];
    slots->free = use->next;
    use->item   = item;
    return (uint64_t)use->generation << 32 | at;
}

void *ski_slots_find(const struct ski_slots *slots, uint64_t handle)
{
    uint32_t at = (uint32_t)handle;

    return at < slots->room && slots->slot[at].generation == handle >> 32 ? slots->slot[at].item
                                                                        : NULL;
}

void ski_slots_remove(struct ski_slots *slots, uint64_t handle)
{
    struct ski_slot_use *use = &slots->slot[(uint32_t)handle];

    ski_assert(ski_slots_find(slots, handle));
    use->item       = NULL;
    use->generation = use->generation == UINT32_MAX ? 1 : use->generation + 1;
    use->next       = slots->free;
    slots->free     = (uint32_t)handle;
}

void ski_slots_end(struct ski_slots *slots, void (*drop)(void *item))
{
    for (uint32_t i = 0; drop && i < slots->room; i++)
        if (slots->slot[i].item)
            drop(slots->slot[i].item);
    free(slots->slot);
    *slots = (struct ski_slots){0};
}
