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

#include "objects/chare/index.h"

struct ski_link {
    struct ski_link *next;
    uint64_t         hash;
};

struct ski_chains {
    struct ski_link **head; /* mask + 1, or NULL */
    uint64_t          mask;
    size_t            count;
};

static inline uint64_t ski_chain_of(const struct ski_chains *chains, uint64_t hash)
{
    return (hash * SKI_GOLDEN >> 32) & chains->mask;
}

/** The first of the chain that those of @p hash are in, or NULL. */
static inline struct ski_link *ski_chain_first(const struct ski_chains *chains, uint64_t hash)
{
    return chains->head ? chains->head[ski_chain_of(chains, hash)] : NULL;
}

void ski_chain_add(struct ski_chains *chains, struct ski_link *link, uint64_t hash);
void ski_chain_remove(struct ski_chains *chains, struct ski_link *link);

/** Call @p fn for all, which may take out what it is given and nothing else. */
void ski_chains_each(struct ski_chains *chains, void (*fn)(struct ski_link *link, void *arg),
                     void              *arg);

/** Forget all links. */
void ski_chains_clear(struct ski_chains *chains);

#endif
