/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_table.h - records of calls in flight, by their number.
 *
 * Calls are numbered in their order and finish roughly in that order, so the numbers in flight are
 * close together.  Number n is entry n modulo the size of the table.  Two numbers that share an
 * entry make the table grow until each has one of its own: no search, no chain.
 */
#ifndef SKI_NUMBER_TABLE_H
#define SKI_NUMBER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry; record is NULL if it is empty. */
struct ski_number_entry {
    uint64_t number;
    void    *record;
};

/* A table; zeroed memory is an empty one. */
struct ski_number_table {
    struct ski_number_entry *entry;
    uint64_t                 size; /* a power of two, or 0 */
};

/** Returns the record of @p number, or NULL. */
static inline void *ski_number_find(const struct ski_number_table *table, uint64_t number)
{
    const struct ski_number_entry *entry;

    if (table->size == 0)
        return NULL;
    entry = &table->entry[number & (table->size - 1)];
    return entry->number == number ? entry->record : NULL;
}

/** Adds a record, not NULL, of a number that the table does not have. */
void ski_number_add(struct ski_number_table *table, uint64_t number, void *record);

/** Removes the record of @p number, which the table has. */
void ski_number_remove(struct ski_number_table *table, uint64_t number);

/** Returns the record of the least number for which @p like returns true, or NULL.  It reads the
 *  whole table. */
void *ski_number_first(const struct ski_number_table *table, bool (*like)(const void *record));

/** Makes a table empty, after a call of @p free_record for each record that it has. */
void ski_number_clear(struct ski_number_table *table, void (*free_record)(void *record));

#endif
