/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - a hash table with open addressing and linear probing; nothing is ever removed. */
#include "map.h"

#include <stdint.h>

#include "arena.h"
#include "words.h"

struct map_slot {
    struct text key;
    void       *value; /* NULL: free */
};

/* FNV-1a. */
static uint64_t hash(struct text key)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < key.length; i++)
        h = (h ^ (unsigned char)key.at[i]) * 1099511628211u;
    return h ^ h >> 32;
}

/* Where the key is, or would be. */
static struct map_slot *slot_of(const struct map *map, struct text key)
{
    size_t i = hash(key) & (map->size - 1);

    while (map->slots[i].value && !text_equal(map->slots[i].key, key))
        i = (i + 1) & (map->size - 1);
    return &map->slots[i];
}

static void grow(struct map *map)
{
    struct map bigger = {.size = map->size ? 2 * map->size : 16, .used = map->used};

    bigger.slots = arena_alloc(bigger.size * sizeof *bigger.slots);
    for (size_t i = 0; i < map->size; i++)
        if (map->slots[i].value)
            *slot_of(&bigger, map->slots[i].key) = map->slots[i];
    *map = bigger;
}

void *map_find(const struct map *map, struct text key)
{
    return map->size ? slot_of(map, key)->value : NULL;
}

void *map_put(struct map *map, struct text key, void *value)
{
    if (2 * (map->used + 1) > map->size)
        grow(map);

    struct map_slot *slot = slot_of(map, key);

    if (slot->value)
        return slot->value;
    *slot = (struct map_slot){key, value};
    map->used++;
    return NULL;
}
