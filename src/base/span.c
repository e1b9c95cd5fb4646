/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.c - the allocator of spans (see arena.h for the layout of an arena).
 *
 * Invariants, under the lock:
 *   - a free span is in exactly one bin, the one for its length;
 *   - a free span is in one NUMA range, and is in a bin of that;
 *   - no two free spans of a NUMA range are adjacent;
 *   - the first and the last unit of every span hold the index of its first unit, which holds its
 *     length, so an adjacent span is merged without a search.
 *
 * A bin holds the spans of one range of lengths.  An allocation searches the first few spans of the
 * bin for its own length, then takes the first span of the next larger bin that is not empty, which
 * is O(1), and searches its own bin to the end only if there is none.
 *
 * NUMA ranges.  An allocation searches the range that its thread prefers, then the others.  If none
 * has a span that is long enough, it joins free spans on both sides of the end of a range.  So an
 * allocated span may cross ends; the units on both sides of each then have the kind
 * SKI_UNIT_TAIL, so that the descriptors at the end of a range always tell whether it is free.
 *
 * Pages.  A freed span stays *dirty*, that is, keeps its pages for quick reuse, while all dirty
 * units together do not exceed arena->keep; above that its pages return to the kernel before it
 * becomes free.  `dirty` counts such units per span.  A span that is split gives its dirty units to
 * the part that is allocated.
 *
 * Returning pages was wrong if they are needed again, since every process then takes a page fault
 * for each.  So an allocation of units without pages raises `keep` by as many units as were
 * returned before, up to `keep_max`.  A program whose use goes up and down pays for one such cycle;
 * one that frees for good keeps nothing.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sanitizer.h"

static uint32_t span_index(const struct ski_arena *arena, const struct ski_unit *unit)
{
    return (uint32_t)(unit - arena->unit);
}

static _Thread_local uint32_t span_preferred; /* the NUMA range that this thread allocates from */

void ski_span_prefer(uint32_t range)
{
    ski_assert(range < SKI_NUMA_RANGES);
    span_preferred = range;
}

/* Returns the NUMA range of a unit. */
static uint32_t span_range_of(const struct ski_arena *arena, uint32_t unit)
{
    uint32_t range = 0;

    ski_assert(unit < arena->units);
    while (unit >= arena->range_end[range])
        range++;
    return range;
}

/* Four bins to a power of two: 1 2 3 4 5 6 7 8-9 10-11 12-13 14-15 16-19 ... */
static unsigned span_bin_of(uint32_t units)
{
    unsigned log;

    ski_assert(units > 0);
    if (units < 8)
        return units - 1;
    log = 31u - (unsigned)__builtin_clz(units);
    return 7 + (log - 3) * 4 + ((units >> (log - 2)) & 3);
}

static void span_bin_insert(struct ski_arena *arena, struct ski_unit *span)
{
    unsigned bin   = span_bin_of(span->units);
    uint32_t range = span_range_of(arena, span_index(arena, span));

    ski_assert(bin < SKI_SPAN_BINS && span->kind == SKI_UNIT_FREE);
    span->prev = 0;
    span->next = arena->bin[range][bin];
    if (span->next)
        arena->unit[span->next].prev = span_index(arena, span);
    arena->bin[range][bin] = span_index(arena, span);
    arena->bin_map[range][bin / 64] |= UINT64_C(1) << (bin % 64);
    arena->dirty += span->dirty;
    arena->free_units += span->units;
}

/* Removes a free span from the list of its bin. */
static void span_bin_remove(struct ski_arena *arena, struct ski_unit *span)
{
    unsigned bin   = span_bin_of(span->units);
    uint32_t range = span_range_of(arena, span_index(arena, span));

    ski_assert(span->kind == SKI_UNIT_FREE && arena->unit[span->first].units == span->units);
    ski_assert(arena->free_units >= span->units && arena->dirty >= span->dirty);
    if (span->next)
        arena->unit[span->next].prev = span->prev;
    if (span->prev)
        arena->unit[span->prev].next = span->next;
    else
        arena->bin[range][bin] = span->next;
    if (!arena->bin[range][bin])
        arena->bin_map[range][bin / 64] &= ~(UINT64_C(1) << (bin % 64));
    arena->dirty -= span->dirty;
    arena->free_units -= span->units;
}

