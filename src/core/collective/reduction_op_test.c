/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_op_test.c - each operator on each type against a plain loop, and the pairs that are
 * refused.
 *
 * Floating point numbers are small integers, so that sums and products are exact and do not depend
 * on how the compiler contracts them.
 */
#include <complex.h>
#include <math.h>
#include <string.h>

#include <skua/collection.h>

#include "core/collective/collective.h"
#include "tests/element_value.h"
#include "tests/tap.h"

#define OP_TEST_MAX 67 /* elements; not a multiple of any vector length */
#define OP_TEST_OPS 11 /* predefined operators */

static union test_value op_test_load(const char *array, size_t i, skua_type type)
{
    union test_value value = {.bytes = {0}};

    memcpy(value.bytes, array + i * ski_type_size(type), ski_type_size(type));
    return value;
}

/* Returns whether the documentation defines @p op for @p type. */
static bool op_test_defined(skua_op op, skua_type type)
{
    bool integer =
        type == SKUA_INT32 || type == SKUA_INT64 || type == SKUA_UINT32 || type == SKUA_UINT64;

    if (op <= SKUA_PRODUCT)
        return type < SKUA_BYTE;
    if (op <= SKUA_LOGICAL_XOR)
        return integer || type == SKUA_FLOAT || type == SKUA_DOUBLE;
    return op <= SKUA_BIT_XOR ? integer : type == SKUA_DOUBLE;
}

static double complex op_test_complex(skua_op op, double complex a, double complex b)
{
    if (op == SKUA_SUM)
        return a + b;
    return creal(a) * creal(b) - cimag(a) * cimag(b) +
           (creal(a) * cimag(b) + cimag(a) * creal(b)) * I;
}

static double op_test_real(skua_op op, double a, double b)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a * b;
    case 2: return fmin(a, b);
    case 3: return fmax(a, b);
    case 4: return a != 0 && b != 0;
    case 5: return a != 0 || b != 0;
    default: return (a != 0) != (b != 0);
    }
}

/* Returns @p a combined with @p b; @p less: a < b in the type of the elements. */
static uint64_t op_test_integer(skua_op op, uint64_t a, uint64_t b, bool less)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a * b;
    case 2: return less ? a : b;
    case 3: return less ? b : a;
    case 4: return a && b;
    case 5: return a || b;
    case 6: return !a != !b;
    case 7: return a & b;
    case 8: return a | b;
    default: return a ^ b;
    }
}

/* Returns whether @p c is @p a combined with @p b. */
static bool op_test_is(skua_op op, skua_type type, union test_value a, union test_value b,
                       union test_value c)
{
    switch (type) {
    case SKUA_INT32:
        return (uint32_t)c.i32 ==
               (uint32_t)op_test_integer(op, (uint32_t)a.i32, (uint32_t)b.i32, a.i32 < b.i32);
    case SKUA_INT64: return c.u64 == op_test_integer(op, a.u64, b.u64, a.i64 < b.i64);
    case SKUA_UINT32: return c.u32 == (uint32_t)op_test_integer(op, a.u32, b.u32, a.u32 < b.u32);
    case SKUA_UINT64: return c.u64 == op_test_integer(op, a.u64, b.u64, a.u64 < b.u64);
    case SKUA_FLOAT: return (double)c.f == op_test_real(op, (double)a.f, (double)b.f);
    case SKUA_DOUBLE: return c.d == op_test_real(op, a.d, b.d);
    case SKUA_COMPLEX_FLOAT: return (double complex)c.cf == op_test_complex(op, a.cf, b.cf);
    default: return c.cd == op_test_complex(op, a.cd, b.cd);
    }
}

/* Fills an array; every fourth element or so is 0. */
static void op_test_fill(char *array, size_t count, skua_type type, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        union test_value value = {.bytes = {0}};
        uint64_t         bits  = tap_random(seed);
        int              real = (int)(bits % 201) - 100, imaginary = (int)(bits / 201 % 201) - 100;

        if (tap_random(seed) % 4 == 0)
            bits = 0, real = 0, imaginary = 0;
        switch (type) {
        case SKUA_FLOAT: value.f = (float)real; break;
        case SKUA_DOUBLE: value.d = real; break;
        case SKUA_COMPLEX_FLOAT: value.cf = (float)real + (float)imaginary * I; break;
        case SKUA_COMPLEX_DOUBLE: value.cd = (double)real + (double)imaginary * I; break;
        default: value.u64 = bits; break;
        }
        memcpy(array + i * ski_type_size(type), value.bytes, ski_type_size(type));
    }
}

