/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_copies.c - an all-to-all, and a scan of two members, whose copies would take more than
 * the arena: members lend their memory instead.
 *
 * usage: test_team_copies
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define BLOCK  ((size_t)512 << 10)
#define VALUES ((size_t)3 << 20) /* of a scan: 24 MB, more than the arena */

static skua_op op_add;

/* An operator of the program, which is applied to whole contributions. */
static void add(void *into, const void *from, size_t count, skua_type type)
{
    int64_t       *sum  = into;
    const int64_t *term = from;

    CHECK(type == SKUA_INT64);
    for (size_t i = 0; i < count; i++)
        sum[i] += term[i];
}

static void test_alltoall(void)
{
    size_t       all  = BLOCK * (size_t)skua_pes();
    char        *from = malloc(all), *to = malloc(all);
    skua_counter over = SKUA_COUNTER_INIT;

    CHECK(from && to);
    memset(from, skua_pe() + 1, all);
    skua_team_alltoall(SKUA_TEAM_ALL, from, to, BLOCK, skua_done_count(&over));
    CHECK(skua_counter_wait(&over, 1));
    for (int pe = 0; pe < skua_pes(); pe++)
        CHECK(to[BLOCK * (size_t)pe] == pe + 1 && to[BLOCK * ((size_t)pe + 1) - 1] == pe + 1);
    free(from);
    free(to);
}

static void test_scan(void)
{
    skua_reduction what = {.op = op_add, .type = SKUA_INT64, .count = VALUES};
    int64_t       *from = malloc(VALUES * sizeof *from), *to = malloc(VALUES * sizeof *to);
    int64_t        pe = skua_pe(), wrong = 0;
    skua_counter   over = SKUA_COUNTER_INIT;

    CHECK(from && to);
    for (size_t i = 0; i < VALUES; i++)
        from[i] = (int64_t)i + pe;
    skua_team_scan(SKUA_TEAM_ALL, &what, from, to, skua_done_count(&over));
    CHECK(skua_counter_wait(&over, 1));
    for (size_t i = 0; i < VALUES; i++)
        wrong += to[i] != (pe + 1) * (int64_t)i + pe * (pe + 1) / 2;
    CHECK(wrong == 0);
    free(from);
    free(to);
}

static void start(int argc, char **argv)
{
    skua_counter over = SKUA_COUNTER_INIT;

    (void)argc, (void)argv;
    test_alltoall();
    if (skua_pes() == 2)
        test_scan();
    skua_barrier(skua_done_count(&over));
    if (skua_counter_wait(&over, 1) && skua_pe() == 0) /* others may find that the job ends */
        skua_exit(0);
}

int main(int argc, char **argv)
{
    op_add = skua_op_register("add", add);
    return skua_main(argc, argv, start);
}
