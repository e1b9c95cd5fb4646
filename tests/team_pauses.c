/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_pauses.c - small collectives between PEs that pause in turn: those that wait meanwhile fall
 * asleep, and each of them is woken.
 *
 * usage: test_team_pauses [CALLS]
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

#define LONGEST 2000 /* microseconds of a pause */

static int calls = 60;

static void wait_for(skua_counter *counter)
{
    CHECK(skua_counter_wait(counter, 1));
}

static void scan(int64_t number)
{
    skua_reduction sum  = {SKUA_SUM, SKUA_INT64, 1};
    skua_counter   over = SKUA_COUNTER_INIT;
    int64_t        me = skua_pe(), from = me + number, to = 0;

    skua_team_scan(SKUA_TEAM_ALL, &sum, &from, &to, skua_done_count(&over));
    wait_for(&over);
    CHECK(to == me * (me + 1) / 2 + (me + 1) * number);
}

static void gather(int root, int64_t number)
{
    int64_t     *all  = malloc((size_t)skua_pes() * sizeof *all);
    skua_counter over = SKUA_COUNTER_INIT;

    skua_team_gather(SKUA_TEAM_ALL, root, &number, sizeof number, all, skua_done_count(&over));
    wait_for(&over);
    for (int pe = 0; root == skua_pe() && pe < skua_pes(); pe++)
        CHECK(all[pe] == number);
    free(all);
}

static void start(int argc, char **argv)
{
    skua_counter over = SKUA_COUNTER_INIT;

    (void)argc, (void)argv;
    for (int i = 0; i < calls; i++) {
        if (i % skua_pes() == skua_pe())
            usleep((useconds_t)(i * 367 % LONGEST));
        scan(i);
        if (i % 3 == 0)
            gather(i / 3 % skua_pes(), i);
    }
    skua_barrier(skua_done_count(&over));
    if (skua_counter_wait(&over, 1) && skua_pe() == 0) /* others may find that the job ends */
        skua_exit(0);
}

int main(int argc, char **argv)
{
    calls = argc > 1 ? atoi(argv[1]) : calls;
    return skua_main(argc, argv, start);
}