/* Writes the descriptors of a free span and inserts it into its bin. */
static void span_add_piece(struct ski_arena *arena, uint32_t first, uint32_t units, uint32_t dirty)
{
    struct ski_unit *span = &arena->unit[first];
    struct ski_unit *last = &arena->unit[first + units - 1];

    ski_assert(dirty <= units && first + units <= arena->units);
    last->kind  = SKI_UNIT_FREE;
    last->first = first;
    span->kind  = SKI_UNIT_FREE;
    span->first = first;
    span->units = units;
    span->dirty = dirty;
    span_bin_insert(arena, span);
}

/* Makes units free: one span in each NUMA range. */
static void span_add_free(struct ski_arena *arena, uint32_t first, uint32_t units, uint32_t dirty)
{
    while (units > 0) {
        uint32_t room  = arena->range_end[span_range_of(arena, first)] - first;
        uint32_t piece = units < room ? units : room;
        uint32_t used  = dirty < piece ? dirty : piece;

        span_add_piece(arena, first, piece, used);
        first += piece;
        units -= piece;
        dirty -= used;
    }
}

/* Makes the arena one range.  It has no free span. */
static void span_reset_ranges(struct ski_arena *arena)
{
    memset(arena->bin, 0, arena->ranges * sizeof *arena->bin); /* of a new arena: nothing */
    memset(arena->bin_map, 0, arena->ranges * sizeof *arena->bin_map);
    arena->ranges       = 1;
    arena->range_end[0] = arena->units;
}

void ski_span_init(struct ski_arena *arena, uint32_t first, uint32_t units)
{
    span_reset_ranges(arena);
    /* The unit before the first span is never free, so merging stops there. */
    arena->unit[first - 1].kind = SKI_UNIT_TAIL;
    span_add_free(arena, first, units, 0);
}

/* Returns the first of the first @p tries spans of a bin that is long enough, or NULL. */
static struct ski_unit *span_first_fit(struct ski_arena *arena, const uint32_t *bin, uint32_t units,
                                       uint32_t tries)
{
    uint32_t at = *bin;

    while (at && arena->unit[at].units < units)
        at = --tries ? arena->unit[at].next : 0;
    return at ? &arena->unit[at] : NULL;
}

/* Returns the first bin of a NUMA range from @p bin on that is not empty, or SKI_SPAN_BINS. */
static unsigned span_next_bin(const uint64_t *bin_map, unsigned bin)
{
    for (unsigned word = bin / 64; word < SKI_SPAN_BINS / 64; word++) {
        uint64_t map = bin_map[word];
        if (word == bin / 64)
            map &= ~UINT64_C(0) << (bin % 64);
        if (map)
            return word * 64 + (unsigned)__builtin_ctzll(map);
    }
    return SKI_SPAN_BINS;
}

/* Returns a free span of a NUMA range that is long enough, or NULL. */
static struct ski_unit *span_find_in(struct ski_arena *arena, uint32_t range, uint32_t units)
{
    const uint32_t  *bins   = arena->bin[range];
    unsigned         bin    = span_bin_of(units);
    struct ski_unit *span   = span_first_fit(arena, &bins[bin], units, 8);
    unsigned         larger = span_next_bin(arena->bin_map[range], bin + 1);

    if (span)
        return span;
    if (larger < SKI_SPAN_BINS)
        return &arena->unit[bins[larger]];
    return span_first_fit(arena, &bins[bin], units, UINT32_MAX);
}

