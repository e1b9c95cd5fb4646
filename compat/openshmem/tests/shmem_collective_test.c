/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_collective_test.c - teams, contexts of teams, collectives of every type over teams and over
 * active sets, and the memory calls.
 */
#include <complex.h>
#include <string.h>

#include "shmem_test.h"

#define COUNT  6
#define PES    16          /* largest number of PEs of the tests */
#define LENGTH (64 * 1024) /* elements of long collectives       */

static long psync[SHMEM_SYNC_SIZE]; /* zeroed: SHMEM_SYNC_VALUE */

/* ---- collectives of a type over the world ------------------------------- */

#define COLLECTIVE_TEST_TYPE(NAME, T, ...)                                                          \
    static T    collective_##NAME##_to[3 * PES * COUNT], collective_##NAME##_from[2 * PES * COUNT]; \
    static void collective_test_##NAME(shmem_team_t team)                                           \
    {                                                                                               \
        T  *to = collective_##NAME##_to, *from = collective_##NAME##_from;                          \
        int rank = shmem_team_my_pe(team), n = shmem_team_n_pes(team), root = n - 1, before = 0;    \
                                                                                                    \
        for (int i = 0; i < 2 * PES * COUNT; i++)                                                   \
            from[i] = (T)(rank * 3 + i % 50);                                                       \
        shmem_team_sync(team);                                                                      \
        CHECK(shmem_##NAME##_broadcast(team, to, from, COUNT, root) == 0);                          \
        for (int i = 0; i < COUNT; i++)                                                             \
            CHECK(to[i] == (T)(root * 3 + i));                                                      \
        shmem_team_sync(team);                                                                      \
        CHECK(shmem_##NAME##_fcollect(team, to, from, COUNT) == 0);                                 \
        for (int i = 0; i < n * COUNT; i++)                                                         \
            CHECK(to[i] == (T)(i / COUNT * 3 + i % COUNT));                                         \
        shmem_team_sync(team);                                                                      \
        CHECK(shmem_##NAME##_collect(team, to, from, (size_t)(rank % 3)) == 0);                     \
        for (int r = 0; r < n; before += r % 3, r++)                                                \
            for (int i = 0; i < r % 3; i++)                                                         \
                CHECK(to[before + i] == (T)(r * 3 + i));                                            \
        shmem_team_sync(team);                                                                      \
        CHECK(shmem_##NAME##_alltoall(team, to, from, 2) == 0);                                     \
        for (int i = 0; i < 2 * n; i++)                                                             \
            CHECK(to[i] == (T)(i / 2 * 3 + (rank * 2 + i % 2) % 50));                               \
        shmem_team_sync(team);                                                                      \
        CHECK(shmem_##NAME##_alltoalls(team, to, from, 3, 2, 2) == 0);                              \
        for (int i = 0; i < 2 * n; i++)                                                             \
            CHECK(to[3 * i] == (T)(i / 2 * 3 + 2 * (rank * 2 + i % 2) % 50));                       \
        shmem_team_sync(team);                                                                      \
    }
SHMEM_RMA_TYPES(COLLECTIVE_TEST_TYPE, )

/* ---- reductions --------------------------------------------------------- */

static long power(long base, int exponent)
{
    return exponent > 0 ? base * power(base, exponent - 1) : 1;
}

/* Rank r contributes r + 1 or, to the bitwise operators and the product, values of 1 and 3. */
#define REDUCE_TEST_SUM(NAME, T, ...)                                                              \
    static void reduce_test_sum_##NAME(shmem_team_t team)                                          \
    {                                                                                              \
        static T to[COUNT], from[COUNT];                                                           \
        int      rank = shmem_team_my_pe(team), n = shmem_team_n_pes(team);                        \
                                                                                                   \
        for (int i = 0; i < COUNT; i++)                                                            \
            from[i] = (T)(rank + i);                                                               \
        CHECK(shmem_##NAME##_sum_reduce(team, to, from, COUNT) == 0);                              \
        for (int i = 0; i < COUNT; i++)                                                            \
            CHECK(to[i] == (T)(n * (n - 1) / 2 + n * i));                                          \
        for (int i = 0; i < COUNT; i++)                                                            \
            from[i] = 2;                                                                           \
        CHECK(shmem_##NAME##_prod_reduce(team, from, from, COUNT) == 0);                           \
        CHECK(from[0] == (T)power(2, n) || n > 6);                                                 \
        shmem_team_sync(team);                                                                     \
    }
SHMEM_REDUCE_SUM_TYPES(REDUCE_TEST_SUM, )

#define REDUCE_TEST_MINMAX(NAME, T, ...)                                                           \
    static void reduce_test_minmax_##NAME(shmem_team_t team)                                       \
    {                                                                                              \
        static T to[COUNT], from[COUNT];                                                           \
        int      rank = shmem_team_my_pe(team), n = shmem_team_n_pes(team);                        \
                                                                                                   \
        for (int i = 0; i < COUNT; i++)                                                            \
            from[i] = (T)(rank + i + 1);                                                           \
        CHECK(shmem_##NAME##_max_reduce(team, to, from, COUNT) == 0 && to[1] == (T)(n + 1));       \
        shmem_team_sync(team);                                                                     \
        CHECK(shmem_##NAME##_min_reduce(team, to, from, COUNT) == 0 && to[1] == 2);                \
        shmem_team_sync(team);                                                                     \
    }
SHMEM_RMA_TYPES(REDUCE_TEST_MINMAX, )

#define REDUCE_TEST_BITWISE(NAME, T, ...)                                                          \
    static void reduce_test_bitwise_##NAME(shmem_team_t team)                                      \
    {                                                                                              \
        static T to[COUNT], from[COUNT];                                                           \
        int      rank = shmem_team_my_pe(team), n = shmem_team_n_pes(team);                        \
                                                                                                   \
        for (int i = 0; i < COUNT; i++)                                                            \
            from[i] = (T)(rank == 0 ? 3 : 5);                                                      \
        CHECK(shmem_##NAME##_and_reduce(team, to, from, COUNT) == 0 && to[5] == (n > 1 ? 1 : 3));  \
        shmem_team_sync(team);                                                                     \
        CHECK(shmem_##NAME##_or_reduce(team, to, from, COUNT) == 0 && to[5] == (n > 1 ? 7 : 3));   \
        shmem_team_sync(team);                                                                     \
        CHECK(shmem_##NAME##_xor_reduce(team, to, from, COUNT) == 0);                              \
        CHECK(to[5] == (n % 2 ? 3 : 6));                                                           \
        shmem_team_sync(team);                                                                     \
    }
SHMEM_REDUCE_BITWISE_TYPES(REDUCE_TEST_BITWISE, )

/* Tests an active set: PEs 0, 2, 4, ...; the others do not take part. */
#define TO_ALL_TEST(NAME, T, op)                                                                   \
    static void to_all_test_##op##_##NAME(int size, T expected)                                    \
    {                                                                                              \
        static T to[2], from[2], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 2];                          \
                                                                                                   \
        from[0] = from[1] = (T)(me / 2 + 1);                                                       \
        shmem_barrier_all();                                                                       \
        if (me % 2 == 0) {                                                                         \
            shmem_##NAME##_##op##_to_all(to, from, 2, 0, 1, size, work, psync);                    \
            CHECK(to[0] == expected && to[1] == expected);                                         \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
    }
#define TO_ALL_TESTS(op, TYPES, ...) SHMEM_TO_ALL_##TYPES##_TYPES(TO_ALL_TEST, op)
SHMEM_REDUCE_OPERATORS(TO_ALL_TESTS, )

static void to_all_test(void)
{
    int  size = (pes + 1) / 2, and_all = 1, or_all = 0, xor_all = 0;
    long sum = 0, product = 1;

    for (int i = 1; i <= size; i++) {
        and_all = i == 1 ? 1 : and_all & i;
        or_all |= i;
        xor_all ^= i;
        sum += i;
        product *= i;
    }
#define TO_ALL_RUN(NAME, T, op, value) to_all_test_##op##_##NAME(size, (T)(value));
    SHMEM_TO_ALL_BITWISE_TYPES(TO_ALL_RUN, and, and_all)
    SHMEM_TO_ALL_BITWISE_TYPES(TO_ALL_RUN, or, or_all)
    SHMEM_TO_ALL_BITWISE_TYPES(TO_ALL_RUN, xor, xor_all)
    SHMEM_TO_ALL_MINMAX_TYPES(TO_ALL_RUN, max, size)
    SHMEM_TO_ALL_MINMAX_TYPES(TO_ALL_RUN, min, 1)
    SHMEM_TO_ALL_SUM_TYPES(TO_ALL_RUN, sum, sum)
    SHMEM_TO_ALL_SUM_TYPES(TO_ALL_RUN, prod, product)
}

/* ---- other collectives over active sets --------------------------------- */

#define ACTIVE_TEST(BITS, T)                                                                       \
    static void active_test_##BITS(void)                                                           \
    {                                                                                              \
        static T to[3 * PES * 2], from[2 * PES * 2];                                               \
        int      rank = me / 2, n = (pes + 1) / 2;                                                 \
                                                                                                   \
        for (int i = 0; i < 2 * PES * 2; i++)                                                      \
            from[i] = (T)(rank * 100 + i);                                                         \
        memset(to, 0, sizeof to);                                                                  \
        shmem_barrier_all();                                                                       \
        if (me % 2 == 0) {                                                                         \
            shmem_broadcast##BITS(to, from, 2, 0, 0, 1, n, psync);                                 \
            CHECK(to[1] == (rank ? 1 : 0)); /* not at the root */                                  \
            shmem_barrier(0, 1, n, psync);                                                         \
            shmem_collect##BITS(to, from, (size_t)(rank + 1), 0, 1, n, psync);                     \
            CHECK(to[0] == 0 && (n < 2 || to[2] == 101));                                          \
            shmem_sync(0, 1, n, psync);                                                            \
            shmem_fcollect##BITS(to, from, 2, 0, 1, n, psync);                                     \
            CHECK(to[2 * n - 1] == (T)((n - 1) * 100 + 1));                                        \
            shmem_sync(0, 1, n, psync);                                                            \
            shmem_alltoall##BITS(to, from, 1, 0, 1, n, psync);                                     \
            CHECK(to[n - 1] == (T)((n - 1) * 100 + rank));                                         \
            shmem_sync(0, 1, n, psync);                                                            \
            shmem_alltoalls##BITS(to, from, 3, 2, 1, 0, 1, n, psync);                              \
            CHECK(to[3 * (n - 1)] == (T)((n - 1) * 100 + 2 * rank));                               \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
    }
ACTIVE_TEST(32, uint32_t)
ACTIVE_TEST(64, uint64_t)

/* ---- long data, many in a row ------------------------------------------- */

static void long_data_test(void)
{
    long *from = shmem_malloc(LENGTH * sizeof *from), *to = shmem_malloc(LENGTH * sizeof *to);

    CHECK(from && to);
    for (int i = 0; i < LENGTH; i++)
        from[i] = me + i;
    shmem_barrier_all();
    CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, to, from, LENGTH, 0) == 0 &&
          to[LENGTH - 1] == LENGTH - 1);
    shmem_barrier_all();
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, to, from, LENGTH) == 0);
    for (int i = 0; i < LENGTH; i++)
        CHECK(to[i] == (long)pes * (pes - 1) / 2 + (long)pes * i);
    shmem_barrier_all();
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, from, from, LENGTH) == 0);
    CHECK(memcmp(from, to, LENGTH * sizeof *to) == 0);
    shmem_barrier_all();
    shmem_free(from);
    shmem_free(to);
}

/* The root changes without synchronisation in between, so a PE may be far ahead of others. */
static void row_test(void)
{
    static long to[200], from[200];

    for (int i = 0; i < 200; i++)
        from[i] = 1000 * me + i;
    shmem_barrier_all();
    for (int i = 0; i < 200; i++)
        CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, &to[i], &from[i], 1, i % pes) == 0);
    for (int i = 0; i < 200; i++)
        CHECK(to[i] == 1000 * (i % pes) + i);
    for (int i = 0; i < 200; i++)
        shmem_sum_reduce(SHMEM_TEAM_WORLD, &to[i], &from[i], 1);
    for (int i = 0; i < 200; i++)
        CHECK(to[i] == 1000L * pes * (pes - 1) / 2 + (long)pes * i);
    shmem_barrier_all();
}

static void collective_test_all(shmem_team_t team)
{
#define COLLECTIVE_TEST_RUN(NAME, T, ...) collective_test_##NAME(team);
    SHMEM_RMA_TYPES(COLLECTIVE_TEST_RUN, )
#define REDUCE_TEST_RUN_SUM(NAME, T, ...) reduce_test_sum_##NAME(team);
    SHMEM_REDUCE_SUM_TYPES(REDUCE_TEST_RUN_SUM, )
#define REDUCE_TEST_RUN_MINMAX(NAME, T, ...) reduce_test_minmax_##NAME(team);
    SHMEM_RMA_TYPES(REDUCE_TEST_RUN_MINMAX, )
#define REDUCE_TEST_RUN_BITWISE(NAME, T, ...) reduce_test_bitwise_##NAME(team);
    SHMEM_REDUCE_BITWISE_TYPES(REDUCE_TEST_RUN_BITWISE, )
}

/* Broadcasts to two buffers in turn. The root does not wait for the other PEs, which overwrite each
 * buffer before their next call. */
static void broadcast_test_turns(void)
{
    enum { TURN_WORDS = 512, TURNS = 60 };
    static uint64_t to[2][TURN_WORDS], from[TURN_WORDS];

    for (int i = 0; i < TURN_WORDS; i++)
        from[i] = 5;
    shmem_barrier_all();
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t *now = to[turn % 2];

        shmem_broadcast64(now, from, TURN_WORDS, 0, 0, 0, pes, psync);
        for (int i = TURN_WORDS - 1; i >= 0 && me > 0; i--) {
            CHECK(now[i] == 5);
            now[i] = 0;
        }
    }
    shmem_barrier_all();
}

void test_collectives(void)
{
    static char bytes[PES], byte;

    collective_test_all(SHMEM_TEAM_WORLD);
    byte = (char)me;
    shmem_sync_all();
    CHECK(shmem_fcollectmem(SHMEM_TEAM_WORLD, bytes, &byte, 1) == 0 && bytes[pes - 1] == pes - 1);
    shmem_sync_all();
    CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, &byte, &bytes[pes - 1], 1, 0) == 0);
    CHECK(byte == pes - 1);
    shmem_sync(SHMEM_TEAM_WORLD);
    to_all_test();
    active_test_32();
    active_test_64();
    broadcast_test_turns();
    long_data_test();
    row_test();
    CHECK(shmem_broadcast(SHMEM_TEAM_INVALID, bytes, bytes, 1, 0) != 0);
    CHECK(shmem_sum_reduce(SHMEM_TEAM_INVALID, bytes, bytes, 1) != 0);
}

/* ---- teams -------------------------------------------------------------- */

static void team_test_context(shmem_team_t team)
{
    static long  word;
    shmem_ctx_t  in_team;
    shmem_team_t back;
    int          rank = shmem_team_my_pe(team), n = shmem_team_n_pes(team);

    word = -1;
    CHECK(shmem_team_create_ctx(team, 0, &in_team) == 0);
    CHECK(shmem_ctx_get_team(in_team, &back) == 0 && back == team);
    shmem_team_sync(team);
    shmem_p(in_team, &word, (long)rank, (rank + 1) % n);
    shmem_ctx_fence(in_team);
    shmem_ctx_quiet(in_team);
    shmem_team_sync(team);
    CHECK(word == (rank + n - 1) % n);
    shmem_team_sync(team);
    if (rank % 2 == 0)
        shmem_ctx_destroy(in_team); /* the team destroys the others */
}

static void team_test_split(int start, int stride, int size)
{
    shmem_team_config_t config = {.num_contexts = 2}, got = {0};
    shmem_team_t        team;

    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    if (team != SHMEM_TEAM_INVALID) {
        int rank = shmem_team_my_pe(team);

        CHECK(start + stride * rank == me && shmem_team_n_pes(team) == size);
        CHECK(shmem_team_translate_pe(team, rank, SHMEM_TEAM_WORLD) == me);
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, me, team) == rank);
        CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
        CHECK(got.num_contexts == 2);
        collective_test_all(team);
        team_test_context(team);
    }
    shmem_team_destroy(team);
}

