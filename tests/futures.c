/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futures.c - futures that are chained and joined: then, all, any, test, against a model, set by
 * other PEs, by handlers and by user threads; and futures that are never set.
 *
 * usage: futures [rounds]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define MOST 9

static int                    rounds = 200;
static uint64_t               seed;
static skua_function          echo;
static _Thread_local uint64_t random_state; /* state of the PE on this thread */

static uint64_t below(uint64_t n)
{
    return tap_random(&random_state) % n;
}

static void do_echo(const void *args, size_t bytes, skua_completion done)
{
    skua_complete(done, args, bytes);
}

/* Sets a future to a number, on this PE or by way of another PE. */
static void set_somehow(skua_future *future, uint64_t value)
{
    if (below(2))
        skua_future_set(future, &value, sizeof value);
    else
        skua_call((int)below((uint64_t)skua_pes()), echo, &value, sizeof value,
                  skua_done_future(future));
}

static uint64_t number_in(skua_future *future)
{
    size_t      bytes;
    const void *data = skua_future_wait(future, &bytes);
    uint64_t    value;

    CHECK(data && bytes == sizeof value);
    memcpy(&value, data, sizeof value);
    return value;
}

/* ---- then ------------------------------------------------------------------------------------ */

struct seen {
    uint64_t     order[MOST], count;
    skua_future *clear; /* cleared by the callback, or NULL */
};

static void see(void *arg, const void *data, size_t bytes)
{
    struct seen *seen = arg;

    CHECK(bytes == sizeof(uint64_t) && seen->count < MOST);
    if (seen->clear)
        skua_future_clear(seen->clear);
    /* Valid although the future has been cleared. */
    memcpy(&seen->order[seen->count++], data, bytes);
}

/* A chain of futures, each set by the previous one; some links are added when that one is set
 * already. */
static void test_chain(void)
{
    skua_future  link[MOST];
    skua_counter counter = SKUA_COUNTER_INIT;
    struct seen  seen    = {.count = 0};
    size_t       early   = below(MOST);
    uint64_t     value   = below(1000);

    memset(link, 0, sizeof link);
    for (size_t i = 0; i + 1 < MOST && i < early; i++)
        skua_future_then(&link[i], skua_done_future(&link[i + 1]));
    for (int i = 0; i < MOST; i++)
        skua_future_then(&link[0], i % 2 ? skua_done_count(&counter) : skua_done_call(see, &seen));
    CHECK(!skua_future_test(&link[0]));
    set_somehow(&link[0], value);
    CHECK(number_in(&link[0]) == value);
    for (size_t i = early; i + 1 < MOST; i++)
        skua_future_then(&link[i], skua_done_future(&link[i + 1]));
    CHECK(number_in(&link[MOST - 1]) == value && skua_future_test(&link[MOST - 1]));
    CHECK(counter.value == MOST / 2 && seen.count == MOST - MOST / 2);
    for (size_t i = 0; i < seen.count; i++)
        CHECK(seen.order[i] == value);
    for (int i = 0; i < MOST; i++)
        skua_future_clear(&link[i]);
}

/* A callback clears the future that runs it, and the later callbacks still get the result. */
static void test_clear_in_callback(void)
{
    skua_future future = SKUA_FUTURE_INIT, copy = SKUA_FUTURE_INIT;
    struct seen first = {.clear = &future}, second = {.count = 0};
    uint64_t    value = below(1000);

    skua_future_then(&future, skua_done_call(see, &first));
    skua_future_then(&future, skua_done_call(see, &second));
    skua_future_then(&future, skua_done_future(&copy));
    skua_future_set(&future, &value, sizeof value);
    CHECK(number_in(&copy) == value && first.order[0] == value && second.order[0] == value);
    CHECK(!future.ready);
    skua_future_set(&future, &value, sizeof value); /* nothing is chained to it any longer */
    CHECK(first.count == 1 && second.count == 1);
    skua_future_clear(&future);
    skua_future_clear(&copy);
}

/* ---- all and any ---------------------------------------------------------------------------- */

static void set_in_thread(void *arg)
{
    skua_thread_yield();
    set_somehow(arg, 77);
}

