/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burst.c - many non-blocking operations in flight: each PE starts COUNT of every kind on its
 * right neighbour and completes them together.  All of them take effect, and the job ends: if the
 * cost of an operation grew with the number in flight, it would run for hours.
 *
 * usage: burst [COUNT]
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define WORDS 4096
#define AREA  2048 /* bytes that puts of all small sizes overwrite */
#define MOST  80   /* bytes of such a put */

struct piece {
    skua_notify puts, adds; /* increased with the puts, and by skua_notify_add() */
    uint64_t    word[WORDS];
    double      sum[WORDS];
    char        area[AREA];
};

static skua_handler  signal_handler, sent_handler;
static skua_function reply_function;
static uint64_t      count = 100000;

static _Thread_local uint64_t signals, sent; /* messages that have arrived */
static _Thread_local uint64_t got[WORDS];

static void on_signal(skua_msg *msg)
{
    signals++;
    skua_msg_free(msg);
}

static void on_sent(skua_msg *msg)
{
    sent++;
    skua_msg_free(msg);
}

static void on_reply(const void *data, size_t bytes, skua_completion done)
{
    skua_complete(done, data, bytes);
}

static bool have_all(void *arg)
{
    (void)arg;
    return signals == count && sent == count;
}

/* ---- kinds of operations --------------------------------------------------- */

static skua_gaddr word_at(skua_region region, int pe, uint64_t i)
{
    return skua_at(region, pe, offsetof(struct piece, word) + i % WORDS * 8);
}

static skua_gaddr sum_at(skua_region region, int pe, uint64_t i)
{
    return skua_at(region, pe, offsetof(struct piece, sum) + i % WORDS * 8);
}

/* Puts that a flush, a handle, a notification and a signal complete. */
static void start_puts(skua_region region, int to)
{
    static const uint64_t one     = 1;
    skua_handle           handle  = SKUA_HANDLE_INIT;
    skua_rma_params       counted = {.handle = &handle};
    skua_rma_params       noted   = {.notify = skua_at(region, to, offsetof(struct piece, puts))};
    skua_rma_params       told    = {.signal = signal_handler};

    for (uint64_t i = 0; i < count; i++)
        CHECK(skua_put_nb(word_at(region, to, i), &one, 8, NULL) >= 0);
    for (uint64_t i = 0; i < count; i++)
        CHECK(skua_put_nb(word_at(region, to, i), &one, 8, &counted) >= 0);
    skua_handle_wait(&handle);
    for (uint64_t i = 0; i < count; i++)
        CHECK(skua_put_nb(word_at(region, to, i), &one, 8, &noted) >= 0);
    for (uint64_t i = 0; i < count; i++)
        CHECK(skua_put_nb(word_at(region, to, i), &one, 8, &told) >= 0);
}

/* Accumulates, notifications and messages. */
static void start_others(skua_region region, int to)
{
    static const double one = 1;
    const skua_update   sum = {SKUA_SUM, SKUA_DOUBLE, NULL};

    for (uint64_t i = 0; i < count; i++)
        CHECK(skua_acc_nb(sum_at(region, to, i), &one, 8, &sum, NULL) >= 0);
    for (uint64_t i = 0; i < count; i++)
        CHECK(skua_notify_add(skua_at(region, to, offsetof(struct piece, adds)), 1) >= 0);
    for (uint64_t i = 0; i < count; i++)
        skua_send_copy(to, sent_handler, &i, sizeof i);
}

/* Gets and remote procedure calls, whose results come back. */
static void start_replies(skua_region region, int to)
{
    skua_counter done = SKUA_COUNTER_INIT;

    for (uint64_t i = 0; i < count; i++)
        CHECK(skua_get_nb(&got[i % WORDS], word_at(region, to, i), 8, NULL) >= 0);
    for (uint64_t i = 0; i < count; i++)
        skua_call(to, reply_function, &i, sizeof i, skua_done_count(&done));
    skua_counter_wait(&done, (int64_t)count);
    skua_flush_all();
}

/* Puts of all small sizes, which overwrite each other in their order, with a fence, a flush or a
 * blocking put among them; a get then finds what the last ones have put. */
static void check_order(skua_region region, int to)
{
    static _Thread_local char want[AREA], have[AREA];
    uint64_t                  random = tap_seed() + (uint64_t)skua_pe();

    for (uint64_t i = 0; i < count / 10; i++) {
        uint64_t   draw  = tap_random(&random);
        size_t     bytes = 1 + draw % MOST, offset = (draw >> 8) % (AREA - MOST);
        skua_gaddr at = skua_at(region, to, offsetof(struct piece, area) + offset);

        for (size_t k = 0; k < bytes; k++)
            want[offset + k] = (char)tap_random(&random);
        if (draw >> 32 & 1023)
            CHECK(skua_put_nb(at, want + offset, bytes, NULL) >= 0);
        else
            CHECK(skua_put(at, want + offset, bytes) == SKUA_OK);
        if ((draw >> 42 & 1023) == 0)
            skua_fence(to);
        if ((draw >> 52 & 1023) == 0)
            skua_flush(to);
    }
    skua_flush(to);
    CHECK(skua_get(have, skua_at(region, to, offsetof(struct piece, area)), AREA) == SKUA_OK);
    CHECK(memcmp(have, want, AREA) == 0);
}

/* ---- the job ------------------------------------------------------------ */

static void check_piece(const struct piece *piece)
{
    for (uint64_t i = 0; i < WORDS; i++) {
        uint64_t times = count / WORDS + (i < count % WORDS);

        CHECK(piece->word[i] == (times > 0) && got[i] == (times > 0));
        CHECK(piece->sum[i] == (double)times);
    }
}

static void start(int argc, char **argv)
{
    int           right = (skua_pe() + 1) % skua_pes();
    struct piece *piece;
    skua_region   region;

    (void)argc, (void)argv;
    CHECK(skua_region_create(sizeof *piece, &region) == SKUA_OK);
    piece = skua_region_local(region);
    memset(piece, 0, sizeof *piece);
    skua_sync();
    start_puts(region, right);
    start_others(region, right);
    skua_flush_all();
    start_replies(region, right);
    check_order(region, right);
    skua_notify_wait(&piece->puts, count);
    skua_notify_wait(&piece->adds, count);
    skua_run_until(have_all, NULL);
    skua_sync();
    check_piece(piece);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    signal_handler = skua_handler_register("signal", on_signal);
    sent_handler   = skua_handler_register("sent", on_sent);
    reply_function = skua_function_register("reply", on_reply);
    return skua_main(argc, argv, start);
}
