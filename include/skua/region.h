/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - memory that others may access, and addresses in it.
 *
 * A *region* is memory that other PEs may read and write without the help of
 * its owner.  It is symmetric (a piece of the same size on every PE, or on some
 * of them, made by all of these together) or belongs to one PE.  A *global
 * address* is a place in a region: a PE and an offset into its piece.  Both are
 * small values that can be stored and sent in messages, and mean the same on
 * every PE.
 *
 * Regions of the arena (all but registered ones) are reached by load and store
 * from every PE of the host; memory that was registered where it lay is reached
 * so in its own process, and by cross-memory attach in others.
 *
 * Any thread of a process may call what is not collective.
 */
#ifndef SKUA_REGION_H
#define SKUA_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** A region; zero is none. */
typedef struct {
    uint32_t id;
} skua_region;

/** A place in a region. */
typedef struct {
    int32_t     pe;
    skua_region region;
    uint64_t    offset;
} skua_gaddr;

/**
 * Make a symmetric region: @p bytes on every PE, undefined at first, aligned
 * to a cache line.  Collective: all PEs call it, in the same order, with the
 * same size.  On one host nobody waits: the region can be used as soon as the call
 * returns, also the pieces of PEs that have not called it yet.  Over several hosts
 * it waits for all of its PEs, and for PE 0, who gives out the names; messages are
 * delivered meanwhile.  SKUA_ERR_NOMEM, logged.
 */
SKUA_API skua_status_t skua_region_create(size_t bytes, skua_region *region);

/** The same for the @p n PEs of @p pes, which alone call it, all with the same
 *  list: in rising order, and each of them once.  SKUA_ERR_INVAL. */
SKUA_API skua_status_t skua_region_create_on(const int *pes, int n, size_t bytes,
                                             skua_region *region);

/** Allocate a region of the arena for the calling PE alone.  Not collective. */
SKUA_API skua_status_t skua_region_alloc(size_t bytes, skua_region *region);

/** Make memory that exists (malloc, stack, mmap) a region of the calling PE.
 *  Registering the same memory again gives the same region, which then is to be
 *  freed as often.  Not collective.  SKUA_ERR_INVAL: NULL, or beyond the end of all memory;
 *  SKUA_ERR_NOMEM; both logged. */
SKUA_API skua_status_t skua_region_register(void *memory, size_t bytes, skua_region *region);

/**
 * Give a region back.  A symmetric one is gone when each of its PEs has called
 * this, on all hosts; no PE may use it after its own call, before which all that it has put
 * there must be complete (skua_fence_region()).  That of one PE is gone at once;
 * while operations on it are in flight the call returns SKUA_ERR_BUSY and
 * changes nothing.  SKUA_ERR_REGION: there is no
 * such region, or none of the caller's.  Operations of PEs of other hosts are not
 * counted: they find no region any more.
 */
SKUA_API skua_status_t skua_region_free(skua_region region);

/** Name a region in errors, which otherwise give its number and where it was made: what calls
 *  skua_region_create() and its like, as an offset in the program, or as a source line with the
 *  setting `backtrace`.  The name is copied, and cut at 47 bytes; NULL takes it away.  It is known
 *  on this host: where errors of others shall have it, a PE of each host calls this.
 *  SKUA_ERR_REGION, logged. */
SKUA_API skua_status_t skua_region_set_name(skua_region region, const char *name);

/** Bytes of each PE's piece; 0 if there is no such region, or this host knows nothing of
 *  it, as of regions of one PE of another. */
SKUA_API size_t skua_region_size(skua_region region);

/** The caller's own piece; NULL if it has none. */
SKUA_API void *skua_region_mine(skua_region region);

/* ---- global addresses ---------------------------------------------------- */

/** The place @p offset bytes into the piece of @p pe. */
static inline skua_gaddr skua_at(skua_region region, int pe, uint64_t offset)
{
    skua_gaddr at = {pe, region, offset};
    return at;
}

/** @p bytes further on, or back. */
static inline skua_gaddr skua_gaddr_add(skua_gaddr at, ptrdiff_t bytes)
{
    at.offset += (uint64_t)bytes;
    return at;
}

/** Bytes from @p b to @p a, which lie in the same piece. */
static inline ptrdiff_t skua_gaddr_diff(skua_gaddr a, skua_gaddr b)
{
    return (ptrdiff_t)(a.offset - b.offset);
}

static inline bool skua_gaddr_equal(skua_gaddr a, skua_gaddr b)
{
    return a.pe == b.pe && a.region.id == b.region.id && a.offset == b.offset;
}

/** No place: what a zeroed skua_gaddr is. */
static inline bool skua_gaddr_is_none(skua_gaddr at)
{
    return at.region.id == 0;
}

/** A plain pointer to it, where the memory is reached by load and store from
 *  here; NULL if not, or if it is outside its region. */
SKUA_API void *skua_local(skua_gaddr at);

SKUA_END_DECLS

#endif
