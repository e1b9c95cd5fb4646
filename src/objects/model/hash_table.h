/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_table.h - an intrusive hash table: items begin with a link, and buckets are chains of links.
 *
 * The table compares no keys.  A caller that looks for an item compares the items of a chain, from
 * ski_hash_first() on.  The table doubles when it has more items than buckets.
 */
#ifndef SKI_HASH_TABLE_H
#define SKI_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "objects/model/index.h"

/* The first member of an item. */
struct ski_hash_link {
    struct ski_hash_link *next;
    uint64_t              hash;
};

/* A table; all zero is an empty one. */
struct ski_hash_table {
    struct ski_hash_link **head; /* mask + 1 buckets; NULL: the table never had an item */
    uint64_t               mask;
    size_t                 count;
};

/** Returns the bucket of @p hash. */
static inline uint64_t ski_hash_bucket(const struct ski_hash_table *table, uint64_t hash)
{
    return (hash * SKI_GOLDEN >> 32) & table->mask;
}

/** Returns the first link of the chain that has the items of @p hash, and others; or NULL. */
static inline struct ski_hash_link *ski_hash_first(const struct ski_hash_table *table,
                                                   uint64_t                     hash)
{
    return table->head ? table->head[ski_hash_bucket(table, hash)] : NULL;
}

/** Adds an item. */
void ski_hash_add(struct ski_hash_table *table, struct ski_hash_link *link, uint64_t hash);

/** Removes an item that is in the table. */
void ski_hash_remove(struct ski_hash_table *table, struct ski_hash_link *link);

/** Calls @p fn for each item.  @p fn may remove the item that it is given, and no other. */
void ski_hash_each(struct ski_hash_table *table, void (*fn)(struct ski_hash_link *link, void *arg),
                   void                  *arg);

/** Empties the table; the items are not touched. */
void ski_hash_clear(struct ski_hash_table *table);

#endif
