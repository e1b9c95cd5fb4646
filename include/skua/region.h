/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - memory that other PEs may access, and global addresses in it.
 *
 * A *region* is memory that other PEs may read and write without the participation of its owner. A
 * symmetric region has a piece on every PE, or on some PEs, which create it collectively: of the
 * same size, or of one that each PE chooses. Other regions belong to one PE. A *global address* is
 * a position in a region: a PE and an offset into its piece. Both are small values that can be
 * stored and sent in messages, and are valid on every PE.
 *
 * Every PE of a host accesses regions of the arena by load and store. A region that was created
 * from memory of the program (skua_region_create_from()) is accessed by load and store in its own
 * process, and by cross-memory attach in other processes.
 *
 * Any thread of a process may call the functions that are not collective.
 */
#ifndef SKUA_REGION_H
#define SKUA_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** A region: a value that is valid on every PE of the job and may be sent in messages. A zeroed
 *  value is not a region. */
typedef struct {
    uint32_t id;
} skua_region;

/** A global address: a position in a region. It is a plain value, valid on every PE; a zeroed value
 *  is not an address. */
typedef struct {
    int32_t     pe;     /* the PE whose piece it is in */
    skua_region region; /* the region */
    uint64_t    offset; /* bytes from the beginning of the piece */
} skua_gaddr;

/** Creates a symmetric region: @p bytes of uninitialised memory on every PE, aligned to a cache
 *  line. Collective: all PEs call it in the same order with the same size. Within one host the call
 *  does not wait: the region can be used as soon as it returns, including the pieces of PEs that
 *  have not called it yet. Over several hosts it waits for all its PEs and for PE 0, which assigns
 *  the names; messages are delivered meanwhile. Returns SKUA_ERR_NOMEM, logged. */
SKUA_API skua_status skua_region_create(size_t bytes, skua_region *region);

/** Creates a symmetric region on the @p n PEs of @p pes. Collective among these PEs, which all pass
 *  the same list in ascending order without duplicates (else SKUA_ERR_INVAL), and make the calls
 *  for one list in the same order. Otherwise as skua_region_create(). */
SKUA_API skua_status skua_region_create_on(const int *pes, int n, size_t bytes,
                                           skua_region *region);

/** Creates a symmetric region whose pieces differ in size: @p bytes of uninitialised memory on the
 *  calling PE, aligned to a cache line; 0 is a piece without memory. Collective: all PEs call it in
 *  the same order as their other creations of regions, and the call waits for all of them; messages
 *  are delivered meanwhile. Operations on the region are checked against the size of the piece that
 *  they address; the first one on the piece of a PE of another host requests the size from that PE.
 *  Returns SKUA_ERR_NOMEM on all PEs if one of them has no memory, logged, or SKUA_ERR_EXIT when
 *  the job ends first. */
SKUA_API skua_status skua_region_create_varied(size_t bytes, skua_region *region);

/** Creates a region in the arena that belongs to the calling PE alone. Not collective. Returns
 *  SKUA_ERR_NOMEM, logged. */
SKUA_API skua_status skua_region_create_local(size_t bytes, skua_region *region);

/** Creates a region of the calling PE from existing memory (malloc, stack, mmap), which it does not
 *  copy. A second region from the same memory is the same region, which must be destroyed as often.
 *  Not collective. Returns SKUA_ERR_INVAL for NULL or a range beyond the end of the address space,
 *  or SKUA_ERR_NOMEM; both are logged. */
SKUA_API skua_status skua_region_create_from(void *memory, size_t bytes, skua_region *region);

/** Destroys a region. A symmetric region is freed when each of its PEs, on all hosts, has called
 *  this. No PE may use it after its own call, and all its operations on the region must be complete
 *  before (skua_flush_region()). A region of one PE is destroyed immediately; while operations on
 *  it are in flight the call returns SKUA_ERR_BUSY and changes nothing. Returns SKUA_ERR_REGION if
 *  there is no such region or the caller has no part in it. Operations of PEs of other hosts are
 *  not counted: they fail with SKUA_ERR_REGION at the target. */
SKUA_API skua_status skua_region_destroy(skua_region region);