static void test_join(void)
{
    skua_future  future[MOST], *list[MOST], all = SKUA_FUTURE_INIT, any = SKUA_FUTURE_INIT;
    size_t       count = 1 + below(MOST - 1), set = 0, left, first;
    skua_thread *thread = NULL;

    memset(future, 0, sizeof future);
    for (size_t i = 0; i < count; i++) {
        list[i] = &future[i];
        if (below(4) == 0) {
            skua_future_set(&future[i], &i, sizeof i);
            set++;
        }
    }
    skua_future_all(list, count, skua_done_future(&all));
    skua_future_any(list, count, skua_done_future(&any));
    CHECK(all.ready == (set == count) && any.ready == (set > 0));
    for (left = count - set; left > 0; left--) {
        size_t i = below(count);

        while (future[i].ready || list[i] == NULL)
            i = (i + 1) % count;
        list[i] = NULL; /* it is being set */
        CHECK(!all.ready);
        if (!thread && below(3) == 0)
            thread = skua_thread_create(set_in_thread, &future[i], 0);
        else
            set_somehow(&future[i], i);
    }
    memcpy(&first, skua_future_wait(&any, NULL), sizeof first);
    CHECK(first < count && future[first].ready);
    CHECK(skua_future_wait(&all, NULL));
    for (size_t i = 0; i < count; i++) {
        CHECK(future[i].ready && !future[i].chained);
        skua_future_clear(&future[i]);
    }
    if (thread)
        skua_thread_join(thread);
    skua_future_clear(&all);
    skua_future_clear(&any);
}

static void wait_in_thread(void *arg)
{
    skua_future *future = arg;

    CHECK(number_in(future) == 5);
}

/* Threads wait for a future that is the end of a join of joins. */
static void test_tree(void)
{
    skua_future  leaf[4], *list[4], pair[2], *pairs[2] = {&pair[0], &pair[1]};
    skua_future  root = SKUA_FUTURE_INIT, value = SKUA_FUTURE_INIT;
    skua_thread *thread[3];
    uint64_t     five = 5;

    memset(leaf, 0, sizeof leaf);
    memset(pair, 0, sizeof pair);
    for (int i = 0; i < 4; i++)
        list[i] = &leaf[i];
    skua_future_all(list, 2, skua_done_future(&pair[0]));
    skua_future_all(list + 2, 2, skua_done_future(&pair[1]));
    skua_future_all(pairs, 2, skua_done_future(&root));
    for (int i = 0; i < 3; i++)
        thread[i] = skua_thread_create(wait_in_thread, &value, 0);
    for (int i = 0; i < 4; i++)
        set_somehow(&leaf[i], (uint64_t)i);
    CHECK(skua_future_wait(&root, NULL));
    CHECK(pair[0].ready && pair[1].ready);
    skua_future_set(&value, &five, sizeof five);
    for (int i = 0; i < 3; i++)
        skua_thread_join(thread[i]);
    for (int i = 0; i < 4; i++)
        skua_future_clear(&leaf[i]);
    skua_future_clear(&pair[0]);
    skua_future_clear(&pair[1]);
    skua_future_clear(&root);
    skua_future_clear(&value);
}

/* ---- futures that are cleared before they are set ------------------------------------------- */

static void test_dropped(void)
{
    skua_future  a = SKUA_FUTURE_INIT, b = SKUA_FUTURE_INIT, *list[2] = {&a, &b};
    skua_counter then = SKUA_COUNTER_INIT, all = SKUA_COUNTER_INIT, any = SKUA_COUNTER_INIT;

    skua_future_then(&a, skua_done_count(&then));
    skua_future_all(list, 2, skua_done_count(&all));
    skua_future_any(list, 2, skua_done_count(&any));
    skua_future_clear(&a);
    skua_future_set(&a, NULL, 0);
    CHECK(then.value == 0 && all.value == 0 && any.value == 0);
    skua_future_set(&b, NULL, 0);
    CHECK(then.value == 0 && all.value == 0 && any.value == 1);
    skua_future_any(list, 2, skua_done_count(&any));
    skua_future_all(list, 2, skua_done_count(&all));
    skua_future_all(list, 0, skua_done_count(&all));
    CHECK(all.value == 2 && any.value == 2);
    skua_future_clear(&a);
    skua_future_clear(&b);
}

/* The end of the job frees completions of futures that are never set. */
static void leave_some(void)
{
    static _Thread_local skua_future  never, *list[3];
    static _Thread_local skua_counter counter;

    list[0] = list[1] = list[2] = &never;
    skua_future_then(&never, skua_done_count(&counter));
    skua_future_all(list, 3, skua_done_count(&counter));
    skua_future_any(list, 3, skua_done_count(&counter));
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    random_state = seed + (uint64_t)skua_pe();
    for (int round = 0; round < rounds; round++) {
        test_chain();
        test_clear_in_callback();
        test_join();
        test_tree();
        test_dropped();
    }
    leave_some();
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    seed = tap_seed();
    echo = skua_function_register("echo", do_echo);
    return skua_main(argc, argv, start);
}
