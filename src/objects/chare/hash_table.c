/* SPDX-License-Identifier: Apache-2.0 */
/* hash_table.c - see hash_table.h. */
#include "objects/chare/hash_table.h"

#include <stdlib.h>

#include "base/memory.h"

#define LEAST 4

static void push(struct ski_chains *chains, struct ski_link *link)
{
    struct ski_link **head = &chains->head[ski_chain_of(chains, link->hash)];

    link->next = *head;
    *head      = link;
}

static void grow(struct ski_chains *chains)
{
    struct ski_chains old = *chains;

    chains->mask = old.head ? 2 * old.mask + 1 : LEAST - 1;
    chains->head = ski_calloc(chains->mask + 1, sizeof(struct ski_link *));
    for (uint64_t i = 0; old.head && i <= old.mask; i++)
        for (struct ski_link *link = old.head[i], *next; link; link = next) {
            next = link->next;
            push(chains, link);
        }
    free(old.head);
}

void ski_chain_add(struct ski_chains *chains, struct ski_link *link, uint64_t hash)
{
    if (!chains->head || chains->count > chains->mask)
        grow(chains);
    link->hash = hash;
    push(chains, link);
    chains->count++;
}

void ski_chain_remove(struct ski_chains *chains, struct ski_link *link)
{
    struct ski_link **at = &chains->head[ski_chain_of(chains, link->hash)];

    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    chains->count--;
}

void ski_chains_each(struct ski_chains *chains, void (*fn)(struct ski_link *link, void *arg),
                     void              *arg)
{
    for (uint64_t i = 0; chains->head && i <= chains->mask; i++)
        for (struct ski_link *link = chains->head[i], *next; link; link = next) {
            next = link->next;
            fn(link, arg);
        }
}

void ski_chains_clear(struct ski_chains *chains)
{
    free(chains->head);
    *chains = (struct ski_chains){0};
}
