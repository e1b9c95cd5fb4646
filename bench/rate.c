/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c - the rate of small messages (bench_pairs.h). */
#include "bench_pairs.h"

static skua_handler item;

static void send_window(int partner)
{
    struct pairs_state *s = pairs_self();

    for (int i = 0; i < BENCH_WINDOW; i++)
        skua_send_copy(partner, item, &s->value, sizeof s->value);
}

static void on_item(skua_msg *msg)
{
    skua_msg_free(msg);
    pairs_arrived(pairs_self(), 1, BENCH_WINDOW);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() == skua_process_first(skua_process()))
        pairs_rate = (struct pairs_rate){.bench   = "messages",
                                         .series  = skua_processes() == 1 ? "skua-inline-threads"
                                                                          : "skua-inline",
                                         .send    = send_window,
                                         .window  = BENCH_WINDOW,
                                         .windows = bench_windows(skua_pes()),
                                         .batches = bench_rate_batches(skua_pes())};
    pairs_start();
}

int main(int argc, char **argv)
{
    item = skua_handler_register("item", on_item);
    pairs_register();
    return skua_main(argc, argv, start);
}
