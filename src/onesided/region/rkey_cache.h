/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rkey_cache.h - remote keys: what a PE caches of regions of other hosts, and what it exports of
 * its own.
 *
 * Before the first operation on a region that this host does not know, the origin queries the owner
 * for the size of the region, its address, and the driver's key to it, if there is one.  The reply
 * is cached.  An id is not reused soon, so a cached entry is not mistaken for another region.  The
 * reply for a symmetric region describes the pieces of all PEs of the process, and is shared by the
 * PEs of this host (rkey_table.h).
 *
 * The owner registers its memory with the driver at the first query, together with that of all PEs
 * of its process, and deregisters it when the region is removed.
 */
#ifndef SKI_RKEY_CACHE_H
#define SKI_RKEY_CACHE_H

#include <skua/region.h>

#include "onesided/region/rkey_table.h"
#include "transport/driver.h"

struct ski_pe;

struct ski_region;

/* A cached entry. */
struct ski_rkey {
    struct ski_rkey        *next;
    int32_t                 pe;
    uint32_t                id;
    uint64_t                bytes, base;
    struct ski_driver_rkey *key; /* NULL: the driver cannot access it, requests must be sent */
};

/* Queries the owner of the region at @p at, and waits for the reply. */
typedef skua_status (*ski_rkey_query_fn)(struct ski_pe *self, skua_gaddr at,
                                         struct ski_rkey_info *to);

/** Uses @p query for regions that are not in the cache, from now on in this process. */
void ski_rkey_cache_open(ski_rkey_query_fn query);

/** Deregisters all memory of this process from the driver. */
void ski_rkey_cache_close(void);

/** Returns whether the driver does one-sided operations: it can, and the setting `rma` allows it.
 */
bool ski_rma_driver_enabled(const struct ski_driver *driver);

/** Returns the entry of the region at @p at; NULL: neither this PE nor another one of the host has
 *  asked. */
const struct ski_rkey *ski_rkey_find(struct ski_pe *self, skua_gaddr at);

/** Returns the entry of the region at @p at, after a query if there is none; NULL and a status: the
 *  region does not exist, or the job ends. */
const struct ski_rkey *ski_rkey_lookup(struct ski_pe *self, skua_gaddr at, skua_status *status);

/** Adds the entry that the owner of the region at @p at described, if there is none, and returns
 *  the entry. */
const struct ski_rkey *ski_rkey_add(struct ski_pe *self, skua_gaddr at,
                                    const struct ski_rkey_info *info);

/** Adds an entry without a query, if there is none: a buffer describes its region.  Not where the
 *  driver has keys. */
void ski_rkey_insert(struct ski_pe *self, skua_gaddr at, uint64_t bytes, uint64_t base);

/** Drops all entries of a PE. */
void ski_rkey_cache_end(struct ski_pe *self);

/** Describes the piece of PE @p pe, of this process, in region @p id for a query. */
void ski_rkey_export(uint32_t id, const struct ski_region *region, int32_t pe,
                     struct ski_rkey_info *to);

/** Deregisters the memory of region @p id from the driver: the region is being removed.  Other
 *  processes of the host that export it do so at their next query. */
void ski_rkey_revoke(uint32_t id);

#endif
