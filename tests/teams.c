/* SPDX-License-Identifier: Apache-2.0 */
/*
 * teams.c - the life of teams: rows and columns of a grid, ranks, nested and overlapping splits,
 * symmetric memory, many calls in flight, and members that run ahead of others.
 *
 * usage: test_teams [CALLS]       CALLS: of members that run ahead, 8000 bytes each
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define AHEAD_BYTES 8000

static const skua_team everyone = SKUA_TEAM_ALL; /* a constant expression */
static int             ahead    = 200;
static skua_handler    nested_handler;

/* ---- help ------------------------------------------------------------------------------- */

static void wait_for(skua_counter *counter, int64_t value)
{
    CHECK(skua_counter_wait(counter, value));
}

static int64_t sum_of(skua_team team, int64_t value)
{
    skua_reduction sum  = {SKUA_SUM, SKUA_INT64, 1};
    skua_counter   over = SKUA_COUNTER_INIT;
    int64_t        result;

    skua_team_allreduce(team, &sum, &value, &result, skua_done_count(&over));
    wait_for(&over, 1);
    return result;
}

static void barrier(skua_team team)
{
    skua_counter over = SKUA_COUNTER_INIT;

    skua_team_barrier(team, skua_done_count(&over));
    wait_for(&over, 1);
}

/* ---- ranks ------------------------------------------------------------------------------ */

static void test_all(void)
{
    CHECK(everyone != SKUA_TEAM_NONE);
    CHECK(skua_team_pe(everyone) == skua_pe() && skua_team_pes(everyone) == skua_pes());
    CHECK(skua_team_pe_of(everyone, skua_pes() - 1) == skua_pes() - 1);
    CHECK(skua_team_translate(everyone, 0, everyone) == 0);
    CHECK(sum_of(everyone, 1) == skua_pes());
}

/* PEs in rows of three; a column has the PEs with the same remainder, in reverse order. */
static void test_grid(void)
{
    int me = skua_pe(), n = skua_pes(), row = me / 3, in_row = n - 3 * row < 3 ? n - 3 * row : 3;
    int in_column = (n - me % 3 + 2) / 3, below = in_column - 1 - row;
    skua_team rows, columns;

    CHECK(skua_team_split(everyone, row, 0, &rows) == SKUA_OK);
    CHECK(skua_team_split(everyone, me % 3, -me, &columns) == SKUA_OK);
    CHECK(skua_team_pes(rows) == in_row && skua_team_pe(rows) == me % 3);
    CHECK(skua_team_pes(columns) == in_column && skua_team_pe(columns) == below);
    for (int r = 0; r < in_column; r++)
        CHECK(skua_team_pe_of(columns, r) == (in_column - 1 - r) * 3 + me % 3);
    for (int pe = 0; pe < n; pe++)
        CHECK(skua_team_translate(everyone, pe, rows) == (pe / 3 == row ? pe % 3 : -1));
    CHECK(skua_team_translate(rows, skua_team_pe(rows), columns) == below);
    CHECK(sum_of(rows, me) == in_row * 3 * row + in_row * (in_row - 1) / 2);
    CHECK(sum_of(columns, 1) == in_column);
    CHECK(skua_team_destroy(columns) == SKUA_OK);
    CHECK(skua_team_destroy(rows) == SKUA_OK);
}

/* Halves of halves, until a team has one member. */
static void test_nested(void)
{
    skua_team team = SKUA_TEAM_ALL, part;

    while (skua_team_pes(team) > 1) {
        int half = skua_team_pe(team) < (skua_team_pes(team) + 1) / 2 ? 0 : 7;

        CHECK(skua_team_split(team, half, 0, &part) == SKUA_OK);
        CHECK(sum_of(part, 1) == skua_team_pes(part));
        if (team != SKUA_TEAM_ALL)
            CHECK(skua_team_destroy(team) == SKUA_OK);
        team = part;
    }
    CHECK(sum_of(team, 5) == 5);
    if (team != SKUA_TEAM_ALL)
        CHECK(skua_team_destroy(team) == SKUA_OK);
}

static void test_no_color(void)
{
    bool      member = skua_pe() % 2 == 0;
    skua_team team   = SKUA_TEAM_ALL;

    CHECK(skua_team_split(everyone, member ? 3 : SKUA_COLOR_NONE, 0, &team) == SKUA_OK);
    CHECK(member == (team != SKUA_TEAM_NONE));
    if (member)
        CHECK(sum_of(team, 1) == (skua_pes() + 1) / 2 && skua_team_destroy(team) == SKUA_OK);
}

/* ---- overlapping teams -------------------------------------------------------------------- */

/* Two teams of all PEs with opposite ranks: calls of both, in a different order on each PE; splits
 * of both, in flight at once. */
