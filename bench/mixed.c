/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed.c - messages inside a host, in a job that spans other hosts as well.
 *
 * PEs 0 and 1, which share memory, exchange messages: by handlers and by array elements, there and
 * back (roundtrip_us), and in windows (rate-messages).  With "busy", PE 0 also exchanges a message
 * with the last PE, of another host, for every FAR_EVERY round trips or windows of messages.
 *
 * usage: mixed SERIES [busy]
 */
#include <skua/skua.h>

#include <stdbool.h>

#include "bench.h"

#define BENCH     "mixed"
#define BYTES     8
#define TRIPS     2000
#define WINDOWS   40
#define FAR_EVERY 256 /* messages inside the host per message to the other host */

static skua_handler echo_handler, window_handler, answer_handler, far_handler;
static skua_class   pair_class;
static skua_entry   echo_entry, window_entry;
static char         payload[BYTES];

/* The state of the measurement, on PE 0. */
static struct {
    BENCH_APART long left;    /* events until the measurement is over */
    long             to_far;  /* messages until the next one to the other host; < 0: none is sent */
    bool             far_out; /* a message to the other host has not returned yet */
    skua_ref         element; /* the element on PE 1 */
} at;

static bool is_over(void *arg)
{
    (void)arg;
    return at.left == 0;
}

/* Counts @p messages of PE 0, and sends a message to the other host when one is due. */
static void count_messages(long messages)
{
    if (at.to_far < 0 || (at.to_far -= messages) > 0)
        return;
    at.to_far = FAR_EVERY;
    if (!at.far_out)
        skua_send_copy(skua_pes() - 1, far_handler, payload, sizeof payload);
    at.far_out = true;
}

static void on_far(skua_msg *msg)
{
    if (skua_pe() != 0) {
        skua_send(0, far_handler, msg);
        return;
    }
    at.far_out = false;
    skua_msg_free(msg);
}

/* ---- round trips ----------------------------------------------------------------- */

/* Records that a message has returned to PE 0. Returns true if another one follows. */
static bool trip_follows(void)
{
    count_messages(1);
    return --at.left > 0;
}

static void on_echo_handler(skua_msg *msg)
{
    int me = skua_pe();

    skua_msg_free(msg);
    if (me == 1 || trip_follows())
        skua_send_copy(1 - me, echo_handler, payload, sizeof payload);
}

struct pair {
    skua_ref partner;
};

static void make_pair(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)data, (void)bytes;
    pair->partner = skua_element1(skua_collection_of(self), 1 - skua_index_of(self).at.x[0]);
}

static void on_echo(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)data;
    if (skua_pe() == 1 || trip_follows())
        skua_invoke_copy_to(&pair->partner, echo_entry, payload, bytes);
}

/* Returns the seconds of a round trip. */
static double roundtrip(bool element)
{
    double start = bench_now();

    at.left = TRIPS;
    if (element)
        skua_invoke_copy_to(&at.element, echo_entry, payload, sizeof payload);
    else
        skua_send_copy(1, echo_handler, payload, sizeof payload);
    skua_run_until(is_over, NULL);
    return (bench_now() - start) / TRIPS;
}

/* ---- rates ------------------------------------------------------------------------- */

static void on_window_handler(skua_msg *msg)
{
    bool last = *(const char *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (last)
        skua_send_copy(0, answer_handler, NULL, 0);
}

static void on_window(void *self, const void *data, size_t bytes)
{
    (void)self, (void)bytes;
    if (*(const char *)data)
        skua_send_copy(0, answer_handler, NULL, 0);
}

static void on_answer(skua_msg *msg)
{
    skua_msg_free(msg);
    at.left = 0;
}

/* Returns messages per second. */
static double rate(bool element)
{
    double start = bench_now();

    for (int window = 0; window < WINDOWS; window++) {
        at.left = 1;
        for (int i = 1; i <= BENCH_WINDOW; i++) {
            char data[BYTES] = {i == BENCH_WINDOW};

            if (element)
                skua_invoke_copy_to(&at.element, window_entry, data, sizeof data);
            else
                skua_send_copy(1, window_handler, data, sizeof data);
        }
        count_messages(BENCH_WINDOW);
        skua_run_until(is_over, NULL);
    }
    return WINDOWS * (double)BENCH_WINDOW / (bench_now() - start);
}

static void measure(const char *series)
{
    double trip[2] = {1, 1}, most[2] = {0, 0};
    char   name[2][64];

    snprintf(name[0], sizeof name[0], "%.40s-handler", series);
    snprintf(name[1], sizeof name[1], "%.40s-element", series);
    for (int batch = 0; batch < BENCH_BATCHES; batch++)
        for (int element = 0; element < 2; element++) {
            double time = roundtrip(element), value = rate(element);

            trip[element] = time < trip[element] ? time : trip[element];
            most[element] = value > most[element] ? value : most[element];
        }
    for (int element = 0; element < 2; element++) {
        bench_report(BENCH, name[element], BYTES, "roundtrip_us", 1e6 * trip[element]);
        bench_report(BENCH, name[element], BYTES, "rate-messages", most[element]);
    }
}

static void start(int argc, char **argv)
{
    if (skua_pes() < 2)
        skua_abort("bench-mixed needs two PEs that share memory");
    if (skua_pe() != 0)
        return;
    at.to_far  = argc > 2 && strcmp(argv[2], "busy") == 0 ? FAR_EVERY : -1;
    at.element = skua_element1(skua_array_create1(pair_class, skua_pes(), NULL, 0), 1);
    measure(argc > 1 ? argv[1] : "mixed");
    skua_exit(0);
}

int main(int argc, char **argv)
{
    static const skua_class_def pair = {
        .name = "pair", .bytes = sizeof(struct pair), .construct = make_pair};

    echo_handler   = skua_handler_register("echo", on_echo_handler);
    window_handler = skua_handler_register("window", on_window_handler);
    answer_handler = skua_handler_register("answer", on_answer);
    far_handler    = skua_handler_register("far", on_far);
    pair_class     = skua_class_register(&pair);
    echo_entry     = skua_method_register(pair_class, "echo", on_echo, 0);
    window_entry   = skua_method_register(pair_class, "window", on_window, 0);
    return skua_main(argc, argv, start);
}
