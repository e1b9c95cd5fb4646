/* SPDX-License-Identifier: Apache-2.0 */
/* accumulate.c - see accumulate.h. */
#include "onesided/rma/accumulate.h"

#include <sched.h>

#include "core/collective/collective.h"

#define SPINS 200 /* looks at a stripe that is held before the CPU is offered */

/* ---- arithmetic ------------------------------------------------------------ */

/* The sum of one type, with a factor and without.  @p ctype computes: unsigned
 * where signed arithmetic could overflow. */
#define SUM(name, ctype)                                                                           \
    SKI_WIDE static void name(void *to, const void *from, size_t count, const void *scale)         \
    {                                                                                              \
        ctype *restrict t       = to;                                                              \
        const ctype *restrict f = from;                                                            \
        if (scale) {                                                                               \
            const ctype a = *(const ctype *)scale;                                                 \
            for (size_t i = 0; i < count; i++)                                                     \
                t[i] += a * f[i];                                                                  \
        } else {                                                                                   \
            for (size_t i = 0; i < count; i++)                                                     \
                t[i] += f[i];                                                                      \
        }                                                                                          \
    }

SUM(sum_32, uint32_t)
SUM(sum_64, uint64_t)
SUM(sum_float, float)
SUM(sum_double, double)

/* Complex products by parts: C's own look for infinities in each. */
#define SUM_COMPLEX(name, ctype)                                                                   \
    SKI_WIDE static void name(void *to, const void *from, size_t count, const void *scale)         \
    {                                                                                              \
        ctype *restrict t       = to;                                                              \
        const ctype *restrict f = from;                                                            \
        const ctype re          = scale ? ((const ctype *)scale)[0] : 1;                           \
        const ctype im          = scale ? ((const ctype *)scale)[1] : 0;                           \
        for (size_t i = 0; i < count; i++) {                                                       \
            t[2 * i] += re * f[2 * i] - im * f[2 * i + 1];                                         \
            t[2 * i + 1] += re * f[2 * i + 1] + im * f[2 * i];                                     \
        }                                                                                          \
    }

SUM_COMPLEX(sum_complex_float, float)
SUM_COMPLEX(sum_complex_double, double)

/* The others have no factor.  They are those of reductions (core/collective/reduction_op.c), one
 * function for each type: lists are accumulated element by element, and a call for each should be
 * all that it costs. */
#define OTHER(name, ctype, expression)                                                             \
    SKI_WIDE static void name(void *to, const void *from, size_t count, const void *scale)         \
    {                                                                                              \
        ctype *restrict t       = to;                                                              \
        const ctype *restrict f = from;                                                            \
        (void)scale;                                                                               \
        for (size_t i = 0; i < count; i++) {                                                       \
            const ctype a = t[i], b = f[i];                                                        \
            t[i] = expression;                                                                     \
        }                                                                                          \
    }
