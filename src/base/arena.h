/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - the memory that all processes of a job share on one host.
 *
 * An arena is one memfd, mapped whole and at the same address by every process, so a pointer into
 * it is valid in all of them.  It is sparse: the address range is reserved, the kernel allocates
 * pages on first touch, and freed spans return theirs.  It has no name in any file system and
 * disappears with the last process.
 *
 * The range is divided into units of 64 KiB.  Each unit has a descriptor in a table at the front:
 *
 *     base                                                      base + bytes
 *     | struct ski_arena | unit[0] unit[1] ... unit[n-1] | 64 KiB | 64 KiB ...
 *
 * A run of units is a *span*.  span.c allocates and frees spans under one lock.  A span is either a
 * large block of its own or a slab that a heap (heap.h) cuts into small blocks.
 *
 * Free spans are kept by length in doubly linked bins, four bins to a power of two, with a bitmap
 * of the bins that are not empty.  A freed span is merged with free neighbours through the
 * descriptors of their first and last units.
 *
 * On a host with several NUMA nodes the arena is divided into *NUMA ranges*, one for each NUMA node
 * that has PEs (arena_numa.c).  A range has bins of its own and prefers the memory of its NUMA
 * node; a PE allocates from the range of its NUMA node while that has room.
 */
#ifndef SKI_ARENA_H
#define SKI_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/status.h>

#include "base/arch.h"
#include "base/futex_lock.h"

#define SKI_UNIT_SHIFT  16
#define SKI_UNIT_BYTES  ((size_t)1 << SKI_UNIT_SHIFT)
#define SKI_SPAN_BINS   128
#define SKI_NUMA_RANGES 32 /* ranges of an arena, at most */

/* The kinds of units. */
enum ski_unit_kind {
    SKI_UNIT_FREE,  /* the first or last unit of a free span, or a unit never used */
    SKI_UNIT_LARGE, /* the first unit of a large block                             */
    SKI_UNIT_TAIL,  /* the last unit of a large block of several units             */
    SKI_UNIT_SLAB,  /* any unit of a slab                                          */
};

/* The descriptor of a unit. */
struct ski_unit {
    _Alignas(SKI_CACHE_LINE) uint8_t kind;
    uint8_t  size_class; /* every unit of a slab: size class of its blocks (heap.h)      */
    uint16_t heap;       /* every unit of a slab: id of the heap that owns it; large block:
                          * of the PE that allocated it (pool.h)                         */
    uint32_t first;      /* index of the first unit of the span                          */
    uint32_t units;      /* length of the span; valid in its first unit                  */
    uint32_t dirty;      /* free span: units that may hold pages                         */
    uint32_t next, prev; /* links in a bin of free spans or a list of slabs; 0 ends it   */
    uint32_t used;       /* slab: blocks allocated                                       */
    uint32_t fresh;      /* slab: blocks never allocated, at its end                     */
    void    *blocks;     /* slab: freed blocks, linked through their first word          */
    bool     listed;     /* slab: it has room and is in its heap's list of such slabs    */
};

/* The head of an arena, at its first byte. */
struct ski_arena {
    uint64_t         magic;
    uintptr_t        base;
    size_t           bytes;
    uint32_t         units;
    void            *root; /* the job (boot/job.h)                                          */
    struct ski_lock  lock; /* guards all members below, and the descriptors of free spans   */
    uint32_t         free_units;
    uint32_t         dirty;     /* units of free spans that may hold pages                   */
    uint32_t         keep;      /* how many of these may keep their pages                    */
    uint32_t         keep_max;  /* what keep may grow to                                     */
    uint32_t         returned;  /* units whose pages went to the kernel, not reused since    */
    uint32_t         busy_high; /* units in use above which pressure is set; 0: never        */
    uint32_t         busy_low;  /* units in use at which pressure is cleared                 */
    uint32_t         busy;      /* units in use                                              */
    _Atomic uint32_t busy_peak; /* highest value of busy; read without the lock              */
    _Atomic uint32_t pressure;  /* 1 while memory is short; read without the lock            */
    uint32_t         ranges;    /* NUMA ranges, at least 1                                   */
    uint32_t         range_end[SKI_NUMA_RANGES]; /* of each, the unit after its last        */
    uint64_t bin_map[SKI_NUMA_RANGES][SKI_SPAN_BINS / 64]; /* bit set: that bin is not empty */
    uint32_t bin[SKI_NUMA_RANGES][SKI_SPAN_BINS];          /* first span of each, 0: none    */
    struct ski_unit unit[];
};

/** Creates an arena of @p bytes and maps it at @p address; 0 chooses an address that should be free
 *  in every process.  *@p fd is its descriptor, which other processes inherit.  Freed spans keep up
 *  to @p keep bytes of pages; 0 adapts that to what the program reuses, up to a quarter of the
 *  memory (span.c).  Errors are logged: SKUA_ERR_INVAL, SKUA_ERR_ADDRESS, SKUA_ERR_SYSTEM. */
