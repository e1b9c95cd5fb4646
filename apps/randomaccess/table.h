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

#define LOOK_AHEAD 1024             /* the rule: numbers that may be ahead of their updates  */
#define STEP       (LOOK_AHEAD / 2) /* half is made in a step, half waits in the stream      */
#define LAP        16               /* steps between two synchronisations of the PEs         */
#define PER_WORD   4                /* updates per word of the table                         */
#define PREFETCH   64               /* distance of prefetches, in updates                    */

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

/** Returns the PE that has word @p i, which takes one multiplication. */
static inline int table_owner(uint64_t i, uint64_t pes, int log2)
{
    return (int)(i * pes >> log2);
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

/** Updates words of this PE with @p count numbers, prefetching each word some updates ahead.  (The
 *  index is relative to the beginning of the part: a pointer to where word 0 would be saves a
 *  subtraction, but Neoverse cores ignore prefetches relative to such a pointer.) */
static inline void table_update(const struct table *table, const uint64_t *a, size_t count)
{
    uint64_t *t = table->word, first = table->first, mask = table->mask;
    size_t    i = 0;

    for (; i + PREFETCH < count; i++) {
        __builtin_prefetch(&t[(a[i + PREFETCH] & mask) - first], 1);
        t[(a[i] & mask) - first] ^= a[i];
    }
    for (; i < count; i++)
        t[(a[i] & mask) - first] ^= a[i];
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
