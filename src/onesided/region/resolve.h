/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - from a global address to memory, for all regions and with all checks.
 *
 * Regions that one PE frees alone count the operations in flight, so that freeing them while they
 * are in use is refused (SKUA_ERR_BUSY); a resolved address is such an operation until it is
 * released.
 */
#ifndef SKI_RESOLVE_H
#define SKI_RESOLVE_H

#include "onesided/region/region_table.h"

/* The memory of a global address. */
struct ski_resolved {
    struct ski_region *region; /* NULL: only its host knows it                       */
    char              *memory; /* in the address space of `process`; on another host: its
                                  alignment is that of the address there             */
    int32_t process;           /* the process that owns it; -1: the arena            */
    int32_t pid;
    int32_t pe;
    bool    remote_host;
    bool    unknown; /* size and address are known on its host only, which checks them */
    bool    counted; /* region->uses was increased */
};

/** Finds the memory from @p lo to @p hi bytes from @p at, for @p call.  If the region counts
 *  operations this is one until ski_resolved_release().  SKUA_ERR_REGION or SKUA_ERR_RANGE, logged
 *  unless @p call is NULL. */
skua_status ski_resolve(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                        struct ski_resolved *target);

/** Finds the memory from @p lo to @p hi bytes from @p at, as ski_resolve() does, without asking
 *  another host: what this host does not know of a region there is left to its owner to check
 *  (target->unknown). */
skua_status ski_resolve_nowait(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                               struct ski_resolved *target);

/** Ends the use of a resolved address. */
void ski_resolved_release(const struct ski_resolved *target);

/** Returns whether this process reaches the memory by load and store. */
static inline bool ski_resolved_is_direct(const struct ski_resolved *target)
{
    return !target->remote_host && (target->process < 0 || target->process == ski_regions.process);
}

/** Counts an operation on any region until ski_region_release(). */
void ski_region_retain(struct ski_region *region);

/** Ends the count of an operation that ski_region_retain() began. */
void ski_region_release(struct ski_region *region);

#endif
