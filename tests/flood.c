/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flood.c - back-pressure: senders that are faster than their receiver do not fill the memory.
 *
 * Every PE but 0 sends small and large messages to PE 0, which is slow, from start(), a handler and
 * user threads; together they are many times larger than the arena.  All arrive, in order for each
 * sender and kind, and the use of the arena stays bounded.  PE 0 answers some of them, so that
 * blocked senders also receive.
 *
 * usage: flood MESSAGES MOST-MIB [held|huge|late [BYTES]]
 *          held: PE 0 begins when half of that memory is in use, so that senders must have been
 *          blocked; huge: the large messages have 4 MiB, and far more than the arena is sent before
 *          an inbox is full; late: PE 0 begins after half a second; BYTES: the size
 *          of large messages
 *        flood hog
 *          the last PE allocates memory outside of the arena, forever
 */
#include <sched.h>
#include <skua/skua.h>
#include <string.h>
#include <unistd.h>

#include "stats_now.h"
#include "tap.h"

enum { SMALL, LARGE, THREAD, KINDS };

struct drop {
    int      kind, from;
    uint64_t number;
    char     rest[];
};

#define HUGE_BYTES   ((size_t)4 << 20)
#define HUGE_SECONDS 0.003 /* that PE 0 needs for one; its senders only fill it */

static size_t drop_bytes[KINDS] = {sizeof(struct drop), 20000, 3000};

static bool         must_hold, huge, is_late;
static skua_handler took, echoed, burst, finished;
static uint64_t     each, most_mib, expected[1024][KINDS], total;

static void send_drop(int kind, uint64_t number)
{
    size_t      bytes = drop_bytes[kind];
    struct drop head  = {kind, skua_pe(), number};
    skua_msg   *msg;

    if (kind == SMALL) {
        skua_send_copy(0, took, &head, sizeof head);
        return;
    }
    msg = skua_msg_alloc(bytes);
    memset(skua_msg_data(msg), (int)number, bytes);
    memcpy(skua_msg_data(msg), &head, sizeof head);
    skua_send(0, took, msg);
}

/* PE 0 is slower than any sender. */
static void dawdle(int kind)
{
    double begun = skua_time();

    while (huge && kind == LARGE && skua_time() - begun < HUGE_SECONDS)
        ;
    for (volatile int i = 0; i < 2000; i++)
        ;
}

static void on_took(skua_msg *msg)
{
    struct drop *drop = skua_msg_data(msg);

    CHECK(skua_msg_size(msg) == drop_bytes[drop->kind]);
    CHECK(drop->number == expected[drop->from][drop->kind]++);
    if (drop->kind != SMALL)
        CHECK(drop->rest[drop_bytes[drop->kind] - sizeof *drop - 1] == (char)drop->number);
    dawdle(drop->kind);
    if (drop->number % 16 == 0)
        skua_send_copy(drop->from, echoed, drop, sizeof *drop);
    skua_msg_free(msg);
    if (++total == KINDS * each * (uint64_t)(skua_pes() - 1))
        skua_send_copy(0, finished, NULL, 0);
}

static void on_echoed(skua_msg *msg)
{
    skua_msg_free(msg);
}

static void send_thread(void *arg)
{
    (void)arg;
    for (uint64_t i = 0; i < each; i++)
        send_drop(THREAD, i);
}

/* Sends in a handler, which cannot block. */
static void on_burst(skua_msg *msg)
{
    skua_msg_free(msg);
    for (uint64_t i = 0; i < each; i++)
        send_drop(LARGE, i);
}

static void report(void *arg, const void *data, size_t bytes)
{
    const uint64_t *most = data;

    (void)arg, (void)bytes;
    printf(
        "ok - %d PEs: %llu messages, up to %llu sends of a PE blocked, at most %llu MiB in use\n",
        skua_pes(), (unsigned long long)total, (unsigned long long)most[0],
        (unsigned long long)most[1]);
    CHECK(!must_hold || most[0] > 0); /* slow senders of huge messages need not wait */
    CHECK(most[1] <= most_mib);
    skua_exit(0);
}

static void on_finished(skua_msg *msg)
{
    skua_stats stats = stats_now();
    uint64_t   mine[2];

    skua_msg_free(msg);
    if (skua_pe() == 0)
        for (int pe = 1; pe < skua_pes(); pe++)
            skua_send_copy(pe, finished, NULL, 0);
    mine[0] = stats.backpressure_waits;
    mine[1] = stats.arena_peak >> 20;
    skua_reduce(0, SKUA_MAX, SKUA_UINT64, mine, 2, skua_done_call(report, NULL));
}

/* Allocates up to the limit of the control group, or up to 2 GiB if there is none. */
static void hog(void)
{
    for (size_t taken = 0; taken < (size_t)2 << 30; taken += (size_t)1 << 20)
        memset(malloc((size_t)1 << 20), 1, (size_t)1 << 20);
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "hog") == 0) {
        if (skua_pe() == skua_pes() - 1)
            hog();
        return;
    }
    if (skua_pes() == 1)
        skua_exit(0);
    if (skua_pe() == 0) {
        while (must_hold && stats_now().arena_peak >> 20 < most_mib / 2)
            sched_yield();
        if (is_late)
            usleep(500000);
        return;
    }
    skua_thread_detach(skua_thread_create(send_thread, NULL, 0));
    for (uint64_t i = 0; i < each; i++)
        send_drop(SMALL, i);
    skua_send_copy(skua_pe(), burst, NULL, 0);
}

int main(int argc, char **argv)
{
    each      = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    most_mib  = argc > 2 ? strtoull(argv[2], NULL, 10) : 64;
    must_hold = argc > 3 && strcmp(argv[3], "held") == 0;
    huge      = argc > 3 && strcmp(argv[3], "huge") == 0;
    is_late   = argc > 3 && strcmp(argv[3], "late") == 0;
    if (huge)
        drop_bytes[LARGE] = HUGE_BYTES;
    else if (argc > 4)
        drop_bytes[LARGE] = strtoull(argv[4], NULL, 10);
    took     = skua_handler_register("took", on_took);
    echoed   = skua_handler_register("echoed", on_echoed);
    burst    = skua_handler_register("burst", on_burst);
    finished = skua_handler_register("finished", on_finished);
    return skua_main(argc, argv, start);
}
