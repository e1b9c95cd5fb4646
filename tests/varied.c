/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varied.c - symmetric regions whose size differs by PE: sizes, puts, gets, accumulates, atomics
 * and notifications against a model, the bounds of the addressed piece, and many regions at once.
 *
 * usage: varied [rounds]
 */
#include <skua/skua.h>
#include <string.h>

#include "job_seed.h"
#include "tap.h"

#define PIECE_MAX 9000

static int      rounds = 20;
static uint64_t seed;

/* Returns the size that @p pe chooses in a round, which all PEs can compute: a multiple of 8, at
 * times 0. */
static size_t size_of(int pe, int round)
{
    uint64_t random = seed + (uint64_t)round * 1000 + (uint64_t)pe * 7 + 1;
    uint64_t draw   = tap_random(&random);

    return draw % 5 == 0 ? 0 : draw / 5 % (PIECE_MAX / 8) * 8;
}

static unsigned char byte_of(int from, int to, size_t i)
{
    return (unsigned char)(from * 31 + to * 7 + (int)i * 3 + 1);
}

static void check_sizes(skua_region region, int round)
{
    CHECK(skua_region_size(region) == size_of(skua_pe(), round));
    for (int pe = 0; pe < skua_pes(); pe++)
        CHECK(skua_region_size_of(region, pe) == size_of(pe, round));
    CHECK(skua_region_size_of(region, skua_pes()) == 0);
    CHECK(skua_region_local(region) && (uintptr_t)skua_region_local(region) % 64 == 0);
}

/* Each PE writes its share of every piece, and reads back the shares of others. */
static void exchange(skua_region region, int round)
{
    unsigned char block[PIECE_MAX], back[PIECE_MAX], *mine = skua_region_local(region);
    int           pes = skua_pes();

    for (int k = 0; k < pes; k++) {
        int    to    = (skua_pe() + k) % pes;
        size_t share = size_of(to, round) / (size_t)pes, at = share * (size_t)skua_pe();

        for (size_t i = 0; i < share; i++)
            block[i] = byte_of(skua_pe(), to, i);
        CHECK(skua_put(skua_at(region, to, at), block, share) == SKUA_OK);
        memset(back, 0, sizeof back);
        CHECK(skua_get(back, skua_at(region, to, at), share) == SKUA_OK);
        CHECK(memcmp(block, back, share) == 0);
    }
    skua_sync();
    for (int from = 0; from < pes; from++) {
        size_t share = size_of(skua_pe(), round) / (size_t)pes;

        for (size_t i = 0; i < share; i++)
            CHECK(mine[share * (size_t)from + i] == byte_of(from, skua_pe(), i));
    }
    skua_sync();
}

/* Counts in the last word of every piece that has one. */
static void count_in_last(skua_region region, int round)
{
    const skua_update sum  = {.op = SKUA_SUM, .type = SKUA_INT64};
    size_t            last = size_of(skua_pe(), round) - 8;
    uint64_t         *mine = size_of(skua_pe(), round)
                                 ? (uint64_t *)(void *)((char *)skua_region_local(region) + last)
                                 : NULL;
    int64_t           five = 5;

    if (mine)
        *mine = 0;
    skua_sync();
    for (int pe = 0; pe < skua_pes(); pe++) {
        skua_gaddr at = skua_at(region, pe, size_of(pe, round) - 8);

        if (!size_of(pe, round))
            continue;
        CHECK(skua_add64(at, 1) == SKUA_OK);
        CHECK(skua_atomic_nb(at, SKUA_ATOMIC_ADD, SKUA_INT64, &five, NULL, NULL) >= SKUA_OK);
    }
    skua_sync();
    CHECK(!mine || *mine == 6 * (uint64_t)skua_pes());
    skua_sync();
    if (mine)
        *mine = 0;
    skua_sync();
    for (int pe = 0; pe < skua_pes(); pe++) {
        skua_gaddr at = skua_at(region, pe, size_of(pe, round) - 8);

        if (!size_of(pe, round))
            continue;
        CHECK(skua_acc_nb(at, &five, 8, &sum, NULL) >= SKUA_OK);
    }
    skua_sync();
    CHECK(!mine || *mine == 5 * (uint64_t)skua_pes());
    skua_sync();
}

/* One byte too many, in the piece of each PE. */
static void check_bounds(skua_region region, int round)
{
    char byte = 0;

    for (int pe = 0; pe < skua_pes(); pe++) {
        size_t bytes = size_of(pe, round);

        CHECK(skua_put(skua_at(region, pe, bytes), &byte, 1) == SKUA_ERR_RANGE);
        CHECK(skua_get(&byte, skua_at(region, pe, bytes), 1) == SKUA_ERR_RANGE);
        CHECK(skua_put_nb(skua_at(region, pe, UINT64_MAX), &byte, 1, NULL) == SKUA_ERR_RANGE);
        CHECK(skua_fetch_add64(skua_at(region, pe, bytes), 1, NULL) == SKUA_ERR_RANGE);
        CHECK(skua_put(skua_at(region, pe, bytes), &byte, 0) == SKUA_OK);
    }
    CHECK(skua_put(skua_at(region, skua_pes(), 0), &byte, 1) == SKUA_ERR_RANGE);
}

static void start(int argc, char **argv)
{
    skua_region all[4], equal;

    (void)argc, (void)argv;
    job_seed_agree(&seed);
    for (int round = 0; round < rounds; round++) {
        skua_region region;

        CHECK(skua_region_create_varied(size_of(skua_pe(), round), &region) == SKUA_OK);
        check_sizes(region, round);
        exchange(region, round);
        count_in_last(region, round);
        check_bounds(region, round);
        skua_sync();
        CHECK(skua_region_destroy(region) == SKUA_OK);
        CHECK(skua_region_create(64, &equal) == SKUA_OK); /* the two kinds alternate */
        CHECK(skua_region_size_of(equal, skua_pes() - 1) == 64);
        skua_sync();
        CHECK(skua_region_destroy(equal) == SKUA_OK);
    }
    for (int i = 0; i < 4; i++)
        CHECK(skua_region_create_varied(size_of(skua_pe(), i), &all[i]) == SKUA_OK);
    for (int i = 3; i >= 0; i--) {
        exchange(all[i], i);
        CHECK(skua_region_destroy(all[i]) == SKUA_OK);
    }
    CHECK(skua_region_create_varied(skua_pe() == 0 ? SIZE_MAX / 2 : 8, &equal) == SKUA_ERR_NOMEM);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    seed = tap_seed();
    return skua_main(argc, argv, start);
}
