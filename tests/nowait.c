/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nowait.c - non-blocking calls never wait and never run a handler, whatever is in flight, and the
 * program may change its layouts when they return.
 *
 * Each PE sends itself messages, starts more operations on its neighbour than the pools of requests
 * hold, and checks that no message was delivered meanwhile.  A flush completes all of them.  Some
 * puts to memory that the PE reaches have to come after requests, or raise notifications that it
 * does not reach: those in the malloc() memory of another process.
 */
#include <skua/skua.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define ROUNDS 40
#define ROWS   64
#define WORDS  2048 /* operations of a round */

static skua_handler       ran_handler;
static _Thread_local int  ran;     /* number of delivered messages */
static _Thread_local bool calling; /* a non-blocking call is running */

static void on_ran(skua_msg *msg)
{
    CHECK(!calling);
    ran++;
    skua_msg_free(msg);
}

static uint64_t word_of(int pe, int round, int i)
{
    return (uint64_t)pe << 40 | (uint64_t)round << 20 | (uint64_t)i;
}

static void put_rounds(skua_region region, int to, uint64_t *from)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t      count  = ROWS;
        ptrdiff_t   stride = 2 * (ptrdiff_t)sizeof *from;
        skua_layout remote = skua_layout_strided(NULL, 8, 1, &count, &stride), local;
        uint64_t    base   = (uint64_t)round * WORDS * 8;

        for (int i = 0; i < WORDS; i++)
            from[round * WORDS + i] = word_of(skua_pe(), round, i);
        CHECK(skua_put_nb(skua_at(region, to, base), from + round * WORDS, WORDS * 8, NULL) >= 0);
        local = skua_layout_contiguous(from + round * WORDS, ROWS * 8);
        CHECK(skua_put_layout_nb(skua_at(region, to, base), &remote, &local, NULL) >= 0);
        memset(&remote, 0xff, sizeof remote); /* the program may change its layout again */
        memset(&local, 0xff, sizeof local);
    }
}

static void check_rounds(const uint64_t *got, int from)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WORDS; i++) {
            bool strided = i % 2 == 0 && i < 2 * ROWS;

            CHECK(got[round * WORDS + i] == word_of(from, round, strided ? i / 2 : i));
        }
}

static void accumulate_rounds(skua_region region, int to)
{
    static _Thread_local uint64_t one[ROWS];
    uint64_t                      two = 2;
    skua_update                   sum = {SKUA_SUM, SKUA_UINT64, &two};

    for (int i = 0; i < ROWS; i++)
        one[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        ptrdiff_t   offset[ROWS];
        skua_layout remote, local = skua_layout_contiguous(one, sizeof one);

        for (int i = 0; i < ROWS; i++)
            offset[i] = (ptrdiff_t)(i * 7 % ROWS) * 8;
        remote = skua_layout_indexed(NULL, 8, ROWS, offset);
        CHECK(skua_acc_layout_nb(skua_at(region, to, 0), &remote, &local, &sum, NULL) >= 0);
        memset(offset, 0xff, sizeof offset);
    }
    two = 0; /* the factor has been copied */
}

/* A word for each put, and the region of the notifications of a PE. */
struct behind {
    skua_region notifications;
    uint64_t    word[3 * ROUNDS];
};

static uint64_t behind_word(int pe, int i)
{
    return (uint64_t)pe << 20 | (uint64_t)(i + 1);
}

/* Puts behind a request, behind a fence after it, and with a notification that is one. */
static void put_behind(skua_region region, skua_gaddr notify, uint64_t *from)
{
    skua_rma_params unordered = {.order = SKUA_UNORDERED}, raise = {.notify = notify};
    skua_gaddr      to = skua_at(region, notify.pe, offsetof(struct behind, word));

    for (int i = 0; i < 3 * ROUNDS; i++) {
        from[i] = behind_word(skua_pe(), i);
        CHECK(skua_notify_add(notify, 1) == SKUA_OK);
        if (i % 3 == 1)
            skua_fence(notify.pe);
        CHECK(skua_put_nb(skua_gaddr_add(to, 8 * i), from + i, 8,
                          i % 3 == 0   ? NULL
                          : i % 3 == 1 ? &unordered
                                       : &raise) >= 0);
    }
}

static void test_behind(int to, int from)
{
    skua_notify   *notify = calloc(1, sizeof *notify);
    uint64_t       words[3 * ROUNDS];
    skua_region    region, theirs;
    struct behind *mine;

    CHECK(skua_region_create(sizeof *mine, &region) == SKUA_OK);
    mine = skua_region_local(region);
    CHECK(skua_region_create_from(notify, sizeof *notify, &mine->notifications) == SKUA_OK);
    skua_sync();
    CHECK(skua_get(&theirs, skua_at(region, to, 0), sizeof theirs) == SKUA_OK);
    skua_send(skua_pe(), ran_handler, skua_msg_alloc(0));
    ran     = 0;
    calling = true;
    put_behind(region, skua_at(theirs, to, 0), words);
    calling = false;
    CHECK(ran == 0);
    CHECK(skua_notify_wait(notify, 4 * ROUNDS));
    for (int i = 0; i < 3 * ROUNDS; i++)
        CHECK(mine->word[i] == behind_word(from, i));
    skua_sync();
    CHECK(skua_region_destroy(mine->notifications) == SKUA_OK);
    CHECK(skua_region_destroy(region) == SKUA_OK);
    free(notify);
}

static void start(int argc, char **argv)
{
    size_t      bytes = (size_t)ROUNDS * WORDS * 8;
    int         to = (skua_pe() + 1) % skua_pes(), from = (skua_pe() + skua_pes() - 1) % skua_pes();
    uint64_t   *local = malloc(bytes), *back = malloc(bytes);
    skua_region region, sums;
    const skua_rma_params strict = {.order = SKUA_ORDER_STRICT};

    (void)argc, (void)argv;
    CHECK(local && back && skua_region_create(bytes, &region) == SKUA_OK);
    CHECK(skua_region_create(ROWS * 8, &sums) == SKUA_OK);
    memset(skua_region_local(sums), 0, ROWS * 8);
    skua_sync();
    for (int i = 0; i < 100; i++)
        skua_send(skua_pe(), ran_handler, skua_msg_alloc(0));
    calling = true;
    put_rounds(region, to, local);
    for (int round = 0; round < ROUNDS; round++)
        CHECK(skua_get_nb(back + round * WORDS, skua_at(region, to, (uint64_t)round * WORDS * 8),
                          WORDS * 8, &strict) >= 0);
    accumulate_rounds(sums, to);
    calling = false;
    CHECK(ran == 0);
    skua_flush_all();
    skua_sync();
    check_rounds(skua_region_local(region), from);
    for (int i = 0; i < ROWS; i++)
        CHECK(((uint64_t *)skua_region_local(sums))[i] == 2 * ROUNDS);
    check_rounds(back, skua_pe());
    test_behind(to, from);
    skua_sync();
    free(local);
    free(back);
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    ran_handler = skua_handler_register("ran", on_ran);
    return skua_main(argc, argv, start);
}
