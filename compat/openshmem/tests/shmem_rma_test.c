/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_rma_test.c - put and get of every type and size, contiguous and strided, blocking and not,
 * with signals and contexts, to the heap and to variables.
 */
#include <string.h>

#include "shmem_test.h"

#define COUNT 24

static uint64_t    signal_word;
static shmem_ctx_t ctx;

/* Returns values that differ by PE and index and that every type can hold. */
#define VALUE(T, pe, i) ((T)((pe)*5 + (i) + 1))

#define FILL(T, at, pe)                                                                            \
    for (int i = 0; i < COUNT; i++)                                                                \
        (at)[i] = VALUE(T, pe, i);

#define CHECK_ALL(T, at, pe)                                                                       \
    for (int i = 0; i < COUNT; i++)                                                                \
        CHECK((at)[i] == VALUE(T, pe, i));

/* PE `prev` writes its values to the symmetric `to`. */
#define ROUND(T, to, call)                                                                         \
    memset(to, 0, COUNT * sizeof(T));                                                              \
    shmem_barrier_all();                                                                           \
    call;                                                                                          \
    shmem_barrier_all();                                                                           \
    CHECK_ALL(T, to, prev)

#define RMA_TEST_TYPE(NAME, T, ...)                                                                \
    static T    rma_##NAME##_variable[COUNT];                                                      \
    static void rma_test_put_##NAME(T *to, const T *from)                                          \
    {                                                                                              \
        ROUND(T, to, shmem_##NAME##_put(to, from, COUNT, next))                                    \
        ROUND(T, to, shmem_##NAME##_put_nbi(to, from, COUNT, next))                                \
        ROUND(T, to, shmem_ctx_##NAME##_put(ctx, to, from, COUNT, next); shmem_ctx_quiet(ctx))     \
        ROUND(T, to, shmem_ctx_##NAME##_put_nbi(ctx, to, from, COUNT, next); shmem_ctx_quiet(ctx)) \
        ROUND(T, to, shmem_##NAME##_iput(to, from, 1, 1, COUNT, next))                             \
        ROUND(T, to, shmem_##NAME##_iput(to, from, 2, 2, COUNT / 2, next);                         \
              shmem_ctx_##NAME##_iput(ctx, to + 1, from + 1, 2, 2, COUNT / 2, next);               \
              shmem_ctx_quiet(ctx))                                                                \
        ROUND(                                                                                     \
            T, to, for (int i = 0; i < COUNT; i += 2) {                                            \
                shmem_##NAME##_p(to + i, from[i], next);                                           \
                shmem_ctx_##NAME##_p(ctx, to + i + 1, from[i + 1], next);                          \
            } shmem_ctx_quiet(ctx))                                                                \
    }                                                                                              \
    static void rma_test_signal_##NAME(T *to, const T *from)                                       \
    {                                                                                              \
        ROUND(T, to, signal_word = 0; shmem_barrier_all();                                         \
              shmem_##NAME##_put_signal(to, from, COUNT, &signal_word, 3, SHMEM_SIGNAL_SET, next); \
              CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 3) == 3))                  \
        ROUND(T, to,                                                                               \
              shmem_##NAME##_put_signal_nbi(to, from, COUNT, &signal_word, 2, SHMEM_SIGNAL_ADD,    \
                                            next);                                                 \
              shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, 5);                              \
              CHECK(shmem_signal_fetch(&signal_word) == 5))                                        \
        ROUND(T, to,                                                                               \
              shmem_ctx_##NAME##_put_signal(ctx, to, from, COUNT, &signal_word, 9,                 \
                                            SHMEM_SIGNAL_SET, next);                               \
              shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 9))                              \
        ROUND(T, to,                                                                               \
              shmem_ctx_##NAME##_put_signal_nbi(ctx, to, from, COUNT, &signal_word, 1,             \
                                                SHMEM_SIGNAL_ADD, next);                           \
              shmem_signal_wait_until(&signal_word, SHMEM_CMP_GT, 9))                              \
    }                                                                                              \
    static void rma_test_get_##NAME(T *at, T *to)                                                  \
    {                                                                                              \
        FILL(T, at, me)                                                                            \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_get(to, at, COUNT, next);                                                   \
        CHECK_ALL(T, to, next)                                                                     \
        shmem_##NAME##_get_nbi(to, at, COUNT, prev);                                               \
        shmem_quiet();                                                                             \
        CHECK_ALL(T, to, prev)                                                                     \
        shmem_ctx_##NAME##_get(ctx, to, at, COUNT, next);                                          \
        CHECK_ALL(T, to, next)                                                                     \
        shmem_ctx_##NAME##_get_nbi(ctx, to, at, COUNT, prev);                                      \
        shmem_ctx_quiet(ctx);                                                                      \
        CHECK_ALL(T, to, prev)                                                                     \
        memset(to, 0, COUNT * sizeof(T));                                                          \
        shmem_##NAME##_iget(to, at, 2, 2, COUNT / 2, next);                                        \
        shmem_ctx_##NAME##_iget(ctx, to + 1, at + 1, 2, 2, COUNT / 2, next);                       \
        CHECK_ALL(T, to, next)                                                                     \
        CHECK(shmem_##NAME##_g(at + 3, next) == VALUE(T, next, 3));                                \
        CHECK(shmem_ctx_##NAME##_g(ctx, at + 4, prev) == VALUE(T, prev, 4));                       \
        shmem_barrier_all();                                                                       \
    }                                                                                              \
    static void rma_test_##NAME(void *heap)                                                        \
    {                                                                                              \
        T from[COUNT], to[COUNT];                                                                  \
                                                                                                   \
        FILL(T, from, me)                                                                          \
        rma_test_put_##NAME(heap, from);                                                           \
        rma_test_put_##NAME(rma_##NAME##_variable, from);                                          \
        rma_test_signal_##NAME(heap, from);                                                        \
        rma_test_get_##NAME(heap, to);                                                             \
        rma_test_get_##NAME(rma_##NAME##_variable, to);                                            \
    }
SHMEM_RMA_TYPES(RMA_TEST_TYPE, )

/* ---- by size, and generic ----------------------------------------------- */

static void rma_test_bytes(unsigned char *at, unsigned char add)
{
    for (int i = 0; i < 16 * COUNT; i++)
        CHECK(at[i] == (unsigned char)(i + prev + add));
    memset(at, 0, 16 * COUNT);
    shmem_barrier_all();
}

#define RMA_TEST_SIZE(BITS, ...)                                                                   \
    static void rma_test_size_##BITS(unsigned char *at)                                            \
    {                                                                                              \
        unsigned char from[16 * COUNT];                                                            \
        const size_t  n = 16 * COUNT / (BITS / 8);                                                 \
                                                                                                   \
        for (int i = 0; i < 16 * COUNT; i++)                                                       \
            from[i] = (unsigned char)(i + me);                                                     \
        shmem_barrier_all();                                                                       \
        shmem_put##BITS(at, from, n, next);                                                        \
        shmem_barrier_all();                                                                       \
        rma_test_bytes(at, 0);                                                                     \
        shmem_ctx_put##BITS##_nbi(ctx, at, from, n, next);                                         \
        shmem_ctx_quiet(ctx);                                                                      \
        shmem_barrier_all();                                                                       \
        rma_test_bytes(at, 0);                                                                     \
        shmem_iput##BITS(at, from, 2, 2, n / 2, next);                                             \
        shmem_ctx_iput##BITS(ctx, at + BITS / 8, from + BITS / 8, 2, 2, n / 2, next);              \
        shmem_ctx_quiet(ctx);                                                                      \
        shmem_barrier_all();                                                                       \
        rma_test_bytes(at, 0);                                                                     \
        shmem_put##BITS##_signal(at, from, n, &signal_word, 1, SHMEM_SIGNAL_ADD, next);            \
        shmem_barrier_all();                                                                       \
        rma_test_bytes(at, 0);                                                                     \
        memcpy(at, from, sizeof from);                                                             \
        shmem_barrier_all();                                                                       \
        shmem_get##BITS(from, at, n, prev);                                                        \
        shmem_iget##BITS(from, at, 1, 1, n, prev);                                                 \
        shmem_get##BITS##_nbi(from, at, n, prev);                                                  \
        shmem_quiet();                                                                             \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < 16 * COUNT; i++)                                                       \
            CHECK(from[i] == (unsigned char)(i + prev));                                           \
    }
SHMEM_SIZES(RMA_TEST_SIZE, )

static void rma_test_generic(long *at)
{
    long   value  = me;
    double number = 0;

    static double variable;

    shmem_put(at, &value, 1, next);
    shmem_put(SHMEM_CTX_DEFAULT, at + 1, &value, 1, next);
    shmem_p(at + 2, value, next);
    shmem_p(ctx, at + 3, value, next);
    shmem_iput(at + 4, &value, 1, 1, 1, next);
    shmem_put_nbi(at + 5, &value, 1, next);
    shmem_put_signal(at + 6, &value, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_putmem(at + 7, &value, sizeof value, next);
    shmem_p(&variable, 0.5 + me, next);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < 8; i++)
        CHECK(at[i] == prev);
    CHECK(shmem_g(at, next) == me && shmem_g(ctx, at, next) == me);
    shmem_get(&number, &variable, 1, next);
    CHECK(number == 0.5 + me);
    shmem_barrier_all();
}

#define LARGE ((size_t)1 << 20)

static unsigned char rma_large_variable[LARGE / 2];

static unsigned char rma_large_byte(int pe, size_t i)
{
    return (unsigned char)((size_t)pe + 1 + i * 131 + (i >> 8));
}

/* Checks bytes @p first to @p last of a large transfer, which have the values of @p pe. */
static void rma_test_large_bytes(const unsigned char *at, size_t first, size_t last, int pe)
{
    for (size_t i = first; i < last; i++)
        CHECK(at[i] == rma_large_byte(pe, i));
}

/* Tests that large transfers between addresses that are not aligned, and differently so, write all
 * bytes and none beside them. */
static void rma_test_large(unsigned char *at, size_t bytes)
{
    const size_t   n    = bytes - 9;
    unsigned char *from = malloc(bytes);

    CHECK(from);
    for (size_t i = 0; i < n; i++)
        from[5 + i] = rma_large_byte(me, i);
    memset(at, 0, bytes);
    shmem_barrier_all();
    shmem_putmem(at + 3, from + 5, n, next);
    shmem_barrier_all();
    rma_test_large_bytes(at + 3, 0, n, prev);
    CHECK(at[2] == 0 && at[3 + n] == 0);
    memset(from, 0, bytes);
    shmem_getmem(from + 1, at + 3, n, next);
    rma_test_large_bytes(from + 1, 0, n, me);
    CHECK(from[0] == 0 && from[1 + n] == 0);
    shmem_getmem_nbi(from, at + 3, n / 2, prev);
    shmem_quiet();
    rma_test_large_bytes(from, 0, n / 2, (prev + pes - 1) % pes);
    shmem_barrier_all();
    shmem_putmem_nbi(at + 3 + n / 2, from + 1 + n / 2, n - n / 2, prev);
    shmem_barrier_all();
    rma_test_large_bytes(at + 3, 0, n / 2, prev);
    rma_test_large_bytes(at + 3, n / 2, n, next);
    free(from);
}

/* Tests large transfers, and transfers of 0 bytes, which may have any address. */
static void rma_test_extremes(void)
{
    unsigned char *at = shmem_malloc(LARGE);
    int            local;

    CHECK(at);
    rma_test_large(at, LARGE);
    rma_test_large(rma_large_variable, sizeof rma_large_variable);
    shmem_putmem(&local, &local, 0, next);
    shmem_getmem(&local, NULL, 0, next);
    CHECK(shmem_addr_accessible(at, next) && !shmem_addr_accessible(&local, next));
    CHECK(shmem_pe_accessible(next) && !shmem_pe_accessible(pes));
    CHECK(shmem_ptr(at, me) == at && shmem_ptr(&local, me) == NULL);
    shmem_free(at);
}

void test_rma(void)
{
    void *heap = shmem_malloc(COUNT * 16);

    CHECK(heap && shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
#define RMA_TEST_RUN(NAME, T, ...) rma_test_##NAME(heap);
    SHMEM_RMA_TYPES(RMA_TEST_RUN, )
#define RMA_TEST_RUN_SIZE(BITS, ...) rma_test_size_##BITS(heap);
    SHMEM_SIZES(RMA_TEST_RUN_SIZE, )
    rma_test_generic(heap);
    rma_test_extremes();
    shmem_ctx_destroy(ctx);
    shmem_free(heap);
}
