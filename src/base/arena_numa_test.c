/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena_numa_test.c - PEs of different NUMA nodes allocate from ranges of their own, use those of
 * others when theirs is full, and blocks larger than a range are still possible.
 *
 * The NUMA nodes need not exist: where the kernel refuses to bind memory, the ranges remain.
 */
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "tests/tap.h"

#define MIB   ((size_t)1 << 20)
#define ARENA (64 * MIB)

static struct ski_arena *numa_arena;

/* Allocates as a PE of a NUMA range does. */
static char *numa_test_alloc(uint32_t range, size_t bytes)
{
    char *span;

    ski_span_prefer(range);
    span = ski_span_try(numa_arena, bytes, SKI_UNIT_LARGE);
    ski_span_prefer(0);
    return span;
}

/* Returns the NUMA range that contains the first byte of a span. */
static uint32_t numa_test_range(const char *span)
{
    uint32_t unit  = (uint32_t)(ski_unit_of(numa_arena, span) - numa_arena->unit);
    uint32_t range = 0;

    while (unit >= numa_arena->range_end[range])
        range++;
    return range;
}

static void test_numa_none(void)
{
    const int one[] = {0, 0, 0}, unknown[] = {0, -1, 1};
    int32_t   range[3];

    ski_arena_divide(numa_arena, one, 3, range);
    OK(numa_arena->ranges == 1 && range[2] == 0, "one NUMA node: nothing changes");
    ski_arena_divide(numa_arena, unknown, 3, range);
    OK(numa_arena->ranges == 1 && range[2] == 0, "an unknown NUMA node: nothing changes");
}

static void test_numa_ranges(void)
{
    const int numa[]   = {5, 5, 9, 9, 5, 700};
    int32_t   range[6] = {0};
    char     *span[3];
    int       bad = 0;

    ski_arena_divide(numa_arena, numa, 6, range);
    OK(numa_arena->ranges == 3 && range[0] == 0 && range[1] == 0 && range[2] == 1 &&
           range[3] == 1 && range[4] == 0 && range[5] == 2,
       "each NUMA node has a range");
    for (uint32_t i = 0; i < 3; i++) {
        span[i] = numa_test_alloc(i, MIB);
        bad += !span[i] || numa_test_range(span[i]) != i;
    }
    OK(bad == 0, "a PE allocates from its range");
    for (int i = 0; i < 3; i++)
        ski_span_free(numa_arena, span[i]);
    span[0] = numa_test_alloc(2, MIB);
    OK(numa_test_range(span[0]) == 2, "also where others have freed spans that keep their pages");
    ski_span_free(numa_arena, span[0]);
}

/* Fills the arena in spans of a MiB that range 1 prefers. */
static void test_numa_full(void)
{
    char  *span[ARENA / MIB];
    size_t before = ski_arena_free_bytes(numa_arena), n = 0;
    int    elsewhere = 0, back = 0;

    while (n < ARENA / MIB && (span[n] = numa_test_alloc(1, MIB))) {
        elsewhere += numa_test_range(span[n]) != 1;
        back += elsewhere > 0 && numa_test_range(span[n]) == 1;
        n++;
    }
    OK(n > ARENA / MIB * 3 / 4 && elsewhere > 0 && back == 0,
       "a full range is left for others, and not before it is full");
    while (n > 0)
        ski_span_free(numa_arena, span[--n]);
    OK(ski_arena_free_bytes(numa_arena) == before, "all is free again");
}

static void test_numa_large(void)
{
    size_t before = ski_arena_free_bytes(numa_arena);
    char  *most   = numa_test_alloc(1, before);
    char  *half, *rest;

    OK(most != NULL, "a block as large as the arena crosses all ranges");
    OK(numa_test_alloc(0, 1) == NULL && numa_test_alloc(2, MIB) == NULL, "nothing else is free");
    memset(most, 1, 4096);
    ski_span_free(numa_arena, most);
    half = numa_test_alloc(2, before / 2);
    rest = numa_test_alloc(0, MIB);
    OK(half && rest, "a block of half of it, and another");
    OK(numa_test_alloc(0, before / 2 + MIB) == NULL, "a second one does not fit");
    ski_span_free(numa_arena, half);
    ski_span_free(numa_arena, rest);
    OK(ski_arena_free_bytes(numa_arena) == before, "their memory is free again");
    OK((most = numa_test_alloc(0, before)) != NULL, "and in one piece");
    ski_span_free(numa_arena, most);
}

/* Random spans, some of which are larger than a range; each begins with its number. */
static void test_numa_random(void)
{
    enum { SPANS = 40, STEPS = 4000 };
    uint64_t seed         = tap_seed();
    size_t  *span[SPANS]  = {0};
    size_t   bytes[SPANS] = {0}, before = ski_arena_free_bytes(numa_arena);
    int      bad = 0;

    for (int step = 0; step < STEPS; step++) {
        size_t i = tap_random(&seed) % SPANS;

        if (span[i]) {
            bad += span[i][0] != i || span[i][bytes[i] / sizeof(size_t) - 1] != i;
            ski_span_free(numa_arena, span[i]);
            span[i] = NULL;
            continue;
        }
        bytes[i] = (tap_random(&seed) % 16 ? MIB : 24 * MIB) / (1 + tap_random(&seed) % 8);
        bytes[i] &= ~(sizeof(size_t) - 1);
        span[i] = (void *)numa_test_alloc((uint32_t)(tap_random(&seed) % 3), bytes[i]);
        if (span[i])
            span[i][0] = span[i][bytes[i] / sizeof(size_t) - 1] = i;
    }
    for (int i = 0; i < SPANS; i++)
        if (span[i])
            ski_span_free(numa_arena, span[i]);
    OK(bad == 0, "random spans do not overlap");
    OK(ski_arena_free_bytes(numa_arena) == before, "and are free at the end");
}

static void test_numa_clear(void)
{
    const int numa[]   = {0, 1};
    int32_t   range[2] = {0};
    char     *first    = numa_test_alloc(0, 1);

    ski_arena_clear(numa_arena, first);
    OK(numa_arena->ranges == 1, "a cleared arena is one range");
    ski_arena_divide(numa_arena, numa, 2, range);
    OK(numa_arena->ranges == 2 && numa_test_range(numa_test_alloc(1, MIB)) == 1,
       "which can be divided again");
}

/* Frees the front of a cleared arena of which more than half is allocated: the longest free span is
 * not the last. */
static void test_numa_front_free(void)
{
    const int numa[]   = {0, 1};
    int32_t   range[2] = {1, 1};
    char     *first    = numa_test_alloc(0, 1), *front, *rest;

    ski_arena_clear(numa_arena, first);
    front = numa_test_alloc(0, 32 * MIB);
    rest  = numa_test_alloc(0, 16 * MIB);
    ski_span_free(numa_arena, front);
    ski_arena_divide(numa_arena, numa, 2, range);
    OK(front && rest && numa_arena->ranges == 1 && range[0] == 0 && range[1] == 0,
       "an arena with allocated spans after free ones stays one range");
}

int main(void)
{
    int fd;

    if (ski_arena_create(ARENA, 0, 16 * MIB, &numa_arena, &fd) != SKUA_OK)
        return 1;
    test_numa_none();
    test_numa_ranges();
    test_numa_full();
    test_numa_large();
    test_numa_random();
    test_numa_clear();
    test_numa_front_free();
    ski_arena_detach(numa_arena);
    close(fd);
    return tap_end();
}