/* Makes adjacent free spans, @p units together, one that crosses the ends of ranges, until
 * span_carve() takes it out of its bin. */
static struct ski_unit *span_unite(struct ski_arena *arena, uint32_t first, uint32_t units)
{
    uint32_t dirty = 0;

    for (uint32_t at = first, next; at < first + units; at = next) {
        next = at + arena->unit[at].units;
        dirty += arena->unit[at].dirty;
        span_bin_remove(arena, &arena->unit[at]);
    }
    span_add_piece(arena, first, units, dirty);
    return &arena->unit[first];
}

/* Joins free spans on both sides of the ends of NUMA ranges to one of at least @p units.  Returns
 * NULL if there are none. */
static struct ski_unit *span_join(struct ski_arena *arena, uint32_t units)
{
    for (uint32_t range = 0; range + 1 < arena->ranges; range++) {
        uint32_t at = arena->range_end[range], next = range, first;

        if (arena->unit[at - 1].kind != SKI_UNIT_FREE)
            continue;
        first = arena->unit[at - 1].first;
        ski_assert(first + arena->unit[first].units == at);
        while (at == arena->range_end[next] && at < arena->units &&
               arena->unit[at].kind == SKI_UNIT_FREE) {
            at += arena->unit[at].units;
            next++;
        }
        if (at - first >= units)
            return span_unite(arena, first, at - first);
    }
    return NULL;
}

static struct ski_unit *span_find_free(struct ski_arena *arena, uint32_t units)
{
    uint32_t range = span_preferred < arena->ranges ? span_preferred : 0;

    for (uint32_t i = 0; i < arena->ranges; i++) {
        struct ski_unit *span = span_find_in(arena, range, units);

        if (span)
            return span;
        range = range + 1 < arena->ranges ? range + 1 : 0;
    }
    return span_join(arena, units);
}

/* Marks the units on both sides of the ends of NUMA ranges inside an allocated span. */
static void span_mark_ends(struct ski_arena *arena, uint32_t first, uint32_t units)
{
    for (uint32_t range = 0; range + 1 < arena->ranges; range++) {
        uint32_t end = arena->range_end[range];

        if (end > first && end < first + units)
            arena->unit[end - 1].kind = arena->unit[end].kind = SKI_UNIT_TAIL;
    }
}

void ski_span_set_ranges(struct ski_arena *arena, const uint32_t *end, uint32_t ranges)
{
    uint32_t list = 0, next;

    ski_assert(ranges > 0 && ranges <= SKI_NUMA_RANGES && end[ranges - 1] == arena->units);
    ski_assert(arena->ranges == 1);
    ski_lock_acquire(&arena->lock);
    for (unsigned bin = 0; bin < SKI_SPAN_BINS; bin++)
        while (arena->bin[0][bin]) {
            struct ski_unit *span = &arena->unit[arena->bin[0][bin]];
            span_bin_remove(arena, span);
            span->next = list;
            list       = span_index(arena, span);
        }
    memcpy(arena->range_end, end, ranges * sizeof *end);
    arena->ranges = ranges;
    for (; list; list = next) {
        next = arena->unit[list].next;
        span_add_free(arena, list, arena->unit[list].units, arena->unit[list].dirty);
    }
    ski_lock_release(&arena->lock);
}

/* Raises the bound on kept pages, as @p units without pages are allocated: if pages were returned
 * before, that was too early. */
void ski_arena_keep_all(struct ski_arena *arena)
{
    ski_lock_acquire(&arena->lock);
    arena->keep = arena->keep_max = arena->units;
    ski_lock_release(&arena->lock);
}

static void span_raise_keep(struct ski_arena *arena, uint32_t units)
{
    uint32_t again = units < arena->returned ? units : arena->returned;

    arena->returned -= again;
    arena->keep += again;
    if (arena->keep > arena->keep_max)
        arena->keep = arena->keep_max;
}

