/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify_set.c - waiting for notifications under conditions: any, some, all of a set, with masks
 * and vectors of values, on the PE's own stack, in user threads and in external threads.
 *
 * Each PE increments notifications of the next one in random order; both know how often each is
 * incremented.
 *
 * usage: notify_set [rounds]
 */
#include <pthread.h>
#include <skua/skua.h>
#include <stddef.h>
#include <string.h>

#include "job_seed.h"
#include "tap.h"

#define SLOTS  24
#define PAIRS  3 /* user threads of each kind */
#define RAISES 40

struct slot {
    uint64_t    before, after; /* padding: the stride differs from that of an array */
    skua_notify notify;
};

struct shared {
    skua_notify array[SLOTS];
    struct slot spread[SLOTS];
    skua_notify level, go;
};

static int                       rounds = 20;
static uint64_t                  seed;
static _Thread_local skua_region region; /* state of the PE on this thread */

static struct shared *mine(void)
{
    return skua_region_local(region);
}

static skua_gaddr at(int pe, size_t offset)
{
    return skua_at(region, pe, offset);
}

static size_t offset_of(bool spread, size_t i)
{
    return spread ? offsetof(struct shared, spread) + i * sizeof(struct slot) +
                        offsetof(struct slot, notify)
                  : offsetof(struct shared, array) + i * sizeof(skua_notify);
}

static skua_notify_set set_of(bool spread)
{
    return spread ? (skua_notify_set){.notify = &mine()->spread[0].notify,
                                      .count  = SLOTS,
                                      .stride = sizeof(struct slot)}
                  : (skua_notify_set){.notify = mine()->array, .count = SLOTS};
}

/* Returns how often @p pe increments slot @p i of the next PE in a round, and the total
 * increment. */
static uint64_t raises(int pe, int round, size_t i)
{
    uint64_t random = seed + (uint64_t)pe * 977 + (uint64_t)round * 31 + i * 7 + 1;

    tap_random(&random);
    return tap_random(&random) % 4;
}

/* Increments the slots of the next PE in random order, with pauses in which this PE delivers
 * messages. */
static void raise_all(int round, bool spread)
{
    uint64_t left[SLOTS], total = 0, random = seed + (uint64_t)skua_pe() + (uint64_t)round;
    int      to = (skua_pe() + 1) % skua_pes();

    for (size_t i = 0; i < SLOTS; i++)
        total += left[i] = raises(skua_pe(), round, i);
    for (; total > 0; total--) {
        size_t i = tap_random(&random) % SLOTS;

        while (left[i] == 0)
            i = (i + 1) % SLOTS;
        left[i]--;
        CHECK(skua_notify_add(at(to, offset_of(spread, i)), 1) == SKUA_OK);
        if (tap_random(&random) % 8 == 0)
            skua_thread_yield();
    }
}

static void raise_in_thread(void *arg)
{
    int round = *(int *)arg;

    raise_all(round, round % 2);
}

static skua_notify *slot_of(const skua_notify_set *set, size_t i)
{
    return (skua_notify *)(void *)((char *)set->notify +
                                   i * (set->stride ? set->stride : sizeof(skua_notify)));
}

/* ---- any and some ---------------------------------------------------------------------------- */

/* Consumes one notification of the index that was found; the mask excludes slots that are
 * complete. */
static void take(const skua_notify_set *set, size_t i, uint64_t *left, bool *skip)
{
    CHECK(i < SLOTS && !skip[i] && left[i] > 0);
    skua_notify_take(slot_of(set, i), 1);
    skip[i] = --left[i] == 0;
}

static void receive(int round, bool with_test)
{
    int             from = (skua_pe() + skua_pes() - 1) % skua_pes();
    skua_notify_set set  = set_of(round % 2);
    uint64_t        left[SLOTS], total = 0;
    bool            skip[SLOTS];
    size_t          found[SLOTS], n;

    for (size_t i = 0; i < SLOTS; i++) {
        total += left[i] = raises(from, round, i);
        skip[i]          = left[i] == 0;
    }
    set.skip  = skip;
    set.cmp   = round % 3 == 0 ? SKUA_CMP_NE : round % 3 == 1 ? SKUA_CMP_GT : SKUA_CMP_GE;
    set.value = set.cmp == SKUA_CMP_GE;
    while (total > 0) {
        if (total % 2) {
            do
                found[0] = with_test ? skua_notify_test_any(&set) : skua_notify_wait_any(&set);
            while (found[0] == SKUA_NOTIFY_NONE);
            n = 1;
        } else {
            do
                n = with_test ? skua_notify_test_some(&set, found)
                              : skua_notify_wait_some(&set, found);
            while (n == 0);
        }
        for (size_t i = 0; i < n; i++)
            take(&set, found[i], left, skip);
        total -= n;
    }
    CHECK(skua_notify_wait_any(&set) == SKUA_NOTIFY_NONE &&
          skua_notify_wait_some(&set, found) == 0);
    CHECK(skua_notify_test_all(&set) && skua_notify_wait_all(&set));
}

static void receive_in_thread(void *arg)
{
    receive(*(int *)arg, false);
}

