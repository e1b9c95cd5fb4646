/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_copies.c - an all-to-all, and scans of two and three members, whose copies would take more
 * than the arena: members lend their memory instead.
 *
 * usage: test_team_copies
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define BLOCK  ((size_t)512 << 10)
#define VALUES ((size_t)3 << 20) /* of a scan: 24 MB, more than the arena */

static skua_op      op_add;
static skua_handler called_handler;
static skua_pe_data called_key; /* a skua_counter: the PE below has called the scan */

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

static void on_called(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_complete(skua_done_count(skua_pe_data_get(called_key)), NULL, 0);
}

/* The second member calls after the first one, which then has sent all that it sends. */
static void test_scan(skua_team team, skua_op op, int time)
{
    skua_reduction what = {.op = op, .type = SKUA_INT64, .count = VALUES};
    int64_t       *from = malloc(VALUES * sizeof *from), *to = malloc(VALUES * sizeof *to);
    int64_t        pe = skua_pe(), wrong = 0;
    skua_counter   over = SKUA_COUNTER_INIT, *called = skua_pe_data_get(called_key);

    CHECK(from && to);
    for (size_t i = 0; i < VALUES; i++)
        from[i] = (int64_t)i + pe;
    if (pe == 1)
        CHECK(skua_counter_wait(called, time));
    skua_team_scan(team, &what, from, to, skua_done_count(&over));
    if (pe == 0)
        skua_send_copy(1, called_handler, NULL, 0);
    CHECK(skua_counter_wait(&over, 1));
    for (size_t i = 0; i < VALUES; i++)
        wrong += to[i] != (pe + 1) * (int64_t)i + pe * (pe + 1) / 2;
    CHECK(wrong == 0);
    free(from);
    free(to);
}

/* Segments of a predefined operator, and whole contributions to an operator of the program. */
static void test_scans(void)
{
    skua_team team = SKUA_TEAM_NONE;

    CHECK(skua_team_split(SKUA_TEAM_ALL, skua_pe() < 3 ? 0 : SKUA_COLOR_NONE, 0, &team) == SKUA_OK);
    if (skua_pe() < 3)
        test_scan(team, SKUA_SUM, 1);
    if (skua_pes() == 2)
        test_scan(team, op_add, 2);
}

static void start(int argc, char **argv)
{
    skua_counter over = SKUA_COUNTER_INIT;

    (void)argc, (void)argv;
    test_alltoall();
    test_scans();
    skua_barrier(skua_done_count(&over));
    if (skua_counter_wait(&over, 1) && skua_pe() == 0) /* others may find that the job ends */
        skua_exit(0);
}

int main(int argc, char **argv)
{
    op_add         = skua_op_register("add", add);
    called_handler = skua_handler_register("called", on_called);
    called_key     = skua_pe_data_register(sizeof(skua_counter));
    return skua_main(argc, argv, start);
}
