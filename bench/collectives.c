/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - the collectives of bench_collectives.h, each waited for.
 *
 * usage: bench-collectives [SERIES]
 */
#include <skua/skua.h>

#include "bench_collectives.h"

static skua_handler say_handler;
static skua_pe_data ears_key;

/* The broadcasts that a PE has heard, and those that it has taken part in: the next root may be
 * heard before this PE has called for it. */
struct ears {
    skua_counter heard;
    int64_t      calls;
};

static struct ears *ears(void)
{
    return skua_pe_data_get(ears_key);
}

static void on_say(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_complete(skua_done_count(&ears()->heard), NULL, 0);
}

static void barrier(void)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    skua_barrier(skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static void allreduce(const double *data, size_t count)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_allreduce(SKUA_SUM, SKUA_DOUBLE, data, count, skua_done_future(&future));
    skua_future_wait(&future, NULL);
    skua_future_clear(&future);
}

static void reduce(int root, const double *data, size_t count)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_reduce(root, SKUA_SUM, SKUA_DOUBLE, data, count, skua_done_future(&future));
    if (root != skua_pe())
        return;
    skua_future_wait(&future, NULL);
    skua_future_clear(&future);
}

/* The message is new each time, as that of a program is; its data are left as they are. */
static void broadcast(int root, size_t bytes)
{
    if (root == skua_pe())
        skua_broadcast(say_handler, skua_msg_alloc(bytes), skua_done_nothing());
    skua_counter_wait(&ears()->heard, ++ears()->calls);
}

static const struct collectives skua = {skua_sync, barrier, allreduce, reduce, broadcast};

static void start(int argc, char **argv)
{
    ears()->heard = (skua_counter)SKUA_COUNTER_INIT;
    barrier();
    collectives_all(&skua, argc > 1 ? argv[1] : "skua", skua_pe(), skua_pes());
    barrier();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    say_handler = skua_register("say", on_say);
    ears_key    = skua_pe_data_register(sizeof(struct ears));
    return skua_main(argc, argv, start);
}
