/* SPDX-License-Identifier: Apache-2.0 */
/* host_messages.c - collectives combine inside a host first: the messages that each of them sends
 * between hosts are counted, and are as few as the number of hosts allows.
 *
 * usage: host_messages [calls] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/skua.h>

#include "tap.h"

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
    memcpy(&all, skua_future_wait(&total, NULL), sizeof all);
    skua_future_clear(&total);
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
        memcpy(&sum, skua_future_wait(&future, NULL), sizeof sum);
        CHECK(sum == skua_pes() * (skua_pes() - 1) / 2.0 + skua_pes() * (double)i);
        skua_future_clear(&future);
    }
    compare("skua_allreduce", before, calls * exchange_messages(hosts));
    before = sent();
    for (int i = 0; i < calls; i++) {
        skua_future future = SKUA_FUTURE_INIT;

        skua_barrier(skua_done_future(&future));
        skua_future_wait(&future, NULL);
        skua_future_clear(&future);
    }
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
    if (skua_pe() == 0) {
        skua_future quiet = SKUA_FUTURE_INIT;

        skua_quiescence(skua_done_future(&quiet));
        skua_future_wait(&quiet, NULL);
        skua_future_clear(&quiet);
    }
    skua_sync();
}

static void start(int argc, char **argv)
{
    int hosts = skua_hosts();

    if (argc > 1)
        calls = atoi(argv[1]);
    settle();
    test_sync(hosts);
    test_reductions(hosts);
    test_broadcasts(hosts);
    test_regions(hosts);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    nothing = skua_handler_register("nothing", on_nothing);
    return skua_main(argc, argv, start);
}
