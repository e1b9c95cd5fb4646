/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - the table of regions, and how a global address becomes memory.
 *
 * There is one table for all PEs of a host, in the arena: a descriptor for each
 * region, whatever the number of PEs.  The pieces of a symmetric region lie one
 * behind another, so a place in it is found by arithmetic.
 *
 * A region's id is its place in the table and a generation, which changes when
 * the place is used anew: an id that outlived its region is recognised.
 *
 * Plain regions are those that every PE of the host reaches by load and store
 * and that need no counting, since all their PEs free them together: symmetric
 * ones over neighbouring PEs.  Their `count` is not 0, and the fast path is
 * ski_reach().  All others go through ski_locate(), which also says why a place
 * cannot be reached.
 */
#ifndef SKI_REGION_H
#define SKI_REGION_H

#include <skua/region.h>

#include "base/arena.h"
#include "boot/job.h"

enum ski_region_kind {
    SKI_REGION_SYMMETRIC,
    SKI_REGION_ALLOCATED,  /* by one PE, in the arena           */
    SKI_REGION_REGISTERED, /* memory of a process, where it was */
};

struct ski_region {
    _Alignas(2 * SKI_CACHE_LINE) _Atomic uint32_t id; /* 0: none here               */
    int32_t  first;                                   /* PE of the first piece      */
    uint32_t count;                                   /* pieces, if plain; else 0   */
    uint32_t kind;
    uint64_t bytes;   /* of a piece                                       */
    uint64_t stride;  /* from one piece to the next                       */
    char    *base;    /* of the first piece; in the owner's address space */
    uint32_t members; /* PEs with a piece, on all hosts                   */
    int32_t *list;    /* of them, ascending; NULL: they are 0 .. members-1, or `first` alone */
    int32_t *here;    /* of those on this host, where some are on others; else NULL */
    uint32_t pieces;  /* and how many they are                            */
    int32_t  process; /* registered outside of the arena: whose; else -1  */
    int32_t  pid;     /* and its id with the system                       */

    uint32_t         generation;
    uint32_t         next;    /* free places; registered: of one hash value      */
    uint32_t         refs;    /* registered: times it was registered             */
    _Atomic uint32_t uses;    /* operations in flight, where they are counted    */
    _Atomic uint64_t leaving; /* symmetric: members that have freed it: a bit for
                                 each, or, if there are more than 64, how many   */
};

#define SKI_REGION_CLOSED UINT32_C(0x80000000) /* in uses: being freed */

#define SKI_REGION_INDEX_BITS 20

/* How a process knows the table.  Before skua_main() it is one empty place. */
struct ski_regions {
    struct ski_region *table; /* that of no region where requests are to be sent for all */
    uint32_t           mask;  /* places - 1 */
    int32_t            process;
    _Atomic int32_t    busy; /* twice the requests on the way from this process to PEs of this
                                host, and 1 if all operations are to be in strict order: no
                                short cut */
};

extern struct ski_regions ski_regions __attribute__((visibility("hidden")));

/** Make the table in the arena of @p job.  A failure has been logged. */
skua_status_t ski_regions_create(struct ski_job *job);

/** Know the table, in process @p process, from now on.  Uses ski_config. */
void ski_regions_open(struct ski_job *job, int process);

/** The piece that @p at is in, if its region is plain, and its size; else NULL. */
static inline char *ski_piece(skua_gaddr at, uint64_t *bytes)
{
    const struct ski_region *region = &ski_regions.table[at.region.id & ski_regions.mask];
    uint32_t                 rank   = (uint32_t)at.pe - (uint32_t)region->first;

    /* Relaxed: whoever sent us the id published the descriptor with it. */
    if (SKI_UNLIKELY(atomic_load_explicit(&region->id, memory_order_relaxed) != at.region.id ||
                     rank >= region->count))
        return NULL;
    *bytes = region->bytes;
    return region->base + rank * region->stride;
}

/** The memory of @p bytes at @p at, if its region is plain and has it; else NULL. */
static inline char *ski_reach(skua_gaddr at, size_t bytes)
{
    uint64_t room;
    char    *piece = ski_piece(at, &room);

    if (SKI_UNLIKELY(!piece || at.offset > room || bytes > room - at.offset))
        return NULL;
    return piece + at.offset;
}

/** Whether an operation may take the short cut through ski_reach(): nothing is
 *  on the way that it would have to be ordered with. */
static inline bool ski_calm(void)
{
    return SKI_LIKELY(atomic_load_explicit(&ski_regions.busy, memory_order_relaxed) == 0);
}

/* Where a place is. */
struct ski_place {
    struct ski_region *region;
    char              *memory;  /* in the address space of `process`       */
    int32_t            process; /* whose it is; -1: the arena              */
    int32_t            pid;
    int32_t            pe;
    bool               far; /* on another host: `memory` is as aligned as there,
                               and `region` NULL if only that host knows it */
    bool counted;           /* region->uses was increased: drop it     */
};

/** Find @p lo to @p hi bytes from @p at, for @p call.  If the region counts
 *  operations this is one until ski_place_drop().  SKUA_ERR_REGION or
 *  SKUA_ERR_RANGE, logged unless @p call is NULL. */
skua_status_t ski_locate(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                         struct ski_place *place);

void ski_place_drop(const struct ski_place *place);

/** Count an operation on any region until ski_region_release(). */
void ski_region_hold(struct ski_region *region);
void ski_region_release(struct ski_region *region);

/** Whether @p id is a symmetric region that all its members on this host have freed. */
bool ski_region_left(uint32_t id);

/** Forget a symmetric region that all its members have left, and its memory. */
void ski_region_remove(uint32_t id);

/** Whether this process reaches it by load and store. */
static inline bool ski_place_direct(const struct ski_place *place)
{
    return !place->far && (place->process < 0 || place->process == ski_regions.process);
}

#endif
