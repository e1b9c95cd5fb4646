/* SPDX-License-Identifier: Apache-2.0 */
/* host_messages.c - collectives combine inside a host first: the messages that each of them sends
 * between hosts are counted, and are as few as the number of hosts allows.
 *
 * usage: host_messages [calls [rma]]        rma: the driver transfers data of any size by itself */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/skua.h>

#include "tap.h"
#include "waits.h"

static int          calls = 20;
static skua_handler nothing;

static void on_nothing(skua_msg *msg)
{
    skua_msg_free(msg);
}

/* Returns the number of messages that this PE has sent to other hosts so far. */
static int64_t sent(void)
{
    skua_stats stats;

    skua_stats_get(&stats, sizeof stats);
    return (int64_t)stats.sent_net;
}

/* Compares the number of messages of all PEs since @p before with the largest permitted number. */
static void compare(const char *what, int64_t before, int64_t most)
{
    int64_t     mine  = sent() - before, all;
    skua_future total = SKUA_FUTURE_INIT;

    skua_allreduce(SKUA_SUM, SKUA_INT64, &mine, 1, skua_done_future(&total));
    future_take(&total, &all, sizeof all);
    if (skua_pe() == 0 && all > most)
        printf("%s: %lld messages between %d hosts, more than %lld\n", what, (long long)all,
               skua_hosts(), (long long)most);
    CHECK(all <= most);
}

/* Returns the number of messages of an exchange between hosts: in each round each host receives
 * one, if its block has a sibling. */
static int64_t exchange_messages(int hosts)
{
    int64_t messages = 0;

    for (int step = 1; step < hosts; step *= 2)
        for (int host = 0; host < hosts; host++)
            messages += ((host & ~(step - 1)) ^ step) < hosts; /* its block has a sibling */
    return messages;
}

static int64_t dissemination_messages(int hosts)
{
    int64_t messages = 0;

    for (int step = 1; step < hosts; step *= 2)
        messages += hosts;
    return messages;
}

static void test_sync(int hosts)
{
    int64_t before = sent();

    for (int i = 0; i < calls; i++)
        skua_sync();
    compare("skua_sync", before, calls * dissemination_messages(hosts));
}

static void test_reductions(int hosts)
{
    int64_t before = sent();

    for (int i = 0; i < calls; i++) {
        skua_future future = SKUA_FUTURE_INIT;
        double      value  = skua_pe() + i, sum;

        skua_allreduce(SKUA_SUM, SKUA_DOUBLE, &value, 1, skua_done_future(&future));
        future_take(&future, &sum, sizeof sum);
        CHECK(sum == skua_pes() * (skua_pes() - 1) / 2.0 + skua_pes() * (double)i);
    }
    compare("skua_allreduce", before, calls * exchange_messages(hosts));
    before = sent();
    for (int i = 0; i < calls; i++)
        wait_barrier();
    compare("skua_barrier", before, calls * exchange_messages(hosts));
}

/* Each PE in turn broadcasts: a message and an acknowledgement for each other host. */
static void test_broadcasts(int hosts)
{
    int64_t before = sent();

    for (int root = 0; root < skua_pes(); root++) {
        if (root == skua_pe()) {
            skua_future future = SKUA_FUTURE_INIT;

            skua_broadcast(nothing, skua_msg_alloc(8), skua_done_future(&future));
            skua_future_wait(&future, NULL);
            skua_future_clear(&future);
        }
        skua_sync();
    }
    compare("skua_broadcast", before,
            skua_pes() * (2 * (hosts - 1) + dissemination_messages(hosts)));
}

/* Two votes go up and down the tree. At the end the hosts report to PE 0, and the regions are
 * freed. */
static void test_regions(int hosts)
{
    int64_t     before = sent();
    skua_region region[4];

    for (int i = 0; i < 4; i++)
        CHECK(skua_region_create(64, &region[i]) == SKUA_OK);
    compare("skua_region_create", before, 4 * 4 * (hosts - 1));
    for (int i = 0; i < 4; i++)
        skua_region_destroy(region[i]);
}

/* Waits until the messages of the start have been delivered, on all PEs. */
static void settle(void)
{
    if (skua_pe() == 0)
        wait_quiet();
    skua_sync();
}

/* ---- descriptions of regions ----------------------------------------------------------------- */

/* Every PE stores into the pieces of all PEs on other hosts. */
static void put_everywhere(skua_region region)
{
    int64_t mine = skua_pe() + 1;

    for (int pe = 0; pe < skua_pes(); pe++)
        if (skua_host_of(pe) != skua_host_of(skua_pe()))
            CHECK(skua_put(skua_at(region, pe, sizeof mine * (size_t)skua_pe()), &mine,
                           sizeof mine) == SKUA_OK);
}

/* Returns whether this PE has what the PEs of other hosts have stored. */
static bool everything_arrived(skua_region region)
{
    const int64_t *here = skua_region_local(region);

    for (int pe = 0; pe < skua_pes(); pe++)
        if (skua_host_of(pe) != skua_host_of(skua_pe()) && here[pe] != pe + 1)
            return false;
    return true;
}

/* The driver transfers data by itself: messages only ask for the description of a region.  When the
 * first PE of each host has asked for one piece on each other host, which has one process, the
 * other PEs know all pieces. */
