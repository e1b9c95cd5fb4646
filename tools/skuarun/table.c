/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h.  Chains in a power of two of buckets, doubled when full. */
#include "table.h"

#include <string.h>

#include "base/memory.h"

struct entry {
    struct entry      *next;
    struct ski_control head;  /* as it is answered     */
    char              *value; /* NULL: not put yet     */
    int               *asker; /* those that wait       */
    int                waiting;
};

struct table {
    struct entry **bucket;
    size_t         buckets, count, most;
    table_answer  *answer;
    void          *arg;
};

struct table *table_create(size_t most, table_answer *answer, void *arg)
{
    struct table *table = ski_calloc(1, sizeof *table);

    *table        = (struct table){.buckets = 64, .most = most, .answer = answer, .arg = arg};
    table->bucket = ski_calloc(table->buckets, sizeof(struct entry *));
    return table;
}

void table_destroy(struct table *table)
{
    for (size_t i = 0; i < table->buckets; i++)
        while (table->bucket[i]) {
            struct entry *gone = table->bucket[i];

            table->bucket[i] = gone->next;
            free(gone->value);
            free(gone->asker);
            free(gone);
        }
    free(table->bucket);
    free(table);
}

static struct entry **bucket_of(const struct table *table, const struct ski_control *head)
{
    uint32_t hash = (uint32_t)head->process * UINT32_C(0x9e3779b1);

    for (const char *c = head->key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT32_C(0x01000193);
    return &table->bucket[(hash ^ hash >> 15) & (table->buckets - 1)];
}

static void grow(struct table *table)
{
    struct entry **old = table->bucket;
    size_t         n   = table->buckets;

    table->buckets = 2 * n;
    table->bucket  = ski_calloc(table->buckets, sizeof(struct entry *));
    for (size_t i = 0; i < n; i++)
        for (struct entry *entry = old[i], *next; entry; entry = next) {
            struct entry **at = bucket_of(table, &entry->head);

            next        = entry->next;
            entry->next = *at;
            *at         = entry;
        }
    free(old);
}

/* The entry, made if need be; NULL: there is no room. */
static struct entry *entry_of(struct table *table, const struct ski_control *head)
{
    struct entry *entry = *bucket_of(table, head), **at;

    while (entry &&
           (entry->head.process != head->process || strcmp(entry->head.key, head->key) != 0))
        entry = entry->next;
    if (entry || table->count == table->most)
        return entry;
    if (++table->count > table->buckets)
        grow(table);
    entry            = ski_calloc(1, sizeof *entry);
    entry->head      = *head;
    entry->head.kind = SKI_CONTROL_VALUE;
    at               = bucket_of(table, head);
    entry->next      = *at;
    *at              = entry;
    return entry;
}

bool table_put(struct table *table, const struct ski_control *head, const char *value)
{
    struct entry *entry = entry_of(table, head);

    if (!entry || entry->value)
        return false;
    entry->head.bytes = head->bytes;
    entry->value      = ski_malloc(head->bytes + 1); /* one more: never nothing */
    memcpy(entry->value, value, head->bytes);
    for (int i = 0; i < entry->waiting; i++)
        table->answer(table->arg, entry->asker[i], &entry->head, entry->value);
    free(entry->asker);
    entry->asker   = NULL;
    entry->waiting = 0;
    return true;
}

enum table_found table_get(struct table *table, const struct ski_control *head, int asker)
{
    struct entry *entry = entry_of(table, head);

    if (!entry)
        return TABLE_NO_ROOM;
    if (entry->value) {
        table->answer(table->arg, asker, &entry->head, entry->value);
        return TABLE_ANSWERED;
    }
    if ((entry->waiting & (entry->waiting - 1)) == 0) /* full: 0, or a power of two */
        entry->asker = ski_realloc(entry->asker, (2 * (size_t)entry->waiting + 1) * sizeof(int));
    entry->asker[entry->waiting++] = asker;
    return entry->waiting == 1 ? TABLE_FIRST : TABLE_WAITS;
}
