/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_op.c - the operators of reductions.
 *
 * An operator is a function over two arrays of one type.  The macros OP_NUMERIC and OP_BITWISE
 * generate these functions, each with its switch over types; op_builtin[] lists them with the types
 * that they accept.
 */
#include <complex.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/pe/handler.h"

#define OP_LOOP(ctype, expression)                                                                 \
    for (size_t i = 0; i < count; i++) {                                                           \
        const ctype a      = ((const ctype *)into)[i];                                             \
        const ctype b      = ((const ctype *)from)[i];                                             \
        ((ctype *)into)[i] = (ctype)(expression);                                                  \
    }

/* Defines an operator on numbers.  @p i32 and @p i64 are the C types that integers are computed
 * with: unsigned ones where signed arithmetic could overflow, so that it wraps around. */
#define OP_NUMERIC(name, i32, i64, expression, complex_float, complex_double)                      \
    static void name(void *into, const void *from, size_t count, skua_type type)                   \
    {                                                                                              \
        switch (type) {                                                                            \
        case SKUA_INT32: OP_LOOP(i32, expression) break;                                           \
        case SKUA_INT64: OP_LOOP(i64, expression) break;                                           \
        case SKUA_UINT32: OP_LOOP(uint32_t, expression) break;                                     \
        case SKUA_UINT64: OP_LOOP(uint64_t, expression) break;                                     \
        case SKUA_FLOAT: OP_LOOP(float, expression) break;                                         \
        case SKUA_DOUBLE: OP_LOOP(double, expression) break;                                       \
        case SKUA_COMPLEX_FLOAT: complex_float break;                                              \
        case SKUA_COMPLEX_DOUBLE: complex_double break;                                            \
        default: break;                                                                            \
        }                                                                                          \
    }

/* Defines an operator on integers whose result does not depend on their sign. */
#define OP_BITWISE(name, expression)                                                               \
    static void name(void *into, const void *from, size_t count, skua_type type)                   \
    {                                                                                              \
        if (ski_type_size(type) == 4) {                                                            \
            OP_LOOP(uint32_t, expression)                                                          \
        } else {                                                                                   \
            OP_LOOP(uint64_t, expression)                                                          \
        }                                                                                          \
    }

/* Arithmetic is defined for complex numbers; comparisons and truth values are not. */
#define OP_ARITHMETIC(name, expression)                                                            \
    OP_NUMERIC(name, uint32_t, uint64_t, expression, OP_LOOP(float complex, expression),           \
               OP_LOOP(double complex, expression))
#define OP_REAL(name, expression) OP_NUMERIC(name, int32_t, int64_t, expression, , )

OP_ARITHMETIC(op_sum, a + b)
OP_ARITHMETIC(op_product, a *b)
OP_REAL(op_minimum, b < a ? b : a)
OP_REAL(op_maximum, a < b ? b : a)
OP_REAL(op_logical_and, (a != 0) & (b != 0))
OP_REAL(op_logical_or, (a != 0) | (b != 0))
OP_REAL(op_logical_xor, (a != 0) ^ (b != 0))
OP_BITWISE(op_bit_and, a &b)
OP_BITWISE(op_bit_or, a | b)
OP_BITWISE(op_bit_xor, a ^ b)

/* Merges statistics, which are groups of five doubles: the number of values, their mean, the sum of
 * their squared distances to the mean, the minimum and the maximum.  Means and squares are merged
 * by the formula of Chan, Golub and LeVeque. */
static void op_statistics(void *into, const void *from, size_t count, skua_type type)
{
    (void)type;
    for (size_t i = 0; i + 5 <= count; i += 5) {
        double       *a     = (double *)into + i;
        const double *b     = (const double *)from + i;
        double        total = a[0] + b[0], delta = b[1] - a[1];

        if (b[0] == 0)
            continue;
        if (a[0] == 0) {
            memcpy(a, b, 5 * sizeof *a);
            continue;
        }
        a[1] += delta * b[0] / total;
        a[2] += b[2] + delta * delta * a[0] * b[0] / total;
        a[3] = b[3] < a[3] ? b[3] : a[3];
        a[4] = b[4] > a[4] ? b[4] : a[4];
        a[0] = total;
    }
}

/* Keeps of each pair of elements the one whose value is `better`; of equal ones, that with the
 * least index. */
#define OP_LOCATION_LOOP(ctype, better)                                                            \
    for (size_t i = 0; i < count; i++) {                                                           \
        const ctype *b = (const ctype *)from + i;                                                  \
        ctype       *a = (ctype *)into + i;                                                        \
        if (b->value better a->value || (b->value == a->value && b->index < a->index))             \
            *a = *b;                                                                               \
    }

/* Defines an operator on values with their index. */
#define OP_LOCATION(name, better)                                                                  \
    static void name(void *into, const void *from, size_t count, skua_type type)                   \
    {                                                                                              \
        if (type == SKUA_INT32_INDEX) {                                                            \
            OP_LOCATION_LOOP(skua_int32_index, better)                                             \
        } else if (type == SKUA_INT64_INDEX) {                                                     \
            OP_LOCATION_LOOP(skua_int64_index, better)                                             \
        } else if (type == SKUA_FLOAT_INDEX) {                                                     \
            OP_LOCATION_LOOP(skua_float_index, better)                                             \
        } else {                                                                                   \
            OP_LOCATION_LOOP(skua_double_index, better)                                            \
        }                                                                                          \
    }

OP_LOCATION(op_minloc, <)
OP_LOCATION(op_maxloc, >)

