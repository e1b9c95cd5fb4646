/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_copies.c - an all-to-all whose copies would take more than the arena: members lend their
 * memory instead.
 *
 * usage: test_team_copies
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define BLOCK ((size_t)512 << 10)

static void start(int argc, char **argv)
{
    size_t       all  = BLOCK * (size_t)skua_pes();
    char        *from = malloc(all), *to = malloc(all);
    skua_counter over = SKUA_COUNTER_INIT;

    (void)argc, (void)argv;
    CHECK(from && to);
    memset(from, skua_pe() + 1, all);
    skua_team_alltoall(SKUA_TEAM_ALL, from, to, BLOCK, skua_done_count(&over));
    CHECK(skua_counter_wait(&over, 1));
    for (int pe = 0; pe < skua_pes(); pe++)
        CHECK(to[BLOCK * (size_t)pe] == pe + 1 && to[BLOCK * ((size_t)pe + 1) - 1] == pe + 1);
    free(from);
    free(to);
    skua_barrier(skua_done_count(&over));
    if (skua_counter_wait(&over, 2) && skua_pe() == 0) /* others may find that the job ends */
        skua_exit(0);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
