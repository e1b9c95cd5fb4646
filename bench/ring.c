/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - a token goes round all PEs: the cost of a hop, also where there are
 * more PEs than CPUs.  The series is skua-ring, or skua-ring-threads.
 */
#include <skua/skua.h>

#include "bench.h"

#define ROUNDS 1000

static skua_handler token;
static double       started, best = 1e9;
static int          round_number, batch;

static void begin(skua_msg *msg)
{
    round_number = 0;
    started      = bench_now();
    skua_send(1 % skua_pes(), token, msg);
}

static void on_token(skua_msg *msg)
{
    char   metric[64];
    double hop;

    if (skua_pe() != 0 || ++round_number < ROUNDS) {
        skua_send((skua_pe() + 1) % skua_pes(), token, msg);
        return;
    }
    hop = (bench_now() - started) / ROUNDS / skua_pes();
    if (hop < best)
        best = hop;
    if (++batch < BENCH_BATCHES) {
        begin(msg);
        return;
    }
    snprintf(metric, sizeof metric, "hop_us-%dpe", skua_pes());
    bench_report("messages", skua_processes() == 1 ? "skua-ring-threads" : "skua-ring", 8, metric,
                 best * 1e6);
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
    token = skua_register("token", on_token);
    return skua_main(argc, argv, start);
}