static void team_test_2d(void)
{
    shmem_team_t x, y;
    int          range = pes > 2 ? 3 : 1;

    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, range, NULL, 0, &x, NULL, 0, &y) == 0);
    CHECK(shmem_team_my_pe(x) == me % range && shmem_team_my_pe(y) == me / range);
    CHECK(shmem_team_translate_pe(x, 0, SHMEM_TEAM_WORLD) == me / range * range);
    collective_test_int(x);
    collective_test_int(y);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

/* Teams that follow each other in one slot have other members, which have made different numbers of
 * calls. Members run ahead of each other as far as the calls let them. */
static void team_test_reuse(int start, int size, int calls)
{
    static long  from[2], to[2];
    shmem_team_t team;

    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &team) == 0);
    for (int i = 0; team != SHMEM_TEAM_INVALID && i < calls; i++) {
        from[0] = me - start + i;
        from[1] = -i;
        shmem_sum_reduce(team, to, from, 2);
        CHECK(to[0] == (long)size * (size - 1) / 2 + (long)size * i && to[1] == (long)-size * i);
        if (i % 3 == 0)
            shmem_team_sync(team);
    }
    shmem_team_destroy(team);
}

void test_teams(void)
{
    shmem_team_t team   = SHMEM_TEAM_WORLD;
    int          shared = shmem_team_n_pes(SHMEM_TEAM_SHARED);

    CHECK(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1);
    for (int i = 0; i < shared; i++)
        CHECK(shmem_ptr(psync, shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD)));
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes + 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    team_test_split(0, 2, (pes + 1) / 2);
    team_test_split(pes - 1, -1, pes);
    team_test_2d();
    for (int i = 0; i < 6; i++)
        team_test_reuse(i % pes, pes - i % pes, 7 * (6 - i));
    for (int i = 0; i < 300; i++) { /* more than there are slots at a time */
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team) == 0);
        shmem_team_destroy(team);
    }
}

