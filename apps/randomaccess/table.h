/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the part of the table of RandomAccess that a PE has.
 *
 * Word i belongs to PE i * PEs / words, and is i at the beginning; so it is after all updates have
 * been made twice.
 */
#ifndef TABLE_H
#define TABLE_H

#include <skua/skua.h>
#include <stdint.h>

#include "common/huge_pages.h"

/** The words from @p first to before @p end of a table of 2^log2 words. */
struct table {
    uint64_t *word, first, end, mask;
};

/** Returns the first word of a PE. */
static inline uint64_t table_first(int pe, int log2)
{
    uint64_t pes = (uint64_t)skua_pes();

    return (((uint64_t)pe << log2) + pes - 1) / pes;
}

/** Creates the part of this PE.  Ends the job if there is no memory. */
static inline struct table table_create(int log2)
{
    struct table t     = {.first = table_first(skua_pe(), log2),
                          .end   = table_first(skua_pe() + 1, log2),
                          .mask  = (UINT64_C(1) << log2) - 1};
    size_t       bytes = (t.end - t.first + 1) * sizeof *t.word; /* + 1: a PE may have no word */

    t.word = huge_alloc(bytes);
    if (!t.word)
        skua_abort("cannot allocate %zu bytes of the table; use a smaller --log2", bytes);
    for (uint64_t i = t.first; i < t.end; i++)
        t.word[i - t.first] = i;
    return t;
}

/** Returns the number of words that are not as at the beginning. */
static inline uint64_t table_errors(const struct table *t)
{
    uint64_t errors = 0;

    for (uint64_t i = t->first; i < t->end; i++)
        errors += t->word[i - t->first] != i;
    return errors;
}

#endif
