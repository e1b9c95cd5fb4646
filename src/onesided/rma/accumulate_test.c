/* SPDX-License-Identifier: Apache-2.0 */
/* accumulate_test.c - the functions of accumulate against plain C, and the sets of stripes. */
#include "onesided/rma/accumulate_list.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>

#include "tests/onesided_pe.h"

static ski_accumulate_fn accumulate_select(skua_op op, skua_type type, const void *scale,
                                           size_t *element)
{
    const skua_update how = {op, type, scale};

    return ski_accumulate_function(&how, element);
}

#define N 37

#define COMPARE(type_id, ctype, op_id, factor, expression)                                         \
    do {                                                                                           \
        ctype             to[N], from[N], want[N];                                                 \
        const ctype       scale = factor;                                                          \
        size_t            element;                                                                 \
        ski_accumulate_fn fn =                                                                     \
            accumulate_select(op_id, type_id, factor == 1 ? NULL : &scale, &element);              \
        bool good;                                                                                 \
        for (int i = 0; i < N; i++) {                                                              \
            ctype a = to[i] = (ctype)(3 * i + 1), b = from[i] = (ctype)(100 - 5 * i);              \
            want[i] = (ctype)(expression);                                                         \
        }                                                                                          \
        good = fn && element == sizeof(ctype);                                                     \
        if (good)                                                                                  \
            fn(to, from, N, factor == 1 ? NULL : &scale);                                          \
        for (int i = 0; good && i < N; i++)                                                        \
            good = to[i] == want[i];                                                               \
        OK(good, #op_id " of " #ctype ", factor " #factor);                                        \
    } while (0)

static void accumulate_arithmetic(void)
{
    COMPARE(SKUA_INT32, int32_t, SKUA_SUM, 1, a + b);
    COMPARE(SKUA_INT64, int64_t, SKUA_SUM, 3, a + scale * b);
    COMPARE(SKUA_DOUBLE, double, SKUA_SUM, 2, a + scale * b);
    COMPARE(SKUA_COMPLEX_DOUBLE, double complex, SKUA_SUM, 2, a + scale * b);
    COMPARE(SKUA_FLOAT, float, SKUA_MIN, 1, b < a ? b : a);
    COMPARE(SKUA_UINT32, uint32_t, SKUA_MIN, 1, b < a ? b : a);
    COMPARE(SKUA_UINT64, uint64_t, SKUA_MAX, 1, a < b ? b : a);
    COMPARE(SKUA_INT32, uint32_t, SKUA_BIT_AND, 1, a & b);
    COMPARE(SKUA_INT64, uint64_t, SKUA_BIT_XOR, 1, a ^ b);
}

/* A factor with an imaginary part, of numbers that have one: real and imaginary parts mix. */
static bool accumulate_imaginary(void)
{
    const double complex scale = 2 - 3 * I;
    double complex       to[N], from[N], want[N];
    size_t               element = 0;
    ski_accumulate_fn    fn   = accumulate_select(SKUA_SUM, SKUA_COMPLEX_DOUBLE, &scale, &element);
    bool                 good = fn && element == sizeof(double complex);

    for (int i = 0; i < N; i++) {
        double x = i;

        to[i]   = x - 2 * x * I;
        from[i] = 5 + x * I;
        want[i] = 4 * x + 10 - 15 * I;
    }
    if (good)
        fn(to, from, N, &scale);
    for (int i = 0; good && i < N; i++)
        good = to[i] == want[i];
    return good;
}

/* Without a factor nothing is multiplied: 0 times an infinity is not a number. */
static bool accumulate_infinite(void)
{
    double            to[2] = {1, 2}, from[2] = {3, INFINITY};
    size_t            element;
    ski_accumulate_fn fn = accumulate_select(SKUA_SUM, SKUA_COMPLEX_DOUBLE, NULL, &element);

    if (fn)
        fn(to, from, 1, NULL);
    return fn && to[0] == 4 && to[1] == INFINITY;
}

static bool accumulate_imaginary_float(void)
{
    const float complex scale = I;
    float complex       to[N], from[N];
    size_t              element = 0;
    ski_accumulate_fn   fn      = accumulate_select(SKUA_SUM, SKUA_COMPLEX_FLOAT, &scale, &element);
    bool                good    = fn && element == sizeof(float complex);

    for (int i = 0; i < N; i++) {
        to[i]   = 0;
        from[i] = (float)i + 7 * I;
    }
    if (good)
        fn(to, from, N, &scale);
    for (int i = 0; good && i < N; i++)
        good = to[i] == -7 + (float)i * I;
    return good;
}

static void accumulate_none(void)
{
    size_t element;
    double scale = 2;

    OK(!accumulate_select(SKUA_MIN, SKUA_DOUBLE, &scale, &element), "only sums have a factor");
    OK(!accumulate_select(SKUA_BIT_OR, SKUA_DOUBLE, NULL, &element),
       "no bitwise operators of doubles");
    OK(!accumulate_select(SKUA_SUM, SKUA_BYTE, NULL, &element), "no arithmetic of bytes");
    OK(!accumulate_select((skua_op)12345, SKUA_DOUBLE, NULL, &element), "no unknown operators");
}

/* Blocks that cross stripes are accumulated completely, in one stripe after the other. */
static bool accumulate_covers_stripes(void)
{
    static double          from[3 << 13];
    double                *to      = calloc(3 << 13, sizeof *to);
    size_t                 element = 8;
    ski_accumulate_fn      fn      = accumulate_select(SKUA_SUM, SKUA_DOUBLE, NULL, &element);
    struct ski_stripe_lock lock    = {NULL};
    struct ski_stripe_set  set;
    bool                   good = true;

    for (int i = 0; i < 3 << 13; i++)
        from[i] = i;
    ski_accumulate_contiguous(&lock, -1, (char *)to, (char *)from, sizeof from, fn, element, NULL);
    ski_stripe_lock_release(&lock);
    ski_stripe_set_begin(&set);
    ski_accumulate_scattered(&set, -1, (char *)to, (char *)from, sizeof from, fn, element, NULL);
    ski_stripe_set_release(&set);
    for (int i = 0; i < 3 << 13; i++)
        good &= to[i] == 2.0 * i;
    for (int i = 0; i < SKI_STRIPES; i++)
        good &= atomic_load(&ski_onesided->stripes[i].held) == 0;
    free(to);
    return good;
}

#define LIST  3000
#define WORDS (1 << 19) /* more stripes than are held together */
#define SOME  (1 << 15) /* eight stripes */

static size_t accumulate_sorted; /* calls of the function below for elements in another order */

/* Accumulates 3 times each element, and counts what is not accumulated as it is listed. */
static void accumulate_at_counted(const struct ski_accumulate_list *list, const ptrdiff_t *remote,
                                  const ptrdiff_t *local, const uint16_t *order, size_t count)
{
    const skua_update update = {SKUA_SUM, SKUA_UINT64, list->scale};

    accumulate_sorted += order != NULL;
    ski_accumulate_at_function (&update)(list, remote, local, order, count);
}

/* Elements of a list are accumulated as a loop would do it, those at one offset in their order; @p
 * together: with all stripes held together, else sorted by stripe. */
static bool accumulate_list_is_loop(size_t count, bool local, size_t words, bool together)
{
    static uint64_t            from[LIST];
    static ptrdiff_t           to_offset[LIST], from_offset[LIST];
    const uint64_t             scale = 3;
    uint64_t                  *to = calloc(WORDS, sizeof *to), *want = calloc(WORDS, sizeof *to);
    struct ski_accumulate_list list   = {&scale, 8, -1, (char *)to, (char *)from};
    uint64_t                   random = tap_seed();
    bool                       good;

    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)(tap_random(&random) % (i % 2 ? words : 5));

        from[i]        = tap_random(&random);
        to_offset[i]   = (ptrdiff_t)(at * 8);
        from_offset[i] = (ptrdiff_t)((count - 1 - i) * 8);
    }
    for (size_t i = 0; i < count; i++)
        want[to_offset[i] / 8] += 3 * from[local ? count - 1 - i : i];
    accumulate_sorted = 0;
    ski_accumulate_list(&list, accumulate_at_counted, to_offset, local ? from_offset : NULL, count);
    good = memcmp(to, want, WORDS * sizeof *to) == 0 && (accumulate_sorted == 0) == together;
    for (int i = 0; i < SKI_STRIPES; i++)
        good &= atomic_load(&ski_onesided->stripes[i].held) == 0;
    free(to);
    free(want);
    return good;
}