/* Combines arrays of @p count elements.  Logical operators get what ski_op_prepare() makes. */
static bool op_test_combine(skua_op op, skua_type type, size_t count, uint64_t *seed)
{
    _Alignas(16) char a[16 * (OP_TEST_MAX + 1)], b[sizeof a], c[sizeof a];
    size_t            bytes = count * ski_type_size(type);

    op_test_fill(a, OP_TEST_MAX + 1, type, seed);
    op_test_fill(b, OP_TEST_MAX + 1, type, seed);
    memcpy(c, a, sizeof c);
    ski_op_prepare(op, c, count, type);
    ski_op_function(op, type)(c, b, count, type);
    for (size_t i = 0; i < count; i++)
        if (!op_test_is(op, type, op_test_load(a, i, type), op_test_load(b, i, type),
                        op_test_load(c, i, type)))
            return false;
    return memcmp(a + bytes, c + bytes, ski_type_size(type)) == 0; /* nothing after the end */
}

static void op_test_pairs(void)
{
    uint64_t seed = tap_seed();

    for (uint32_t id = 0; id < OP_TEST_OPS; id++)
        for (int type = SKUA_INT32; type <= SKUA_DOUBLE_INDEX; type++) {
            skua_op     op   = (skua_op)id;
            const char *name = ski_type_name((skua_type)type);

            if (!op_test_defined(op, (skua_type)type))
                OK(!ski_op_function(op, (skua_type)type), "%s of %s is refused", ski_op_name(op),
                   name);
            else if (id != SKUA_STATISTICS)
                OK(op_test_combine(op, (skua_type)type, 0, &seed) &&
                       op_test_combine(op, (skua_type)type, 1, &seed) &&
                       op_test_combine(op, (skua_type)type, OP_TEST_MAX, &seed),
                   "%s of %s", ski_op_name(op), name);
        }
    OK(!ski_op_function(SKUA_SUM, (skua_type)(SKUA_DOUBLE_INDEX + 1)) &&
           !ski_op_function(SKUA_SUM, (skua_type)-1),
       "a type that does not exist is refused");
    OK(!ski_op_function((skua_op)(int)SKUA_INT32, (skua_type)(int)SKUA_SUM) &&
           !ski_op_function((skua_op)(int)SKUA_BYTE, (skua_type)(int)SKUA_SET),
       "a type and an operator in the wrong order are refused");
    OK(!ski_op_function((skua_op)UINT32_MAX, SKUA_INT32),
       "an operator that does not exist is refused");
}

/* Returns whether ski_op_prepare() makes truth values for @p op, or else changes nothing. */
static bool op_test_prepares(skua_op op, bool truth)
{
    int32_t data[3] = {-5, 0, 7};

    ski_op_prepare(op, data, 3, SKUA_INT32);
    return truth ? data[0] == 1 && data[1] == 0 && data[2] == 1
                 : data[0] == -5 && data[1] == 0 && data[2] == 7;
}

static void op_test_properties(void)
{
    bool prepared = true, splits = true, named = true;

    for (skua_op op = SKUA_SUM; op <= SKUA_BIT_XOR; op++) {
        bool truth = op >= SKUA_LOGICAL_AND && op <= SKUA_LOGICAL_XOR;

        prepared = prepared && op_test_prepares(op, truth);
        splits   = splits && ski_op_splits(op);
        named    = named && strcmp(ski_op_name(op), "unknown operator") != 0;
    }
    OK(prepared, "logical operators, and no others, prepare truth values");
    OK(splits && ski_op_splits(SKUA_MINLOC) && !ski_op_splits(SKUA_STATISTICS),
       "only statistics are not split");
    OK(named && strcmp(ski_op_name((skua_op)UINT32_MAX), "unknown operator") == 0 &&
           strcmp(ski_type_name((skua_type)99), "unknown type") == 0,
       "operators and types have names");
    for (int type = SKUA_INT32; type <= SKUA_DOUBLE_INDEX; type++)
        OK(ski_type_size((skua_type)type) == (size_t)1 << ski_type_shift((skua_type)type),
           "the size of %s", ski_type_name((skua_type)type));
    OK(ski_type_size((skua_type)99) == 0, "the size of a type that does not exist");
}

