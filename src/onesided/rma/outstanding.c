/* SPDX-License-Identifier: Apache-2.0 */
/* outstanding.c - see outstanding.h. */
#include "onesided/rma/outstanding.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"

#define FIRST_BUCKETS 16

static struct ski_outstanding **outstanding_bucket(const struct ski_outstanding_table *table,
                                                   uint64_t                            key)
{
    return &table->bucket[key * UINT64_C(0x9e3779b97f4a7c15) >> 32 & table->mask];
}

struct ski_outstanding *ski_outstanding_find(const struct ski_outstanding_table *table,
                                             uint64_t                            key)
{
    struct ski_outstanding *entry = table->bucket ? *outstanding_bucket(table, key) : NULL;

    while (entry && entry->key != key)
        entry = entry->next;
    return entry;
}

static void outstanding_link(struct ski_outstanding_table *table, struct ski_outstanding *entry)
{
    struct ski_outstanding **bucket = outstanding_bucket(table, entry->key);

    entry->next = *bucket;
    *bucket     = entry;
}

/* Doubles the buckets, so that each has one entry on average at most. */
static void outstanding_grow(struct ski_outstanding_table *table)
{
    struct ski_outstanding **old   = table->bucket;
    uint64_t                 count = old ? table->mask + 1 : 0;

    ski_assert((count & (count - 1)) == 0);
    table->mask   = (count ? 2 * count : FIRST_BUCKETS) - 1;
    table->bucket = ski_calloc(table->mask + 1, sizeof *table->bucket);
    for (uint64_t i = 0; i < count; i++)
        for (struct ski_outstanding *entry = old[i], *next; entry; entry = next) {
            next = entry->next;
            outstanding_link(table, entry);
        }
    free(old);
}

static struct ski_outstanding *outstanding_new(struct ski_outstanding_table *table, uint64_t key)
{
    struct ski_outstanding *entry = table->unused;

    if (!table->bucket || table->entries > table->mask)
        outstanding_grow(table);
    if (entry)
        table->unused = entry->next;
    else
        entry = ski_malloc(sizeof *entry);
    *entry = (struct ski_outstanding){.key = key};
    outstanding_link(table, entry);
    table->entries++;
    return entry;
}

struct ski_outstanding *ski_outstanding_add_other(struct ski_outstanding_table *table, uint64_t key)
{
    struct ski_outstanding *entry = ski_outstanding_find(table, key);

    if (!entry)
        entry = outstanding_new(table, key);
    entry->all++;
    table->recent[ski_outstanding_is_pe(key)] = entry;
    return entry;
}

void ski_outstanding_remove(struct ski_outstanding_table *table, struct ski_outstanding *entry)
{
    struct ski_outstanding **at;

    ski_assert(entry->all > 0);
    if (--entry->all > 0)
        return;
    ski_assert(entry->rma == 0 && entry->deferred == 0 && entry->backlog == 0);
    ski_assert(entry->copies == 0 && entry->staged == 0 && !entry->wants_room);
    ski_assert(entry->before == 0 && entry->before_rma == 0);
    for (at = outstanding_bucket(table, entry->key); *at != entry; at = &(*at)->next)
        ;
    ski_assert(table->entries > 0);
    if (table->recent[ski_outstanding_is_pe(entry->key)] == entry)
        table->recent[ski_outstanding_is_pe(entry->key)] = NULL;
    *at           = entry->next;
    entry->next   = table->unused;
    table->unused = entry;
    table->entries--;
}

void ski_outstanding_fence(struct ski_outstanding *entry)
{
    entry->epoch++;
    entry->before     = entry->all;
    entry->before_rma = entry->rma;
}

void ski_outstanding_fence_all(struct ski_outstanding_table *table)
{
    for (uint64_t i = 0; table->bucket && i <= table->mask; i++)
        for (struct ski_outstanding *entry = table->bucket[i]; entry; entry = entry->next)
            if (ski_outstanding_is_pe(entry->key))
                ski_outstanding_fence(entry);
}

static void outstanding_free(struct ski_outstanding *entry)
{
    while (entry) {
        struct ski_outstanding *next = entry->next;

        free(entry);
        entry = next;
    }
}

void ski_outstanding_end(struct ski_outstanding_table *table)
{
    for (uint64_t i = 0; table->bucket && i <= table->mask; i++)
        outstanding_free(table->bucket[i]);
    outstanding_free(table->unused);
    free(table->bucket);
    *table = (struct ski_outstanding_table){.bucket = NULL};
}
