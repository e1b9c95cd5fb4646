/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_test.c - size classes, and heaps and pools under threads that allocate
 * on one PE and free on another, against a model: every block holds its own
 * address and size, which no other thread may have changed when it is freed.
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

#define PES   4
#define STEPS 60000
#define SLOTS 512

static void test_pool_classes(void)
{
    int bad = 0;

    for (size_t bytes = 1; bytes <= SKI_SMALL_BYTES; bytes++) {
        unsigned c = ski_size_class(bytes);
        bad += c >= SKI_CLASSES || ski_class_bytes(c) < bytes ||
               (c > 0 && ski_class_bytes(c - 1) >= bytes);
    }
    OK(bad == 0, "every size has the smallest class that holds it");
    OK(ski_class_bytes(SKI_CLASSES - 1) == SKI_SMALL_BYTES, "the last class is the largest size");
    OK(ski_size_class(0) == 0, "0 bytes are a small block");
}

struct pool_test_worker {
    pthread_t       thread;
    struct ski_pool pool;
    uint64_t        seed;
    int             bad;
};

/* Blocks change hands here: whoever swaps one out owns it. */
static void *_Atomic           table[SLOTS];
static struct ski_heap        *heaps;
static struct pool_test_worker workers[PES];

struct pool_test_block {
    struct pool_test_block *self;
    size_t                  bytes;
};

static size_t pool_test_random_size(uint64_t *seed)
{
    size_t most = tap_random(seed) % 64 == 0 ? 200000 : tap_random(seed) % 4 == 0 ? 20000 : 300;
    return sizeof(struct pool_test_block) + 1 + tap_random(seed) % most;
}

static struct pool_test_block *pool_test_make(struct pool_test_worker *w)
{
    size_t                  bytes = pool_test_random_size(&w->seed);
    struct pool_test_block *block = ski_pool_alloc(&w->pool, bytes);

    if (!block)
        abort();
    w->bad += (uintptr_t)block % SKI_CACHE_LINE != 0;
    *block                     = (struct pool_test_block){block, bytes};
    ((char *)block)[bytes - 1] = 'e';
    return block;
}

static void pool_test_check_and_free(struct pool_test_worker *w, struct pool_test_block *block)
{
    w->bad += block->self != block || ((char *)block)[block->bytes - 1] != 'e';
    ski_pool_free(&w->pool, block);
}

static void *pool_test_work(void *arg)
{
    struct pool_test_worker *w = arg;

    for (int step = 0; step < STEPS; step++) {
        size_t                  slot = tap_random(&w->seed) % SLOTS;
        struct pool_test_block *mine = tap_random(&w->seed) % 2 ? pool_test_make(w) : NULL;
        struct pool_test_block *old  = atomic_exchange(&table[slot], mine);
        if (old)
            pool_test_check_and_free(w, old);
    }
    return NULL;
}

static void test_pool_stress(struct ski_arena *arena)
{
    uint64_t seed = tap_seed();
    int      bad  = 0;

    ski_heap_create(arena, PES, &heaps);
    for (int i = 0; i < PES; i++) {
        ski_pool_init(&workers[i].pool, &heaps[i]);
        workers[i].seed = seed + (uint64_t)i;
        pthread_create(&workers[i].thread, NULL, pool_test_work, &workers[i]);
    }
    for (int i = 0; i < PES; i++) {
        pthread_join(workers[i].thread, NULL);
        bad += workers[i].bad;
    }
    OK(bad == 0, "no block was in two hands");
}

/* With all blocks back, a heap holds at most one empty slab of each class. */
static void test_pool_nothing_lost(struct ski_arena *arena, size_t before)
{
    size_t most = PES * SKI_CLASSES * 4 * SKI_UNIT_BYTES;

    for (int i = 0; i < SLOTS; i++)
        if (table[i])
            pool_test_check_and_free(&workers[0], table[i]);
    for (int i = 0; i < PES; i++)
        ski_pool_flush(&workers[i].pool);
    for (int i = 0; i < PES; i++)
        ski_heap_collect(&heaps[i]);
    OK(before - ski_arena_free_bytes(arena) <= most, "memory came back to the arena");
    OK(heaps[0].collected + heaps[1].collected > 0, "some of it from other PEs");
}