/** Names a region in errors. Without a name, errors give its number and where it was created: the
 *  calling instruction as an offset in the program, or the source line with the setting
 *  `backtrace`. The name is copied, truncated to 47 bytes, and valid on this host; for errors of
 *  other hosts a PE of each host calls this. NULL removes the name. Returns SKUA_ERR_REGION,
 *  logged. */
SKUA_API skua_status skua_region_set_name(skua_region region, const char *name);

/** What a checkpoint keeps of a region (skua_region_set_restart()). */
typedef enum {
    SKUA_REGION_SAVED,     /**< its contents; a restart needs the same number of PEs */
    SKUA_REGION_BLOCKS,    /**< its contents, which are divided among any number of PEs */
    SKUA_REGION_TRANSIENT, /**< nothing: a restarted program creates it again if it needs it */
} skua_region_restart;

/** Determines what checkpoints (checkpoint.h) do with a region. A region that was created by
 *  skua_locks_create(), skua_region_create(), skua_region_create_on(), skua_region_create_varied(),
 *  skua_region_create_local() or skua_region_create_team() is SKUA_REGION_SAVED unless a program
 *  changes this: a restarted job has it, with the same value, name and contents. On another number
 *  of PEs its pieces have no meaning, so the restart is refused with the name of the region. A
 *  region of SKUA_REGION_BLOCKS is one sequence of bytes in the order of PEs instead: on P PEs,
 *  each piece is the next of P parts of equal size, of whole grains of @p grain bytes (the last
 *  ones may be partly filled or empty), and skua_region_size() returns the new size. That is
 *  possible for a region of all PEs whose pieces have equal sizes, multiples of @p grain. @p grain
 *  has no meaning otherwise. A region of existing memory (skua_region_create_from()) is never
 *  saved.
 *
 *  Valid on this host: a PE of each host calls it. Returns SKUA_ERR_INVAL, logged. */
SKUA_API skua_status skua_region_set_restart(skua_region region, skua_region_restart how,
                                             size_t grain);

/** Returns the size of each PE's piece, or of the calling PE's piece if they differ
 *  (skua_region_create_varied()). Returns 0 if there is no such region or it is a region of one PE
 *  of another host. */
SKUA_API size_t skua_region_size(skua_region region);

/** Returns the size of the piece of @p pe, or 0 if that PE has none. The first call for a piece of
 *  another host whose size is not known here (of a varied region, or a region of one PE) requests
 *  it from its owner and waits for the answer, delivering messages meanwhile. */
SKUA_API size_t skua_region_size_of(skua_region region, int pe);

/** Returns the calling PE's piece of a region, or NULL if it has none. */
SKUA_API void *skua_region_local(skua_region region);

/* ---- global addresses ---------------------------------------------------- */

/** Returns the global address @p offset bytes into the piece of @p pe. */
static inline skua_gaddr skua_at(skua_region region, int pe, uint64_t offset)
{
    skua_gaddr at = {pe, region, offset};
    return at;
}

/** Returns the global address @p bytes after @p at, or before it if negative. */
static inline skua_gaddr skua_gaddr_add(skua_gaddr at, ptrdiff_t bytes)
{
    at.offset += (uint64_t)bytes;
    return at;
}

/** Returns the number of bytes from @p b to @p a, which are in the same piece. */
static inline ptrdiff_t skua_gaddr_diff(skua_gaddr a, skua_gaddr b)
{
    return (ptrdiff_t)(a.offset - b.offset);
}

/** Returns true if @p a and @p b are the same position: PE, region and offset are equal. */
static inline bool skua_gaddr_equal(skua_gaddr a, skua_gaddr b)
{
    return a.pe == b.pe && a.region.id == b.region.id && a.offset == b.offset;
}

/** Returns true if @p at is not an address, as a zeroed skua_gaddr is not. */
static inline bool skua_gaddr_is_none(skua_gaddr at)
{
    return at.region.id == 0;
}

/** Returns a pointer to the memory at a global address if the caller can access it by load and
 *  store. Returns NULL if not, or if the address is outside its region. */
SKUA_API void *skua_gaddr_local(skua_gaddr at);

SKUA_END_DECLS

#endif
