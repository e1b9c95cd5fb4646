/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_table.h - a hash table of things that have a link of their own.
 *
 * Who looks for one compares the links that follow the first of its hash.
 */
#ifndef SKI_HASH_TABLE_H
#define SKI_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "objects/model/index.h"

struct ski_hash_link {
    struct ski_hash_link *next;
    uint64_t              hash;
};

struct ski_hash_table {
    struct ski_hash_link **head; /* mask + 1, or NULL */
    uint64_t               mask;
    size_t                 count;
};

static inline uint64_t ski_hash_bucket(const struct ski_hash_table *chains, uint64_t hash)
{
    return (hash * SKI_GOLDEN >> 32) & chains->mask;
}

/** The first of the chain that those of @p hash are in, or NULL. */
static inline struct ski_hash_link *ski_hash_first(const struct ski_hash_table *chains,
                                                   uint64_t                     hash)
{
    return chains->head ? chains->head[ski_hash_bucket(chains, hash)] : NULL;
}

void ski_hash_add(struct ski_hash_table *chains, struct ski_hash_link *link, uint64_t hash);
void ski_hash_remove(struct ski_hash_table *chains, struct ski_hash_link *link);

/** Call @p fn for all, which may take out what it is given and nothing else. */
void ski_hash_each(struct ski_hash_table *chains, void (*fn)(struct ski_hash_link *link, void *arg),
                   void                  *arg);

/** Forget all links. */
void ski_hash_clear(struct ski_hash_table *chains);

#endif
