/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c - all functions that run the scheduler, timers, idle callbacks, counters, and data of
 * PEs and processes, on all PEs at once.
 */
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "stats_now.h"
#include "tap.h"

struct mine {
    int  ran, ticks, idle_calls;
    int  foreign; /* messages to PE 0 from PEs that are ahead */
    bool nested, removed;
};

static skua_pe_data      mine_key;
static skua_process_data ours_key;
static skua_handler count_handler, nested_handler, done_handler, stop_handler, stop_outer_handler;
static int          finished; /* used on PE 0 */

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

static int handled(void)
{
    return mine()->ran + mine()->foreign;
}

static void test_running(void)
{
    int    target = 8;
    size_t polled;

    send_counts(10);
    CHECK(skua_poll(0) == 0 && mine()->ran == 0);
    CHECK(skua_poll(3) == 3 && handled() == 3);
    CHECK(skua_run_count(2) == 2 && handled() == 5);
    CHECK(skua_run_until(ran_at_least, &target) && mine()->ran == 8);
    polled = (size_t)handled();
    CHECK(skua_poll(100) == (size_t)handled() - polled && mine()->ran == 10);
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
    mine()->nested = true;
}

static void test_nesting(void)
{
    int target = mine()->ran + 5;

    skua_send_copy(skua_pe(), nested_handler, NULL, 0);
    CHECK(skua_run_until(ran_at_least, &target) && mine()->ran == target);
    while (!mine()->nested)
        skua_run_count(1);
}

/* A stop that was requested before an inner run is not lost. */
static void on_stop_outer(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_stop();
    skua_send_copy(skua_pe(), stop_handler, NULL, 0);
    skua_run();
}

static void test_stop(void)
{
    skua_send_copy(skua_pe(), stop_outer_handler, NULL, 0);
    skua_run();
}

/* ---- timers ---------------------------------------------------------------- */

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
    return mine()->ticks >= 3;
}

static void test_timers(void)
{
    skua_timer   cancelled = skua_timer_after(0.001, skua_done_call(never, NULL));
    skua_timer   every     = skua_timer_every(0.002, skua_done_call(tick, NULL));
    skua_counter counter   = SKUA_COUNTER_INIT;
    double       before    = skua_time();

    CHECK(skua_timer_cancel(cancelled));
    CHECK(!skua_timer_cancel(cancelled));
    CHECK(skua_run_until(timers_fired, NULL));
    CHECK(skua_time() - before >= 0.002);
    CHECK(skua_timer_cancel(every));
    skua_timer_after(0, skua_done_count(&counter));
    CHECK(skua_counter_wait(&counter, 1) && counter.value == 1);
}

/* A timer is due between `least` and `most`; `fired` is its position in the order. */
struct due {
    skua_timer    timer;
    double        least, most;
    int           fired;
    int          *order;
    skua_counter *counter;
};

static void on_due(void *arg, const void *data, size_t bytes)
{
    struct due *due = arg;

    CHECK(!data && bytes == 0 && skua_time() >= due->least);
    due->fired = ++*due->order;
    skua_complete(skua_done_count(due->counter), NULL, 0);
}

/* Many timers, started and cancelled at random, fire in the order in which they
 * are due, as far as that is certain. */
