/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_amo_test.c - the atomics of every type, waits and tests, locks, threads.
 */
#include <pthread.h>
#include <string.h>

#include "shmem_test.h"

static shmem_ctx_t ctx;

/* ---- atomics ------------------------------------------------------------ */

/* All PEs add to a word of PE 0: the fetched values are all different, and their sum is known. */
#define AMO_TEST_STANDARD(NAME, T, ...)                                                            \
    static void amo_test_##NAME(void)                                                              \
    {                                                                                              \
        static T word, own;                                                                        \
        T        old = 0, before;                                                                  \
                                                                                                   \
        word = own = 0;                                                                            \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_atomic_add(&word, 3, 0);                                                    \
        shmem_##NAME##_atomic_inc(&word, 0);                                                       \
        shmem_ctx_##NAME##_atomic_add(ctx, &word, 3, 0);                                           \
        shmem_ctx_##NAME##_atomic_inc(ctx, &word, 0);                                              \
        before = shmem_##NAME##_atomic_fetch_add(&word, 1, 0);                                     \
        CHECK(shmem_##NAME##_atomic_fetch_inc(&word, 0) > before);                                 \
        shmem_##NAME##_atomic_fetch_add_nbi(&old, &word, 1, 0);                                    \
        shmem_##NAME##_atomic_fetch_inc_nbi(&old, &word, 0);                                       \
        shmem_ctx_##NAME##_atomic_fetch_add(ctx, &word, 1, 0);                                     \
        shmem_ctx_##NAME##_atomic_fetch_inc(ctx, &word, 0);                                        \
        shmem_ctx_##NAME##_atomic_fetch_add_nbi(ctx, &old, &word, 1, 0);                           \
        shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ctx, &old, &word, 0);                              \
        shmem_##NAME##_add(&word, 1, 0);                                                           \
        shmem_##NAME##_inc(&word, 0);                                                              \
        shmem_##NAME##_fadd(&word, 1, 0);                                                          \
        shmem_##NAME##_finc(&word, 0);                                                             \
        shmem_ctx_quiet(ctx);                                                                      \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##NAME##_g(&word, 0) == (T)(20 * pes));                                        \
        CHECK(old > before);                                                                       \
        CHECK(shmem_##NAME##_atomic_compare_swap(&own, 0, 5, next) == 0);                          \
        CHECK(shmem_ctx_##NAME##_atomic_compare_swap(ctx, &own, 4, 6, next) == 5);                 \
        shmem_##NAME##_atomic_compare_swap_nbi(&old, &own, 5, 6, next);                            \
        shmem_quiet();                                                                             \
        CHECK(old == 5);                                                                           \
        shmem_ctx_##NAME##_atomic_compare_swap_nbi(ctx, &old, &own, 6, 7, next);                   \
        shmem_ctx_quiet(ctx);                                                                      \
        CHECK(old == 6 && shmem_##NAME##_cswap(&own, 7, 8, next) == 7);                            \
        shmem_barrier_all();                                                                       \
        CHECK(own == 8);                                                                           \
    }
SHMEM_AMO_TYPES(AMO_TEST_STANDARD, )

#define AMO_TEST_EXTENDED(NAME, T, ...)                                                            \
    static void amo_test_extended_##NAME(T *word)                                                  \
    {                                                                                              \
        T old = 0;                                                                                 \
                                                                                                   \
        *word = (T)me;                                                                             \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##NAME##_atomic_fetch(word, next) == (T)next);                                 \
        CHECK(shmem_ctx_##NAME##_atomic_fetch(ctx, word, next) == (T)next);                        \
        shmem_##NAME##_atomic_fetch_nbi(&old, word, next);                                         \
        shmem_quiet();                                                                             \
        CHECK(old == (T)next && shmem_##NAME##_fetch(word, next) == (T)next);                      \
        shmem_ctx_##NAME##_atomic_fetch_nbi(ctx, &old, word, prev);                                \
        shmem_ctx_quiet(ctx);                                                                      \
        CHECK(old == (T)prev);                                                                     \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##NAME##_atomic_swap(word, (T)(me + 100), next) == (T)next);                   \
        CHECK(shmem_ctx_##NAME##_atomic_swap(ctx, word, (T)(me + 90), next) == (T)(me + 100));     \
        shmem_##NAME##_atomic_swap_nbi(&old, word, (T)(me + 80), next);                            \
        shmem_quiet();                                                                             \
        CHECK(old == (T)(me + 90) && shmem_##NAME##_swap(word, 1, next) == (T)(me + 80));          \
        shmem_ctx_##NAME##_atomic_swap_nbi(ctx, &old, word, 2, next);                              \
        shmem_ctx_quiet(ctx);                                                                      \
        CHECK(old == 1);                                                                           \
        shmem_##NAME##_atomic_set(word, 3, next);                                                  \
        shmem_quiet();                                                                             \
        shmem_ctx_##NAME##_atomic_set(ctx, word, 4, next);                                         \
        shmem_ctx_quiet(ctx);                                                                      \
        shmem_##NAME##_set(word, 5, next);                                                         \
        shmem_barrier_all();                                                                       \
        CHECK(*word == 5);                                                                         \
        shmem_barrier_all();                                                                       \
    }
SHMEM_AMO_EXTENDED_TYPES(AMO_TEST_EXTENDED, )

#define AMO_TEST_BITWISE(NAME, T, ...)                                                             \
    static void amo_test_bitwise_##NAME(T *word)                                                   \
    {                                                                                              \
        T old = 0;                                                                                 \
                                                                                                   \
        *word = 12;                                                                                \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_atomic_or(word, 3, next);                                                   \
        shmem_ctx_##NAME##_atomic_or(ctx, word, 16, next);                                         \
        shmem_ctx_quiet(ctx);                                                                      \
        CHECK(shmem_##NAME##_atomic_fetch_or(word, 32, next) == 31);                               \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_or(ctx, word, 0, next) == 63);                       \
        shmem_##NAME##_atomic_fetch_or_nbi(&old, word, 64, next);                                  \
        shmem_ctx_##NAME##_atomic_fetch_or_nbi(ctx, &old, word, 64, next);                         \
        shmem_##NAME##_atomic_and(word, 126, next);                                                \
        shmem_ctx_##NAME##_atomic_and(ctx, word, 126, next);                                       \
        shmem_ctx_quiet(ctx);                                                                      \
        CHECK(shmem_##NAME##_atomic_fetch_and(word, 124, next) == 126);                            \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_and(ctx, word, 124, next) == 124);                   \
        shmem_##NAME##_atomic_fetch_and_nbi(&old, word, 124, next);                                \
        shmem_ctx_##NAME##_atomic_fetch_and_nbi(ctx, &old, word, 124, next);                       \
        shmem_##NAME##_atomic_xor(word, 1, next);                                                  \
        shmem_ctx_##NAME##_atomic_xor(ctx, word, 2, next);                                         \
        shmem_ctx_quiet(ctx);                                                                      \
        CHECK(shmem_##NAME##_atomic_fetch_xor(word, 4, next) == 127);                              \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_xor(ctx, word, 8, next) == 123);                     \
        shmem_##NAME##_atomic_fetch_xor_nbi(&old, word, 16, next);                                 \
        shmem_quiet();                                                                             \
        CHECK(old == 115);                                                                         \
        shmem_ctx_##NAME##_atomic_fetch_xor_nbi(ctx, &old, word, 32, next);                        \
        shmem_ctx_quiet(ctx);                                                                      \
        shmem_barrier_all();                                                                       \
        CHECK(old == 99 && *word == 67);                                                           \
        shmem_barrier_all();                                                                       \
    }
SHMEM_AMO_BITWISE_TYPES(AMO_TEST_BITWISE, )

static void amo_test_generic(unsigned long *word)
{
    unsigned long old;

    *word = 0;
    shmem_barrier_all();
    shmem_atomic_add(word, 2, next);
    shmem_atomic_inc(ctx, word, next);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_atomic_fetch_add(word, 1, next) == 3);
    CHECK(shmem_atomic_fetch_inc(ctx, word, next) == 4);
    shmem_atomic_or(word, 8, next);
    CHECK(shmem_atomic_fetch_and(word, 12, next) == 13);
    shmem_atomic_fetch_xor_nbi(&old, word, 4, next);
    shmem_quiet();
    CHECK(old == 12 && shmem_atomic_fetch(word, next) == 8);
    CHECK(shmem_atomic_compare_swap(word, 8, 9, next) == 8);
    CHECK(shmem_atomic_swap(word, 10, next) == 9);
    shmem_atomic_set(word, 11, next);
    shmem_barrier_all();
    CHECK(*word == 11);
}

void test_amo(void)
{
    void *word = shmem_malloc_with_hints(8, SHMEM_MALLOC_ATOMICS_REMOTE);

    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
#define AMO_TEST_RUN(NAME, T, ...) amo_test_##NAME();
    SHMEM_AMO_TYPES(AMO_TEST_RUN, )
#define AMO_TEST_RUN_EXTENDED(NAME, T, ...) amo_test_extended_##NAME(word);
    SHMEM_AMO_EXTENDED_TYPES(AMO_TEST_RUN_EXTENDED, )
#define AMO_TEST_RUN_BITWISE(NAME, T, ...) amo_test_bitwise_##NAME(word);
    SHMEM_AMO_BITWISE_TYPES(AMO_TEST_RUN_BITWISE, )
    amo_test_generic(word);
    shmem_ctx_destroy(ctx);
    shmem_free(word);
}

/* ---- waits and tests ---------------------------------------------------- */

#define WAIT_TEST_TYPE(NAME, T, ...)                                                               \
    static void wait_test_##NAME(void)                                                             \
    {                                                                                              \
        static T words[4];                                                                         \
        T        values[4]  = {1, 2, 3, 4};                                                        \
        int      status[4]  = {0, 0, 1, 0}; /* the third is excluded */                            \
        size_t   indices[4] = {9, 9, 9, 9};                                                        \
                                                                                                   \
        memset(words, 0, sizeof words);                                                            \
        shmem_barrier_all();                                                                       \
        CHECK(!shmem_##NAME##_test(&words[0], SHMEM_CMP_NE, 0));                                   \
        CHECK(shmem_##NAME##_test_any(words, 4, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX);               \
        CHECK(shmem_##NAME##_test_some(words, 4, indices, NULL, SHMEM_CMP_GT, 0) == 0);            \
        CHECK(!shmem_##NAME##_test_all(words, 4, status, SHMEM_CMP_GT, 0));                        \
        CHECK(shmem_##NAME##_test_all(words, 0, NULL, SHMEM_CMP_GT, 0));                           \
        CHECK(!shmem_##NAME##_test_all_vector(words, 4, status, SHMEM_CMP_EQ, values));            \
        CHECK(shmem_##NAME##_wait_until_any(words, 0, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX);         \
        CHECK(shmem_##NAME##_wait_until_some(words, 0, indices, NULL, SHMEM_CMP_EQ, 1) == 0);      \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p(&words[1], 2, next);                                                      \
        shmem_##NAME##_wait_until(&words[1], SHMEM_CMP_EQ, 2);                                     \
        shmem_##NAME##_wait(&words[1], 0);                                                         \
        CHECK(shmem_##NAME##_wait_until_any(words, 4, status, SHMEM_CMP_NE, 0) == 1);              \
        CHECK(shmem_##NAME##_wait_until_any_vector(words, 4, status, SHMEM_CMP_EQ, values) == 1);  \
        CHECK(shmem_##NAME##_wait_until_some(words, 4, indices, status, SHMEM_CMP_GE, 2) == 1);    \
        CHECK(indices[0] == 1);                                                                    \
        CHECK(shmem_##NAME##_wait_until_some_vector(words, 4, indices, status, SHMEM_CMP_EQ,       \
                                                    values) == 1);                                 \
        CHECK(shmem_##NAME##_test_any_vector(words, 4, status, SHMEM_CMP_EQ, values) == 1);        \
        CHECK(shmem_##NAME##_test_some_vector(words, 4, indices, NULL, SHMEM_CMP_LE, values) ==    \
              4);                                                                                  \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p(&words[0], 1, next);                                                      \
        shmem_##NAME##_p(&words[3], 4, next);                                                      \
        shmem_##NAME##_wait_until_all(words, 4, status, SHMEM_CMP_GT, 0);                          \
        shmem_##NAME##_wait_until_all_vector(words, 4, status, SHMEM_CMP_EQ, values);              \
        CHECK(shmem_##NAME##_test_all_vector(words, 4, status, SHMEM_CMP_EQ, values));             \
        CHECK(shmem_##NAME##_test_some(words, 4, indices, status, SHMEM_CMP_LT, 3) == 2);          \
        CHECK(indices[0] == 0 && indices[1] == 1);                                                 \
        shmem_barrier_all();                                                                       \
    }
SHMEM_SYNC_TYPES(WAIT_TEST_TYPE, )

void test_wait(void)
{
    static long word;

#define WAIT_TEST_RUN(NAME, T, ...) wait_test_##NAME();
    SHMEM_SYNC_TYPES(WAIT_TEST_RUN, )
    shmem_p(&word, 1L, next);
    shmem_wait(&word, 0);
    shmem_wait_until(&word, SHMEM_CMP_EQ, 1);
    CHECK(shmem_test(&word, SHMEM_CMP_EQ, 1) &&
          shmem_test_any(&word, 1, NULL, SHMEM_CMP_EQ, 1) == 0);
    shmem_barrier_all();
}

/* Loops that read a word until a put of another PE arrives; the word is this PE's own. */
void test_polling(void)
{
    static int  fetched, got;
    static long swapped = 1, added;

    shmem_int_p(&fetched, 1, next);
    while (shmem_int_atomic_fetch(&fetched, me) == 0)
        ;
    shmem_int_p(&got, 1, next);
    while (shmem_int_g(&got, me) == 0)
        ;
    shmem_long_p(&swapped, 0, next);
    while (shmem_long_atomic_compare_swap(&swapped, 0, 2, me) != 0)
        ;
    shmem_long_p(&added, 1, next);
    while (shmem_long_atomic_fetch_add(&added, 0, me) == 0)
        ;
    shmem_barrier_all();
}

/* ---- locks, threads ----------------------------------------------------- */

static long lock, locked_sum;

static void lock_test_add(void)
{
    shmem_set_lock(&lock);
    shmem_long_p(&locked_sum, shmem_long_g(&locked_sum, 0) + 1, 0);
    shmem_clear_lock(&lock);
}

void test_locks(void)
{
    int got = 0;

    locked_sum = 0;
    shmem_barrier_all();
    for (int i = 0; i < 20; i++)
        lock_test_add();
    while (got < 5) {
        if (shmem_test_lock(&lock))
            continue;
        shmem_long_p(&locked_sum, shmem_long_g(&locked_sum, 0) + 1, 0);
        shmem_clear_lock(&lock);
        got++;
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&locked_sum, 0) == 25L * pes);
    shmem_barrier_all();
    CHECK(lock == 0); /* a free lock has its initial value */
}

static long thread_words[4], thread_sum;

static void *thread_test_run(void *arg)
{
    long i = (long)(intptr_t)arg;

    for (int round = 0; round < 50; round++)
        shmem_long_atomic_add(&thread_sum, 1, next);
    shmem_long_p(&thread_words[i], i + 1, next);
    shmem_quiet();
    shmem_long_wait_until(&thread_words[i], SHMEM_CMP_EQ, i + 1);
    lock_test_add();
    return NULL;
}

void test_threads(void)
{
    pthread_t thread[4];

    locked_sum = 0;
    shmem_barrier_all();
    for (long i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, thread_test_run, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    shmem_barrier_all();
    CHECK(thread_sum == 200 && shmem_long_g(&locked_sum, 0) == 4L * pes);
    shmem_barrier_all();
}