#define LESS_AND_MORE(suffix, ctype)                                                               \
    OTHER(min_##suffix, ctype, b < a ? b : a)                                                      \
    OTHER(max_##suffix, ctype, a < b ? b : a)
#define BITWISE(suffix, ctype)                                                                     \
    OTHER(and_##suffix, ctype, a &b)                                                               \
    OTHER(or_##suffix, ctype, a | b)                                                               \
    OTHER(xor_##suffix, ctype, a ^ b)

LESS_AND_MORE(int32, int32_t)
LESS_AND_MORE(int64, int64_t)
LESS_AND_MORE(uint64, uint64_t)
LESS_AND_MORE(float, float)
LESS_AND_MORE(double, double)
BITWISE(32, uint32_t)
BITWISE(64, uint64_t)

#define OPS 10 /* those of skua/collective.h; the rows below are their ids */

static const ski_update_fn functions[OPS][SKUA_BYTE] = {
    [0] = {sum_32, sum_64, sum_64, sum_float, sum_double, sum_complex_float, sum_complex_double},
    [2] = {min_int32, min_int64, min_uint64, min_float, min_double},
    [3] = {max_int32, max_int64, max_uint64, max_float, max_double},
    [7] = {and_32, and_64, and_64},
    [8] = {or_32, or_64, or_64},
    [9] = {xor_32, xor_64, xor_64},
};

ski_update_fn ski_update_function(const skua_update *update, size_t *element)
{
    uint32_t op = update->op.id;

    if (op >= OPS || (unsigned)update->type >= SKUA_BYTE || (op != 0 && update->scale))
        return NULL;
    *element = ski_type_size(update->type);
    return functions[op][update->type];
}

/* ---- stripes --------------------------------------------------------------- */

/* Acquire: pairs with the release in stripe_release(). */
static inline bool stripe_try(struct ski_stripe *stripe)
{
    uint32_t free = 0;

    return atomic_load_explicit(&stripe->held, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_weak_explicit(&stripe->held, &free, 1, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* Whoever holds a stripe is done within microseconds, unless it lost its CPU: so
 * the others look, and then offer theirs. */
static void stripe_acquire(struct ski_stripe *stripe)
{
    for (unsigned i = 1; !stripe_try(stripe); i++)
        if (i % SPINS == 0)
            sched_yield();
}

static inline void stripe_release(struct ski_stripe *stripe)
{
    atomic_store_explicit(&stripe->held, 0, memory_order_release);
}

void ski_hold_move(struct ski_hold *hold, int32_t owner, const char *address)
{
    struct ski_stripe *stripe = &ski_onesided->stripes[ski_stripe_number(owner, address)];

    if (stripe == hold->stripe)
        return;
    ski_hold_end(hold);
    stripe_acquire(stripe);
    hold->stripe = stripe;
}

void ski_hold_end(struct ski_hold *hold)
{
    if (hold->stripe)
        stripe_release(hold->stripe);
    hold->stripe = NULL;
}

void ski_update_run(struct ski_hold *hold, int32_t owner, char *to, const char *from, size_t bytes,
                    ski_update_fn fn, size_t element, const void *scale)
{
    while (bytes > 0) {
        size_t now = ski_stripe_bytes(to, bytes, element);

        ski_hold_move(hold, owner, to);
        fn(to, from, now / element, scale);
        to += now, from += now, bytes -= now;
    }
}

/* ---- several stripes -------------------------------------------------------- */

void ski_holds_end(struct ski_holds *holds)
{
    for (; holds->taken; holds->taken &= holds->taken - 1)
        stripe_release(&ski_onesided->stripes[holds->number[__builtin_ctzll(holds->taken)]]);
    holds->left = SKI_HOLDS_WORK;
}

void ski_holds_take(struct ski_holds *holds, uint32_t number)
{
    struct ski_stripe *stripe = &ski_onesided->stripes[number];
    uint32_t           place  = number % SKI_HOLDS;

    if (holds->taken >> place & 1) {
        stripe_release(&ski_onesided->stripes[holds->number[place]]);
        holds->taken &= ~(UINT64_C(1) << place);
    }
    if (!stripe_try(stripe)) {
        ski_holds_end(holds);
        stripe_acquire(stripe);
    }
    holds->number[place] = (uint16_t)number;
    holds->taken |= UINT64_C(1) << place;
}

void ski_update_scattered(struct ski_holds *holds, int32_t owner, char *to, const char *from,
                          size_t bytes, ski_update_fn fn, size_t element, const void *scale)
{
    while (bytes > 0) {
        uint32_t number = ski_stripe_number(owner, to);
        size_t   now = element, count = 1;

        if (bytes > element) { /* a division costs as much as all the rest */
            now   = ski_stripe_bytes(to, bytes, element);
            count = now / element;
        }
        if (holds->left <= 0)
            ski_holds_end(holds);
        holds->left -= 1 + (int32_t)(now / SKI_CACHE_LINE);
        if (!ski_holds_has(holds, number))
            ski_holds_take(holds, number);
        fn(to, from, count, scale);
        to += now, from += now, bytes -= now;
    }
}
