/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.c - one-sided operations by active message mixed with direct ones: the pool of requests
 * is bounded and calls do not wait unnecessarily; notifications, locks and flushes order operations
 * of both kinds; a region that one PE cannot create exists on no PE.
 *
 * Run it with direct=0, and with cma=0, so that registered memory is accessed by active messages
 * and other memory directly.  PE 0 is the origin, PE 1 the target.
 *
 * usage: requests [times]
 */
#include <pthread.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"

#define MANY  20000 /* accumulates of BLOCK bytes: more than the arena of 64 MB holds */
#define BLOCK 4096

struct shared { /* memory in the symmetric region */
    skua_notify      notify;
    _Atomic uint64_t go;
    uint64_t         word[8];
    double           block[BLOCK / sizeof(double)];
};

struct regions { /* known to each PE */
    skua_region symmetric;
    skua_region registered; /* registered memory of PE 1 */
};

static skua_pe_data     regions_key;
static skua_region      registered_outside; /* that region, for the external thread */
static skua_function    twice;
static long             times = 5000;
static _Atomic uint64_t own[8]; /* memory that PE 1 registers */

static struct regions *regions(void)
{
    return skua_pe_data_get(regions_key);
}

static struct shared *shared_of(int pe)
{
    return skua_gaddr_local(skua_at(regions()->symmetric, pe, 0));
}

static skua_gaddr own_at(size_t i)
{
    return skua_at(regions()->registered, 1, 8 * i);
}

static skua_gaddr at(int pe, size_t offset)
{
    return skua_at(regions()->symmetric, pe, offset);
}

/* The target behaves as if it computed: it makes no call until PE 0 releases it. */
static void compute_until(uint64_t go)
{
    while (atomic_load(&shared_of(1)->go) < go)
        ;
}

static void let_go(uint64_t go)
{
    atomic_store(&shared_of(1)->go, go); /* memory that both PEs access directly */
}

/* ---- the pool ------------------------------------------------------------------ */

/* More data than fits the arena, while the target serves only after a computation. */
static void test_pool(void)
{
    double            ones[BLOCK / sizeof(double)];
    const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, NULL};

    for (size_t i = 0; i < BLOCK / sizeof(double); i++)
        ones[i] = 1;
    if (skua_pe() == 0)
        for (int i = 0; i < MANY; i++)
            CHECK(skua_acc_nb(at(1, offsetof(struct shared, block)), ones, BLOCK, &sum, NULL) >= 0);
    skua_sync();
    if (skua_pe() == 1)
        CHECK(shared_of(1)->block[0] == MANY && shared_of(1)->block[BLOCK / 8 - 1] == MANY);
    skua_sync();
}

/* Two non-blocking puts are in flight while the target serves neither. */
static void test_not_serialised(void)
{
    uint64_t value = 7;

    if (skua_pe() == 0) {
        CHECK(skua_put_nb(own_at(0), &value, 8, NULL) >= 0);
        CHECK(skua_put_nb(own_at(1), &value, 8, NULL) >= 0);
        let_go(1);
    } else if (skua_pe() == 1) {
        compute_until(1);
    }
    skua_sync();
    if (skua_pe() == 1)
        CHECK(own[0] == 7 && own[1] == 7);
    skua_sync();
}

/* ---- order across paths -------------------------------------------------------------- */

/* A notification arrives after earlier puts, on any paths. */
static void test_notify_after_put(void)
{
    const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, NULL};

    for (uint64_t i = 1; i <= (uint64_t)times; i++) {
        if (skua_pe() == 0) {
            double          one  = 1;
            skua_rma_params ends = {.notify = at(1, 0),
                                    .order  = i % 2 ? SKUA_UNORDERED : SKUA_ORDER_DEFAULT};
            skua_put_nb(own_at(2), &i, 8, NULL);
            if (i % 3)
                skua_acc_nb(at(1, offsetof(struct shared, block)), &one, 8, &sum, &ends);
            else
                skua_put_nb(at(1, offsetof(struct shared, word)), &i, 8, &ends);
            skua_flush_all();
        } else if (skua_pe() == 1) {
            CHECK(skua_notify_wait(&shared_of(1)->notify, i));
            CHECK(atomic_load(&own[2]) == i);
        }
        skua_sync();
    }
}

/* A put that was issued under a lock is visible to the next holder. */
static void test_lock_covers(void)
{
    skua_locks locks;

    CHECK(skua_locks_create(1, &locks) == SKUA_OK);
    for (long i = 0; skua_pe() < 2 && i < times; i++) {
        uint64_t value;
        CHECK(skua_lock(locks, 1, 0));
        CHECK(skua_get(&value, own_at(3), 8) == SKUA_OK);
        value++;
        CHECK(skua_put(own_at(3), &value, 8) == SKUA_OK);
        skua_unlock(locks, 1, 0);
    }
    skua_sync();
    if (skua_pe() == 1)
        CHECK(own[3] == 2 * (uint64_t)times);
    CHECK(skua_locks_destroy(locks) == SKUA_OK);
}

/* ---- regions that cannot be created ---------------------------------------------------- */

