/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_numa.c - dividing an arena into NUMA ranges (see arena.h).
 *
 * What the layers share is allocated before the arena is divided.  It keeps the policy of the
 * kernel, first touch: a page is in the NUMA node of the PE that touches it first, its owner. The
 * rest is divided evenly, at multiples of 2 MiB, so that no huge page has two owners.  Each range
 * prefers its NUMA node (MPOL_PREFERRED), whichever PE touches a page first: a put may come before
 * the first access of the owner.  The policy belongs to the memfd, so it holds in all processes.
 *
 * The ranges matter even where the kernel refuses the policy: a freed span keeps its pages, and
 * only PEs of the same NUMA node reuse it while they have enough memory.
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"

#define NUMA_BORDER_UNITS 32u /* 2 MiB, a huge page */
#define NUMA_NODES_MAX    1024

/* Finds the NUMA nodes of PEs.  Returns their number; 0: one is unknown, or there are too many. */
static uint32_t arena_numa_count(const int *numa, int pes, int *found, int32_t *range)
{
    uint32_t count = 0, i;

    for (int pe = 0; pe < pes; pe++) {
        for (i = 0; i < count && found[i] != numa[pe]; i++)
            ;
        if (numa[pe] < 0 || numa[pe] >= NUMA_NODES_MAX || i == SKI_NUMA_RANGES)
            return 0;
        if (i == count)
            found[count++] = numa[pe];
        range[pe] = (int32_t)i;
    }
    return count;
}

/* Makes the units of a range prefer the memory of a NUMA node. */
static void arena_numa_bind(struct ski_arena *arena, uint32_t first, uint32_t end, int numa)
{
    enum { WORD = 8 * sizeof(unsigned long) };
    unsigned long mask[NUMA_NODES_MAX / WORD] = {0};
    size_t        bytes                       = (size_t)(end - first) << SKI_UNIT_SHIFT;

    mask[numa / WORD] |= 1ul << numa % WORD;
    if (syscall(SYS_mbind, ski_unit_memory(arena, &arena->unit[first]), bytes, MPOL_PREFERRED, mask,
                (unsigned long)NUMA_NODES_MAX, 0ul) != 0)
        ski_log(
            SKI_LOG_INFO,
            "the arena cannot be bound to NUMA node %d (%s): its pages are placed where they are "
            "touched first",
            numa, strerror(errno));
}

/* Returns the first unit of the longest free span; arena->units: there is none. */
static uint32_t arena_numa_first_free(const struct ski_arena *arena)
{
    uint32_t first = arena->units, longest = 0;

    for (unsigned bin = 0; bin < SKI_SPAN_BINS; bin++)
        for (uint32_t at = arena->bin[0][bin]; at; at = arena->unit[at].next)
            if (arena->unit[at].units > longest) {
                longest = arena->unit[at].units;
                first   = at;
            }
    return first;
}

void ski_arena_divide(struct ski_arena *arena, const int *numa, int pes, int32_t *range)
{
    int      found[SKI_NUMA_RANGES];
    uint32_t end[SKI_NUMA_RANGES], first = arena_numa_first_free(arena);
    uint32_t ranges = arena_numa_count(numa, pes, found, range);
    uint32_t each   = ranges ? (arena->units - first) / ranges : 0;

    if (ranges < 2 || each < 2 * NUMA_BORDER_UNITS ||
        first + arena->unit[first].units != arena->units) { /* not after all that is allocated */
        memset(range, 0, (size_t)pes * sizeof *range);
        return;
    }
    for (uint32_t i = 0; i < ranges; i++) {
        end[i] = i + 1 == ranges ? arena->units
                                 : (first + (i + 1) * each) / NUMA_BORDER_UNITS * NUMA_BORDER_UNITS;
        arena_numa_bind(arena, i ? end[i - 1] : first, end[i], found[i]);
    }
    ski_span_set_ranges(arena, end, ranges);
}
