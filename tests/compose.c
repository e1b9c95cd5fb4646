/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.c - two libraries, each with its own class "worker", run interleaved on the same PEs,
 * several instances of each at a time, started from different PEs.
 */
#include <string.h>

#include "compose.h"
#include "tap.h"

#define ROUNDS 200

static skua_handler array_handler, group_handler;
static int          missing = 12; /* number of results, on PE 0 */

static void count(skua_msg *msg, int64_t expected)
{
    CHECK(skua_msg_size(msg) == 8 && *(int64_t *)skua_msg_data(msg) == expected);
    skua_msg_free(msg);
    if (--missing == 0)
        skua_exit(0);
}

static void on_array(skua_msg *msg)
{
    count(msg, 50 * ROUNDS);
}

static void on_group(skua_msg *msg)
{
    count(msg, 10 * ROUNDS);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int i = 0; i < 6; i++)
        if (i % skua_pes() == skua_pe()) {
            array_begin(ROUNDS, skua_done_send(0, array_handler));
            group_begin(ROUNDS, skua_done_send(0, group_handler));
        }
}

int main(int argc, char **argv)
{
    array_register();
    group_register();
    array_handler = skua_handler_register("array", on_array);
    group_handler = skua_handler_register("group", on_group);
    return skua_main(argc, argv, start);
}