/* What operators work on; op_types[] lists the element types of each.  Operators below OP_DOUBLES
 * treat each element on its own (ski_op_splits()). */
enum { OP_NUMBERS, OP_REALS, OP_TRUTHS, OP_INTEGERS, OP_PAIRS, OP_DOUBLES, OP_ANYTHING };

#define OP_TYPE(type)  (1u << ((type)-SKUA_INT32))
#define OP_ALL_NUMBERS (OP_TYPE(SKUA_BYTE) - 1)
#define OP_ALL_PAIRS                                                                               \
    (OP_TYPE(SKUA_INT32_INDEX) | OP_TYPE(SKUA_INT64_INDEX) | OP_TYPE(SKUA_FLOAT_INDEX) |           \
     OP_TYPE(SKUA_DOUBLE_INDEX))
#define OP_COMPLEX (OP_TYPE(SKUA_COMPLEX_FLOAT) | OP_TYPE(SKUA_COMPLEX_DOUBLE))

static const uint16_t op_types[] = {
    [OP_NUMBERS] = OP_ALL_NUMBERS,
    [OP_REALS]   = OP_ALL_NUMBERS & ~OP_COMPLEX,
    [OP_TRUTHS]  = OP_ALL_NUMBERS & ~OP_COMPLEX,
    [OP_INTEGERS] =
        OP_TYPE(SKUA_INT32) | OP_TYPE(SKUA_INT64) | OP_TYPE(SKUA_UINT32) | OP_TYPE(SKUA_UINT64),
    [OP_PAIRS]    = OP_ALL_PAIRS,
    [OP_DOUBLES]  = OP_TYPE(SKUA_DOUBLE),
    [OP_ANYTHING] = OP_ALL_NUMBERS | OP_TYPE(SKUA_BYTE) | OP_ALL_PAIRS,
};

struct op_entry {
    const char *name;
    skua_op_fn  fn;
    int         types;
};

static const struct op_entry op_builtin[] = {
    {"sum", op_sum, OP_NUMBERS},
    {"product", op_product, OP_NUMBERS},
    {"min", op_minimum, OP_REALS},
    {"max", op_maximum, OP_REALS},
    {"logical and", op_logical_and, OP_TRUTHS},
    {"logical or", op_logical_or, OP_TRUTHS},
    {"logical xor", op_logical_xor, OP_TRUTHS},
    {"bitwise and", op_bit_and, OP_INTEGERS},
    {"bitwise or", op_bit_or, OP_INTEGERS},
    {"bitwise xor", op_bit_xor, OP_INTEGERS},
    {"statistics", op_statistics, OP_DOUBLES},
    {"minloc", op_minloc, OP_PAIRS},
    {"maxloc", op_maxloc, OP_PAIRS},
};

#define OP_BUILTINS (sizeof op_builtin / sizeof *op_builtin)

static struct op_entry *op_registered;
static uint32_t         op_registered_count;

skua_op skua_op_register(const char *name, skua_op_fn fn)
{
    if (op_registered_count > SKUA_OP_MAX - SKUA_OP_USER)
        ski_misuse("skua_op_register: operator %s is one too many; a program has %d at most", name,
                   SKUA_OP_MAX - SKUA_OP_USER + 1);
    ski_register_name(__func__, "operator", name);
    op_registered = ski_realloc(op_registered, (op_registered_count + 1) * sizeof *op_registered);
    op_registered[op_registered_count] = (struct op_entry){name, fn, OP_ANYTHING};
    return (skua_op)(SKUA_OP_USER + op_registered_count++);
}

/* Returns the operator with the number @p op, or NULL if there is none. */
static const struct op_entry *op_find(skua_op op)
{
    uint32_t user = (uint32_t)op - SKUA_OP_USER;

    if ((uint32_t)op < OP_BUILTINS)
        return &op_builtin[op];
    return user < op_registered_count ? &op_registered[user] : NULL;
}

skua_op_fn ski_op_function(skua_op op, skua_type type)
{
    const struct op_entry *found = op_find(op);

    if (!found || !ski_type_exists(type) || !(op_types[found->types] >> ski_type_index(type) & 1))
        return NULL;
    return found->fn;
}

bool ski_op_prepares(skua_op op)
{
    ski_assert(op_find(op));
    return op_find(op)->types == OP_TRUTHS;
}

void ski_op_prepare(skua_op op, void *data, size_t count, skua_type type)
{
    ski_assert(ski_op_function(op, type));
    if (ski_op_prepares(op))
        op_logical_or(data, data, count, type);
}

bool ski_op_splits(skua_op op)
{
    ski_assert(op_find(op));
    return op_find(op)->types < OP_DOUBLES;
}

/* Not so: products of complex numbers, whose parts may be computed with fused operations, and the
 * minimum of zeros of different signs. */
bool ski_op_commutes(skua_op op)
{
    return op == SKUA_SUM || op == SKUA_BIT_AND || op == SKUA_BIT_OR || op == SKUA_BIT_XOR;
}

const char *ski_op_name(skua_op op)
{
    const struct op_entry *found = op_find(op);
    return found ? found->name : "unknown operator";
}

const char *ski_type_name(skua_type type)
{
    static const char *const names[] = {
        "int32",       "int64",         "uint32",         "uint64", "float",
        "double",      "complex float", "complex double", "byte",   "int32 index",
        "int64 index", "float index",   "double index"};
    return ski_type_exists(type) ? names[ski_type_index(type)] : "unknown type";
}
