/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused.c - invalid one-sided calls of PE 0 on the memory of the last PE, for refused.sh.
 *
 * usage: refused calls|call|changed|then
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define LARGE ((size_t)48 << 20) /* more operations than the network accepts at once */

static skua_handler  nothing_handler, channel_handler;
static skua_function nothing_function;
static skua_channel  channel;
static char         *memory;
static const char   *act;

static void on_nothing(skua_msg *msg)
{
    skua_msg_free(msg);
}

static void do_nothing(const void *args, size_t bytes, skua_completion done)
{
    (void)args, (void)bytes;
    skua_complete(done, NULL, 0);
}

static int last(void)
{
    return skua_pes() - 1;
}

/* ---- calls that return an error ---------------------------------------------------------- */

static void call_wrongly(skua_region named, skua_region anonymous)
{
    double          x      = 1;
    skua_rma_params signal = {
        .signal = nothing_handler, .signal_data = &x, .signal_bytes = SIZE_MAX};
    skua_rma_params notify = {.notify = skua_at(named, last(), 8)};
    skua_region     none   = {0};

    CHECK(skua_put_nb(skua_at(none, last(), 0), &x, 0, &notify) == SKUA_ERR_REGION);
    CHECK(skua_put(skua_at(named, last(), 60), &x, 8) == SKUA_ERR_RANGE);
    CHECK(skua_get(&x, skua_at(anonymous, last(), 4000), 8) == SKUA_ERR_RANGE);
    CHECK(skua_put_nb(skua_at(named, last(), 0), &x, 8, &signal) == SKUA_ERR_INVAL);
    CHECK(skua_region_create_from(NULL, 100, &none) == SKUA_ERR_INVAL);
    CHECK(skua_region_create_from(&x, SIZE_MAX, &none) == SKUA_ERR_INVAL);
    CHECK(skua_region_set_name(none, "none") == SKUA_ERR_REGION);
}

/* A freed region of the last PE that PE 0 has used before: only its owner can detect the misuse. */
static void test_freed(skua_region shared)
{
    const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, NULL};
    skua_region      *own = skua_region_local(shared);
    double            x   = 1;

    if (skua_pe() == last()) {
        CHECK(skua_region_create_local(80, own) == SKUA_OK);
        CHECK(skua_region_set_name(*own, "vector") == SKUA_OK);
        CHECK(skua_put(skua_at(shared, 0, 0), own, sizeof *own) == SKUA_OK);
    }
    skua_sync();
    if (skua_pe() == 0)
        CHECK(skua_put(skua_at(*own, last(), 0), &x, 8) == SKUA_OK);
    skua_sync();
    if (skua_pe() == last())
        CHECK(skua_region_destroy(*own) == SKUA_OK);
    skua_sync();
    if (skua_pe() != 0)
        return;
    CHECK(skua_acc(skua_at(*own, last(), 0), &x, 8, &sum) == SKUA_ERR_REGION);
    skua_put_nb(skua_at(*own, last(), 0), &x, 8, NULL);
    skua_flush_all();
}

static void put_into_no_channel(void)
{
    double       x      = 1;
    skua_layout  layout = skua_layout_contiguous(&x, sizeof x);
    skua_channel none   = {last(), last(), UINT64_C(0x10000001234)};
    skua_sender *sender = skua_channel_open(none, &layout);

    CHECK((sender == NULL) == skua_shares_memory(last()));
    if (sender)
        skua_channel_put(sender);
}

static void on_wrong_size(void *arg)
{
    (void)arg;
    skua_abort("a put of another size has arrived");
}

/* A channel of the last PE that PE 0 opens for fewer bytes. */
static void test_size(skua_region shared)
{
    static double wide[2];
    skua_layout   whole  = skua_layout_contiguous(wide, sizeof wide);
    skua_layout   half   = skua_layout_contiguous(wide, sizeof wide / 2);
    skua_channel *mine   = skua_region_local(shared);
    skua_sender  *sender = NULL;

    if (skua_pe() == last()) {
        CHECK(skua_channel_create(&whole, on_wrong_size, NULL, "wide", mine) == SKUA_OK);
        CHECK(skua_put(skua_at(shared, 0, 0), mine, sizeof *mine) == SKUA_OK);
    }
    skua_sync();
    if (skua_pe() != 0)
        return;
    sender = skua_channel_open(*mine, &half);
    CHECK((sender == NULL) == skua_shares_memory(last()));
    if (sender)
        skua_channel_put(sender);
}

static void make_calls(void)
{
    skua_region named, anonymous;

    CHECK(skua_region_create(64, &named) == SKUA_OK);
    CHECK(skua_region_create(4000, &anonymous) == SKUA_OK);
    CHECK(skua_region_set_name(named, "matrix") == SKUA_OK);
    skua_sync();
    if (skua_pe() == 0) {
        call_wrongly(named, anonymous);
        put_into_no_channel();
    }
    skua_sync();
    test_size(anonymous);
    skua_sync();
    test_freed(anonymous);
    wait_quiet();
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

/* ---- a source that changes too early -------------------------------------------------------- */

/* If the change was not detected, the data are correct. */
static void on_data(void *arg)
{
    size_t wrong = 0;

    (void)arg;
    for (size_t i = 0; i < LARGE; i++)
        wrong += memory[i] != 0;
    skua_exit(wrong ? 3 : 0);
}

static void offer(void)
{
    skua_layout to;

    memory = malloc(LARGE);
    to     = skua_layout_contiguous(memory, LARGE);
    CHECK(skua_channel_create(&to, on_data, NULL, "ghost", &channel) == SKUA_OK);
    skua_send_copy(0, channel_handler, &channel, sizeof channel);
}

static void on_channel(skua_msg *msg)
{
    skua_channel offered = *(skua_channel *)skua_msg_data(msg);
    skua_layout  from    = skua_layout_contiguous(memory = calloc(1, LARGE), LARGE);
    skua_sender *sender  = skua_channel_open(offered, &from);

    skua_msg_free(msg);
    skua_channel_put(sender);
    if (strcmp(act, "changed") == 0) {
        memset(memory, 1, LARGE);
    } else {
        skua_channel_put_then(sender, skua_done_nothing());
        skua_channel_put_then(sender, skua_done_exit(1));
        skua_channel_put_then(sender, skua_done_exit(2));
    }
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (strcmp(act, "calls") == 0)
        make_calls();
    else if (strcmp(act, "call") == 0)
        skua_call(99, nothing_function, NULL, 0, skua_done_nothing());
    else if (skua_pe() == last())
        offer();
}

int main(int argc, char **argv)
{
    act              = argc > 1 ? argv[1] : "calls";
    nothing_handler  = skua_handler_register("nothing", on_nothing);
    channel_handler  = skua_handler_register("channel", on_channel);
    nothing_function = skua_function_register("do nothing", do_nothing);
    return skua_main(argc, argv, start);
}
