/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - from texts to pointers.  A map of zeroes is empty; its memory is the arena's. */
#ifndef MAP_H
#define MAP_H

#include "tree.h"

struct map {
    struct map_slot *slots;
    size_t           size, used; /* size: 0 or a power of two, more than half of it free */
};

/** What stands under @p key, or NULL. */
void *map_find(const struct map *map, struct text key);

/** Put @p value, not NULL, under @p key, which must stay where it is.  If something stands
 *  there already, it stays, and is returned; else NULL. */
void *map_put(struct map *map, struct text key, void *value);

#endif
