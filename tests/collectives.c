/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.c - broadcasts from every root, reductions with every operator
 * and type, several in flight, barriers, and completions of every kind.
 */
#include <math.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

static skua_handler said_handler, result_handler;
static skua_op      concat_op;
static skua_pe_data mine_key;

struct mine {
    int said[64]; /* broadcasts received, by root        */
    int urgent;   /* broadcasts received with a priority */
    int results;  /* completions received as messages    */
};

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

/* ---- broadcast -------------------------------------------------------------- */

static void on_said(skua_msg *msg)
{
    unsigned char *data = skua_msg_data(msg);

    for (size_t i = 0; i < skua_msg_size(msg); i++)
        CHECK(data[i] == (unsigned char)(skua_msg_source(msg) + (int)i));
    memset(data, 0, skua_msg_size(msg)); /* this PE owns it */
    mine()->said[skua_msg_source(msg)]++;
    skua_msg_free(msg);
}

static void say(size_t bytes, int priority, skua_completion done)
{
    static const uint32_t word = 0x20000000;
    skua_msg             *msg  = skua_msg_alloc_bits(bytes, 32);
    unsigned char        *data = skua_msg_data(msg);

    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(skua_pe() + (int)i);
    if (priority == 1)
        skua_msg_set_priority(msg, -1);
    if (priority == 2)
        skua_msg_set_priority_bits(msg, &word, 32);
    skua_broadcast(said_handler, msg, done);
}

static void test_broadcast(void)
{
    static const size_t sizes[] = {0, 5, 40, 1000, 100003};
    skua_counter        counter = SKUA_COUNTER_INIT;
    int                 n       = (int)(sizeof sizes / sizeof *sizes);

    for (int i = 0; i < n; i++)
        say(sizes[i], i % 3, skua_done_count(&counter));
    CHECK(skua_counter_wait(&counter, n)); /* all handlers have run on all PEs */
    say(10, 0, skua_done_nothing());
    wait_barrier();
    while (mine()->said[(skua_pe() + 1) % skua_pes()] < n + 1 || mine()->said[skua_pe()] < n + 1)
        skua_run_count(1);
    for (int root = 0; root < skua_pes(); root++)
        while (mine()->said[root] < n + 1)
            skua_run_count(1);
}

/* ---- reductions -------------------------------------------------------------- */

/* Calls an allreduce, waits for it and returns the result. */
static void all(skua_op op, skua_type type, const void *data, size_t count, void *result,
                size_t bytes)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_allreduce(op, type, data, count, skua_done_future(&future));
    future_take(&future, result, bytes);
}

#define TEST_TYPE(ctype, type)                                                                     \
    do {                                                                                           \
        ctype mine_[3] = {(ctype)(skua_pe() + 1), 1, (ctype)(skua_pe() % 2)}, got[3];              \
        int   p        = skua_pes();                                                               \
        all(SKUA_SUM, type, mine_, 3, got, sizeof got);                                            \
        CHECK(got[0] == (ctype)(p * (p + 1) / 2) && got[1] == (ctype)p);                           \
        all(SKUA_MIN, type, mine_, 3, got, sizeof got);                                            \
        CHECK(got[0] == 1 && got[2] == 0);                                                         \
        all(SKUA_MAX, type, mine_, 3, got, sizeof got);                                            \
        CHECK(got[0] == (ctype)p && got[2] == (ctype)(p > 1));                                     \
        mine_[0] = 2;                                                                              \
        all(SKUA_PRODUCT, type, mine_, 1, got, sizeof *got);                                       \
        CHECK(got[0] == (ctype)(1 << p));                                                          \
        all(SKUA_LOGICAL_AND, type, mine_, 3, got, sizeof got);                                    \
        CHECK(got[0] == 1 && got[1] == 1 && got[2] == 0);                                          \
        all(SKUA_LOGICAL_OR, type, mine_, 3, got, sizeof got);                                     \
        CHECK(got[0] == 1 && got[2] == (ctype)(p > 1));                                            \
        all(SKUA_LOGICAL_XOR, type, mine_, 3, got, sizeof got);                                    \
        CHECK(got[0] == (ctype)(p % 2) && got[2] == (ctype)(p / 2 % 2));                           \
    } while (0)

static void test_types(void)
{
    int64_t bits[2] = {1 << skua_pe(), ~(1 << skua_pe())}, both[2];
    int32_t big     = INT32_MAX;
    int32_t wrapped;

    TEST_TYPE(int32_t, SKUA_INT32);
    TEST_TYPE(int64_t, SKUA_INT64);
    TEST_TYPE(uint32_t, SKUA_UINT32);
    TEST_TYPE(uint64_t, SKUA_UINT64);
    TEST_TYPE(float, SKUA_FLOAT);
    TEST_TYPE(double, SKUA_DOUBLE);
    all(SKUA_BIT_OR, SKUA_INT64, bits, 2, both, sizeof both);
    CHECK(both[0] == (1 << skua_pes()) - 1);
    all(SKUA_BIT_XOR, SKUA_INT64, bits, 1, both, sizeof *both);
    CHECK(both[0] == (1 << skua_pes()) - 1);
    all(SKUA_BIT_AND, SKUA_INT64, bits, 2, both, sizeof both);
    CHECK(both[1] == ~(int64_t)((1 << skua_pes()) - 1));
    all(SKUA_SUM, SKUA_INT32, &big, 1, &wrapped, sizeof wrapped); /* wraps around */
    CHECK((uint32_t)wrapped == (uint32_t)INT32_MAX * (uint32_t)skua_pes());
}