static void test_many_timers(uint64_t seed)
{
    enum { TIMERS = 300 };
    struct due   due[TIMERS];
    skua_counter counter = SKUA_COUNTER_INIT;
    int          left = 0, order = 0;

    for (int i = 0; i < TIMERS; i++) {
        double delay = 1e-6 * (double)(tap_random(&seed) % 20000);
        due[i] = (struct due){.least = skua_time() + delay, .order = &order, .counter = &counter};
        due[i].timer = skua_timer_after(delay, skua_done_call(on_due, &due[i]));
        due[i].most  = skua_time() + delay;
    }
    for (int i = 0; i < TIMERS; i++)
        left += tap_random(&seed) % 2 ? !skua_timer_cancel(due[i].timer) : 1;
    CHECK(skua_counter_wait(&counter, left));
    CHECK(counter.value == left);
    for (int i = 0; i < TIMERS; i++)
        CHECK(!skua_timer_cancel(due[i].timer));
    for (int i = 0; i < TIMERS; i++)
        for (int j = 0; j < TIMERS; j++)
            if (due[i].fired && due[j].fired && due[i].most < due[j].least)
                CHECK(due[i].fired < due[j].fired);
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

static int calls = 5, other;

static bool remove_both(void *arg)
{
    (void)arg;
    CHECK(!mine()->removed);
    mine()->removed = true;
    skua_idle_remove(remove_both, &calls);
    skua_idle_remove(remove_both, &other);
    return false;
}

static bool both_removed(void *arg)
{
    (void)arg;
    return mine()->removed;
}

static void test_idle(void)
{

    skua_idle_add(work_while_idle, &calls);
    CHECK(skua_run_until(idled_enough, &calls));
    skua_idle_remove(work_while_idle, &calls);
    /* The first of the two callbacks removes both. */
    skua_idle_add(remove_both, &other);
    skua_idle_add(remove_both, &calls);
    CHECK(skua_run_until(both_removed, NULL));
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
    skua_stats before = stats_now(), after;

    send_counts(7);
    CHECK(skua_poll(7) == 7);
    after = stats_now();
    CHECK(after.delivered >= before.delivered + 7);
    CHECK(after.sent_self >= before.sent_self + 7);
    CHECK(before.timers > 3);
}

#define IDLE_WAITS 20 /* waits, at least, in the test of idle time */

/* A PE that waits for timers counts idle time, no more than it waits: what the program computes in
 * between is not idle time.  A PE that gets no CPU while it waits, or is slow, may find the timer
 * due before it is idle, so it tries again, with longer times. */
static void test_idle_time(void)
{
    uint64_t before = stats_now().idle_ns, idle = 0;
    double   waited = 0, started;

    for (int i = 0; i < 1000 && (i < IDLE_WAITS || idle == 0); i++) {
        skua_counter counter = SKUA_COUNTER_INIT;

        for (started = skua_time(); skua_time() - started < 0.0002;)
            ;
        started = skua_time();
        skua_timer_after(0.00003 * (1 + i), skua_done_count(&counter));
        CHECK(skua_counter_wait(&counter, 1));
        waited += skua_time() - started;
        idle = stats_now().idle_ns - before;
    }
    CHECK(idle > 0);
    CHECK((double)idle * 1e-9 <= waited + 1e-6);
}

static void on_done(skua_msg *msg)
{
    skua_msg_free(msg);
    mine()->foreign++;
    if (++finished == skua_pes())
        skua_exit(0);
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    atomic_int *ours = skua_process_data_get(ours_key);

    (void)argc, (void)argv;
    CHECK(mine()->ran == 0);
    test_numbers();
    test_running();
    test_nesting();
    test_stop();
    test_timers();
    test_many_timers(test_seed + (uint64_t)skua_pe());
    test_idle();
    test_stats();
    test_idle_time();
    /* The last PE of a process reports for all of them. */
    if (atomic_fetch_add(ours, 1) + 1 == skua_process_pes(skua_process()))
        for (int i = 0; i < skua_process_pes(skua_process()); i++)
            skua_send_copy(0, done_handler, NULL, 0);
}

int main(int argc, char **argv)
{
    test_seed          = tap_seed();
    count_handler      = skua_handler_register("count", on_count);
    nested_handler     = skua_handler_register("nested", on_nested);
    done_handler       = skua_handler_register("done", on_done);
    stop_handler       = skua_handler_register("stop", on_stop);
    stop_outer_handler = skua_handler_register("stop outer", on_stop_outer);
    mine_key           = skua_pe_data_register(sizeof(struct mine));
    ours_key           = skua_process_data_register(sizeof(atomic_int));
    return skua_main(argc, argv, start);
}
