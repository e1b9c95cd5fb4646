/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.c - messages: data of any size arrives intact, a message that is sent by pointer is
 * never copied, can be kept, forwarded and reused, and priorities determine the order of execution.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

static skua_handler trip_handler, keep_handler, step_handler, order_handler;

/* ---- round trips of every size -------------------------------------------- */

static const size_t sizes[] = {0,    1,    7,     8,     31,    32,     33,      47,      48,
                               49,   63,   64,    65,    100,   479,    480,     481,     1000,
                               4096, 5000, 32735, 32736, 32737, 100000, 1000000, 50000000};

#define SIZES (sizeof sizes / sizeof *sizes)

struct trip { /* used on PE 0 */
    size_t    size;
    bool      copied;
    skua_msg *address;
};

static struct trip trip;

/* The period of the pattern.  Later bytes are copied and compared in blocks, since sanitizers check
 * each access. */
#define PERIOD ((size_t)256)

static void fill(unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < PERIOD; i++)
        data[i] = (unsigned char)(i * 31 + bytes);
    for (size_t i = PERIOD; i < bytes; i += PERIOD)
        memcpy(data + i, data, bytes - i < PERIOD ? bytes - i : PERIOD);
}

static void check(const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < PERIOD; i++)
        CHECK(data[i] == (unsigned char)(i * 31 + bytes));
    for (size_t i = PERIOD; i < bytes; i += PERIOD)
        CHECK(memcmp(data + i, data, bytes - i < PERIOD ? bytes - i : PERIOD) == 0);
}

static void next_trip(void);

static void on_trip(skua_msg *msg)
{
    check(skua_msg_data(msg), skua_msg_size(msg));
    if (skua_pe() != 0) { /* the message itself is forwarded, without a copy */
        CHECK(skua_msg_source(msg) == skua_pe() - 1);
        skua_send((skua_pe() + 1) % skua_pes(), trip_handler, msg);
        return;
    }
    CHECK(skua_msg_size(msg) == sizes[trip.size]);
    CHECK(trip.copied || msg == trip.address || !tap_all_near());
    skua_msg_free(msg);
    trip.size += trip.copied;
    trip.copied = !trip.copied;
    next_trip();
}

static void first_step(void);

static void next_trip(void)
{
    skua_msg *msg;

    if (trip.size == SIZES) {
        first_step();
        return;
    }
    msg = trip.address = skua_msg_alloc(sizes[trip.size]);
    CHECK((uintptr_t)skua_msg_data(msg) % 32 == 0);
    fill(skua_msg_data(msg), sizes[trip.size]);
    if (trip.copied) {
        skua_send_copy(1 % skua_pes(), trip_handler, skua_msg_data(msg), sizes[trip.size]);
        skua_msg_free(msg);
    } else {
        skua_send(1 % skua_pes(), trip_handler, msg);
    }
}

/* ---- keeping messages ------------------------------------------------------ */

#define KEPT 500

static skua_pe_data kept_key;

struct kept {
    skua_msg *msg[KEPT];
    int       count;
};

static void on_keep(skua_msg *msg)
{
    struct kept *kept = skua_pe_data_get(kept_key);

    kept->msg[kept->count++] = msg;
    if (kept->count < KEPT)
        return;
    for (int i = 0; i < KEPT; i++) {
        CHECK(*(int *)skua_msg_data(kept->msg[i]) == i);
        skua_msg_free(kept->msg[i]);
    }
    kept->count = 0;
    skua_send_copy(0, step_handler, NULL, 0);
}

/* ---- priorities ------------------------------------------------------------ */

/* The messages are sent to this PE in this order, and run in the order of `rank`. */
static const struct {
    int      kind; /* 'p'lain, 'i'nteger, 'b'its, 'x'pedited */
    int      value;
    uint32_t words[3];
    size_t   bits;
    int      rank;
} urgent[] = {
    {'p', 0, {0}, 0, 6},
    {'i', 5, {0}, 0, 9},
    {'i', -5, {0}, 0, 3},
    {'b', 0, {0x40000000}, 2, 2}, /* 0.01: before every integer from -2^30 on */
    {'b', 0, {0xc0000000}, 2, 11},
    {'x', 0, {0}, 0, 0},
    {'i', -5, {0}, 0, 4},
    {'p', 0, {0}, 0, 7},
    {'b', 0, {0xc0000000, 0, 1}, 96, 12},
    {'i', -1, {0}, 0, 5},
    {'x', 9, {0}, 0, 1},
    {'i', 5, {0}, 0, 10},
    {'i', 1, {0}, 0, 8},
};

#define URGENT ((int)(sizeof urgent / sizeof *urgent))

static void test_priorities(void)
{
    static const uint32_t four_words[4] = {0};

    for (int i = 0; i < URGENT; i++) {
        skua_msg *msg = skua_msg_alloc_bits(sizeof(int), urgent[i].bits);

        *(int *)skua_msg_data(msg) = urgent[i].rank;
        if (urgent[i].kind == 'i')
            skua_msg_set_priority(msg, urgent[i].value);
        if (urgent[i].kind == 'b')
            CHECK(skua_msg_set_priority_bits(msg, urgent[i].words, urgent[i].bits) == SKUA_OK);
        if (urgent[i].kind == 'x')
            skua_msg_set_expedited(msg, true);
        CHECK(skua_msg_set_priority_bits(msg, four_words, 128) == SKUA_ERR_INVAL);
        skua_enqueue(order_handler, msg);
    }
}

static void on_order(skua_msg *msg)
{
    static int next; /* only PE 0 */

    CHECK(*(int *)skua_msg_data(msg) == next);
    skua_msg_free(msg);
    if (++next == URGENT)
        skua_send_copy(0, step_handler, NULL, 0);
}

/* ---- one after the other, on PE 0 ------------------------------------------ */

static void first_step(void)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        for (int i = 0; i < KEPT; i++)
            skua_send_copy(pe, keep_handler, &i, sizeof i);
}

static void on_step(skua_msg *msg)
{
    static int kept;

    skua_msg_free(msg);
    if (++kept == skua_pes())
        test_priorities();
    else if (kept > skua_pes())
        skua_exit(0);
}

static void start(int argc, char **argv)
{
    skua_msg *msg;

    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    CHECK(skua_msg_try_alloc(SIZE_MAX, &msg) == SKUA_ERR_NOMEM);
    CHECK(skua_msg_try_alloc((size_t)1 << 60, &msg) == SKUA_ERR_NOMEM);
    next_trip();
}

int main(int argc, char **argv)
{
    trip_handler  = skua_handler_register("trip", on_trip);
    keep_handler  = skua_handler_register("keep", on_keep);
    step_handler  = skua_handler_register("step", on_step);
    order_handler = skua_handler_register("order", on_order);
    kept_key      = skua_pe_data_register(sizeof(struct kept));
    return skua_main(argc, argv, start);
}
