/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - a token passes through all PEs: the time of a hop, also with more PEs than CPUs.  The
 * series is skua-ring, or skua-ring-threads.
 */
#include <skua/skua.h>

#include "bench.h"

#define ROUNDS 1000

static skua_handler token;

static struct { /* used on PE 0 */
    BENCH_APART double start;
    double             best;
    int                round, batch;
} at = {.best = 1e9};

static void begin(skua_msg *msg)
{
    at.round = 0;
    at.start = bench_now();
    skua_send(1 % skua_pes(), token, msg);
}

static void on_token(skua_msg *msg)
{
    char   metric[64];
    double hop;

    if (skua_pe() != 0 || ++at.round < ROUNDS) {
        skua_send((skua_pe() + 1) % skua_pes(), token, msg);
        return;
    }
    hop = (bench_now() - at.start) / ROUNDS / skua_pes();
    if (hop < at.best)
        at.best = hop;
    if (++at.batch < BENCH_BATCHES) {
        begin(msg);
        return;
    }
    snprintf(metric, sizeof metric, "hop_us-%dpe", skua_pes());
    bench_report("messages", skua_processes() == 1 ? "skua-ring-threads" : "skua-ring", 8, metric,
                 at.best * 1e6);
    skua_msg_free(msg);
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() == 0)
        begin(skua_msg_alloc(8));
}

int main(int argc, char **argv)
{
    token = skua_handler_register("token", on_token);
    return skua_main(argc, argv, start);
}
