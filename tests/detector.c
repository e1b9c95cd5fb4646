/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detector.c - completion detectors detect the end of the items that they count, never early,
 * several at once, while messages that they do not count are in flight.
 *
 * In a round some PEs create a detector each.  Its producers, several on some PEs and none on
 * others, send items, which produce more items before they are consumed.  Items that are not
 * consumed are counted in a shared word of the host (between hosts: by all PEs, afterwards), which
 * must be 0 when the detector completes.
 *
 * usage: detector [ROUNDS]
 */
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"

#define SLOTS 4

struct item {
    skua_detector detector;
    uint32_t      round;
    int32_t       slot, fuel;
    int32_t       told; /* true if the detector counts it */
};

struct make {
    uint32_t round;
    int32_t  slot;
};

struct starter {
    struct item item;
    uint64_t    producers;
};

struct mine {
    uint64_t    seed;
    skua_region region;
    uint32_t    closed; /* the last round that is complete: none of its items may arrive */
    int64_t     balance[SLOTS];
    struct item ended[SLOTS];
};

struct report {
    int64_t balance[SLOTS];
};

static skua_handler make_handler, produce_handler, item_handler, start_handler, ended_handler,
    close_handler, report_handler;
static skua_pe_data mine_key;

/* The state of PE 0. */
static struct {
    uint32_t      round, rounds;
    int           made, ended, reports;
    struct report sum;
} run;

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

static uint64_t any(uint64_t n)
{
    return tap_random(&mine()->seed) % n;
}

static int any_pe(void)
{
    return (int)any((uint64_t)skua_pes());
}

static void count(int slot, int64_t n)
{
    _Atomic int64_t *all =
        tap_all_near() ? skua_gaddr_local(skua_at(mine()->region, 0, 8 * (uint64_t)slot)) : NULL;

    mine()->balance[slot] += n;
    if (all)
        CHECK(atomic_fetch_add(all, n) + n >= 0);
}

static void check_even(int slot)
{
    if (tap_all_near())
        CHECK(atomic_load((_Atomic int64_t *)skua_gaddr_local(
                  skua_at(mine()->region, 0, 8 * (uint64_t)slot))) == 0);
}

/* ---- items ----------------------------------------------------------------------- */

static void send_item(struct item item)
{
    if (item.told) {
        count(item.slot, 1);
        skua_detector_produce(item.detector, 1);
    }
    skua_send_copy_prio(any_pe(), item_handler, &item, sizeof item, (int32_t)any(3) - 1);
}

static void on_item(skua_msg *msg)
{
    struct item item = *(struct item *)skua_msg_data(msg);

    skua_msg_free(msg);
    CHECK(!item.told || item.round > mine()->closed);
    item.fuel -= 1;
    for (uint64_t i = item.fuel > 0 ? any(3) : 0; i > 0; i--)
        send_item(item);
    if (!item.told)
        return;
    count(item.slot, -1);
    skua_detector_consume(item.detector, 1);
}

static void produce(struct item item)
{
    for (uint64_t i = any(5); i > 0; i--)
        send_item(item);
    item.told = 0; /* not counted by a detector */
    if (any(8) == 0)
        send_item(item);
    count(item.slot, -1);
    skua_detector_done(item.detector);
}

static void produce_later(void *arg, const void *data, size_t bytes)
{
    struct item item = *(struct item *)arg;

    (void)data, (void)bytes;
    free(arg);
    produce(item);
}

/* Some items are consumed late: the detector has to wait for them. */
static void on_produce(skua_msg *msg)
{
    struct item item = *(struct item *)skua_msg_data(msg), *copy;

    skua_msg_free(msg);
    if (any(8) > 0) {
        produce(item);
        return;
    }
    copy  = malloc(sizeof *copy);
    *copy = item;
    skua_timer_after(1e-4, skua_done_call(produce_later, copy));
}

/* ---- detectors ------------------------------------------------------------------- */