skua_status ski_arena_create(size_t bytes, uintptr_t address, size_t keep, struct ski_arena **arena,
                             int *fd);

/** Maps the arena of the inherited descriptor @p fd.  Errors are logged: SKUA_ERR_INVAL if
 *  @p fd is not an arena, SKUA_ERR_ADDRESS if its address range is in use in this process. */
skua_status ski_arena_attach(int fd, struct ski_arena **arena);

/** Advises the kernel to use huge pages for the arena, in this process.  Returns whether it accepts
 *  the advice; whether it follows it is a setting of the host. */
bool ski_arena_use_huge_pages(struct ski_arena *arena);

/** Maps the isomalloc range (core/isomalloc/isomalloc.h), which is after the arena in its file,
 * at the same address in all processes of the job.  Returns its first byte, and its size in *@p
 * bytes; NULL: the range is taken in this process, or the system has no room for it.  The arena is
 * the one that this process created or attached last. */
void *ski_arena_map_iso(size_t *bytes);

/** Unmaps an arena.  Its memory stays as long as another process maps it. */
void ski_arena_detach(struct ski_arena *arena);

/** Allocates a span of at least @p bytes, aligned to 64 KiB, of the kind SKI_UNIT_LARGE.  Its
 *  contents are undefined.  SKUA_ERR_NOMEM is logged with the setting to raise. */
skua_status ski_span_alloc(struct ski_arena *arena, size_t bytes, void **span);

/** Allocates a span as ski_span_alloc() does, of @p kind SKI_UNIT_LARGE or SKI_UNIT_SLAB, or
 * returns NULL without logging. */
void *ski_span_try(struct ski_arena *arena, size_t bytes, enum ski_unit_kind kind);

/** Logs that the arena has no @p bytes left, with the setting to raise.  Returns
 *  SKUA_ERR_NOMEM. */
skua_status ski_span_exhausted(struct ski_arena *arena, size_t bytes);

/** Frees a span.  Any thread of any process that maps the arena may call it. */
void ski_span_free(struct ski_arena *arena, void *span);

/** Lets all freed spans keep their pages from now on: a network device may have pinned them. */
void ski_arena_keep_all(struct ski_arena *arena);

/** Sets the number of bytes in use above which ski_arena_pressed() becomes true; it becomes false
 *  again at seven eighths of that.  0: never true. */
void ski_arena_set_pressure(struct ski_arena *arena, size_t bytes);

/** Returns whether memory is short, so that senders to an overloaded PE must wait
 *  (core/message/backpressure.h).  A hint without memory ordering. */
static inline bool ski_arena_pressed(const struct ski_arena *arena)
{
    return atomic_load_explicit(&arena->pressure, memory_order_relaxed) != 0;
}

/** Returns the most bytes that were ever in use at once.  For statistics. */
static inline size_t ski_arena_most_bytes(const struct ski_arena *arena)
{
    return (size_t)atomic_load_explicit(&arena->busy_peak, memory_order_relaxed) << SKI_UNIT_SHIFT;
}

/** Returns the number of free bytes, in spans of any length.  For statistics. */
size_t ski_arena_free_bytes(struct ski_arena *arena);

/** Returns whether the address @p at is in the arena. */
static inline bool ski_arena_contains(const struct ski_arena *arena, const void *at)
{
    return (uintptr_t)at - arena->base < arena->bytes;
}

/** Returns the descriptor of the unit that contains the address @p at, which is in the arena. */
static inline struct ski_unit *ski_unit_of(struct ski_arena *arena, const void *at)
{
    return &arena->unit[((uintptr_t)at - arena->base) >> SKI_UNIT_SHIFT];
}

/** Returns the first byte of a unit. */
static inline void *ski_unit_memory(struct ski_arena *arena, const struct ski_unit *unit)
{
    return (char *)arena + ((size_t)(unit - arena->unit) << SKI_UNIT_SHIFT);
}

/** Frees all spans from the address @p from on, whatever they hold, and zeroes their memory: from
 * there on the arena is as new.  No other thread of any process uses the arena. */
void ski_arena_clear(struct ski_arena *arena, const void *from);

/** Makes the @p units from @p first on one free span.  arena.c calls it once, for a new arena. */
void ski_span_init(struct ski_arena *arena, uint32_t first, uint32_t units);

/** Divides what is free of an arena into NUMA ranges, if the @p pes PEs are in several NUMA nodes:
 *  @p numa[i] is the NUMA node of PE i, and @p range[i] becomes its range.  Otherwise, or if a NUMA
 *  node is not known (-1), it changes nothing.  No other thread of any process uses the arena. */
void ski_arena_divide(struct ski_arena *arena, const int *numa, int pes, int32_t *range);

/** Sets the NUMA range from which the calling thread allocates spans first; 0 at its start. */
void ski_span_prefer(uint32_t range);

/** Sets the ends of @p ranges NUMA ranges and assigns the free spans to them.  arena_numa.c calls
 *  it. */
void ski_span_set_ranges(struct ski_arena *arena, const uint32_t *end, uint32_t ranges);

#endif
