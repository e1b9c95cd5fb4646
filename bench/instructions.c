/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.c - does one thing N times, to be counted under callgrind: the
 * difference between two N, divided, is the cost of the thing, exactly.
 *
 * usage: instructions WHAT N
 *   self     send a message to oneself and run its handler, reusing it
 *   fresh    the same, with a message allocated and freed each time
 *   copy     skua_send_copy() of 8 bytes to oneself
 *   pass     a scheduler pass with nothing to do
 *   yield    a user thread yields and comes back
 *   put      skua_put() of 8 bytes;    get      skua_get() of 8 bytes
 *   add      skua_fetch_add64();       acc      skua_acc() of a double
 *   row      skua_put_strided() of one row of 8 bytes
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static skua_handler self_handler, fresh_handler, copy_handler;
static long         left;
static int          me;

static void on_self(skua_msg *msg)
{
    if (--left > 0)
        skua_send(me, self_handler, msg);
    else
        skua_exit(0);
}

static void on_fresh(skua_msg *msg)
{
    skua_msg_free(msg);
    if (--left > 0)
        skua_send(me, fresh_handler, skua_msg_alloc(8));
    else
        skua_exit(0);
}

static void on_copy(skua_msg *msg)
{
    skua_msg_free(msg);
    if (--left > 0)
        skua_send_copy(me, copy_handler, &left, 8);
    else
        skua_exit(0);
}

static void yielding(void *arg)
{
    (void)arg;
    while (--left > 0)
        skua_thread_yield();
    skua_exit(0);
}

/* The scheduler calls it once in 64 empty passes. */
static bool idling(void *arg)
{
    (void)arg;
    left -= 64;
    if (left <= 0)
        skua_exit(0);
    return true;
}

/* ---- one-sided --------------------------------------------------------------- */

static skua_region region;
static uint64_t    number;

static void put_once(skua_gaddr at)
{
    skua_put(at, &number, sizeof number);
}

static void get_once(skua_gaddr at)
{
    skua_get(&number, at, sizeof number);
}

static void add_once(skua_gaddr at)
{
    skua_fetch_add64(at, 1, &number);
}

static void acc_once(skua_gaddr at)
{
    static const double      one = 1;
    static const skua_update sum = {{0}, SKUA_DOUBLE, NULL};

    skua_acc(at, &one, sizeof one, &sum);
}

static void row_once(skua_gaddr at)
{
    static const skua_strided row = {
        .bytes = 8, .levels = 1, .count = {1}, .local = {8}, .remote = {8192}};

    skua_put_strided(at, &number, &row);
}

static const struct {
    const char *name;
    void (*once)(skua_gaddr at);
} onesided[] = {
    {"put", put_once}, {"get", get_once}, {"add", add_once}, {"acc", acc_once}, {"row", row_once}};

/* Whether @p what is one of them; does it. */
static bool do_onesided(const char *what)
{
    for (size_t i = 0; i < sizeof onesided / sizeof *onesided; i++)
        if (strcmp(what, onesided[i].name) == 0) {
            skua_region_create(64, &region);
            while (left-- > 0)
                onesided[i].once(skua_at(region, me, 0));
            skua_exit(0);
            return true;
        }
    return false;
}

static void start(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";

    left = argc > 2 ? atol(argv[2]) : 0;
    me   = skua_pe();
    if (strcmp(what, "self") == 0) {
        skua_send(0, self_handler, skua_msg_alloc(8));
    } else if (strcmp(what, "fresh") == 0) {
        skua_send(0, fresh_handler, skua_msg_alloc(8));
    } else if (strcmp(what, "copy") == 0) {
        skua_send_copy(0, copy_handler, &left, 8);
    } else if (strcmp(what, "pass") == 0) {
        skua_idle_add(idling, NULL);
    } else if (strcmp(what, "yield") == 0) {
        skua_thread_detach(skua_thread_create(yielding, NULL, 0));
    } else if (!do_onesided(what)) {
        fprintf(stderr, "usage: instructions self|fresh|copy|pass|yield|put|get|add|acc|row N\n");
        skua_exit(2);
    }
}

int main(int argc, char **argv)
{
    self_handler  = skua_register("self", on_self);
    fresh_handler = skua_register("fresh", on_fresh);
    copy_handler  = skua_register("copy", on_copy);
    return skua_main(argc, argv, start);
}
