/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate.c - the rate of small messages: each PE of the first half sends to its partner in the other
 * half, in windows that are acknowledged.  The metric, rate-2pe or rate-8pe, is the sum over all
 * pairs.
 */
#include <skua/skua.h>

#include "bench.h"

static skua_handler item, window_done, batch_done, batch_go;

struct rate_state { /* the state of a PE */
    int  items, windows;
    long payload;
};

static skua_pe_data state_key;

static struct { /* used on PE 0 */
    BENCH_APART int pairs_done;
    int             batch;
    double          start, best;
} at;

static void send_window(void)
{
    struct rate_state *s       = skua_pe_data_get(state_key);
    int                partner = skua_pe() + skua_pes() / 2;

    for (int i = 0; i < BENCH_WINDOW; i++)
        skua_send_copy(partner, item, &s->payload, sizeof s->payload);
}

static void on_item(skua_msg *msg)
{
    struct rate_state *s = skua_pe_data_get(state_key);

    skua_msg_free(msg);
    if (++s->items % BENCH_WINDOW == 0)
        skua_send_copy(skua_pe() - skua_pes() / 2, window_done, NULL, 0);
}

static void begin_batch(void *arg, const void *data, size_t bytes)
{
    struct rate_state *s = skua_pe_data_get(state_key);

    (void)arg, (void)data, (void)bytes;
    s->windows = 0;
    if (skua_pe() == 0)
        at.start = bench_now();
    if (skua_pe() < skua_pes() / 2)
        send_window();
}

static void on_window_done(skua_msg *msg)
{
    struct rate_state *s = skua_pe_data_get(state_key);

    skua_msg_free(msg);
    if (++s->windows < bench_windows(skua_pes()))
        send_window();
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
    rate    = (double)pairs * BENCH_WINDOW * bench_windows(skua_pes()) / (bench_now() - at.start);
    at.best = rate > at.best ? rate : at.best;
    at.pairs_done = 0;
    if (++at.batch < bench_rate_batches(skua_pes())) {
        skua_broadcast(batch_go, skua_msg_alloc(0), skua_done_nothing());
        return;
    }
    snprintf(metric, sizeof metric, "rate-%dpe", skua_pes());
    bench_report("messages", skua_processes() == 1 ? "skua-inline-threads" : "skua-inline", 8,
                 metric, at.best);
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
        skua_abort("bench-rate needs an even number of PEs");
    skua_barrier(skua_done_call(begin_batch, NULL));
}

int main(int argc, char **argv)
{
    item        = skua_handler_register("item", on_item);
    window_done = skua_handler_register("window done", on_window_done);
    batch_done  = skua_handler_register("batch done", on_batch_done);
    batch_go    = skua_handler_register("batch go", on_batch_go);
    state_key   = skua_pe_data_register(sizeof(struct rate_state));
    return skua_main(argc, argv, start);
}