static void test_overlap(void)
{
    skua_team    team[2], made[2] = {SKUA_TEAM_NONE, SKUA_TEAM_NONE};
    skua_counter over = SKUA_COUNTER_INIT;
    int          n = skua_pes(), first = skua_pe() % 2;
    int         *got[2];

    for (int i = 0; i < 2; i++) {
        CHECK(skua_team_split(everyone, 0, i ? -skua_pe() : skua_pe(), &team[i]) == SKUA_OK);
        got[i] = malloc((size_t)n * sizeof(int));
    }
    for (int i = 0; i < 2; i++) {
        int k = i ^ first;

        got[k][skua_team_pe(team[k])] = skua_pe();
        skua_team_allgather(team[k], &got[k][skua_team_pe(team[k])], sizeof(int), got[k],
                            skua_done_count(&over));
        skua_team_split_nb(team[k], skua_team_pe(team[k]) % 2, 0, &made[k], skua_done_count(&over));
    }
    wait_for(&over, 4);
    for (int r = 0; r < n; r++)
        CHECK(got[0][r] == r && got[1][r] == n - 1 - r);
    CHECK(made[0] != made[1] && made[0] != SKUA_TEAM_NONE && made[1] != SKUA_TEAM_NONE);
    for (int i = 0; i < 2; i++) {
        CHECK(sum_of(made[i ^ first], 1) == skua_team_pes(made[i ^ first]));
        CHECK(skua_team_destroy(team[i]) == SKUA_OK);
        free(got[i]);
    }
    for (int i = 0; i < 2; i++)
        CHECK(skua_team_destroy(made[i]) == SKUA_OK);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void test_region(void)
{
    int         n = skua_pes(), me = skua_pe();
    int64_t     value = 100 + me, *mine;
    skua_team   team;
    skua_region region;
    int         rank, size;

    CHECK(skua_team_split(everyone, me % 2, n - me, &team) == SKUA_OK);
    rank = skua_team_pe(team);
    size = skua_team_pes(team);
    CHECK(skua_region_create_team(team, 8 * (size_t)size, &region) == SKUA_OK);
    mine = skua_region_local(region);
    CHECK(mine && skua_region_size(region) == 8 * (size_t)size);
    for (int pe = 0; pe < n; pe++)
        CHECK(skua_region_size_of(region, pe) == (pe % 2 == me % 2 ? 8 * (size_t)size : 0));
    for (int r = 0; r < size; r++)
        CHECK(skua_put(skua_at(region, skua_team_pe_of(team, r), 8 * (uint64_t)rank), &value, 8) ==
              SKUA_OK);
    skua_flush_all();
    barrier(team);
    for (int r = 0; r < size; r++)
        CHECK(mine[r] == 100 + skua_team_pe_of(team, r));
    barrier(team);
    CHECK(skua_team_destroy(team) == SKUA_OK);
    CHECK(skua_region_destroy(region) == SKUA_OK);
    CHECK(skua_region_create_team(everyone, 8, &region) == SKUA_OK);
    CHECK(skua_region_destroy(region) == SKUA_OK);
}

/* ---- many calls ------------------------------------------------------------------------------ */

static void test_many(void)
{
    enum { MANY = 100 };
    skua_reduction sum  = {SKUA_SUM, SKUA_INT64, 1};
    skua_counter   over = SKUA_COUNTER_INIT;
    int64_t        value[MANY], total[MANY], before[MANY];
    skua_team      team;
    int            n, rank;

    CHECK(skua_team_split(everyone, 0, 0, &team) == SKUA_OK);
    n    = skua_team_pes(team);
    rank = skua_team_pe(team);
    for (int i = 0; i < MANY; i++) {
        value[i]  = i + rank;
        before[i] = -1;
        skua_team_allreduce(team, &sum, &value[i], &total[i], skua_done_count(&over));
        skua_team_exscan(team, &sum, &value[i], &before[i], skua_done_count(&over));
        skua_team_barrier(team, skua_done_count(&over));
    }
    CHECK(n == 1 || skua_team_destroy(team) == SKUA_ERR_BUSY);
    wait_for(&over, 3 * MANY);
    for (int i = 0; i < MANY; i++) {
        CHECK(total[i] == n * i + n * (n - 1) / 2);
        CHECK(before[i] == (rank ? rank * i + rank * (rank - 1) / 2 : -1));
    }
    CHECK(skua_team_destroy(team) == SKUA_OK);
}

/* Members send to a root, and a root to members, that have not made the calls yet. */
static void test_ahead(void)
{
    skua_counter over = SKUA_COUNTER_INIT;
    int          n = skua_pes(), me = skua_pe(), root = n - 1;
    char        *block = malloc(AHEAD_BYTES), *all = malloc(AHEAD_BYTES * (size_t)n);
    char        *parts = malloc(AHEAD_BYTES * (size_t)n);

    memset(block, me, AHEAD_BYTES);
    memset(parts, 50, AHEAD_BYTES * (size_t)n);
    if (me == root)
        skua_poll(1000);
    for (int i = 0; i < ahead; i++)
        skua_team_gather(everyone, root, block, AHEAD_BYTES, all, skua_done_count(&over));
    wait_for(&over, ahead);
    for (int r = 0; me == root && r < n; r++)
        CHECK(all[AHEAD_BYTES * r] == (char)r && all[AHEAD_BYTES * (r + 1) - 1] == (char)r);
    if (me != root)
        skua_poll(1000);
    for (int i = 0; i < ahead; i++)
        skua_team_scatter(everyone, root, parts, block, AHEAD_BYTES, skua_done_count(&over));
    wait_for(&over, 2 * ahead);
    CHECK(block[0] == 50 && block[AHEAD_BYTES - 1] == 50);
    free(block);
    free(all);
    free(parts);
}

/* A call with a completion that may wait. */
struct waiting_call {
    skua_counter finished;
    bool         waits;    /* waits for the next call, */
    const bool  *all_made; /* once all calls are made */
};

static void finish_then_wait(void *arg, const void *data, size_t bytes)
{
    struct waiting_call *call = arg;

    (void)data, (void)bytes;
    skua_complete(skua_done_count(&call->finished), NULL, 0);
    if (call->waits && *call->all_made)
        wait_for(&call[1].finished, 1);
}

/* Contributions fill the window.  A deferred call is over as soon as it begins, and its completion
 * waits for the next one: calls begin also within that wait. */
static void test_waiting_completions(void)
{
    struct waiting_call *call = calloc((size_t)ahead, sizeof *call);
    char                *from = calloc(1, AHEAD_BYTES);
    char                *to   = malloc((size_t)skua_pes() * AHEAD_BYTES);
    bool                 made = false;

    for (int i = 0; i < ahead; i++) {
        call[i] = (struct waiting_call){SKUA_COUNTER_INIT, i % 40 == 1 && i + 1 < ahead, &made};
        skua_team_gather(everyone, 0, from, AHEAD_BYTES, to,
                         skua_done_call(finish_then_wait, &call[i]));
    }
    made = true;
    for (int i = 0; i < ahead; i++)
        wait_for(&call[i].finished, 1);
    barrier(everyone);
    free(call);
    free(from);
    free(to);
}

/* ---- errors that are returned --------------------------------------------------------------- */

static void test_refused(void)
{
    skua_team team = SKUA_TEAM_NONE;

    CHECK(skua_team_destroy(everyone) == SKUA_ERR_INVAL);
    CHECK(skua_team_split(everyone, -2, 0, &team) == SKUA_ERR_INVAL);
    CHECK(skua_team_split(everyone, 0, 0, NULL) == SKUA_ERR_INVAL && team == SKUA_TEAM_NONE);
}

/* The last completion destroys the team whose call it belongs to; a handler makes the calls. */
struct nested {
    skua_team    team;
    int          left;
    skua_counter over;
    char         block[64];
};

static void on_call_over(void *arg, const void *data, size_t bytes)
{
    struct nested *nested = arg;

    CHECK(!data && bytes == 0);
    if (--nested->left > 0)
        return;
    CHECK(skua_team_destroy(nested->team) == SKUA_OK);
    skua_complete(skua_done_count(&nested->over), NULL, 0);
}

static void on_nested(skua_msg *msg)
{
    struct nested *nested = *(struct nested **)skua_msg_data(msg);
    char          *block  = nested->block;

    skua_msg_free(msg);
    nested->left = 51;
    for (int i = 0; i < 50; i++)
        skua_team_broadcast(nested->team, 0, block, sizeof nested->block,
                            skua_done_call(on_call_over, nested));
    skua_team_barrier(nested->team, skua_done_call(on_call_over, nested));
}

static void test_completion(void)
{
    struct nested nested = {.over = SKUA_COUNTER_INIT}, *at = &nested;

    CHECK(skua_team_split(everyone, 0, 0, &nested.team) == SKUA_OK);
    skua_send_copy(skua_pe(), nested_handler, &at, sizeof at);
    wait_for(&nested.over, 1);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    test_all();
    test_grid();
    test_nested();
    test_no_color();
    test_overlap();
    test_region();
    test_many();
    test_refused();
    test_completion();
    test_ahead();
    test_waiting_completions();
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    ahead          = argc > 1 ? atoi(argv[1]) : ahead;
    nested_handler = skua_handler_register("nested", on_nested);
    return skua_main(argc, argv, start);
}
