/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - the rate of a stream with items of 8 bytes (bench_pairs.h).
 *
 * usage: bench-stream [items]     the receiver function runs for each item, not for each batch
 */
#include "bench_pairs.h"

#define WINDOW 65536

static skua_stream stream;

static void put_window(int partner)
{
    skua_stream to = stream;

    for (uint64_t i = 0; i < WINDOW; i++)
        skua_stream_put(to, partner, &i);
    skua_stream_flush(to);
}

static void on_batch(void *arg, const void *items, size_t count)
{
    struct pairs_state *s    = arg;
    const uint64_t     *item = items;

    for (size_t i = 0; i < count; i++)
        s->value += item[i];
    pairs_arrived(s, count, WINDOW);
}

static void on_item(void *arg, const void *item)
{
    struct pairs_state *s = arg;

    s->value += *(const uint64_t *)item;
    pairs_arrived(s, 1, WINDOW);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    skua_stream_bind(stream, pairs_self());
    pairs_start();
}

int main(int argc, char **argv)
{
    bool            by_item = argc > 1 && strcmp(argv[1], "items") == 0;
    skua_stream_def def     = {.item_bytes = sizeof(uint64_t)};

    if (by_item)
        def.item = on_item;
    else
        def.batch = on_batch;
    pairs_rate = (struct pairs_rate){.bench   = "randomaccess",
                                     .series  = by_item ? "skua-stream-items" : "skua-stream",
                                     .send    = put_window,
                                     .window  = WINDOW,
                                     .windows = 200,
                                     .batches = 5};
    stream     = skua_stream_register("items", &def);
    pairs_register();
    return skua_main(argc, argv, start);
}
