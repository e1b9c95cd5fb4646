/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outstanding.h - counts the operations of a PE that are outstanding, by target PE and by region.
 *
 * Orders and flushes ask whether an operation on a PE, or in a region, is outstanding.  The answer
 * is one lookup in a hash table, however many operations there are: an operation is counted under
 * its two keys from its beginning to its end, and nothing iterates over operations.
 *
 * An entry exists while something of its key is outstanding, so the size of the table depends on
 * the number of PEs and regions with operations in flight.  Entries do not move; unused ones are
 * kept for the next key.  All calls are made by the thread of the origin.
 */
#ifndef SKI_OUTSTANDING_H
#define SKI_OUTSTANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct ski_rma_waiting;

/* The operations of one key. */
struct ski_outstanding {
    struct ski_outstanding *next; /* in its bucket, or of the unused */
    uint64_t                key;
    uint32_t                all;
    uint32_t                rma;      /* those by the driver */
    uint32_t                deferred; /* gets that may read after they were served */
    uint32_t                copies;   /* those by the PE that has the source (global_copy.h) */
    uint32_t staged;  /* those in several steps, which a driver's fence does not order */
    uint32_t backlog; /* those not issued yet (rma_backlog.h) ...           */
    struct ski_rma_waiting *backlog_first, *backlog_last; /* ... in the order of their calls  */
    bool                    wants_room;   /* the first of them waits for room, and ... */
    struct ski_outstanding *next_wanting; /* ... the entry is in ski_rma_pe.wanting_room */
    uint32_t                epoch;        /* fences so far, since the entry exists */
    uint32_t                before;     /* operations that were started before the last fence ... */
    uint32_t                before_rma; /* ... of them by the driver */
};

/* The table of a PE. */
struct ski_outstanding_table {
    struct ski_outstanding **bucket; /* mask + 1 of them, or NULL */
    uint64_t                 mask;
    uint32_t                 entries;
    struct ski_outstanding  *unused;
    struct ski_outstanding  *recent[2]; /* of the last PE and the last region that were added; or
                                           NULL */
};

/** Returns the key of target PE @p pe. */
static inline uint64_t ski_outstanding_pe(int pe)
{
    return (uint32_t)pe;
}

/** Returns whether a key is that of a target PE. */
static inline bool ski_outstanding_is_pe(uint64_t key)
{
    return key >> 32 == 0;
}

/** Returns the key of region @p id. */
static inline uint64_t ski_outstanding_region(uint32_t id)
{
    return UINT64_C(1) << 32 | id;
}

/** Finds the entry of @p key; NULL: nothing of that key is outstanding. */
struct ski_outstanding *ski_outstanding_find(const struct ski_outstanding_table *table,
                                             uint64_t                            key);

/** Counts one more operation under @p key, which is not the last one, and returns the entry of the
 *  key. */
struct ski_outstanding *ski_outstanding_add_other(struct ski_outstanding_table *table,
                                                  uint64_t                      key);

/** Counts one more operation under @p key and returns the entry of the key. */
static inline struct ski_outstanding *ski_outstanding_add(struct ski_outstanding_table *table,
                                                          uint64_t                      key)
{
    struct ski_outstanding *entry = table->recent[ski_outstanding_is_pe(key)];

    if (SKI_UNLIKELY(!entry || entry->key != key))
        return ski_outstanding_add_other(table, key);
    entry->all++;
    return entry;
}

/** Counts one operation of @p entry as complete. */
void ski_outstanding_remove(struct ski_outstanding_table *table, struct ski_outstanding *entry);

/** Records a fence: what is outstanding on the PE of @p entry comes before what is added later. */
void ski_outstanding_fence(struct ski_outstanding *entry);

/** Records a fence for every target PE. */
void ski_outstanding_fence_all(struct ski_outstanding_table *table);

/** Frees all memory of the table. */
void ski_outstanding_end(struct ski_outstanding_table *table);

#endif
