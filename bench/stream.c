/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - the rate of a stream with items of 8 bytes: each PE of the first half puts items for
 * its partner in the other half, in windows that are acknowledged.  The metric is the sum over all
 * pairs, as in rate.c, which sends messages.
 *
 * usage: bench-stream [items]     the receiver function runs for each item, not for each batch
 */
#include <skua/skua.h>

#include "bench.h"

#define WINDOW  65536
#define WINDOWS 200
#define BATCHES 5

static skua_stream  stream;
static skua_handler window_done, batch_done, batch_go;
static skua_pe_data state_key;
static bool         by_item;

struct stream_state { /* the state of a PE */
    uint64_t items, sum;
    int      windows;
};

static struct { /* used on PE 0 */
    BENCH_APART int pairs_done;
    int             batch;
    double          start, best;
} at;

static void put_window(void)
{
    skua_stream to      = stream;
    int         partner = skua_pe() + skua_pes() / 2;

    for (uint64_t i = 0; i < WINDOW; i++)
        skua_stream_put(to, partner, &i);
    skua_stream_flush(to);
}

static void arrived(struct stream_state *s, size_t count)
{
    s->items += count;
    if (s->items % WINDOW == 0)
        skua_send_copy(skua_pe() - skua_pes() / 2, window_done, NULL, 0);
}

static void on_batch(void *arg, const void *items, size_t count)
{
    struct stream_state *s    = arg;
    const uint64_t      *item = items;

    for (size_t i = 0; i < count; i++)
        s->sum += item[i];
    arrived(s, count);
}

static void on_item(void *arg, const void *item)
{
    struct stream_state *s = arg;

    s->sum += *(const uint64_t *)item;
    arrived(s, 1);
}

static void begin_batch(void *arg, const void *data, size_t bytes)
{
    struct stream_state *s = skua_pe_data_get(state_key);

    (void)arg, (void)data, (void)bytes;
    s->windows = 0;
    if (skua_pe() == 0)
        at.start = bench_now();
    if (skua_pe() < skua_pes() / 2)
        put_window();
}

static void on_window_done(skua_msg *msg)
{
    struct stream_state *s = skua_pe_data_get(state_key);

    skua_msg_free(msg);
    if (++s->windows < WINDOWS)
        put_window();
    else
        skua_send_copy(0, batch_done, NULL, 0);
}

static void on_batch_done(skua_msg *msg)
{
    int    pairs = skua_pes() / 2;
    double rate;
    char   metric[32];

    skua_msg_free(msg);
    if (++at.pairs_done < pairs)
        return;
    rate          = (double)pairs * WINDOW * WINDOWS / (bench_now() - at.start);
    at.best       = rate > at.best ? rate : at.best;
    at.pairs_done = 0;
    if (++at.batch < BATCHES) {
        skua_broadcast(batch_go, skua_msg_alloc(0), skua_done_nothing());
        return;
    }
    snprintf(metric, sizeof metric, "rate-%dpe", skua_pes());
    bench_report("randomaccess", by_item ? "skua-stream-items" : "skua-stream", 8, metric, at.best);
    skua_exit(0);
}

static void on_batch_go(skua_msg *msg)
{
    skua_msg_free(msg);
    begin_batch(NULL, NULL, 0);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pes() % 2)
        skua_abort("bench-stream needs an even number of PEs");
    skua_stream_bind(stream, skua_pe_data_get(state_key));
    skua_barrier(skua_done_call(begin_batch, NULL));
}

int main(int argc, char **argv)
{
    skua_stream_def def = {.item_bytes = sizeof(uint64_t)};

    by_item = argc > 1 && strcmp(argv[1], "items") == 0;
    if (by_item)
        def.item = on_item;
    else
        def.batch = on_batch;
    stream      = skua_stream_register("items", &def);
    window_done = skua_handler_register("window done", on_window_done);
    batch_done  = skua_handler_register("batch done", on_batch_done);
    batch_go    = skua_handler_register("batch go", on_batch_go);
    state_key   = skua_pe_data_register(sizeof(struct stream_state));
    return skua_main(argc, argv, start);
}
