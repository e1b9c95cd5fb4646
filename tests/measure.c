/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - the measured load of objects, CPU time and messages, while measurement is on.
 *
 * A call that starts or stops measurement takes effect on all PEs after a while, so a test works
 * until it observes the expected values; its time limit is that of the job.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

static skua_class      member_class;
static skua_entry      work_entry, poke_entry, report_entry;
static skua_collection members; /* on PE 0, and in the data of `work` */

/* Computes for a while and sends one message. */
static void on_work(void *self, const void *data, size_t bytes)
{
    skua_collection all;
    double          end = skua_time() + 1e-4;

    (void)self;
    CHECK(bytes == sizeof all);
    memcpy(&all, data, sizeof all);
    while (skua_time() < end)
        ;
    skua_invoke_copy(skua_member(all, (skua_pe() + 1) % skua_pes()), poke_entry, NULL, 0);
}

static void on_poke(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
}

/* Contributes the measured values: seconds, messages, and whether there are any. */
static void on_report(void *self, const void *data, size_t bytes)
{
    skua_element_load load  = {0};
    bool              any   = skua_balance_load(self, &load);
    double            sum[] = {load.seconds, (double)load.messages, any};
    skua_completion   to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_DOUBLE, sum, 3, to);
}

struct measured {
    double seconds, messages, any;
};

/* Lets all members work, waits for them, and returns the sum of the measured values. */
static struct measured work(int times)
{
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);
    struct measured sum;

    for (int i = 0; i < times; i++)
        skua_invoke_all(members, work_entry, &members, sizeof members);
    wait_quiet();
    skua_invoke_all(members, report_entry, &done, sizeof done);
    future_take(&future, &sum, sizeof sum);
    return sum;
}

static void start(int argc, char **argv)
{
    struct measured last, now;

    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    members = skua_group_create(member_class, NULL, 0);
    CHECK(work(2).messages == 0);
    skua_measure_graph_start();
    do
        now = work(3);
    while (now.any < skua_pes() || now.messages < skua_pes() || now.seconds <= 0);
    skua_measure_stop();
    do {
        last = now;
        now  = work(3);
    } while (now.messages > last.messages);
    skua_measure_reset();
    while (work(0).messages > 0)
        ;
    skua_measure_start();
    while (work(1).seconds <= 0)
        ;
    skua_exit(0);
}

int main(int argc, char **argv)
{
    skua_class_def def = {.name = "member", .bytes = 8};

    member_class = skua_class_register(&def);
    work_entry   = skua_method_register(member_class, "work", on_work, 0);
    poke_entry   = skua_method_register(member_class, "poke", on_poke, 0);
    report_entry = skua_method_register(member_class, "report", on_report, 0);
    return skua_main(argc, argv, start);
}
