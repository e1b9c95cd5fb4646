/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_waste_test.c - the memory that the arena takes for blocks of random sizes and lifetimes,
 * which random PEs free, has a bound (docs/internals/base.md):
 *
 *     pages of the arena <= 1.5 * most bytes in use at once + what it may keep + 8 MiB for each PE
 *
 * and, when use has fallen, with a quarter of the most bytes in addition to 1.5 * bytes in use.
 *
 * Sizes are log-uniform from 1 byte to 1 MiB, so most blocks are small and most bytes are in large
 * ones.  A block is freed by its own PE or by another.  Use goes up and down, so that slabs and
 * spans which were filled in one phase are left with holes in the next.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"
#include "tests/tap.h"

#define MIB         ((size_t)1 << 20)
#define WASTE_PES   4
#define WASTE_MAX   16384
#define WASTE_KEEP  (4 * MIB) /* so that kept pages do not hide waste */
#define WASTE_PE    (8 * MIB) /* a slab and a full magazine of every class */
#define WASTE_ROUND 4

struct waste_block {
    char  *memory;
    size_t bytes;
};

static struct waste_block waste_block[WASTE_MAX];
static struct ski_pool    waste_pool[WASTE_PES];
static size_t             waste_live, waste_peak;
static int                waste_fd, waste_blocks;

static size_t waste_pages(void)
{
    struct stat file;

    return fstat(waste_fd, &file) == 0 ? (size_t)file.st_blocks * 512 : SIZE_MAX;
}

/* Draws a size with the logarithm uniform between 0 and that of 1 MiB. */
static size_t waste_size(uint64_t *seed)
{
    unsigned log = (unsigned)(tap_random(seed) % 20);

    return ((size_t)1 << log) + tap_random(seed) % ((size_t)1 << log);
}

/* Allocates a block on a random PE, and touches all of it. */
static bool waste_alloc(uint64_t *seed)
{
    struct waste_block *block = &waste_block[waste_blocks];

    block->bytes  = waste_size(seed);
    block->memory = ski_pool_alloc(&waste_pool[tap_random(seed) % WASTE_PES], block->bytes);
    if (!block->memory)
        return false;
    memset(block->memory, 1, block->bytes);
    waste_blocks++;
    waste_live += block->bytes;
    if (waste_live > waste_peak)
        waste_peak = waste_live;
    return true;
}

/* Frees a random block on a random PE: three of four are remote frees. */
static void waste_free(uint64_t *seed)
{
    int i = (int)(tap_random(seed) % (unsigned)waste_blocks);

    ski_pool_free(&waste_pool[tap_random(seed) % WASTE_PES], waste_block[i].memory);
    waste_live -= waste_block[i].bytes;
    waste_block[i] = waste_block[--waste_blocks];
}

/* Brings the number of blocks to @p target by random steps, most of which lead there. */
static bool waste_walk(uint64_t *seed, int target)
{
    while (waste_blocks != target) {
        bool grow = (waste_blocks < target) == (tap_random(seed) % 4 > 0);

        if (waste_blocks > 0 && (!grow || waste_blocks == WASTE_MAX))
            waste_free(seed);
        else if (!waste_alloc(seed))
            return false;
    }
    return true;
}

/* Compares the pages of the arena with the bound, as they are now that use is high or low. */
static bool waste_is_bounded(size_t before, bool low)
{
    size_t pages = waste_pages() - before;
    size_t used  = low ? waste_live + waste_peak / 6 : waste_peak;
    size_t bound = used + used / 2 + WASTE_KEEP + WASTE_PES * WASTE_PE;

    printf("# %zu KiB in use, %zu at most, %zu in pages, %.2f of the bound\n", waste_live >> 10,
           waste_peak >> 10, pages >> 10, (double)pages / (double)bound);
    return pages <= bound;
}

/* Frees all blocks and returns all that heaps keep to the arena. */
static void waste_end(uint64_t *seed)
{
    while (waste_blocks > 0)
        waste_free(seed);
    for (int pe = 0; pe < WASTE_PES; pe++)
        ski_pool_flush(&waste_pool[pe]);
    for (int pe = 0; pe < WASTE_PES; pe++) {
        ski_heap_collect(waste_pool[pe].heap);
        ski_heap_trim(waste_pool[pe].heap);
    }
}

int main(void)
{
    struct ski_arena *arena;
    struct ski_heap  *heaps;
    uint64_t          seed   = tap_seed();
    bool              filled = true, bounded = true;
    size_t            before;

    if (ski_arena_create(1024 * MIB, 0, WASTE_KEEP, &arena, &waste_fd) != SKUA_OK ||
        ski_heap_create(arena, WASTE_PES, &heaps) != SKUA_OK)
        return 1;
    before = waste_pages();
    for (int pe = 0; pe < WASTE_PES; pe++)
        ski_pool_init(&waste_pool[pe], &heaps[pe]);
    for (int round = 0; round < WASTE_ROUND; round++) {
        filled &= waste_walk(&seed, WASTE_MAX / 16 * (1 + (round & 1)));
        bounded &= waste_is_bounded(before, false);
        filled &= waste_walk(&seed, WASTE_MAX / 128);
        bounded &= waste_is_bounded(before, true);
    }
    OK(filled, "the arena has room for all blocks");
    OK(bounded, "its pages stay below the bound");
    waste_end(&seed);
    OK(waste_pages() - before <= WASTE_KEEP + MIB, "when all is free it keeps what it may keep");
    ski_arena_detach(arena);
    close(waste_fd);
    return tap_end();
}
