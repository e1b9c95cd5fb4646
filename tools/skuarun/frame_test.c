/* SPDX-License-Identifier: Apache-2.0 */
/* frame_test.c - frames, orders and control records: what is right comes through, and
 * garbage, cut and bent ones are refused without harm. */
#include "frame.h"

#include <string.h>

#include "channel.h"
#include "order.h"
#include "table.h"
#include "tests/tap.h"

#define ROUNDS 20000
#define BYTES  512

static uint64_t seed;

static size_t below(size_t n)
{
    return tap_random(&seed) % n;
}

/* ---- frames -------------------------------------------------------------------- */

/* A piece of memory of that very size, so that a sanitizer sees what is read beyond. */
static char *exact(const char *text, size_t bytes)
{
    return memcpy(ski_malloc(bytes + !bytes), text, bytes);
}

static int decode(enum frame_way way, const char *text, size_t bytes, struct frame *frame)
{
    char *copy  = exact(text, bytes);
    int   found = frame_decode(way, copy, bytes, frame);

    free(copy);
    return found;
}

static void test_frames(void)
{
    struct {
        struct frame_head head;
        int32_t           number;
    } one             = {{FRAME_SIGNAL, 4}, 15};
    const char  *text = (const char *)&one;
    struct frame frame;

    OK(frame_decode(FRAME_DOWN, text, sizeof one, &frame) == 1, "a whole frame");
    OK(frame.kind == FRAME_SIGNAL && frame_number(&frame) == 15, "with what it says");
    for (size_t n = 0; n < sizeof one; n++)
        if (decode(FRAME_DOWN, text, n, &frame) != 0)
            OK(false, "%zu bytes of a frame are not enough", n);
    OK(decode(FRAME_UP, text, sizeof one, &frame) == -1, "the wrong way");
    one.head.bytes = 5;
    OK(decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "too long");
    one.head.bytes = 3;
    OK(decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "too short");
    one.head.kind = FRAME_KINDS;
    OK(decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "of no kind");
    one.head = (struct frame_head){FRAME_ORDER, UINT32_MAX};
    OK(decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "of 4 GiB");
}

/* Whatever is decoded lies inside of what came. */
static void test_garbage(void)
{
    char text[BYTES];
    int  whole = 0;

    for (int round = 0; round < ROUNDS; round++) {
        size_t            n    = below(BYTES);
        struct frame_head head = {(uint32_t)below(FRAME_KINDS + 3), (uint32_t)below(BYTES)};
        struct frame      frame;
        char             *copy;

        for (size_t i = 0; i < n; i++)
            text[i] = (char)tap_random(&seed);
        if (n >= sizeof head && below(8))
            memcpy(text, &head, sizeof head);
        copy = exact(text, n);
        if (frame_decode(below(2) ? FRAME_UP : FRAME_DOWN, copy, n, &frame) > 0) {
            whole++;
            if (frame.data != copy + sizeof head || frame_extent(&frame) > n)
                OK(false, "a frame reaches beyond what came");
        }
        free(copy);
    }
    OK(whole > 0 && whole < ROUNDS, "garbage: %d of %d looked like frames", whole, ROUNDS);
}

static void test_channel(void)
{
    struct channel channel = {.in = -1, .out = -1, .way = FRAME_UP};
    struct frame   frame;
    char           text[] = "not what an agent says";

    buffer_add(&channel.came, text, sizeof text);
    OK(channel_next(&channel, &frame) == -1, "a text is no frame");
    channel_send(&channel, FRAME_FED, NULL, 0, NULL, 0);
    OK(!channel_waits(&channel), "nothing is kept for who is gone");
    channel_close(&channel);
}

/* ---- orders -------------------------------------------------------------------- */

static bool decode_order(const char *text, size_t bytes)
{
    char        *copy = exact(text, bytes);
    struct order order;
    bool         right = order_decode(&order, copy, bytes);

    if (right && (!order.argument[0] || order_pes(&order.head) < 1))
        OK(false, "an order to run nothing");
    order_free(&order);
    free(copy);
    return right;
}