static void test_failed_creation(void)
{
    skua_region big = {0}, first = {0}, second = {0};

    if (skua_pe() == 0) {
        CHECK(skua_region_create_local((size_t)40 << 20, &big) == SKUA_OK);
        CHECK(skua_region_create((size_t)40 << 20, &first) == SKUA_ERR_NOMEM);
        CHECK(skua_region_destroy(big) == SKUA_OK);
    }
    skua_sync();
    if (skua_pe() > 0) /* memory would suffice now, but the collective call has failed */
        CHECK(skua_region_create((size_t)40 << 20, &first) == SKUA_ERR_NOMEM);
    CHECK(skua_region_create(64, &second) == SKUA_OK);
    CHECK(skua_region_destroy(second) == SKUA_OK);
    skua_sync();
}

/* Memory is not freed while a put uses it. */
static void test_free_under_puts(void)
{
    static const char buffer[1 << 20];
    skua_region       mine;

    if (skua_pe() == 1) {
        CHECK(skua_region_create_local(sizeof buffer, &mine) == SKUA_OK);
        CHECK(skua_put(at(0, offsetof(struct shared, word)), &mine, sizeof mine) == SKUA_OK);
    }
    skua_sync();
    if (skua_pe() == 0) {
        skua_status status = SKUA_OK;
        memcpy(&mine, shared_of(0)->word, sizeof mine);
        let_go(2);
        for (int i = 0; i < 100 && status == SKUA_OK; i++)
            status = skua_put(skua_at(mine, 1, 0), buffer, sizeof buffer);
        CHECK(status == SKUA_OK || status == SKUA_ERR_REGION);
    } else if (skua_pe() == 1) {
        skua_status status;
        compute_until(2);
        do {
            skua_poll(10);
            status = skua_region_destroy(mine);
        } while (status == SKUA_ERR_BUSY);
        CHECK(status == SKUA_OK);
    }
    skua_sync();
}

/* ---- external threads, and the end of the job -------------------------------------------- */

static void on_twice(const void *args, size_t bytes, skua_completion done)
{
    uint64_t value = 2 * *(const uint64_t *)args;

    CHECK(bytes == 8);
    skua_complete(done, &value, 8);
}

static skua_handler     answer;
static _Atomic uint64_t answered;

static void on_answer(skua_msg *msg)
{
    answered = *(uint64_t *)skua_msg_data(msg);
    skua_msg_free(msg);
}

static void *call_outside(void *arg)
{
    skua_call(1, twice, &(uint64_t){21}, 8, skua_done_send(*(int *)arg, answer));
    return NULL;
}

static bool has_answer(void *arg)
{
    (void)arg;
    return answered == 42;
}

static void test_call_outside(void)
{
    int       me = skua_pe();
    pthread_t thread;

    if (me == 0) {
        CHECK(pthread_create(&thread, NULL, call_outside, &me) == 0);
        CHECK(skua_run_until(has_answer, NULL));
        CHECK(pthread_join(thread, NULL) == 0);
    }
    skua_sync();
}

static pthread_t   waiting, getting;
static atomic_bool over; /* skua_main() has returned */

/* External threads that are inside a call when the job ends return from it. */
static void *wait_outside(void *arg)
{
    CHECK(!skua_notify_wait(arg, UINT32_MAX));
    return NULL;
}

static void *get_outside(void *arg)
{
    uint64_t value;

    (void)arg;
    while (!over && skua_get(&value, skua_at(registered_outside, 1, 0), 8) == SKUA_OK)
        ;
    return NULL;
}

static void leave_threads(void)
{
    if (skua_pe() != 0)
        return;
    registered_outside = regions()->registered;
    CHECK(pthread_create(&waiting, NULL, wait_outside, &shared_of(0)->notify) == 0);
    CHECK(pthread_create(&getting, NULL, get_outside, NULL) == 0);
}

/* ---- the job --------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK(skua_region_create(sizeof(struct shared), &regions()->symmetric) == SKUA_OK);
    memset(shared_of(skua_pe()), 0, sizeof(struct shared));
    skua_sync();
    if (skua_pe() == 1) {
        skua_region registered;
        CHECK(skua_region_create_from(own, sizeof own, &registered) == SKUA_OK);
        for (int pe = 0; pe < skua_pes(); pe++)
            skua_put(at(pe, offsetof(struct shared, word)), &registered, sizeof registered);
    }
    skua_sync();
    memcpy(&regions()->registered, shared_of(skua_pe())->word, sizeof(skua_region));
    test_pool();
    test_not_serialised();
    test_notify_after_put();
    test_lock_covers();
    test_failed_creation();
    test_free_under_puts();
    test_call_outside();
    leave_threads();
    skua_sync();
    if (skua_pe() == skua_pes() - 1)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    int code;

    if (argc > 1)
        times = atol(argv[1]);
    regions_key = skua_pe_data_register(sizeof(struct regions));
    twice       = skua_function_register("twice", on_twice);
    answer      = skua_handler_register("answer", on_answer);
    code        = skua_main(argc, argv, start);
    over        = true;
    if (waiting)
        pthread_join(waiting, NULL);
    if (getting)
        pthread_join(getting, NULL);
    return code;
}
