/* SPDX-License-Identifier: Apache-2.0 */
/* number_table.c - see number_table.h. */
#include "core/data/number_table.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"

#define NUMBER_TABLE_MIN 16 /* entries */

/* Returns the entry of @p number, which may have the record of another one. */
static struct ski_number_entry *number_entry(const struct ski_number_table *table, uint64_t number)
{
    ski_assert(table->size && (table->size & (table->size - 1)) == 0);
    return &table->entry[number & (table->size - 1)];
}

/* Doubles the table.  Two numbers that had entries of their own still do. */
static void number_table_grow(struct ski_number_table *table)
{
    struct ski_number_table old = *table;

    table->size  = old.size ? 2 * old.size : NUMBER_TABLE_MIN;
    table->entry = ski_calloc(table->size, sizeof *table->entry);
    for (uint64_t i = 0; i < old.size; i++)
        if (old.entry[i].record)
            *number_entry(table, old.entry[i].number) = old.entry[i];
    free(old.entry);
}

void ski_number_add(struct ski_number_table *table, uint64_t number, void *record)
{
    ski_assert(record && !ski_number_find(table, number));
    while (table->size == 0 || number_entry(table, number)->record)
        number_table_grow(table);
    *number_entry(table, number) = (struct ski_number_entry){number, record};
}

void ski_number_remove(struct ski_number_table *table, uint64_t number)
{
    ski_assert(ski_number_find(table, number));
    number_entry(table, number)->record = NULL;
}

void *ski_number_first(const struct ski_number_table *table, bool (*like)(const void *record))
{
    const struct ski_number_entry *first = NULL;

    for (uint64_t i = 0; i < table->size; i++) {
        const struct ski_number_entry *entry = &table->entry[i];

        if (entry->record && (!first || entry->number < first->number) && like(entry->record))
            first = entry;
    }
    return first ? first->record : NULL;
}

void ski_number_clear(struct ski_number_table *table, void (*free_record)(void *record))
{
    for (uint64_t i = 0; i < table->size; i++)
        if (table->entry[i].record)
            free_record(table->entry[i].record);
    free(table->entry);
    *table = (struct ski_number_table){NULL, 0};
}
