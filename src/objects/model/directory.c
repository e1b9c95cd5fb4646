/* SPDX-License-Identifier: Apache-2.0 */
/* directory.c - see directory.h. */
#include "objects/model/directory.h"

#include "base/assert.h"
#include "base/memory.h"
#include "objects/model/object.h"

#define DIRECTORY_SLOTS_MIN 16

static void directory_allocate(struct ski_directory *directory, size_t slots)
{
    ski_assert((slots & (slots - 1)) == 0 && slots >= 8);
    directory->slot  = ski_calloc(slots, sizeof *directory->slot);
    directory->mask  = slots - 1;
    directory->shift = 64 - (unsigned)__builtin_ctzll(slots);
}

void ski_directory_init(struct ski_directory *directory, uint32_t index_bytes)
{
    *directory = (struct ski_directory){.exact    = index_bytes == 4 || index_bytes == 8,
                                        .mask_key = index_bytes % 8 ? UINT32_MAX : UINT64_MAX,
                                        .golden   = SKI_GOLDEN,
                                        .version  = 1};
    directory_allocate(directory, DIRECTORY_SLOTS_MIN);
}

void ski_directory_destroy(struct ski_directory *directory)
{
    free(directory->slot);
}

bool ski_directory_value_is(uintptr_t value, const skua_index *index)
{
    if (value & SKI_ABSENT_BIT)
        return ski_index_equal(&((struct ski_absent *)(value ^ SKI_ABSENT_BIT))->index, index);
    return ski_object_is((struct ski_object *)value, index);
}

static void directory_insert(struct ski_directory *directory, uint64_t key, uintptr_t value)
{
    uint64_t at = ski_directory_begin(directory, key);

    while (directory->slot[at].value)
        at = (at + 1) & directory->mask;
    directory->slot[at] = (struct ski_directory_slot){key, value};
}

static void directory_resize(struct ski_directory *directory, size_t slots)
{
    struct ski_directory_slot *old   = directory->slot;
    size_t                     count = directory->mask + 1;

    directory_allocate(directory, slots);
    for (size_t i = 0; i < count; i++)
        if (old[i].value)
            directory_insert(directory, old[i].key, old[i].value);
    free(old);
    ski_assert(directory->count * 4 <= (directory->mask + 1) * 3);
}

void ski_directory_reserve(struct ski_directory *directory, size_t more)
{
    size_t slots = directory->mask + 1;

    while ((directory->count + more) * 4 > slots * 3)
        slots *= 2;
    if (slots > directory->mask + 1)
        directory_resize(directory, slots);
}

/* Frees slot @p hole.  An entry after it moves back into the hole, unless it would then be before
 * the slot where the search for its key begins. */
static void directory_remove(struct ski_directory *directory, uint64_t hole)
{
    struct ski_directory_slot *slot = directory->slot;

    for (uint64_t at = (hole + 1) & directory->mask; slot[at].value;
         at          = (at + 1) & directory->mask) {
        uint64_t wants = ski_directory_begin(directory, slot[at].key);

        if (((at - wants) & directory->mask) < ((at - hole) & directory->mask))
            continue;
        slot[hole] = slot[at];
        hole       = at;
    }
    slot[hole].value = 0;
    ski_assert(directory->count > 0);
    directory->count--;
}

uintptr_t ski_directory_set(struct ski_directory *directory, const skua_index *index,
                            uintptr_t value)
{
    uint64_t                   key  = ski_directory_key(directory, index);
    uint64_t                   at   = ski_directory_begin(directory, key);
    struct ski_directory_slot *slot = directory->slot;

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    directory->version++;
    for (; slot[at].value; at = (at + 1) & directory->mask)
        if (slot[at].key == key &&
            (directory->exact || ski_directory_value_is(slot[at].value, index))) {
            uintptr_t former = slot[at].value;

            if (value)
                slot[at].value = value;
            else
                directory_remove(directory, at);
            return former;
        }
    if (!value)
        return 0;
    if ((directory->count + 1) * 4 > (directory->mask + 1) * 3) {
        directory_resize(directory, 2 * (directory->mask + 1));
        directory_insert(directory, key, value);
    } else {
        slot[at] = (struct ski_directory_slot){key, value};
    }
    directory->count++;
    return 0;
}
