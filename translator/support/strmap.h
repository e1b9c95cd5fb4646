/* SPDX-License-Identifier: Apache-2.0 */
/* strmap.h - a hash table from texts to pointers.  A zeroed strmap is empty; its memory comes from
 * the bump allocator and is never freed on its own. */
#ifndef STRMAP_H
#define STRMAP_H

#include "support/text.h"

/** A hash table; at most half of its slots are in use. */
struct strmap {
    struct strmap_slot *slots;
    size_t              size, used; /* size is 0 or a power of two */
};

/** Returns the value stored under @p key, or NULL. */
void *strmap_find(const struct strmap *map, struct text key);

/** Stores @p value, which is not NULL, under @p key unless the key is present.  Returns the value
 *  that was present, or NULL if @p value was stored.  The characters of @p key must stay valid. */
void *strmap_put(struct strmap *map, struct text key, void *value);

#endif