static void on_end(void *arg, const void *data, size_t bytes)
{
    struct item *item = arg;

    (void)data, (void)bytes;
    CHECK(item->round > mine()->closed);
    check_even(item->slot);
    skua_send_copy(0, ended_handler, &item->round, sizeof item->round);
}

static void on_start(skua_msg *msg)
{
    struct starter *start = skua_msg_data(msg);
    struct item    *item  = &mine()->ended[start->item.slot];

    *item = start->item;
    skua_detector_start(item->detector, start->producers, skua_done_call(on_end, item));
    skua_msg_free(msg);
}

/* Creates a detector, calls its producers and, before or after that, starts it on any PE. */
static void on_make(skua_msg *msg)
{
    struct make    make  = *(struct make *)skua_msg_data(msg);
    struct starter start = {.producers = any(2 * (uint64_t)skua_pes() + 1)};
    bool           early = any(2);

    skua_msg_free(msg);
    start.item = (struct item){skua_detector_create(), make.round, make.slot, (int32_t)any(7), 1};
    count(make.slot, (int64_t)start.producers); /* counted like items */
    if (early)
        skua_send_copy(any_pe(), start_handler, &start, sizeof start);
    for (uint64_t i = 0; i < start.producers; i++)
        skua_send_copy(any_pe(), produce_handler, &start.item, sizeof start.item);
    if (!early)
        skua_send_copy(any_pe(), start_handler, &start, sizeof start);
}

/* ---- rounds ---------------------------------------------------------------------- */

static void next_round(void)
{
    struct make make = {++run.round, 0};

    if (run.round > run.rounds) {
        skua_exit(0);
        return;
    }
    run.made  = 1 + (int)any(SLOTS);
    run.ended = 0;
    for (make.slot = 0; make.slot < run.made; make.slot++)
        skua_send_copy(any_pe(), make_handler, &make, sizeof make);
}

static void on_ended(skua_msg *msg)
{
    CHECK(*(uint32_t *)skua_msg_data(msg) == run.round);
    skua_msg_free(msg);
    if (++run.ended < run.made)
        return;
    run.reports = 0;
    run.sum     = (struct report){{0}};
    for (int pe = 0; pe < skua_pes(); pe++) {
        msg = skua_msg_alloc(sizeof run.round);
        memcpy(skua_msg_data(msg), &run.round, sizeof run.round);
        skua_msg_set_expedited(msg, true);
        skua_send(pe, close_handler, msg);
    }
}

static void on_close(skua_msg *msg)
{
    struct report report;

    mine()->closed = *(uint32_t *)skua_msg_data(msg);
    skua_msg_free(msg);
    memcpy(report.balance, mine()->balance, sizeof report.balance);
    skua_send_copy(0, report_handler, &report, sizeof report);
}

static void on_report(skua_msg *msg)
{
    const struct report *report = skua_msg_data(msg);

    for (int slot = 0; slot < SLOTS; slot++)
        run.sum.balance[slot] += report->balance[slot];
    skua_msg_free(msg);
    if (++run.reports < skua_pes())
        return;
    for (int slot = 0; slot < SLOTS; slot++)
        CHECK(run.sum.balance[slot] == 0);
    next_round();
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    mine()->seed = test_seed + (uint64_t)skua_pe() * 7919 + 1;
    CHECK(skua_region_create(8 * SLOTS, &mine()->region) == SKUA_OK);
    memset(skua_region_local(mine()->region), 0, 8 * SLOTS);
    skua_sync();
    if (skua_pe() != 0)
        return;
    run.rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000;
    next_round();
}

int main(int argc, char **argv)
{
    test_seed       = tap_seed();
    make_handler    = skua_handler_register("make", on_make);
    produce_handler = skua_handler_register("produce", on_produce);
    item_handler    = skua_handler_register("item", on_item);
    start_handler   = skua_handler_register("start", on_start);
    ended_handler   = skua_handler_register("ended", on_ended);
    close_handler   = skua_handler_register("close", on_close);
    report_handler  = skua_handler_register("report", on_report);
    mine_key        = skua_pe_data_register(sizeof(struct mine));
    return skua_main(argc, argv, start);
}
