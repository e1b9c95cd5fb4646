/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - the memory that all processes of a job share on one host.
 *
 * An arena is one memfd, mapped whole and at the same address by every
 * process, so that a pointer into it means the same everywhere.  It is sparse:
 * the range is reserved, pages come when touched and go when large blocks are
 * freed.  It has no name in any file system and is gone with the last process.
 *
 * The range is cut into units of 64 KiB, and each unit has a descriptor in a
 * table at the front:
 *
 *     base                                                      base + bytes
 *     | struct ski_arena | unit[0] unit[1] ... unit[n-1] | 64 KiB | 64 KiB ...
 *
 * A run of units is a *span*.  Spans are handed out and taken back here, under
 * one lock (span.c); what happens inside a span is its owner's affair: heaps
 * (heap.h) cut them into small blocks, larger blocks are a span each.
 *
 * Free spans are found by size in doubly linked bins (four to a power of two,
 * with a bitmap of the bins that are not empty) and merged with free neighbours
 * through the descriptors of their first and last units.
 */
#ifndef SKI_ARENA_H
#define SKI_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/status.h>

#include "base/arch.h"
#include "base/lock.h"

#define SKI_UNIT_SHIFT 16
#define SKI_UNIT_BYTES ((size_t)1 << SKI_UNIT_SHIFT)
#define SKI_SPAN_BINS  128

enum ski_unit_kind {
    SKI_UNIT_FREE,  /* first or last unit of a free span, or never used */
    SKI_UNIT_LARGE, /* first unit of a block of its own                 */
    SKI_UNIT_TAIL,  /* its last unit, if it has several                 */
    SKI_UNIT_SLAB,  /* any unit of a span that a heap cuts up           */
};

struct ski_unit {
    _Alignas(SKI_CACHE_LINE) uint8_t kind;
    uint8_t  size_class; /* slab, every unit: of its blocks (heap.h)          */
    uint16_t heap;       /* slab, every unit: whose it is                     */
    uint32_t first;      /* index of the span's first unit                    */
    uint32_t units;      /* length of the span; kept in its first unit        */
    uint32_t dirty;      /* free: how many of its units may hold pages        */
    uint32_t next, prev; /* bin of free spans, or list of slabs; 0 ends it    */
    uint32_t used;       /* slab: blocks that are out                         */
    uint32_t fresh;      /* slab: blocks that were never out, at its end      */
    void    *blocks;     /* slab: blocks that came back, linked by first word */
    bool     listed;     /* slab: in its heap's list of slabs with room       */
};

struct ski_arena {
    uint64_t         magic;
    uintptr_t        base;
    size_t           bytes;
    uint32_t         units;
    void            *root; /* the layer above's: boot/job                        */
    struct ski_lock  lock; /* guards what follows, and free spans                */
    uint32_t         free_units;
    uint32_t         dirty;     /* units of dirty free spans, all bins                 */
    uint32_t         keep;      /* units of them that may stay                         */
    uint32_t         keep_most; /* what keep may grow to                               */
    uint32_t         given;     /* units given back to the system and not taken since  */
    uint32_t         busy_high; /* more units in use than this are pressure; 0: never */
    uint32_t         busy_low;  /* fewer end it                                        */
    uint32_t         busy;      /* units in use                                        */
    _Atomic uint32_t busy_most; /* at any time; written under the lock, read by all   */
    _Atomic uint32_t pressure;  /* 1 while memory is short; written under the lock, read by all */
    uint64_t         bin_map[SKI_SPAN_BINS / 64];
    uint32_t         bin[SKI_SPAN_BINS]; /* first span of each, 0 for none      */
    struct ski_unit  unit[];
};

/** Create an arena of @p bytes, map it at @p address (0: a place that should be
 *  free in every process) and return its descriptor, which other processes
 *  inherit.  Up to @p keep bytes of freed spans keep their pages; 0: as many as
 *  the program turns out to use again, up to a quarter of the memory (span.c).
 *  SKUA_ERR_ADDRESS, SKUA_ERR_NOMEM or SKUA_ERR_SYSTEM, logged. */
skua_status_t ski_arena_create(size_t bytes, uintptr_t address, size_t keep,
                               struct ski_arena **arena, int *fd);

/** Map the arena behind the inherited descriptor @p fd.  SKUA_ERR_INVAL if it
 *  is none, SKUA_ERR_ADDRESS if its range is taken in this process; logged. */
skua_status_t ski_arena_attach(int fd, struct ski_arena **arena);

/** Unmap it.  The memory lives on while another process maps it. */
void ski_arena_detach(struct ski_arena *arena);

/** Take a span of at least @p bytes, 64 KiB aligned, to be used as @p kind
 *  (SKI_UNIT_LARGE or SKI_UNIT_SLAB).  Its bytes are undefined.
 *  SKUA_ERR_NOMEM, logged with the setting to raise. */
skua_status_t ski_span_alloc(struct ski_arena *arena, size_t bytes, enum ski_unit_kind kind,
                             void **span);

/** The same; NULL if there is none, and nothing is said. */
void *ski_span_try(struct ski_arena *arena, size_t bytes, enum ski_unit_kind kind);

/** Log that @p bytes were not to be had, with the setting to raise.  SKUA_ERR_NOMEM. */
skua_status_t ski_span_exhausted(struct ski_arena *arena, size_t bytes);

/** Give a span back.  Any process, any PE. */
void ski_span_free(struct ski_arena *arena, void *span);

/** Sets the bytes in use from which on ski_arena_pressed() holds, until use has fallen to
 *  seven eighths of them; 0: never. */
void ski_arena_set_pressure(struct ski_arena *arena, size_t bytes);

/** Returns whether memory is short: senders to a PE that runs behind are then held back
 *  (core/message/backpressure.h).  A hint without ordering. */
static inline bool ski_arena_pressed(const struct ski_arena *arena)
{
    return atomic_load_explicit(&arena->pressure, memory_order_relaxed) != 0;
}

/** Returns the most bytes that were ever in use at once.  For statistics. */
static inline size_t ski_arena_most_bytes(const struct ski_arena *arena)
{
    return (size_t)atomic_load_explicit(&arena->busy_most, memory_order_relaxed) << SKI_UNIT_SHIFT;
}

/** Bytes that are free, in spans of any size.  For statistics. */
size_t ski_arena_free_bytes(struct ski_arena *arena);

static inline bool ski_arena_contains(const struct ski_arena *arena, const void *at)
{
    return (uintptr_t)at - arena->base < arena->bytes;
}

static inline struct ski_unit *ski_unit_of(struct ski_arena *arena, const void *at)
{
    return &arena->unit[((uintptr_t)at - arena->base) >> SKI_UNIT_SHIFT];
}

static inline void *ski_unit_memory(struct ski_arena *arena, const struct ski_unit *unit)
{
    return (char *)arena + ((size_t)(unit - arena->unit) << SKI_UNIT_SHIFT);
}

/* arena.c calls it once, for the units behind the table. */
void ski_span_init(struct ski_arena *arena, uint32_t first, uint32_t units);

#endif
