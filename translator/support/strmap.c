/* SPDX-License-Identifier: Apache-2.0 */
/* strmap.c - see strmap.h: open addressing with linear probing; keys are never removed. */
#include "support/strmap.h"

#include <assert.h>
#include <stdint.h>

#include "support/bump.h"

struct strmap_slot {
    struct text key;
    void       *value; /* NULL: the slot is free */
};

/* FNV-1a. */
static uint64_t strmap_hash(struct text key)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < key.length; i++)
        h = (h ^ (unsigned char)key.at[i]) * 1099511628211u;
    return h ^ h >> 32;
}

/* Returns the slot of @p key, or the free slot where it belongs. */
static struct strmap_slot *strmap_slot_of(const struct strmap *map, struct text key)
{
    size_t i = strmap_hash(key) & (map->size - 1);

    assert(map->used < map->size); /* a free slot ends the search */
    while (map->slots[i].value && !text_equal(map->slots[i].key, key))
        i = (i + 1) & (map->size - 1);
    return &map->slots[i];
}

static void strmap_grow(struct strmap *map)
{
    struct strmap bigger = {.size = map->size ? 2 * map->size : 16, .used = map->used};

    bigger.slots = bump_alloc(bigger.size * sizeof *bigger.slots);
    for (size_t i = 0; i < map->size; i++)
        if (map->slots[i].value)
            *strmap_slot_of(&bigger, map->slots[i].key) = map->slots[i];
    *map = bigger;
}

void *strmap_find(const struct strmap *map, struct text key)
{
    return map->size ? strmap_slot_of(map, key)->value : NULL;
}

void *strmap_put(struct strmap *map, struct text key, void *value)
{
    assert(value);
    if (2 * (map->used + 1) > map->size)
        strmap_grow(map);

    struct strmap_slot *slot = strmap_slot_of(map, key);

    if (slot->value)
        return slot->value;
    *slot = (struct strmap_slot){key, value};
    map->used++;
    return NULL;
}