/* Threads that accumulate lists into one table, whose stripes they hold together, one by one while
 * another thread has some, or by blocks. */
struct accumulate_thread {
    pthread_t thread;
    uint64_t *table, random;
};

#define THREADS 3
#define ROUNDS  40

static void *accumulate_thread_run(void *arg)
{
    struct accumulate_thread  *self   = arg;
    const skua_update          update = {SKUA_SUM, SKUA_UINT64, NULL};
    struct ski_accumulate_list list   = {NULL, 8, -1, (char *)self->table,
                                         (char *)(self->table + SOME)}; /* ones */
    ptrdiff_t                  offset[LIST];
    size_t                     element;
    struct ski_stripe_lock     lock = {NULL};

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LIST; i++)
            offset[i] = (ptrdiff_t)(tap_random(&self->random) % SOME * 8);
        ski_accumulate_list(&list, ski_accumulate_at_function(&update), offset, NULL, LIST);
        ski_accumulate_contiguous(&lock, -1, (char *)self->table + offset[0] / 16 * 8, list.from,
                                  64 * 8, ski_accumulate_function(&update, &element), 8, NULL);
        ski_stripe_lock_release(&lock);
    }
    return NULL;
}

static void accumulate_lists_of_threads(void)
{
    struct accumulate_thread thread[THREADS];
    uint64_t                *table = calloc(SOME + LIST, sizeof *table), sum = 0;

    for (int i = 0; i < LIST; i++)
        table[SOME + i] = 1;
    for (int i = 0; i < THREADS; i++) {
        thread[i].table  = table;
        thread[i].random = tap_seed() + (uint64_t)i;
        pthread_create(&thread[i].thread, NULL, accumulate_thread_run, &thread[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i].thread, NULL);
    for (int i = 0; i < SOME; i++)
        sum += table[i];
    OK(sum == (uint64_t)THREADS * ROUNDS * (LIST + 64), "lists of several threads lose no element");
    free(table);
}

/* The functions for lists are those of the same operators and types. */
static bool accumulate_lists_agree(void)
{
    const skua_op   ops[] = {SKUA_SUM, SKUA_MIN, SKUA_MAX, SKUA_BIT_AND, SKUA_BIT_OR, SKUA_BIT_XOR};
    const skua_type last  = SKUA_COMPLEX_DOUBLE;
    const uint16_t  order = 1;
    const ptrdiff_t remote[] = {0, 16};
    bool            good     = true;

    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (unsigned type = SKUA_INT32; type <= (unsigned)last; type++) {
            const skua_update          update  = {ops[k], (skua_type)type, NULL};
            double                     from[4] = {7, -3, 5, 2}, to[4] = {1, 2, 3, 4}, want[4];
            size_t                     element = 0;
            ski_accumulate_fn          fn      = ski_accumulate_function(&update, &element);
            struct ski_accumulate_list list    = {NULL, element, -1, (char *)to, (char *)from};

            memcpy(want, to, sizeof to);
            if (!fn)
                continue;
            fn((char *)want + 16, (char *)from + element, 1, NULL);
            ski_accumulate_at_function (&update)(&list, remote, NULL, &order, 1);
            good &= memcmp(to, want, sizeof to) == 0;
        }
    return good;
}

#define ALIKE 61 /* elements: some are left over where vectors are used */

/* Sums with a factor have the same bits for elements side by side and in a list. */
static bool accumulate_lists_round_alike(void)
{
    const double factor[2] = {1.1, -0.7};
    const float  single[2] = {1.1f, -0.7f};
    bool         good      = true;

    for (unsigned type = SKUA_FLOAT; type <= (unsigned)SKUA_COMPLEX_DOUBLE; type++) {
        bool                       is_single = type == SKUA_FLOAT || type == SKUA_COMPLEX_FLOAT;
        const void                *scale  = is_single ? (const void *)single : (const void *)factor;
        const skua_update          update = {SKUA_SUM, (skua_type)type, scale};
        double                     from[2 * ALIKE], to[2 * ALIKE], want[2 * ALIKE];
        ptrdiff_t                  remote[ALIKE];
        size_t                     element = 0;
        ski_accumulate_fn          fn      = ski_accumulate_function(&update, &element);
        struct ski_accumulate_list list    = {scale, element, -1, (char *)to, (char *)from};

        for (int i = 0; i < 2 * ALIKE; i++) {
            from[i] = (i + 1) / 3.0;
            want[i] = to[i] = 1 / (i + 7.0);
        }
        for (int i = 0; is_single && i < 2 * ALIKE; i++) {
            ((float *)from)[i] = (float)(i + 1) / 3.0f;
            ((float *)want)[i] = ((float *)to)[i] = 1 / ((float)i + 7.0f);
        }
        for (int i = 0; i < ALIKE; i++)
            remote[i] = i * (ptrdiff_t)element;
        fn(want, from, ALIKE, scale);
        ski_accumulate_at_function (&update)(&list, remote, NULL, NULL, ALIKE);
        good &= memcmp(to, want, sizeof to) == 0;
    }
    return good;
}

/* A set holds what was added last, and never two stripes of one slot. */
static bool accumulate_set_holds(void)
{
    struct ski_stripe_set set;
    uint64_t              random = tap_seed();
    bool                  good   = true;

    ski_stripe_set_begin(&set);
    for (int i = 0; i < 5000 && good; i++) {
        uint32_t number = (uint32_t)(tap_random(&random) % SKI_STRIPES), held = 0;

        if (!ski_stripe_set_has(&set, number))
            ski_stripe_set_add(&set, number);
        for (int k = 0; k < SKI_STRIPES; k++)
            held += atomic_load(&ski_onesided->stripes[k].held);
        good =
            ski_stripe_set_has(&set, number) && held == (uint32_t)__builtin_popcountll(set.taken);
    }
    ski_stripe_set_release(&set);
    return good && set.taken == 0;
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    accumulate_arithmetic();
    OK(accumulate_imaginary(), "a complex factor of complex doubles");
    OK(accumulate_infinite(), "an infinite imaginary part leaves the real part alone");
    OK(accumulate_imaginary_float(), "the factor i of complex floats");
    accumulate_none();
    OK(accumulate_covers_stripes(), "blocks over several stripes");
    OK(accumulate_list_is_loop(LIST, false, WORDS, false) &&
           accumulate_list_is_loop(LIST, true, WORDS, false),
       "elements of a list, also several at one offset");
    OK(accumulate_list_is_loop(1, true, WORDS, true) &&
           accumulate_list_is_loop(LIST, false, SOME, true) &&
           accumulate_list_is_loop(LIST, true, SOME, true),
       "elements of a list whose stripes are held together");
    OK(accumulate_list_is_loop(40, true, WORDS / 4, false),
       "a few elements do not hold the stripes between them");
    accumulate_lists_of_threads();
    OK(accumulate_lists_agree(), "lists have the operators and types of blocks");
    OK(accumulate_lists_round_alike(), "lists round as blocks do");
    OK(accumulate_set_holds(), "a set holds the stripes that it says");
    OK(ski_stripe_bytes((char *)UINT64_C(0x7ff8), 64, 8) == 8 &&
           ski_stripe_bytes((char *)UINT64_C(0x7ff8), 64, 16) == 16 &&
           ski_stripe_bytes((char *)UINT64_C(0x8000), 64, 8) == 64,
       "elements belong to the stripe that they begin in");
    test_pe_end(self);
    return tap_end();
}