static void test_any(void)
{
    for (int round = 0; round < rounds; round++) {
        skua_thread *sender = skua_thread_create(raise_in_thread, &round, 0);

        if (round % 3 == 0) {
            skua_thread *receiver = skua_thread_create(receive_in_thread, &round, 0);
            skua_thread_join(receiver);
        } else {
            receive(round, round % 3 == 1);
        }
        skua_thread_join(sender);
        skua_sync();
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

static void test_all(void)
{
    for (int round = 0; round < rounds; round++) {
        int             from = (skua_pe() + skua_pes() - 1) % skua_pes();
        skua_notify_set set  = set_of(round % 2);
        uint64_t        values[SLOTS];
        skua_thread    *sender = skua_thread_create(raise_in_thread, &round, 0);

        for (size_t i = 0; i < SLOTS; i++)
            values[i] = raises(from, round, i);
        set.values = values;
        set.cmp    = round % 3 ? SKUA_CMP_GE : SKUA_CMP_EQ;
        if (round % 4 == 3)
            while (!skua_notify_test_all(&set))
                ;
        CHECK(skua_notify_wait_all(&set));
        for (size_t i = 0; i < SLOTS; i++) {
            CHECK(skua_notify_value(slot_of(&set, i)) == values[i]);
            skua_notify_take(slot_of(&set, i), values[i]);
        }
        skua_thread_join(sender);
        skua_sync();
    }
}

/* ---- conditions ----------------------------------------------------------------------------- */

static void test_conditions(void)
{
    skua_notify five = SKUA_NOTIFY_INIT;
    bool is[][3]     = {[SKUA_CMP_EQ] = {false, true, false}, [SKUA_CMP_NE] = {true, false, true},
                        [SKUA_CMP_GT] = {true, false, false}, [SKUA_CMP_GE] = {true, true, false},
                        [SKUA_CMP_LT] = {false, false, true}, [SKUA_CMP_LE] = {false, true, true}};

    mine()->level = five;
    CHECK(skua_notify_add(at(skua_pe(), offsetof(struct shared, level)), 5) == SKUA_OK);
    skua_flush_all();
    for (int cmp = SKUA_CMP_EQ; cmp <= SKUA_CMP_LE; cmp++)
        for (uint64_t with = 4; with <= 6; with++) {
            CHECK(skua_notify_test(&mine()->level, (skua_cmp)cmp, with) == is[cmp][with - 4]);
            if (is[cmp][with - 4])
                CHECK(skua_notify_wait_until(&mine()->level, (skua_cmp)cmp, with));
        }
    skua_notify_take(&mine()->level, 5);
    skua_sync();
}

/* ---- user threads: some wait for an increase, some for a decrease of one notification -------- */

struct level_wait {
    skua_cmp cmp;
    uint64_t value;
    int     *ended;
};

static void wait_for_level(void *arg)
{
    struct level_wait *w = arg;

    CHECK(skua_notify_wait_until(&mine()->level, w->cmp, w->value));
    ++*w->ended;
}

static void test_threads(void)
{
    int               ended = 0;
    struct level_wait rise  = {SKUA_CMP_GE, RAISES, &ended},
                      fall  = {SKUA_CMP_LT, RAISES / 2, &ended};
    skua_thread *thread[2 * PAIRS];

    for (int i = 0; i < RAISES; i++)
        CHECK(skua_notify_add(at((skua_pe() + 1) % skua_pes(), offsetof(struct shared, level)),
                              1) == SKUA_OK);
    CHECK(skua_notify_wait_until(&mine()->level, SKUA_CMP_EQ, RAISES));
    for (int i = 0; i < PAIRS; i++)
        thread[i] = skua_thread_create(wait_for_level, &fall, 0);
    while (skua_poll(1) > 0)
        ;
    CHECK(ended == 0);
    skua_notify_take(&mine()->level, RAISES);
    for (int i = 0; i < PAIRS; i++)
        skua_thread_join(thread[i]);
    CHECK(ended == PAIRS);
    for (int i = 0; i < PAIRS; i++)
        thread[PAIRS + i] = skua_thread_create(wait_for_level, &rise, 0);
    while (skua_poll(1) > 0)
        ;
    CHECK(ended == PAIRS); /* no PE increments it before the barrier */
    skua_sync();
    CHECK(skua_notify_add(at((skua_pe() + 1) % skua_pes(), offsetof(struct shared, level)),
                          RAISES) == SKUA_OK);
    for (int i = 0; i < PAIRS; i++)
        skua_thread_join(thread[PAIRS + i]);
    CHECK(ended == 2 * PAIRS);
    skua_notify_take(&mine()->level, RAISES);
    skua_sync();
}

/* ---- an external thread ----------------------------------------------------------------- */

static void *wait_outside(void *arg)
{
    skua_notify_set set = {.notify = arg, .count = 1, .cmp = SKUA_CMP_EQ, .value = 3};

    CHECK(skua_notify_wait_any(&set) == 0 && skua_notify_wait_all(&set));
    return NULL;
}

static void test_outside(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, wait_outside, &mine()->go) == 0);
    CHECK(skua_notify_add(at((skua_pe() + 1) % skua_pes(), offsetof(struct shared, go)), 3) ==
          SKUA_OK);
    skua_sync(); /* requests are served */
    CHECK(pthread_join(thread, NULL) == 0);
    skua_sync();
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    job_seed_agree(&seed);
    CHECK(skua_region_create(sizeof(struct shared), &region) == SKUA_OK);
    memset(mine(), 0, sizeof(struct shared));
    skua_sync();
    test_conditions();
    test_any();
    test_all();
    test_threads();
    test_outside();
    CHECK(skua_region_destroy(region) == SKUA_OK);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    seed = tap_seed();
    return skua_main(argc, argv, start);
}
