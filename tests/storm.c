/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm.c - random traffic: every message sends up to three more, to any PE, of any size, priority
 * and protocol, as long as its fuel lasts; some are kept for a while, some pass through user
 * threads and timers.  At the end as many messages have been received as were sent, and none is
 * corrupted.
 *
 * PE 0 detects the end by requesting the counts of all PEs until two rounds agree.
 *
 * usage: storm [FUEL]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

struct spark {
    uint64_t seed; /* seed of the payload */
    int32_t  fuel;
    uint32_t bytes; /* of fill */
    uint64_t sum;
    char     fill[];
};

struct mine {
    uint64_t  seed;
    int64_t   sent, received;
    skua_msg *kept[16];
};

struct count {
    int64_t sent, received;
};

static skua_handler spark_handler, ask_handler, tell_handler;
static skua_pe_data mine_key;

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

static uint64_t sum_of(const struct spark *spark)
{
    uint64_t sum = spark->seed ^ (uint64_t)spark->fuel << 32 ^ spark->bytes;

    for (uint32_t i = 0; i < spark->bytes; i++)
        sum = sum * 31 + (unsigned char)spark->fill[i];
    return sum;
}

static size_t random_fill(uint64_t *seed)
{
    switch (tap_random(seed) % 8) {
    case 0: return tap_random(seed) % 100000;
    case 1: return tap_random(seed) % 5000;
    case 2: return tap_random(seed) % 500;
    default: return tap_random(seed) % 20;
    }
}

static void send_spark(int32_t fuel)
{
    struct mine  *m     = mine();
    size_t        fill  = random_fill(&m->seed);
    size_t        bytes = sizeof(struct spark) + fill;
    skua_msg     *msg   = skua_msg_alloc(bytes);
    struct spark *spark = skua_msg_data(msg);
    int           pe    = (int)(tap_random(&m->seed) % (uint64_t)skua_pes());
    int32_t       prio  = tap_random(&m->seed) % 4 ? 0 : (int32_t)(tap_random(&m->seed) % 9) - 4;

    spark->seed  = tap_random(&m->seed);
    spark->fuel  = fuel;
    spark->bytes = (uint32_t)fill;
    memset(spark->fill, (int)spark->seed, fill);
    spark->sum = sum_of(spark);
    m->sent++;
    if (tap_random(&m->seed) % 2) {
        skua_send_copy_prio(pe, spark_handler, spark, bytes, prio);
        skua_msg_free(msg);
    } else {
        skua_msg_set_priority(msg, prio);
        skua_msg_set_expedited(msg, tap_random(&m->seed) % 16 == 0);
        skua_send(pe, spark_handler, msg);
    }
}

static void burn(int32_t fuel)
{
    uint64_t children = fuel <= 0 ? 0 : tap_random(&mine()->seed) % 4;

    for (uint64_t i = 0; i < children; i++)
        send_spark(fuel - 1 - (int32_t)(tap_random(&mine()->seed) % 2));
}

static void burn_in_thread(void *arg)
{
    skua_thread_yield();
    burn((int32_t)(intptr_t)arg);
    mine()->received++;
}

static void burn_later(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    burn((int32_t)(intptr_t)arg);
    mine()->received++;
}

static void on_spark(skua_msg *msg)
{
    struct mine  *m     = mine();
    struct spark *spark = skua_msg_data(msg);
    int32_t       fuel  = spark->fuel;
    size_t        slot  = tap_random(&m->seed) % 16;

    CHECK(skua_msg_size(msg) == sizeof *spark + spark->bytes);
    CHECK(spark->sum == sum_of(spark));
    if (tap_random(&m->seed) % 4 == 0) { /* keeps it for a while */
        skua_msg *old = m->kept[slot];
        m->kept[slot] = msg;
        msg           = old;
        if (msg)
            CHECK(((struct spark *)skua_msg_data(msg))->sum == sum_of(skua_msg_data(msg)));
    }
    if (msg)
        skua_msg_free(msg);
    switch (tap_random(&m->seed) % 32) {
    case 0:
        skua_thread_detach(skua_thread_create(burn_in_thread, (void *)(intptr_t)fuel, 16384));
        break;
    case 1:
        skua_timer_after(1e-6 * (double)(tap_random(&m->seed) % 100),
                         skua_done_call(burn_later, (void *)(intptr_t)fuel));
        break;
    default: burn(fuel); m->received++;
    }
}

/* ---- the end ---------------------------------------------------------------- */

static struct { /* used on PE 0 */
    int          answers;
    struct count now, before;
} poll;

static void ask_all(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    poll.answers = 0;
    poll.before  = poll.now;
    poll.now     = (struct count){0, 0};
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send_copy(pe, ask_handler, NULL, 0);
}

static void on_ask(skua_msg *msg)
{
    struct count count = {mine()->sent, mine()->received};

    skua_msg_free(msg);
    skua_send_copy(0, tell_handler, &count, sizeof count);
}

static void on_tell(skua_msg *msg)
{
    struct count *count = skua_msg_data(msg);

    poll.now.sent += count->sent;
    poll.now.received += count->received;
    skua_msg_free(msg);
    if (++poll.answers < skua_pes())
        return;
    if (poll.now.sent == poll.now.received && poll.now.sent == poll.before.sent &&
        poll.before.sent == poll.before.received) {
        printf("# %lld messages\n", (long long)poll.now.sent);
        skua_exit(0);
        return;
    }
    skua_timer_after(0.001, skua_done_call(ask_all, NULL));
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    int fuel = argc > 1 ? atoi(argv[1]) : 12;

    mine()->seed = test_seed * 1000003u + (uint64_t)skua_pe() + 1;
    for (int i = 0; i < 200; i++)
        send_spark(fuel);
    if (skua_pe() == 0)
        ask_all(NULL, NULL, 0);
}

int main(int argc, char **argv)
{
    test_seed     = tap_seed();
    spark_handler = skua_handler_register("spark", on_spark);
    ask_handler   = skua_handler_register("ask", on_ask);
    tell_handler  = skua_handler_register("tell", on_tell);
    mine_key      = skua_pe_data_register(sizeof(struct mine));
    return skua_main(argc, argv, start);
}