static bool op_test_close(double a, double b)
{
    return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

/* Computes the statistics of @p count values: their number, mean, squares, minimum and maximum. */
static void op_test_statistics_of(const double *values, int count, double stats[5])
{
    double mean = 0, squares = 0, least = INFINITY, most = -INFINITY;

    for (int i = 0; i < count; i++) {
        mean += values[i] / count;
        least = fmin(least, values[i]);
        most  = fmax(most, values[i]);
    }
    for (int i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    memcpy(stats, (double[5]){count, mean, squares, least, most}, 5 * sizeof *stats);
}

static void op_test_statistics(void)
{
    static const double values[8] = {3, -1, 4, 1, -5, 9, 2, 6};
    skua_op_fn          merge     = ski_op_function(SKUA_STATISTICS, SKUA_DOUBLE);
    double              all[5];
    bool                right = true;

    op_test_statistics_of(values, 8, all);
    for (int cut = 0; cut <= 8; cut++) {
        double a[10], b[10]; /* two groups: merged in both orders */

        op_test_statistics_of(values, cut, a);
        op_test_statistics_of(values + cut, 8 - cut, b);
        memcpy(a + 5, b, 5 * sizeof *a);
        memcpy(b + 5, a, 5 * sizeof *b);
        merge(a, b, 10, SKUA_DOUBLE);
        for (int i = 0; i < 10; i++)
            right = right && op_test_close(a[i], all[i % 5]);
    }
    OK(right, "statistics of two sets are those of their union");
}

/* Keeps the first operand: associative, not commutative. */
static void op_test_first(void *into, const void *from, size_t count, skua_type type)
{
    (void)into, (void)from, (void)count, (void)type;
}

static void op_test_registered(void)
{
    skua_op op    = skua_op_register("reduction_op_test first", op_test_first);
    bool    taken = true;

    for (int type = SKUA_INT32; type <= SKUA_DOUBLE_INDEX; type++)
        taken = taken && ski_op_function(op, (skua_type)type) == op_test_first;
    OK(taken && op >= SKUA_OP_USER, "a registered operator accepts all types");
    OK(!ski_op_splits(op), "and is not split");
    OK(op_test_prepares(op, false), "its contributions are left alone");
    OK(!ski_op_function((skua_op)(op + 1), SKUA_INT32), "it is the last operator");
}

/* Checks both operators of @p type; of equal values, the least index counts. */
#define OP_TEST_LOCATION(ctype, type)                                                              \
    do {                                                                                           \
        ctype a[3] = {                                                                             \
            {.value = 3, .index = 7}, {.value = 3, .index = 7}, {.value = 3, .index = 7}};         \
        ctype b[3] = {                                                                             \
            {.value = 4, .index = 1}, {.value = 3, .index = 2}, {.value = 2, .index = 9}};         \
        ctype low[3], high[3];                                                                     \
                                                                                                   \
        memcpy(low, a, sizeof a);                                                                  \
        memcpy(high, a, sizeof a);                                                                 \
        ski_op_function(SKUA_MINLOC, type)(low, b, 3, type);                                       \
        ski_op_function(SKUA_MAXLOC, type)(high, b, 3, type);                                      \
        OK(low[0].index == 7 && low[1].index == 2 && low[2].index == 9 && low[2].value < 3,        \
           "minloc of %s", ski_type_name(type));                                                   \
        OK(high[0].index == 1 && high[1].index == 2 && high[2].index == 7 && high[0].value > 3,    \
           "maxloc of %s", ski_type_name(type));                                                   \
        OK(sizeof(ctype) == ski_type_size(type), "the size of %s in C", ski_type_name(type));      \
    } while (0)

static void op_test_locations(void)
{
    OP_TEST_LOCATION(skua_int32_index, SKUA_INT32_INDEX);
    OP_TEST_LOCATION(skua_int64_index, SKUA_INT64_INDEX);
    OP_TEST_LOCATION(skua_float_index, SKUA_FLOAT_INDEX);
    OP_TEST_LOCATION(skua_double_index, SKUA_DOUBLE_INDEX);
    OK(!ski_op_function(SKUA_MINLOC, SKUA_DOUBLE) && !ski_op_function(SKUA_SUM, SKUA_INT64_INDEX),
       "locations and numbers have different operators");
}

int main(void)
{
    op_test_locations();
    op_test_pairs();
    op_test_properties();
    op_test_statistics();
    op_test_registered();
    return tap_end();
}
