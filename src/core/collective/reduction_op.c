/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_op.c - the operators of reductions.
 *
 * An operator is a function over arrays of one type.  The two macros below
 * write the switch over types once; the table names what they made.
 */
#include <complex.h>
#include <string.h>

#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/pe/handler.h"

#define LOOP(ctype, expression)                                                                    \
    for (size_t i = 0; i < count; i++) {                                                           \
        const ctype a      = ((const ctype *)into)[i];                                             \
        const ctype b      = ((const ctype *)from)[i];                                             \
        ((ctype *)into)[i] = (ctype)(expression);                                                  \
    }

/* For all numbers.  @p i32 and @p i64 are the C types to compute with: unsigned
 * ones where signed arithmetic could overflow, which then wraps around. */
#define NUMERIC(name, i32, i64, expression, complex_float, complex_double)                         \
    static void name(void *into, const void *from, size_t count, skua_type type)                   \
    {                                                                                              \
        switch (type) {                                                                            \
        case SKUA_INT32: LOOP(i32, expression) break;                                              \
        case SKUA_INT64: LOOP(i64, expression) break;                                              \
        case SKUA_UINT64: LOOP(uint64_t, expression) break;                                        \
        case SKUA_FLOAT: LOOP(float, expression) break;                                            \
        case SKUA_DOUBLE: LOOP(double, expression) break;                                          \
        case SKUA_COMPLEX_FLOAT: complex_float break;                                              \
        case SKUA_COMPLEX_DOUBLE: complex_double break;                                            \
        case SKUA_BYTE: break;                                                                     \
        }                                                                                          \
    }

/* For integers, whose sign does not matter. */
#define BITWISE(name, expression)                                                                  \
    static void name(void *into, const void *from, size_t count, skua_type type)                   \
    {                                                                                              \
        if (type == SKUA_INT32) {                                                                  \
            LOOP(uint32_t, expression)                                                             \
        } else {                                                                                   \
            LOOP(uint64_t, expression)                                                             \
        }                                                                                          \
    }

/* Arithmetic has complex numbers, order and truth have not. */
#define ARITHMETIC(name, expression)                                                               \
    NUMERIC(name, uint32_t, uint64_t, expression, LOOP(float complex, expression),                 \
            LOOP(double complex, expression))
#define REAL(name, expression) NUMERIC(name, int32_t, int64_t, expression, , )

ARITHMETIC(sum, a + b)
ARITHMETIC(product, a *b)
REAL(minimum, b < a ? b : a)
REAL(maximum, a < b ? b : a)
REAL(logical_and, (a != 0) & (b != 0))
REAL(logical_or, (a != 0) | (b != 0))
REAL(logical_xor, (a != 0) ^ (b != 0))
BITWISE(bit_and, a &b)
BITWISE(bit_or, a | b)
BITWISE(bit_xor, a ^ b)

/* Groups of five: how many, their mean, the sum of squared distances to it, least, most.
 * Two sets are united as Chan, Golub and LeVeque do. */
static void op_statistics(void *into, const void *from, size_t count, skua_type type)
{
    (void)type;
    for (size_t i = 0; i + 5 <= count; i += 5) {
        double       *a   = (double *)into + i;
        const double *b   = (const double *)from + i;
        double        all = a[0] + b[0], apart = b[1] - a[1];

        if (b[0] == 0)
            continue;
        if (a[0] == 0) {
            memcpy(a, b, 5 * sizeof *a);
            continue;
        }
        a[1] += apart * b[0] / all;
        a[2] += b[2] + apart * apart * a[0] * b[0] / all;
        a[3] = b[3] < a[3] ? b[3] : a[3];
        a[4] = b[4] > a[4] ? b[4] : a[4];
        a[0] = all;
    }
}

/* Kinds of operators by what they work on; `op_types` says on which types. */
enum { NUMBERS, REALS, TRUTHS, INTEGERS, DOUBLES, ANYTHING };

#define TYPE(type) (1u << (type))
#define ALL        (TYPE(SKUA_BYTE) - 1)
#define COMPLEX    (TYPE(SKUA_COMPLEX_FLOAT) | TYPE(SKUA_COMPLEX_DOUBLE))

static const uint8_t op_types[] = {
    [NUMBERS]  = ALL,
    [REALS]    = ALL & ~COMPLEX,
    [TRUTHS]   = ALL & ~COMPLEX,
    [INTEGERS] = TYPE(SKUA_INT32) | TYPE(SKUA_INT64) | TYPE(SKUA_UINT64),
    [DOUBLES]  = TYPE(SKUA_DOUBLE),
    [ANYTHING] = ALL | TYPE(SKUA_BYTE),
};

struct op {
    const char *name;
    skua_op_fn  fn;
    int         types;
};

static const struct op builtin[] = {
    {"sum", sum, NUMBERS},
    {"product", product, NUMBERS},
    {"min", minimum, REALS},
    {"max", maximum, REALS},
    {"logical and", logical_and, TRUTHS},
    {"logical or", logical_or, TRUTHS},
    {"logical xor", logical_xor, TRUTHS},
    {"bitwise and", bit_and, INTEGERS},
    {"bitwise or", bit_or, INTEGERS},
    {"bitwise xor", bit_xor, INTEGERS},
    {"statistics", op_statistics, DOUBLES},
};

#define BUILTIN (sizeof builtin / sizeof *builtin)

static struct op *registered;
static uint32_t   registered_count;

skua_op skua_op_register(const char *name, skua_op_fn fn)
{
    ski_register_name("operator", name);
    registered = ski_realloc(registered, (registered_count + 1) * sizeof *registered);
    registered[registered_count] = (struct op){name, fn, ANYTHING};
    return (skua_op){(uint32_t)BUILTIN + registered_count++};
}

static const struct op *op_find(skua_op op)
{
    if (op.id < BUILTIN)
        return &builtin[op.id];
    return op.id - BUILTIN < registered_count ? &registered[op.id - BUILTIN] : NULL;
}

skua_op_fn ski_op_function(skua_op op, skua_type type)
{
    const struct op *found = op_find(op);

    if (!found || (unsigned)type > SKUA_BYTE || !(op_types[found->types] >> type & 1))
        return NULL;
    return found->fn;
}

void ski_op_prepare(skua_op op, void *data, size_t count, skua_type type)
{
    if (op_find(op)->types == TRUTHS)
        logical_or(data, data, count, type);
}

bool ski_op_splits(skua_op op)
{
    return op_find(op)->types < DOUBLES;
}

const char *ski_op_name(skua_op op)
{
    const struct op *found = op_find(op);
    return found ? found->name : "unknown operator";
}

const char *ski_type_name(skua_type type)
{
    static const char *const names[] = {"int32",  "int64",         "uint64",         "float",
                                        "double", "complex float", "complex double", "byte"};
    return (unsigned)type <= SKUA_BYTE ? names[type] : "unknown type";
}
