/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.c - round trips of Skua messages between two PEs, handler to handler.
 *
 *   skua-inline       skua_send_copy() of data that fits a queue cell
 *   skua-owned        by pointer; the receiver reads the header only
 *   skua-owned-read   by pointer; the receiver reads every byte
 *   skua-copy         skua_send_copy() of any size
 *
 * PE 0 goes through series, sizes and batches; PE 1 answers each message with one of the same kind.
 */
#include <skua/skua.h>

#include "bench.h"

enum { INLINE, OWNED, OWNED_READ, COPY, SERIES };

static const char *const series_name[SERIES] = {"skua-inline", "skua-owned", "skua-owned-read",
                                                "skua-copy"};

static skua_handler handler[SERIES];

/* The progress of the measurement, on PE 0; PE 1 only reads handlers and payload. */
static struct {
    BENCH_APART int series;
    int             batch, trip;
    size_t          size;
    double          start, best;
    skua_msg       *owned;
} at;

static char                   payload[BENCH_BYTES];
static volatile unsigned long sink;

static void next_batch(void);

/* Records a completed round trip on PE 0. Returns 1 if the batch is over. */
static int trip_done(void)
{
    double time;

    if (++at.trip < bench_trips(bench_sizes[at.size]))
        return 0;
    time = (bench_now() - at.start) / at.trip;
    if (time < at.best)
        at.best = time;
    at.batch++;
    next_batch();
    return 1;
}

static void on_copy(skua_msg *msg)
{
    size_t       bytes = skua_msg_size(msg);
    skua_handler back  = handler[bytes <= SKUA_INLINE_MAX ? INLINE : COPY];
    int          me    = skua_pe();

    skua_msg_free(msg);
    if (me == 0 && trip_done())
        return;
    skua_send_copy(1 - me, back, payload, bytes);
}

static void send_back(skua_msg *msg, int series)
{
    int me = skua_pe();

    if (me == 0) {
        at.owned = msg;
        if (trip_done())
            return;
    }
    skua_send(1 - me, handler[series], msg);
}

static void on_owned(skua_msg *msg)
{
    send_back(msg, OWNED);
}

static void on_owned_read(skua_msg *msg)
{
    sink = bench_read(skua_msg_data(msg), skua_msg_size(msg));
    send_back(msg, OWNED_READ);
}

static void send_first(void)
{
    size_t bytes = bench_sizes[at.size];

    if (at.series == INLINE || at.series == COPY) {
        skua_send_copy(1, handler[at.series], payload, bytes);
        return;
    }
    if (!at.owned) {
        at.owned = skua_msg_alloc(bytes);
        memset(skua_msg_data(at.owned), 1, bytes);
    }
    skua_send(1, handler[at.series], at.owned);
}

/* Advances to the next batch, size or series. */
static void next_batch(void)
{
    if (at.batch == BENCH_BATCHES) {
        const char *threads = skua_processes() == 1 ? "-threads" : "";
        char        name[64];

        snprintf(name, sizeof name, "%s%s", series_name[at.series], threads);
        bench_report("messages", name, bench_sizes[at.size], "roundtrip_us", at.best * 1e6);
        if (at.owned)
            skua_msg_free(at.owned);
        at.owned = NULL;
        at.batch = 0;
        at.best  = 1e9;
        at.size++;
        if (at.size == BENCH_SIZES ||
            (at.series == INLINE && bench_sizes[at.size] > SKUA_INLINE_MAX)) {
            at.size = 0;
            at.series++;
        }
        if (at.series == SERIES) {
            skua_exit(0);
            return;
        }
    }
    at.trip  = 0;
    at.start = bench_now();
    send_first();
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pes() != 2)
        skua_abort("bench-messages needs two PEs: skuarun -n 2");
    if (skua_pe() == 0) {
        at.best = 1e9;
        next_batch();
    }
}

int main(int argc, char **argv)
{
    handler[INLINE]     = skua_handler_register("inline", on_copy);
    handler[OWNED]      = skua_handler_register("owned", on_owned);
    handler[OWNED_READ] = skua_handler_register("owned-read", on_owned_read);
    handler[COPY]       = skua_handler_register("copy", on_copy);
    return skua_main(argc, argv, start);
}
