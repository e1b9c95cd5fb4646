/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_test.c - spans are allocated, freed and merged; freed pages return to the kernel unless they
 * are needed again; and memory pressure is set and cleared with hysteresis.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static size_t span_test_resident_bytes(int fd)
{
    struct stat file;
    return fstat(fd, &file) == 0 ? (size_t)file.st_blocks * 512 : 0;
}

static void *span_test_span(struct ski_arena *arena, size_t bytes)
{
    void *memory = NULL;
    ski_span_alloc(arena, bytes, &memory);
    return memory;
}

/* Takes and touches a span, frees it again. Returns true if it has kept its pages. */
static bool span_test_stays(struct ski_arena *arena, int fd, size_t bytes)
{
    char *large = span_test_span(arena, bytes);

    memset(large, 1, bytes);
    ski_span_free(arena, large);
    return span_test_resident_bytes(fd) >= bytes;
}

static void test_span_pages(struct ski_arena *arena, int fd)
{
    size_t before = span_test_resident_bytes(fd);
    char  *large  = span_test_span(arena, 64 * MIB);
    int    bad    = 0;

    OK(span_test_resident_bytes(fd) - before < MIB, "a span takes no pages before it is touched");
    memset(large, 1, 64 * MIB);
    OK(span_test_resident_bytes(fd) - before >= 64 * MIB, "touching takes them");
    ski_span_free(arena, large);
    OK(span_test_resident_bytes(fd) - before < 2 * MIB, "freeing a large span gives them back");
    large = span_test_span(arena, MIB);
    memset(large, 1, MIB);
    ski_span_free(arena, large);
    OK(span_test_resident_bytes(fd) - before >= MIB, "a small one keeps them, for quick reuse");
    OK(span_test_span(arena, MIB) == large, "and is the next to be used");
    ski_span_free(arena, large);
    for (int i = 0; i < 3; i++)
        bad += span_test_stays(arena, fd, 64 * MIB);
    OK(bad == 0, "a bound that was chosen stays");
}

static void test_span_adaptive_keep(void)
{
    struct ski_arena *arena;
    int               fd;

    OK(ski_arena_create(512 * MIB, 0, 0, &arena, &fd) == SKUA_OK, "an arena that may keep more");
    OK(span_test_stays(arena, fd, 32 * MIB), "keeps some pages from the beginning");
    OK(!span_test_stays(arena, fd, 80 * MIB), "not many");
    OK(span_test_stays(arena, fd, 80 * MIB), "but those that are wanted again after they went");
    OK(span_test_stays(arena, fd, 80 * MIB), "and ever again");
    OK(!span_test_stays(arena, fd, 160 * MIB) && !span_test_stays(arena, fd, 160 * MIB) &&
           !span_test_stays(arena, fd, 160 * MIB),
       "never more than a quarter of the arena");
    ski_arena_detach(arena);
    close(fd);
}

static void test_span_exhaustion(struct ski_arena *arena)
{
    size_t free_bytes = ski_arena_free_bytes(arena);
    void  *memory     = &memory;

    OK(ski_span_alloc(arena, free_bytes + 1, &memory) == SKUA_ERR_NOMEM && memory == &memory,
       "more than there is, is a status and leaves the result alone");
    OK(ski_span_alloc(arena, SIZE_MAX, &memory) == SKUA_ERR_NOMEM, "also far more");
    OK(ski_span_alloc(arena, free_bytes, &memory) == SKUA_OK, "all that there is can be had");
    OK(ski_arena_free_bytes(arena) == 0, "then nothing is left");
    ski_span_free(arena, memory);
    OK(ski_arena_free_bytes(arena) == free_bytes, "until it comes back");
}

/* Random spans, each filled with a value of its own that must survive. */
static void test_span_random(struct ski_arena *arena)
{
    enum { HELD = 200, STEPS = 20000 };
    static struct {
        unsigned char *memory;
        size_t         bytes;
    } held[HELD];
    uint64_t seed  = tap_seed();
    size_t   whole = ski_arena_free_bytes(arena);
    int      bad   = 0;

    for (int step = 0; step < STEPS; step++) {
        int i = (int)(tap_random(&seed) % HELD);
        if (held[i].memory) {
            bad += held[i].memory[0] != (unsigned char)i ||
                   held[i].memory[held[i].bytes - 1] != (unsigned char)i;
            ski_span_free(arena, held[i].memory);
            held[i].memory = NULL;
        } else {
            held[i].bytes  = 1 + tap_random(&seed) % (SKI_UNIT_BYTES << tap_random(&seed) % 6);
            held[i].memory = span_test_span(arena, held[i].bytes);
            if (!held[i].memory)
                continue;
            held[i].memory[0]                 = (unsigned char)i;
            held[i].memory[held[i].bytes - 1] = (unsigned char)i;
        }
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].memory)
            ski_span_free(arena, held[i].memory);
    OK(bad == 0, "spans do not overlap");
    OK(ski_arena_free_bytes(arena) == whole, "all of them come back");
    OK(arena->unit[arena->bin[0][0]].units != 1 || arena->bin[0][0] == 0, "and are merged");
}

/* A freed span is merged with the free spans on both sides of it. */
static void test_span_merge(struct ski_arena *arena)
{
    size_t whole = ski_arena_free_bytes(arena);
    char  *a = span_test_span(arena, MIB), *b = span_test_span(arena, MIB), *c, *all;

    c = span_test_span(arena, MIB);
    OK(b == a + MIB && c == b + MIB, "spans are cut off the front of a free one");
    ski_span_free(arena, a);
    ski_span_free(arena, c);
    ski_span_free(arena, b);
    all = span_test_span(arena, whole);
    OK(all == a, "three neighbours are one span again, with the rest of the arena");
    ski_span_free(arena, all);
}

static void test_span_pressure(struct ski_arena *arena)
{
    void *first, *second;

    ski_arena_set_pressure(arena, 64 * MIB);
    OK(!ski_arena_pressed(arena), "an empty arena is not under pressure");
    first  = span_test_span(arena, 60 * MIB);
    second = span_test_span(arena, 8 * MIB);
    OK(ski_arena_pressed(arena), "more than the bound in use is pressure");
    ski_span_free(arena, second);
    OK(ski_arena_pressed(arena), "which stays just below the bound");
    ski_span_free(arena, first);
    OK(!ski_arena_pressed(arena), "and ends well below it");
    ski_arena_set_pressure(arena, 0);
    OK(ski_arena_most_bytes(arena) >= 68 * MIB, "the peak of use is recorded");
}

int main(void)
{
    struct ski_arena *arena;
    int               fd;

    OK(ski_arena_create(256 * MIB, 0, 8 * MIB, &arena, &fd) == SKUA_OK, "an arena of 256 MiB");
    test_span_pages(arena, fd);
    test_span_adaptive_keep();
    test_span_exhaustion(arena);
    test_span_merge(arena);
    test_span_pressure(arena);
    test_span_random(arena);
    ski_arena_detach(arena);
    close(fd);
    return tap_end();
}