/* An operator on blocks of {value, PE} that selects the block with the largest value. */
static void largest(void *into, const void *from, size_t count, skua_type type)
{
    CHECK(count == 2 * sizeof(double) && type == SKUA_BYTE);
    if (((const double *)from)[0] > ((const double *)into)[0])
        memcpy(into, from, count);
}

static void test_own_operator(void)
{
    double block[2] = {sin(skua_pe()) + 2, skua_pe()}, got[2];

    all(concat_op, SKUA_BYTE, block, sizeof block, got, sizeof got);
    CHECK(got[0] == sin(got[1]) + 2);
    for (int pe = 0; pe < skua_pes(); pe++)
        CHECK(got[0] >= sin(pe) + 2);
}

/* Sums of floating-point numbers are reproducible to the last bit. */
static void test_repeats(uint64_t seed)
{
    double values[100], first[100], again[100];

    for (int i = 0; i < 100; i++)
        values[i] = (double)tap_random(&seed) / 1e3;
    all(SKUA_SUM, SKUA_DOUBLE, values, 100, first, sizeof first);
    for (int i = 0; i < 20; i++) {
        all(SKUA_SUM, SKUA_DOUBLE, values, 100, again, sizeof again);
        CHECK(memcmp(first, again, sizeof first) == 0);
    }
}

struct expected {
    int64_t      sum;
    skua_counter counter;
};

static void compare(void *arg, const void *data, size_t bytes)
{
    struct expected *e = arg;

    CHECK(bytes == sizeof(int64_t) && *(const int64_t *)data == e->sum);
    e->counter.value++;
}

static void on_result(skua_msg *msg)
{
    int64_t p = skua_pes();

    CHECK(*(int64_t *)skua_msg_data(msg) == p * (p - 1) / 2);
    CHECK(skua_msg_size(msg) == sizeof(int64_t));
    mine()->results++;
    skua_msg_free(msg);
}

/* Many reductions at once, to every root in turn; results go to a function, and to a handler on a
 * PE that is not the root. */
static void test_in_flight(void)
{
    enum { ROUNDS = 50 };
    int64_t         p = skua_pes();
    struct expected e[ROUNDS];
    int64_t         pe = skua_pe();

    for (int i = 0; i < ROUNDS; i++) {
        int64_t value = pe * i;
        int     root  = i % skua_pes();
        e[i]          = (struct expected){.sum = p * (p - 1) / 2 * i};
        skua_reduce(root, SKUA_SUM, SKUA_INT64, &value, 1, skua_done_call(compare, &e[i]));
    }
    for (int i = 0; i < ROUNDS; i++)
        while (i % skua_pes() == skua_pe() && e[i].counter.value == 0)
            skua_run_count(1);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(e[i].counter.value == (i % skua_pes() == skua_pe()));
    skua_reduce(0, SKUA_SUM, SKUA_INT64, &pe, 1, skua_done_send(skua_pes() - 1, result_handler));
    while (skua_pe() == skua_pes() - 1 && mine()->results == 0)
        skua_run_count(1);
}

static void test_large(void)
{
    enum { N = 100000 };
    double *values = malloc(N * sizeof *values), *sum = malloc(N * sizeof *sum);

    for (int i = 0; i < N; i++)
        values[i] = i;
    all(SKUA_SUM, SKUA_DOUBLE, values, N, sum, N * sizeof *sum);
    for (int i = 0; i < N; i++)
        CHECK(sum[i] == (double)i * skua_pes());
    free(values);
    free(sum);
}

/* A user thread can wait, too. */
static void in_thread(void *arg)
{
    for (int i = 0; i < 10; i++)
        wait_barrier();
    test_repeats((uint64_t)skua_pe() + 7);
    *(bool *)arg = true;
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    bool         done = false;
    skua_thread *thread;

    (void)argc, (void)argv;
    for (int i = 0; i < 20; i++)
        wait_barrier();
    test_broadcast();
    test_types();
    test_own_operator();
    test_repeats(test_seed + (uint64_t)skua_pe());
    test_in_flight();
    test_large();
    thread = skua_thread_create(in_thread, &done, 0);
    skua_thread_join(thread);
    CHECK(done);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    test_seed      = tap_seed();
    said_handler   = skua_handler_register("said", on_said);
    result_handler = skua_handler_register("result", on_result);
    concat_op      = skua_op_register("largest", largest);
    mine_key       = skua_pe_data_register(sizeof(struct mine));
    return skua_main(argc, argv, start);
}