static void test_pool_exhaustion(void)
{
    struct ski_pool *pool = &workers[0].pool;
    void            *held[4096];
    int              n = 0;

    while (n < 4096 && (held[n] = ski_pool_alloc(pool, 30000)))
        n++;
    OK(n > 100 && n < 4096, "small blocks run out with the arena");
    OK(!ski_pool_alloc(pool, 30000), "and go on failing");
    for (int i = 0; i < n; i++)
        ski_pool_free(pool, held[i]);
    held[0] = ski_pool_alloc(pool, 30000);
    OK(held[0] != NULL, "until some are freed");
    ski_pool_free(pool, held[0]);
    /* What others gave back counts as free, also for one that is large. */
    for (n = 0; n < 4096 && (held[n] = ski_pool_alloc(pool, 30000)); n++)
        ;
    for (int i = 0; i < n; i++)
        ski_pool_free(&workers[1].pool, held[i]);
    held[0] = ski_pool_alloc(pool, (size_t)60 << 20);
    OK(held[0] != NULL, "or come back from another PE");
    ski_pool_free(pool, held[0]);
}

/* Two PEs send each other messages and answer in new ones: neither writes cache lines that the
 * other has just written. */
static void test_pool_home(size_t bytes)
{
    struct ski_pool *here = &workers[0].pool, *there = &workers[1].pool;
    void            *last = NULL;
    int              bad  = 0;

    for (int i = 0; i < 100; i++) {
        void *ping = ski_pool_alloc(here, bytes), *pong;
        bad += ping == last;
        ski_pool_free(there, ping);
        pong = ski_pool_alloc(there, bytes);
        bad += pong == ping;
        ski_pool_free(here, pong);
        last = pong;
    }
    OK(bad == 0, "blocks of %zu bytes stay with the PEs that write them", bytes);
}

/* An arena that has room for blocks, but not for whole slabs of them. */
static void test_pool_small_arena(void)
{
    struct ski_arena *arena;
    struct ski_pool   pool;
    void             *small, *middle[16], *large;
    int               fd, n = 0;

    OK(ski_arena_create((size_t)1 << 20, 0, 0, &arena, &fd) == SKUA_OK, "the smallest arena");
    ski_heap_create(arena, 1, &heaps);
    ski_pool_init(&pool, heaps);
    small = ski_pool_alloc(&pool, 100);
    while (n < 16 && (middle[n] = ski_pool_alloc(&pool, 100000)))
        n++;
    OK(small && n == 7, "blocks of a large class also where few fit");
    for (int i = 0; i < n; i++)
        ski_pool_free(&pool, middle[i]);
    large = ski_pool_alloc(&pool, 800000);
    OK(large != NULL, "what is at hand makes room for a large one");
    ski_pool_free(&pool, large);
    ski_pool_free(&pool, small);
    large = ski_pool_alloc(&pool, 14 * SKI_UNIT_BYTES);
    OK(large != NULL, "and so does the last slab");
    ski_arena_detach(arena);
    close(fd);
}

