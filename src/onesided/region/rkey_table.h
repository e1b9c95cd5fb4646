/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rkey_table.h - the cache of remote keys that the PEs of a host share, for symmetric regions.
 *
 * The reply to a query (rkey_cache.h) describes the pieces of all PEs of the owner's process: they
 * are contiguous, under one key.  The first PE of a host that queries stores the reply in
 * this table, in the arena, where the other PEs of the host find it: there is one description for
 * each process of another host, not one for each pair of PEs.
 *
 * The table has a fixed number of entries, found by a hash; an entry replaces another one, which is
 * then queried again.  It is created with the first entry.  Only regions that this host knows are
 * stored, and are removed from the table with the region.
 */
#ifndef SKI_RKEY_TABLE_H
#define SKI_RKEY_TABLE_H

#include <skua/region.h>

#include "transport/driver.h"

struct ski_pe;

#define SKI_RKEY_TABLE_ENTRIES 256 /* a power of two */

/* The owner's reply about the piece of a PE. */
struct ski_rkey_info {
    uint64_t bytes, base;  /* of the piece, in its owner's address space                    */
    uint64_t stride;       /* from the piece of a PE to that of the next ...                */
    int32_t  first, count; /* ... of these PEs of the process, which have pieces of one size */
    uint32_t key_bytes;    /* of the key to all of them; 0: the driver has none             */
    uint32_t unused;
    char     key[SKI_RKEY_MAX];
};

/* An entry; `id` 0: it is free. */
struct ski_rkey_entry {
    uint32_t             id;
    int32_t              pe; /* whose piece `info.base` is */
    struct ski_rkey_info info;
};

/* The table, in the arena; the lock of struct ski_region_root guards it. */
struct ski_rkey_table {
    struct ski_rkey_entry entry[SKI_RKEY_TABLE_ENTRIES];
};

/** Fills *@p info with what a query for the region at @p at would.  Returns false if no PE of this
 * host has asked. */
bool ski_rkey_table_find(const struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *info);

/** Stores the reply *@p info to a query for the region at @p at, if it is a symmetric region that
 *  this host knows, and the reply is valid. */
void ski_rkey_table_store(struct ski_pe *self, skua_gaddr at, const struct ski_rkey_info *info);

/** Removes what the table has of region @p id. */
void ski_rkey_table_remove(uint32_t id);

#endif
