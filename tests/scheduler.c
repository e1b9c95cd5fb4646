/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c - every way to run the scheduler, timers, idle work, counters,
 * and data of PEs and processes; on every PE at once.
 */
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"

struct mine {
    int ran, timer_order, ticks, idle_calls;
};

static skua_pe_data      mine_key;
static skua_process_data ours_key;
static skua_handler      count_handler, nested_handler, done_handler, stop_handler;
static int               finished; /* on PE 0 */

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

static void on_count(skua_msg *msg)
{
    mine()->ran++;
    skua_msg_free(msg);
}

static void send_counts(int n)
{
    for (int i = 0; i < n; i++)
        skua_send_copy(skua_pe(), count_handler, &i, sizeof i);
}

static bool ran_at_least(void *arg)
{
    return mine()->ran >= *(int *)arg;
}

static void test_running(void)
{
    int target = 8;

    send_counts(10);
    CHECK(skua_poll(0) == 0 && mine()->ran == 0);
    CHECK(skua_poll(3) == 3 && mine()->ran == 3);
    CHECK(skua_run_count(2) == 2 && mine()->ran == 5);
    CHECK(skua_run_until(ran_at_least, &target) && mine()->ran == 8);
    CHECK(skua_poll(100) == 2 && skua_poll(100) == 0);
}

static void on_stop(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_stop();
}

/* A handler that runs the scheduler itself. */
static void on_nested(skua_msg *msg)
{
    int target = mine()->ran + 5;

    skua_msg_free(msg);
    send_counts(5);
    CHECK(skua_run_until(ran_at_least, &target) && mine()->ran == target);
    skua_send_copy(skua_pe(), stop_handler, NULL, 0);
    skua_run();
}

static void test_nesting(void)
{
    int before = mine()->ran;

    skua_send_copy(skua_pe(), nested_handler, NULL, 0);
    CHECK(skua_run_count(1) == 1);
    CHECK(mine()->ran == before + 5);
}

/* ---- timers ---------------------------------------------------------------- */

static void expect_order(void *arg, const void *data, size_t bytes)
{
    CHECK(!data && bytes == 0);
    CHECK((int)(intptr_t)arg == mine()->timer_order++);
}

static void tick(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    mine()->ticks++;
}

static void never(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    skua_abort("a cancelled timer fired");
}

static bool timers_fired(void *arg)
{
    (void)arg;
    return mine()->timer_order == 3 && mine()->ticks >= 3;
}

static void test_timers(void)
{
    skua_timer   cancelled = skua_after(0.001, skua_done_call(never, NULL));
    skua_timer   every     = skua_every(0.002, skua_done_call(tick, NULL));
    skua_counter counter   = SKUA_COUNTER_INIT;
    double       before    = skua_time();

    skua_after(0.012, skua_done_call(expect_order, (void *)2));
    skua_after(0.004, skua_done_call(expect_order, (void *)0));
    skua_after(0.008, skua_done_call(expect_order, (void *)1));
    CHECK(skua_timer_cancel(cancelled));
    CHECK(!skua_timer_cancel(cancelled));
    CHECK(skua_run_until(timers_fired, NULL));
    CHECK(skua_time() - before >= 0.012);
    CHECK(skua_timer_cancel(every));
    skua_after(0, skua_done_count(&counter));
    CHECK(skua_counter_wait(&counter, 1) && counter.value == 1);
}

/* Many timers, started and cancelled at random, fire in order. */
static void test_many_timers(uint64_t seed)
{
    enum { TIMERS = 300 };
    skua_timer   timer[TIMERS];
    skua_counter counter = SKUA_COUNTER_INIT;
    int          left    = 0;

    for (int i = 0; i < TIMERS; i++)
        timer[i] =
            skua_after(1e-6 * (double)(tap_random(&seed) % 20000), skua_done_count(&counter));
    for (int i = 0; i < TIMERS; i++)
        left += tap_random(&seed) % 2 ? !skua_timer_cancel(timer[i]) : 1;
    CHECK(skua_counter_wait(&counter, left));
    CHECK(counter.value == left);
    for (int i = 0; i < TIMERS; i++)
        CHECK(!skua_timer_cancel(timer[i]));
}

/* ---- idle work ------------------------------------------------------------- */

static bool work_while_idle(void *arg)
{
    return ++mine()->idle_calls < *(int *)arg;
}

static bool idled_enough(void *arg)
{
    return mine()->idle_calls >= *(int *)arg;
}

static void test_idle(void)
{
    int calls = 5;

    skua_idle_add(work_while_idle, &calls);
    CHECK(skua_run_until(idled_enough, &calls));
    skua_idle_remove(work_while_idle, &calls);
}

/* ---- the rest -------------------------------------------------------------- */

static void test_numbers(void)
{
    int process = skua_process();

    CHECK(skua_pe() >= 0 && skua_pe() < skua_pes());
    CHECK(process == skua_process_of(skua_pe()) && process < skua_processes());
    CHECK(skua_pe() >= skua_process_first(process) &&
          skua_pe() < skua_process_first(process) + skua_process_pes(process));
    CHECK(skua_process_of(skua_pes() - 1) == skua_processes() - 1);
}

static void test_stats(void)
{
    skua_stats before = skua_stats_get(), after;

    send_counts(7);
    CHECK(skua_poll(7) == 7);
    after = skua_stats_get();
    CHECK(after.delivered >= before.delivered + 7);
    CHECK(after.sent_self >= before.sent_self + 7);
    CHECK(before.timers > 3);
}

static void on_done(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++finished == skua_pes())
        skua_exit(0);
}

static void start(int argc, char **argv)
{
    atomic_int *ours = skua_process_data_get(ours_key);

    (void)argc;
    CHECK(mine()->ran == 0);
    test_numbers();
    test_running();
    test_nesting();
    test_timers();
    test_many_timers(strtoul(argv[1], NULL, 0) + (uint64_t)skua_pe());
    test_idle();
    test_stats();
    /* The last PE of a process speaks for all of them. */
    if (atomic_fetch_add(ours, 1) + 1 == skua_process_pes(skua_process()))
        for (int i = 0; i < skua_process_pes(skua_process()); i++)
            skua_send_copy(0, done_handler, NULL, 0);
}

int main(int argc, char **argv)
{
    char  seed[32];
    char *args[] = {argv[0], seed, NULL};

    (void)argc;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)tap_seed());
    count_handler  = skua_register("count", on_count);
    nested_handler = skua_register("nested", on_nested);
    done_handler   = skua_register("done", on_done);
    stop_handler   = skua_register("stop", on_stop);
    mine_key       = skua_pe_data_register(sizeof(struct mine));
    ours_key       = skua_process_data_register(sizeof(atomic_int));
    return skua_main(2, args, start);
}