/* Counts @p more units in use and @p fewer, and sets or clears the sign of memory pressure. */
static void span_count_use(struct ski_arena *arena, uint32_t more, uint32_t fewer)
{
    ski_assert(arena->busy + more >= fewer);
    arena->busy += more - fewer;
    if (arena->busy > atomic_load_explicit(&arena->busy_peak, memory_order_relaxed))
        atomic_store_explicit(&arena->busy_peak, arena->busy, memory_order_relaxed);
    if (arena->busy_high == 0)
        return;
    if (arena->busy > arena->busy_high)
        atomic_store_explicit(&arena->pressure, 1, memory_order_relaxed);
    else if (arena->busy <= arena->busy_low)
        atomic_store_explicit(&arena->pressure, 0, memory_order_relaxed);
}

void ski_arena_set_pressure(struct ski_arena *arena, size_t bytes)
{
    uint32_t high = bytes > arena->bytes ? arena->units : (uint32_t)(bytes >> SKI_UNIT_SHIFT);

    ski_lock_acquire(&arena->lock);
    arena->busy_high = high;
    arena->busy_low  = high - high / 8;
    span_count_use(arena, 0, 0);
    ski_lock_release(&arena->lock);
}

/* Allocates the first @p units of a free span; the rest stays free. */
static void span_carve(struct ski_arena *arena, struct ski_unit *span, uint32_t units,
                       enum ski_unit_kind kind)
{
    uint32_t first = span_index(arena, span);
    uint32_t rest  = span->units - units;
    uint32_t used  = span->dirty < units ? span->dirty : units;

    ski_assert(span->units >= units && (kind == SKI_UNIT_LARGE || kind == SKI_UNIT_SLAB));
    span_bin_remove(arena, span);
    span_count_use(arena, units, 0);
    span_raise_keep(arena, units - used);
    if (rest)
        span_add_free(arena, first + units, rest, span->dirty - used);
    span_mark_ends(arena, first, units);
    for (uint32_t i = 1; kind == SKI_UNIT_SLAB && i < units; i++)
        span[i].kind = SKI_UNIT_SLAB;
    span[units - 1].kind = kind == SKI_UNIT_SLAB ? SKI_UNIT_SLAB : SKI_UNIT_TAIL;
    span->kind           = (uint8_t)kind;
    span->first          = first;
    span->units          = units;
}

/* Logs at most once a second, since a program may retry in a loop. */
SKI_COLD skua_status ski_span_exhausted(struct ski_arena *arena, size_t bytes)
{
    static _Atomic uint64_t again; /* time in ticks of the next line */
    uint64_t                now = ski_ticks();

    if (now < again)
        return SKUA_ERR_NOMEM;
    again = now + ski_ns_to_ticks(1000000000);
    return ski_fail(
        SKUA_ERR_NOMEM,
        "the arena is full: %zu KiB requested, %zu of %zu MiB free; raise SKUA_ARENA_SIZE",
        bytes >> 10, ski_arena_free_bytes(arena) >> 20, arena->bytes >> 20);
}

void *ski_span_try(struct ski_arena *arena, size_t bytes, enum ski_unit_kind kind)
{
    size_t           units = (bytes >> SKI_UNIT_SHIFT) + (bytes % SKI_UNIT_BYTES != 0);
    struct ski_unit *found;
    void            *span;

    ski_assert(bytes > 0);
    if (units > arena->units)
        return NULL;
    ski_lock_acquire(&arena->lock);
    found = span_find_free(arena, (uint32_t)units);
    if (found)
        span_carve(arena, found, (uint32_t)units, kind);
    ski_lock_release(&arena->lock);
    if (!found)
        return NULL;
    span = ski_unit_memory(arena, found);
    ski_unpoison(span, units << SKI_UNIT_SHIFT);
    return span;
}

