/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_pairs.h - the rate between pairs of PEs: each PE of the first half sends items to its
 * partner in the other half, in windows that are acknowledged.  The metric, rate-2pe or rate-8pe,
 * is the sum over all pairs, in the best of several batches.
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include <skua/skua.h>

#include "bench.h"

/* What is measured. */
struct pairs_rate {
    const char *bench, *series;
    void (*send)(int partner); /* sends a window of items */
    int window, windows;       /* items of a window, windows of a batch */
    int batches;
};

/* The state of a PE. */
struct pairs_state {
    uint64_t items; /* that have arrived */
    int      windows;
    uint64_t value; /* what it sends, or the sum of what it gets */
};

static struct pairs_rate pairs_rate;
static skua_handler      pairs_window_done, pairs_batch_done, pairs_batch_go;
static skua_pe_data      pairs_key;

static struct { /* used on PE 0 */
    BENCH_APART int done;
    int             batch;
    double          start, best;
} pairs_at;

/* Returns the state of the calling PE. */
static inline struct pairs_state *pairs_self(void)
{
    return skua_pe_data_get(pairs_key);
}

/* Counts items that have arrived, and acknowledges a window, which has @p window items. */
static inline void pairs_arrived(struct pairs_state *s, size_t count, unsigned window)
{
    s->items += count;
    if (s->items % window == 0)
        skua_send_copy(skua_pe() - skua_pes() / 2, pairs_window_done, NULL, 0);
}

static void pairs_begin_batch(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    pairs_self()->windows = 0;
    if (skua_pe() == 0)
        pairs_at.start = bench_now();
    if (skua_pe() < skua_pes() / 2)
        pairs_rate.send(skua_pe() + skua_pes() / 2);
}

static void pairs_on_window_done(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++pairs_self()->windows < pairs_rate.windows)
        pairs_rate.send(skua_pe() + skua_pes() / 2);
    else
        skua_send_copy(0, pairs_batch_done, NULL, 0);
}

static void pairs_on_batch_done(skua_msg *msg)
{
    int    pairs = skua_pes() / 2;
    double rate;
    char   metric[32];

    skua_msg_free(msg);
    if (++pairs_at.done < pairs)
        return;
    rate = (double)pairs * pairs_rate.window * pairs_rate.windows / (bench_now() - pairs_at.start);
    pairs_at.best = rate > pairs_at.best ? rate : pairs_at.best;
    pairs_at.done = 0;
    if (++pairs_at.batch < pairs_rate.batches) {
        skua_broadcast(pairs_batch_go, skua_msg_alloc(0), skua_done_nothing());
        return;
    }
    snprintf(metric, sizeof metric, "rate-%dpe", skua_pes());
    bench_report(pairs_rate.bench, pairs_rate.series, 8, metric, pairs_at.best);
    skua_exit(0);
}

static void pairs_on_batch_go(skua_msg *msg)
{
    skua_msg_free(msg);
    pairs_begin_batch(NULL, NULL, 0);
}

/* Registers the handlers, in main(). */
static inline void pairs_register(void)
{
    pairs_window_done = skua_handler_register("window done", pairs_on_window_done);
    pairs_batch_done  = skua_handler_register("batch done", pairs_on_batch_done);
    pairs_batch_go    = skua_handler_register("batch go", pairs_on_batch_go);
    pairs_key         = skua_pe_data_register(sizeof(struct pairs_state));
}

/* Starts the measurement, on every PE. */
static inline void pairs_start(void)
{
    if (skua_pes() % 2)
        skua_abort("this benchmark needs an even number of PEs");
    skua_barrier(skua_done_call(pairs_begin_batch, NULL));
}

#endif
