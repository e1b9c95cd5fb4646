/* SPDX-License-Identifier: Apache-2.0 */
/* hash_table.c - see hash_table.h. */
#include "objects/model/hash_table.h"

#include <stdlib.h>

#include "base/memory.h"

#define LEAST 4

static void hash_table_push(struct ski_hash_table *chains, struct ski_hash_link *link)
{
    struct ski_hash_link **head = &chains->head[ski_hash_bucket(chains, link->hash)];

    link->next = *head;
    *head      = link;
}

static void hash_table_grow(struct ski_hash_table *chains)
{
    struct ski_hash_table old = *chains;

    chains->mask = old.head ? 2 * old.mask + 1 : LEAST - 1;
    chains->head = ski_calloc(chains->mask + 1, sizeof(struct ski_hash_link *));
    for (uint64_t i = 0; old.head && i <= old.mask; i++)
        for (struct ski_hash_link *link = old.head[i], *next; link; link = next) {
            next = link->next;
            hash_table_push(chains, link);
        }
    free(old.head);
}

void ski_hash_add(struct ski_hash_table *chains, struct ski_hash_link *link, uint64_t hash)
{
    if (!chains->head || chains->count > chains->mask)
        hash_table_grow(chains);
    link->hash = hash;
    hash_table_push(chains, link);
    chains->count++;
}

void ski_hash_remove(struct ski_hash_table *chains, struct ski_hash_link *link)
{
    struct ski_hash_link **at = &chains->head[ski_hash_bucket(chains, link->hash)];

    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    chains->count--;
}

void ski_hash_each(struct ski_hash_table *chains, void (*fn)(struct ski_hash_link *link, void *arg),
                   void                  *arg)
{
    for (uint64_t i = 0; chains->head && i <= chains->mask; i++)
        for (struct ski_hash_link *link = chains->head[i], *next; link; link = next) {
            next = link->next;
            fn(link, arg);
        }
}

void ski_hash_clear(struct ski_hash_table *chains)
{
    free(chains->head);
    *chains = (struct ski_hash_table){0};
}