skua_status ski_span_alloc(struct ski_arena *arena, size_t bytes, void **span)
{
    void *found = ski_span_try(arena, bytes, SKI_UNIT_LARGE);

    if (!found)
        return ski_span_exhausted(arena, bytes);
    *span = found;
    return SKUA_OK;
}

/* Makes a span free, merged with its free neighbours. */
static void span_merge_free(struct ski_arena *arena, uint32_t first, uint32_t units, uint32_t dirty)
{
    struct ski_unit *before = &arena->unit[first - 1];
    struct ski_unit *after  = &arena->unit[first + units];

    ski_assert(first > 0);
    if (first + units < arena->units && after->kind == SKI_UNIT_FREE) {
        span_bin_remove(arena, after);
        units += after->units;
        dirty += after->dirty;
    }
    if (before->kind == SKI_UNIT_FREE) {
        struct ski_unit *span = &arena->unit[before->first];
        span_bin_remove(arena, span);
        first = before->first;
        units += span->units;
        dirty += span->dirty;
    }
    span_add_free(arena, first, units, dirty);
}

void ski_span_free(struct ski_arena *arena, void *memory)
{
    struct ski_unit *span  = ski_unit_of(arena, memory);
    uint32_t         first = span_index(arena, span);
    uint32_t         units = span->units;
    uint32_t         dirty = units;

    ski_assert(memory == ski_unit_memory(arena, span) && units > 0);
    ski_assert(span->kind == SKI_UNIT_LARGE || span->kind == SKI_UNIT_SLAB);
    ski_poison(memory, (size_t)units << SKI_UNIT_SHIFT);
    ski_lock_acquire(&arena->lock);
    if ((uint64_t)arena->dirty + units > arena->keep) {
        ski_lock_release(&arena->lock); /* the span is not free yet, so no lock is needed */
        if (madvise(memory, (size_t)units << SKI_UNIT_SHIFT, MADV_REMOVE) == 0)
            dirty = 0;
        ski_lock_acquire(&arena->lock);
        arena->returned += units - dirty;
    }
    span_count_use(arena, 0, units);
    span_merge_free(arena, first, units, dirty);
    ski_lock_release(&arena->lock);
}

/* Zeroes memory of the arena; whole pages return to the kernel. */
static void span_zero(void *from, void *end)
{
    uintptr_t page  = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    char     *first = (char *)(((uintptr_t)from + page) & ~page);
    char     *last  = (char *)((uintptr_t)end & ~page);

    if (first >= last || madvise(first, (size_t)(last - first), MADV_REMOVE) != 0)
        first = last = end;
    memset(from, 0, (size_t)(first - (char *)from));
    memset(last, 0, (size_t)((char *)end - last));
}

void ski_arena_clear(struct ski_arena *arena, const void *from)
{
    uint32_t first =
        (uint32_t)(((uintptr_t)from - arena->base + SKI_UNIT_BYTES - 1) >> SKI_UNIT_SHIFT);
    char *memory = (char *)arena + ((size_t)first << SKI_UNIT_SHIFT);

    ski_assert(first > 0 && first < arena->units);
    ski_lock_acquire(&arena->lock);
    ski_unpoison(memory, (size_t)(arena->units - first) << SKI_UNIT_SHIFT);
    span_zero(memory, (char *)arena + arena->bytes);
    span_zero(&arena->unit[first], &arena->unit[arena->units]);
    span_reset_ranges(arena);
    arena->free_units = arena->dirty = arena->returned = arena->busy = 0;
    atomic_store(&arena->busy_peak, 0);
    atomic_store(&arena->pressure, 0);
    span_add_free(arena, first, arena->units - first, 0);
    ski_lock_release(&arena->lock);
}

size_t ski_arena_free_bytes(struct ski_arena *arena)
{
    size_t units;

    ski_lock_acquire(&arena->lock);
    units = arena->free_units;
    ski_lock_release(&arena->lock);
    return units << SKI_UNIT_SHIFT;
}