static void test_descriptions(int hosts)
{
    skua_region region;
    int64_t     before, none = 0;

    CHECK(skua_region_create(sizeof none * (size_t)skua_pes(), &region) == SKUA_OK);
    settle();
    before = sent();
    for (int host = 0; host < hosts; host++)
        if (skua_host_pe(skua_host_of(skua_pe()), 0) == skua_pe() &&
            host != skua_host_of(skua_pe()))
            CHECK(skua_put(skua_at(region, skua_host_pe(host, skua_host_pes(host) - 1), 0), &none,
                           sizeof none) == SKUA_OK);
    compare("a description for each pair of hosts", before, 2 * hosts * (hosts - 1));
    skua_sync();
    before = sent();
    put_everywhere(region);
    compare("descriptions that the host has", before, 0);
    skua_sync();
    CHECK(everything_arrived(region));
    CHECK(skua_region_destroy(region) == SKUA_OK);
    settle(); /* the hosts free the region */
}

/* ---- teams ----------------------------------------------------------------------------------- */

/* A call of a team: its buffers, and the root, another one in each call. */
struct team_call {
    skua_team       team;
    int             root;
    int64_t        *from, *to; /* of as many elements as the team has members */
    skua_completion done;
};

static const skua_reduction sum = {SKUA_SUM, SKUA_INT64, 1};

static void call_barrier(const struct team_call *c)
{
    skua_team_barrier(c->team, c->done);
}

static void call_broadcast(const struct team_call *c)
{
    skua_team_broadcast(c->team, c->root, c->to, sizeof *c->to, c->done);
}

static void call_reduce(const struct team_call *c)
{
    skua_team_reduce(c->team, c->root, &sum, c->from, c->to, c->done);
}

static void call_allreduce(const struct team_call *c)
{
    skua_team_allreduce(c->team, &sum, c->from, c->to, c->done);
}

static void call_gather(const struct team_call *c)
{
    skua_team_gather(c->team, c->root, c->from, sizeof *c->from, c->to, c->done);
}

static void call_scatter(const struct team_call *c)
{
    skua_team_scatter(c->team, c->root, c->from, c->to, sizeof *c->to, c->done);
}

static void call_allgather(const struct team_call *c)
{
    skua_team_allgather(c->team, c->from, sizeof *c->from, c->to, c->done);
}

static void call_alltoall(const struct team_call *c)
{
    skua_team_alltoall(c->team, c->from, c->to, sizeof *c->to, c->done);
}

/* Makes the calls of a collective, one after the other, and compares its messages with the most
 * that a call may take. */
static void count_calls(const char *what, struct team_call              c,
                        void (*call)(const struct team_call *), int64_t most)
{
    int64_t before = sent();

    for (int i = 0; i < calls; i++) {
        skua_counter ended = SKUA_COUNTER_INIT;

        c.root = i * 5 % skua_team_pes(c.team);
        c.done = skua_done_count(&ended);
        call(&c);
        skua_counter_wait(&ended, 1);
    }
    compare(what, before, calls * most);
}

static void count_splits(skua_team team, int64_t most)
{
    int64_t before = sent();

    for (int i = 0; i < calls; i++) {
        skua_team part;

        CHECK(skua_team_split(team, 0, 0, &part) == SKUA_OK);
        CHECK(skua_team_destroy(part) == SKUA_OK);
    }
    compare("skua_team_split", before, calls * most);
}

/* Few hosts tell each other all; more of them do so in rounds. */
static int64_t allgather_messages(int hosts)
{
    return hosts <= 3 ? hosts * (hosts - 1) : dissemination_messages(hosts);
}

static void test_team(skua_team team, int hosts)
{
    size_t           bytes = (size_t)skua_pes() * sizeof(int64_t);
    struct team_call c     = {.team = team, .from = calloc(1, bytes), .to = calloc(1, bytes)};

    count_calls("skua_team_barrier", c, call_barrier, dissemination_messages(hosts));
    count_calls("skua_team_broadcast", c, call_broadcast, hosts - 1);
    count_calls("skua_team_reduce", c, call_reduce, hosts - 1);
    count_calls("skua_team_allreduce", c, call_allreduce, exchange_messages(hosts));
    count_calls("skua_team_gather", c, call_gather, hosts - 1);
    count_calls("skua_team_scatter", c, call_scatter, hosts - 1);
    count_calls("skua_team_allgather", c, call_allgather, allgather_messages(hosts));
    count_calls("skua_team_alltoall", c, call_alltoall, hosts * (hosts - 1));
    count_splits(team, allgather_messages(hosts));
    free(c.from);
    free(c.to);
}

/* All PEs, in their order and in one in which no two neighbours are on one host for long. */
static void test_teams(int hosts)
{
    skua_team mixed;

    test_team(SKUA_TEAM_ALL, hosts);
    CHECK(skua_team_split(SKUA_TEAM_ALL, 0, skua_pe() % 3 * skua_pes() - skua_pe(), &mixed) ==
          SKUA_OK);
    test_team(mixed, hosts);
    CHECK(skua_team_destroy(mixed) == SKUA_OK);
}

static void start(int argc, char **argv)
{
    int hosts = skua_hosts();

    if (argc > 1)
        calls = atoi(argv[1]);
    settle();
    if (argc > 2)
        test_descriptions(hosts);
    test_sync(hosts);
    test_reductions(hosts);
    test_broadcasts(hosts);
    test_regions(hosts);
    settle(); /* the hosts free the regions */
    test_teams(hosts);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    nothing = skua_handler_register("nothing", on_nothing);
    return skua_main(argc, argv, start);
}
