/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_put.c - with a progress thread, the first put to a PE leaves while its origin computes,
 * although there was no connection before.
 *
 * PE 0 puts a word to the last PE, which answers with a put.  PE 0 does not enter the runtime until
 * it sees the answer in its memory: a put that waited for PE 0 would wait forever.
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

struct shared {
    _Atomic int64_t question, answer;
};

static void put_word(skua_region region, int pe, size_t offset)
{
    int64_t word = 1;

    CHECK(skua_put(skua_at(region, pe, offset), &word, sizeof word) == SKUA_OK);
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
        put_word(region, last, offsetof(struct shared, question));
        while (!mine->answer)
            ; /* computes */
    } else if (skua_pe() == last && last > 0) {
        while (!mine->question)
            skua_poll(1);
        put_word(region, 0, offsetof(struct shared, answer));
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