static void test_orders(void)
{
    char         *settings[]  = {"SKUA_PIN=none", "UCX_TLS=tcp", NULL};
    char         *arguments[] = {"app", "", "x y", NULL};
    int           cpus[]      = {4, 5, 6, 7};
    struct order  order       = {.head     = {.pes             = 8,
                                              .pes_per_process = 2,
                                              .first           = 2,
                                              .here            = 2,
                                              .beside          = 4,
                                              .cpus            = 4,
                                              .settings        = 2,
                                              .arguments       = 3},
                                 .cpu      = cpus,
                                 .folder   = "/tmp",
                                 .setting  = settings,
                                 .argument = arguments};
    struct buffer text        = {0};
    int           right       = 0;

    order_encode(&order, &text);
    OK(decode_order(text.text, text.end), "an order");
    for (size_t n = 0; n < text.end; n++)
        if (decode_order(text.text, n))
            OK(false, "an order of %zu bytes, cut", n);
    for (int round = 0; round < ROUNDS; round++) {
        char *bent = exact(text.text, text.end);

        for (size_t i = below(4) + 1; i > 0; i--)
            bent[below(text.end)] = (char)tap_random(&seed);
        right += decode_order(bent, text.end);
        free(bent);
    }
    OK(right > 0 && right < ROUNDS, "bent orders: %d of %d passed", right, ROUNDS);
    buffer_free(&text);
}

/* ---- control records, and the table ---------------------------------------------- */

static void test_control(void)
{
    struct ski_control head = {SKI_CONTROL_GET, 0, 3, "ports"}, read;
    const char        *text = (const char *)&head;

    OK(control_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "a get");
    OK(!control_decode(SKI_CONTROL_GET, 3, text, sizeof head, &read), "of a process that is not");
    OK(!control_decode(SKI_CONTROL_PUT, 4, text, sizeof head, &read), "taken for a put");
    OK(!control_decode(SKI_CONTROL_GET, 4, text, sizeof head - 1, &read), "cut");
    head.process = -1;
    OK(!control_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "of process -1");
    head.process = 3;
    head.bytes   = 7;
    OK(!control_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "with a value");
    head.bytes = 0;
    memset(head.key, 'k', sizeof head.key);
    OK(!control_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "with a key without end");
}

static int answers, last_asker;

static void on_answer(void *arg, int asker, const struct ski_control *head, const char *value)
{
    (void)arg;
    answers++;
    last_asker = asker;
    if (head->kind != SKI_CONTROL_VALUE || head->bytes != 5 || memcmp(value, "value", 5) != 0)
        OK(false, "a wrong answer");
}

static struct ski_control about(int process)
{
    return (struct ski_control){SKI_CONTROL_PUT, 5, process, "key"};
}

static void test_table(void)
{
    struct table      *table = table_create(1000, on_answer, NULL);
    struct ski_control head  = about(7);

    OK(table_get(table, &head, 1) == TABLE_FIRST, "the first to wait");
    OK(table_get(table, &head, 2) == TABLE_WAITS, "the second");
    OK(table_put(table, &head, "value") && answers == 2, "both are answered");
    OK(table_get(table, &head, 3) == TABLE_ANSWERED && last_asker == 3, "a third at once");
    OK(!table_put(table, &head, "other"), "a value is put once");
    for (int i = 1000; i < 1999; i++) {
        head = about(i);
        if (!table_put(table, &head, "value"))
            OK(false, "key %d finds room", i);
    }
    head = about(5000);
    OK(table_get(table, &head, 1) == TABLE_NO_ROOM, "there is a bound");
    for (int i = 1000; i < 1999; i++) {
        head = about(i);
        if (table_get(table, &head, i) != TABLE_ANSWERED || last_asker != i)
            OK(false, "key %d is found", i);
    }
    table_destroy(table);
}

int main(void)
{
    seed = tap_seed();
    test_frames();
    test_garbage();
    test_channel();
    test_orders();
    test_control();
    test_table();
    return tap_end();
}
