/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.c - a PE that calls collectives faster than the others uses bounded memory.
 *
 * The last PE makes far more calls than the window permits, in a user thread, while the others make
 * none: the thread must block with at most the window and one call in flight.  Then the others
 * call, too, and all results are correct.  The same is tested in start(), and with broadcasts to
 * PEs that do not run their scheduler.  Handlers do not block, and their calls complete in the end.
 * All data together exceeds the arena.  At the end the job exits while reductions are in flight.
 *
 * usage: test_ahead [WINDOW [TIMES]]     bytes, the setting collective_window; calls
 */
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"

enum { COUNT = 32 << 10 }; /* doubles of a reduction */

static skua_handler bury_handler, ping_handler, heard_handler, burst_handler, done_handler;
static size_t       window;
static int          times;
static double       data[COUNT];
static int          finished; /* used on PE 0 */
static skua_pe_data mine_key;

struct mine {
    int          called; /* number of calls of the thread that runs ahead */
    bool         stopped;
    skua_counter buried, pings, heard, bursts, results;
};

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

static int last(void)
{
    return skua_pes() - 1;
}

static void count(skua_counter *counter)
{
    skua_complete(skua_done_count(counter), NULL, 0);
}

static void on_ping(skua_msg *msg)
{
    int from = skua_msg_source(msg);

    skua_msg_free(msg);
    if (skua_pe() != last())
        skua_send_copy(from, ping_handler, NULL, 0);
    else
        count(&mine()->pings);
}

/* Makes round trips, which let everything on this PE make progress. */
static void look_around(void)
{
    for (int i = 0; i < 20; i++) {
        int64_t next = mine()->pings.value + 1;

        if (skua_pes() == 1)
            return;
        skua_send_copy(0, ping_handler, NULL, 0);
        CHECK(skua_counter_wait(&mine()->pings, next));
    }
}

/* ---- reductions -------------------------------------------------------------------- */

static void check_sum(const void *result, size_t bytes)
{
    CHECK(bytes == sizeof data);
    for (int i = 0; i < COUNT; i += 1000)
        CHECK(((const double *)result)[i] == (double)i * skua_pes());
}

/* Calls a reduction to PE 0, which waits for it and thus is slower than the others. */
static void reduce_to_first(int i)
{
    skua_future future = SKUA_FUTURE_INIT;
    const void *result;
    size_t      bytes;

    (void)i;
    skua_reduce(0, SKUA_SUM, SKUA_DOUBLE, data, COUNT, skua_done_future(&future));
    if (skua_pe() != 0)
        return;
    result = skua_future_wait(&future, &bytes);
    check_sum(result, bytes);
    skua_future_clear(&future);
}

static void run_ahead(void *arg)
{
    (void)arg;
    for (int i = 0; i < times; i++) {
        reduce_to_first(i);
        mine()->called++;
    }
    mine()->stopped = true;
}

static void sync_all(void)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    skua_barrier(skua_done_count(&counter));
    CHECK(skua_counter_wait(&counter, 1));
}

/* The others wait, outside of any reduction, until the last PE has checked its progress. */
static void test_thread(void)
{
    skua_thread *thread = NULL;

    skua_sync();
    if (skua_pe() == last()) {
        thread = skua_thread_create(run_ahead, NULL, 0);
        look_around();
        CHECK(skua_pes() == 1 || !mine()->stopped);
        CHECK(skua_pes() == 1 || (size_t)mine()->called * sizeof data <= window + sizeof data);
    }
    skua_sync();
    if (thread)
        skua_thread_join(thread);
    else
        run_ahead(NULL);
    CHECK(mine()->called == times);
}

static void test_start(void)
{
    for (int i = 0; i < times; i++)
        reduce_to_first(i);
    sync_all();
}

/* Within a host the part of a PE is done when its call returns: the root has the result while the
 * last PE only polls its memory. */
static void test_alone(void)
{
    skua_region      flags;
    _Atomic int64_t *flag;
    int64_t          one = 1;

    CHECK(skua_region_create(sizeof *flag, &flags) == SKUA_OK);
    flag = skua_gaddr_local(skua_at(flags, skua_pe(), 0));
    atomic_store(flag, 0);
    sync_all();
    reduce_to_first(0);
    if (skua_pe() == 0)
        skua_put(skua_at(flags, last(), 0), &one, sizeof one);
    while (skua_pe() == last() && atomic_load(flag) == 0)
        ;
    sync_all();
}

/* ---- a handler that waits, above start() that waits ---- */

