/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_put.c - with a progress thread, puts to a PE leave while their origin computes: the first
 * one, although there was no connection before, and large ones that the network does not accept at
 * once.
 *
 * PE 0 puts to the last PE, which answers with a put.  PE 0 does not enter the runtime until it
 * sees the answer in its memory: a put that waited for PE 0 would wait forever.
 *
 * usage: first_put
 */
#include <skua/skua.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define WATCHDOG 100 /* seconds after which the test has failed */
#define BLOCKS   24
#define BYTES    ((size_t)1 << 20) /* of a block; all are in flight together (request_window) */

struct shared {
    _Atomic int64_t question, answer;
    int64_t         word[3]; /* by its value: what is put, as a put reads its source later */
    char            data[BLOCKS][BYTES];
};

static char block[BLOCKS][BYTES];

static void put_word(skua_region region, struct shared *mine, int pe, size_t offset, int64_t word)
{
    int64_t *from = &mine->word[word];

    *from = word;
    CHECK(skua_put_nb(skua_at(region, pe, offset), from, sizeof *from, NULL) >= 0);
}

/* Asks the last PE, after what was put before, and computes until the answer is there. */
static void ask(skua_region region, struct shared *mine, int64_t word)
{
    put_word(region, mine, skua_pes() - 1, offsetof(struct shared, question), word);
    while (mine->answer < word)
        ;
}

static void answer(skua_region region, struct shared *mine, int64_t word)
{
    while (mine->question < word)
        skua_poll(1);
    put_word(region, mine, 0, offsetof(struct shared, answer), word);
}

static void put_blocks(skua_region region)
{
    for (int i = 0; i < BLOCKS; i++) {
        memset(block[i], i + 1, BYTES);
        CHECK(skua_put_nb(skua_at(region, skua_pes() - 1,
                                  offsetof(struct shared, data) + (size_t)i * BYTES),
                          block[i], BYTES, NULL) >= 0);
    }
}

static void check_blocks(const struct shared *mine)
{
    for (int i = 0; i < BLOCKS; i++)
        for (size_t j = 0; j < BYTES; j++)
            CHECK(mine->data[i][j] == (char)(i + 1));
}

static void start(int argc, char **argv)
{
    int            last = skua_pes() - 1;
    skua_region    region;
    struct shared *mine;

    (void)argc, (void)argv;
    CHECK(skua_region_create(sizeof *mine, &region) == SKUA_OK);
    mine = skua_region_local(region);
    memset((void *)mine, 0, sizeof *mine);
    skua_sync();
    if (skua_pe() == 0 && last > 0) {
        ask(region, mine, 1);
        put_blocks(region);
        ask(region, mine, 2);
    } else if (skua_pe() == last && last > 0) {
        answer(region, mine, 1);
        answer(region, mine, 2);
        check_blocks(mine);
    }
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    alarm(WATCHDOG);
    return skua_main(argc, argv, start);
}