/* ---- memory ------------------------------------------------------------- */

void test_memory(void)
{
    char *a = shmem_malloc(100), *b = shmem_calloc(10, 10), *c = shmem_align(4096, 1), *d;

    CHECK(a && b && c && (uintptr_t)c % 4096 == 0);
    for (int i = 0; i < 100; i++)
        CHECK(b[i] == 0);
    a[99] = 5;
    CHECK(shmem_malloc(0) == NULL && shmem_malloc(SIZE_MAX) == NULL);
    CHECK(shmem_calloc(SIZE_MAX, 2) == NULL && shmem_malloc((size_t)1 << 50) == NULL);
    d = shmem_realloc(a, 100000);
    CHECK(d && d[99] == 5 && shmem_realloc(d, (size_t)1 << 50) == NULL);
    shmem_free(b);
    shmem_free(c);
    d = shmem_realloc(d, 10);
    shmem_free(d);
    shmem_free(NULL);
    a = shmalloc(8);
    a = shrealloc(a, 16);
    shfree(a);
    a = shmemalign(128, 8);
    CHECK(a && (uintptr_t)a % 128 == 0);
    shfree(a);
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(psync);
    shmem_clear_cache_inv();
    shmem_clear_cache_line_inv(psync);
    shmem_udcflush();
    shmem_udcflush_line(psync);
    shmem_fence();
}