/* Runs on the last PE: makes one more call and waits for it, while start() waits in its call. The
 * others learn the position of this call. */
static void on_bury(skua_msg *msg)
{
    struct mine *m = mine();

    if (skua_pe() != last())
        memcpy(&m->called, skua_msg_data(msg), sizeof m->called);
    skua_msg_free(msg);
    if (skua_pe() != last()) {
        count(&m->buried);
        return;
    }
    for (int pe = 0; pe < last(); pe++)
        skua_send_copy(pe, bury_handler, &m->called, sizeof m->called);
    sync_all();
    count(&m->buried);
}

static void test_buried(void)
{
    mine()->called = 0;
    skua_sync();
    if (skua_pe() == last())
        skua_send_copy(last(), bury_handler, NULL, 0);
    else
        CHECK(skua_counter_wait(&mine()->buried, 1));
    for (int i = 0; i < times; i++) {
        reduce_to_first(i);
        if (skua_pe() == last())
            mine()->called++;
        else if (mine()->called == i)
            sync_all();
    }
    if (skua_pe() != last() && mine()->called == times)
        sync_all();
    CHECK(skua_counter_wait(&mine()->buried, 1));
    sync_all();
}

/* ---- handlers ---------------------------------------------------------------------- */

static void got_result(void *arg, const void *result, size_t bytes)
{
    check_sum(result, bytes);
    count(arg);
}

static void on_burst(skua_msg *msg)
{
    skua_completion done = skua_done_call(got_result, &mine()->results);

    skua_msg_free(msg);
    for (int i = 0; i < times; i++)
        skua_reduce(i % skua_pes(), SKUA_SUM, SKUA_DOUBLE, data, COUNT, done);
    count(&mine()->bursts);
}

/* More calls than the window permits: the handler returns, and the results arrive. */
static void test_handler(void)
{
    int64_t results = 0;

    skua_send_copy(skua_pe(), burst_handler, NULL, 0);
    CHECK(skua_counter_wait(&mine()->bursts, 1));
    for (int i = 0; i < times; i++)
        results += i % skua_pes() == skua_pe();
    CHECK(skua_counter_wait(&mine()->results, results));
    sync_all();
}

/* ---- broadcasts ---------------------------------------------------------------------- */

static void on_heard(skua_msg *msg)
{
    const double *value = skua_msg_data(msg);

    CHECK(skua_msg_size(msg) == sizeof data && value[COUNT - 1] == COUNT - 1);
    skua_msg_free(msg);
    count(&mine()->heard);
}

/* Sends more data than the arena holds, mostly without a completion, some with a priority. */
static void test_broadcast(void)
{
    skua_counter over = SKUA_COUNTER_INIT;

    for (int i = 0; skua_pe() == last() && i < times; i++) {
        skua_msg *msg = skua_msg_alloc(sizeof data);

        memcpy(skua_msg_data(msg), data, sizeof data);
        if (i % 7 == 0)
            skua_msg_set_priority(msg, i % 2 ? 1 : -1);
        skua_broadcast(heard_handler, msg,
                       i % 5 == 0 ? skua_done_count(&over) : skua_done_nothing());
    }
    if (skua_pe() == last())
        CHECK(skua_counter_wait(&over, (times + 4) / 5));
    CHECK(skua_counter_wait(&mine()->heard, times));
}

/* ---- the end ------------------------------------------------------------------------- */

static void on_done(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++finished == skua_pes())
        skua_exit(0);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    test_thread();
    test_start();
    test_buried();
    if (tap_all_near())
        test_alone();
    test_handler();
    test_broadcast();
    skua_send_copy(0, done_handler, NULL, 0);
    for (int i = 0; skua_pe() != last() && i < times; i++) /* one PE never calls */
        skua_allreduce(SKUA_SUM, SKUA_DOUBLE, data, COUNT, skua_done_nothing());
}

int main(int argc, char **argv)
{
    window = argc > 1 ? strtoul(argv[1], NULL, 0) : 1 << 20;
    times  = argc > 2 ? atoi(argv[2]) : 64;
    for (int i = 0; i < COUNT; i++)
        data[i] = i;
    bury_handler  = skua_handler_register("bury", on_bury);
    ping_handler  = skua_handler_register("ping", on_ping);
    heard_handler = skua_handler_register("heard", on_heard);
    burst_handler = skua_handler_register("burst", on_burst);
    done_handler  = skua_handler_register("done", on_done);
    mine_key      = skua_pe_data_register(sizeof(struct mine));
    return skua_main(argc, argv, start);
}