/* A PE gets the large block back that it freed last, unless another one has allocated that. */
static void test_pool_kept(void)
{
    const size_t      bytes = 3 * SKI_UNIT_BYTES;
    struct ski_arena *arena;
    struct ski_pool   pool[2];
    size_t            before;
    char             *block, *other;
    int               fd;

    OK(ski_arena_create((size_t)1 << 30, 0, 0, &arena, &fd) == SKUA_OK, "a large arena");
    ski_heap_create(arena, 2, &heaps);
    for (int i = 0; i < 2; i++)
        ski_pool_init(&pool[i], &heaps[i]);
    before = ski_arena_free_bytes(arena);
    block  = ski_pool_alloc(&pool[0], bytes);
    ski_pool_free(&pool[0], block);
    other = ski_pool_alloc(&pool[1], bytes);
    OK(other != block, "no other PE gets a large block that was kept");
    OK(!ski_pool_try(&pool[0], ((size_t)1 << 48) + bytes),
       "a length is not cut to that of the block");
    OK(ski_pool_alloc(&pool[0], bytes - 100) == block, "its PE does");
    ski_pool_free(&pool[0], other);
    OK(ski_arena_free_bytes(arena) == before - bytes, "a block of another PE is not kept");
    ski_pool_free(&pool[0], block);
    other = ski_pool_alloc(&pool[0], bytes + 1);
    OK(other != block, "a longer block is another one");
    ski_pool_free(&pool[0], other);
    OK(ski_arena_free_bytes(arena) == before - bytes - SKI_UNIT_BYTES, "one block is kept");
    block = ski_pool_alloc(&pool[0], (size_t)1 << 20);
    ski_pool_free(&pool[0], block);
    OK(ski_arena_free_bytes(arena) == before - bytes - SKI_UNIT_BYTES, "none that is too long");
    block = ski_pool_alloc(&pool[0], before);
    OK(block != NULL, "it is freed when memory is short");
    ski_pool_free(&pool[0], block);
    OK(ski_arena_free_bytes(arena) == before, "nothing is left");
    ski_arena_detach(arena);
    close(fd);
}

/* ---- checked pools ----------------------------------------------------------- */

static int         misused;
static const char *misused_how;

static void pool_test_note_misuse(void *block, const struct ski_block_record *record,
                                  const char *what)
{
    (void)block, (void)record;
    misused++;
    misused_how = what;
}

/* One that holds blocks of all sizes, freed by the other of two pools. */
static void test_pool_checked(struct ski_heap *of)
{
    struct ski_pool pool[2];
    uint64_t        seed = 1;
    size_t          bytes;
    char           *block, *other;
    int             bad = 0;

    ski_pool_misuse = pool_test_note_misuse;
    for (int i = 0; i < 2; i++) {
        ski_pool_init(&pool[i], &of[i]);
        ski_pool_check_begin(&pool[i]);
    }
    for (int i = 0; i < 5000; i++) {
        bytes = pool_test_random_size(&seed);
        block = ski_pool_alloc(&pool[i % 2], bytes);
        memset(block, i, bytes);
        bad += ski_pool_record(&pool[0], block) == NULL;
        bad += ski_pool_record(&pool[0], block + 8) != NULL;
        ski_pool_free(&pool[tap_random(&seed) % 2], block);
    }
    OK(bad == 0 && misused == 0, "blocks of a checked pool have records");
    block = ski_pool_alloc(&pool[0], 100);
    ski_pool_free(&pool[0], block);
    other = ski_pool_alloc(&pool[0], 100);
    OK(other != block, "what is freed is not given out at once");
    ski_pool_free(&pool[1], block);
    OK(misused == 1 && strcmp(misused_how, "is freed, but was") == 0, "a second free is found");
    ski_unpoison(block, 100);
    block[50] = 1;
    ski_pool_flush(&pool[0]);
    OK(misused == 2 && strcmp(misused_how, "was written to after it was") == 0,
       "a write to what is freed is found");
    ski_pool_free(&pool[0], other);
    for (int i = 0; i < 2; i++)
        ski_pool_check_end(&pool[i]);
    ski_pool_misuse = NULL;
}

int main(void)
{
    struct ski_arena *arena;
    int               fd;
    size_t            before;

    test_pool_classes();
    OK(ski_arena_create((size_t)100 << 20, 0, (size_t)4 << 20, &arena, &fd) == SKUA_OK, "create");
    before = ski_arena_free_bytes(arena);
    test_pool_stress(arena);
    test_pool_nothing_lost(arena, before);
    test_pool_exhaustion();
    test_pool_home(5000);
    test_pool_home(35000);
    test_pool_home(100000);
    OK(ski_heap_create(arena, 2, &heaps) == SKUA_OK, "two heaps");
    test_pool_checked(heaps);
    ski_arena_detach(arena);
    close(fd);
    test_pool_small_arena();
    test_pool_kept();
    return tap_end();
}
