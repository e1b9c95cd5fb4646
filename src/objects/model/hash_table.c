/* SPDX-License-Identifier: Apache-2.0 */
/* hash_table.c - see hash_table.h. */
#include "objects/model/hash_table.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"

#define HASH_BUCKETS_MIN 4

static void hash_table_push(struct ski_hash_table *table, struct ski_hash_link *link)
{
    struct ski_hash_link **head = &table->head[ski_hash_bucket(table, link->hash)];

    link->next = *head;
    *head      = link;
}

static void hash_table_grow(struct ski_hash_table *table)
{
    struct ski_hash_table old = *table;

    table->mask = old.head ? 2 * old.mask + 1 : HASH_BUCKETS_MIN - 1;
    table->head = ski_calloc(table->mask + 1, sizeof(struct ski_hash_link *));
    for (uint64_t i = 0; old.head && i <= old.mask; i++)
        for (struct ski_hash_link *link = old.head[i], *next; link; link = next) {
            next = link->next;
            hash_table_push(table, link);
        }
    free(old.head);
}

void ski_hash_add(struct ski_hash_table *table, struct ski_hash_link *link, uint64_t hash)
{
    if (!table->head || table->count > table->mask)
        hash_table_grow(table);
    link->hash = hash;
    hash_table_push(table, link);
    table->count++;
}

void ski_hash_remove(struct ski_hash_table *table, struct ski_hash_link *link)
{
    struct ski_hash_link **at = &table->head[ski_hash_bucket(table, link->hash)];

    while (*at != link) {
        ski_assert(*at);
        at = &(*at)->next;
    }
    *at = link->next;
    ski_assert(table->count > 0);
    table->count--;
}

void ski_hash_each(struct ski_hash_table *table, void (*fn)(struct ski_hash_link *link, void *arg),
                   void                  *arg)
{
    for (uint64_t i = 0; table->head && i <= table->mask; i++)
        for (struct ski_hash_link *link = table->head[i], *next; link; link = next) {
            next = link->next;
            fn(link, arg);
        }
}

void ski_hash_clear(struct ski_hash_table *table)
{
    free(table->head);
    *table = (struct ski_hash_table){0};
}
