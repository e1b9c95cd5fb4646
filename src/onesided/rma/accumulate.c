/* SPDX-License-Identifier: Apache-2.0 */
/* accumulate.c - see accumulate.h. */
#include "onesided/rma/accumulate.h"

#include <sched.h>

#include "base/assert.h"
#include "core/collective/collective.h"
#include "onesided/pe/onesided_pe.h"

#define SPINS 200 /* polls of a stripe that is held before the CPU is yielded */

/* ---- arithmetic ------------------------------------------------------------ */

/* Two functions of @p name##_some(): one for elements side by side, and one for those of a list,
 * into which it is inlined: a call of a SKI_WIDE function takes longer than an element. */
#define FUNCTIONS(name, bytes)                                                                     \
    SKI_WIDE static void name(void *to, const void *from, size_t count, const void *scale)         \
    {                                                                                              \
        name##_some(to, from, count, scale);                                                       \
    }                                                                                              \
    static void name##_at(const struct ski_accumulate_list *list, const ptrdiff_t *remote,         \
                          const ptrdiff_t *local, const uint16_t *order, size_t count)             \
    {                                                                                              \
        for (size_t i = 0; !order && i < count; i++)                                               \
            name##_some(list->to + remote[i],                                                      \
                        list->from + (local ? local[i] : (ptrdiff_t)(i * (bytes))), 1,             \
                        list->scale);                                                              \
        for (const uint16_t *i = order; i && i < order + count; i++)                               \
            name##_some(list->to + remote[*i],                                                     \
                        list->from + (local ? local[*i] : (ptrdiff_t)(*i * (bytes))), 1,           \
                        list->scale);                                                              \
    }

/* Begins the definition of @p name##_some(). */
#define SOME(name)                                                                                 \
    static inline __attribute__((always_inline)) void name##_some(void *to, const void *from,      \
                                                                  size_t count, const void *scale)

/* The sum of one type, with a factor and without.  @p ctype computes: unsigned where signed
 * arithmetic could overflow. */
#define SUM(name, ctype)                                                                           \
    SOME(name)                                                                                     \
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
    }                                                                                              \
    FUNCTIONS(name, sizeof(ctype))

SUM(accumulate_sum_32, uint32_t)
SUM(accumulate_sum_64, uint64_t)
SUM(accumulate_sum_float, float)
SUM(accumulate_sum_double, double)

/* Complex products by components: C's own operator tests each for infinities.  Without a factor
 * nothing is multiplied: 0 times an infinity is not 0. */
#define SUM_COMPLEX(name, ctype)                                                                   \
    SOME(name)                                                                                     \
    {                                                                                              \
        ctype *restrict t       = to;                                                              \
        const ctype *restrict f = from;                                                            \
        if (scale) {                                                                               \
            const ctype re = ((const ctype *)scale)[0], im = ((const ctype *)scale)[1];            \
            for (size_t i = 0; i < count; i++) {                                                   \
                t[2 * i] += re * f[2 * i] - im * f[2 * i + 1];                                     \
                t[2 * i + 1] += re * f[2 * i + 1] + im * f[2 * i];                                 \
            }                                                                                      \
        } else {                                                                                   \
            for (size_t i = 0; i < 2 * count; i++)                                                 \
                t[i] += f[i];                                                                      \
        }                                                                                          \
    }                                                                                              \
    FUNCTIONS(name, 2 * sizeof(ctype))

SUM_COMPLEX(accumulate_sum_complex_float, float)
SUM_COMPLEX(accumulate_sum_complex_double, double)

/* The others have no factor.  They are those of reductions (core/collective/reduction_op.c), but
 * with one function for each type, so that a list costs one call and not one for each element. */
#define OTHER(name, ctype, expression)                                                             \
    SOME(name)                                                                                     \
    {                                                                                              \
        ctype *restrict t       = to;                                                              \
        const ctype *restrict f = from;                                                            \
        (void)scale;                                                                               \
        for (size_t i = 0; i < count; i++) {                                                       \
            const ctype a = t[i], b = f[i];                                                        \
            t[i] = expression;                                                                     \
        }                                                                                          \
    }                                                                                              \
    FUNCTIONS(name, sizeof(ctype))
#define LESS_AND_MORE(suffix, ctype)                                                               \
    OTHER(accumulate_min_##suffix, ctype, b < a ? b : a)                                           \
    OTHER(accumulate_max_##suffix, ctype, a < b ? b : a)
#define BITWISE(suffix, ctype)                                                                     \
    OTHER(accumulate_and_##suffix, ctype, a &b)                                                    \
    OTHER(accumulate_or_##suffix, ctype, a | b)                                                    \
    OTHER(accumulate_xor_##suffix, ctype, a ^ b)

LESS_AND_MORE(int32, int32_t)
LESS_AND_MORE(int64, int64_t)
LESS_AND_MORE(uint32, uint32_t)
LESS_AND_MORE(uint64, uint64_t)
LESS_AND_MORE(float, float)
LESS_AND_MORE(double, double)
BITWISE(32, uint32_t)
BITWISE(64, uint64_t)

#define OPS 10 /* of skua/collective.h; the rows below are their ids */

static const ski_accumulate_fn functions[OPS][SKI_NUMBERS] = {
    [0] = {accumulate_sum_32, accumulate_sum_64, accumulate_sum_32, accumulate_sum_64,
           accumulate_sum_float, accumulate_sum_double, accumulate_sum_complex_float,
           accumulate_sum_complex_double},
    [2] = {accumulate_min_int32, accumulate_min_int64, accumulate_min_uint32, accumulate_min_uint64,
           accumulate_min_float, accumulate_min_double},
    [3] = {accumulate_max_int32, accumulate_max_int64, accumulate_max_uint32, accumulate_max_uint64,
           accumulate_max_float, accumulate_max_double},
    [7] = {accumulate_and_32, accumulate_and_64, accumulate_and_32, accumulate_and_64},
    [8] = {accumulate_or_32, accumulate_or_64, accumulate_or_32, accumulate_or_64},
    [9] = {accumulate_xor_32, accumulate_xor_64, accumulate_xor_32, accumulate_xor_64},
};

static const ski_accumulate_at_fn at_functions[OPS][SKI_NUMBERS] = {
    [0] = {accumulate_sum_32_at, accumulate_sum_64_at, accumulate_sum_32_at, accumulate_sum_64_at,
           accumulate_sum_float_at, accumulate_sum_double_at, accumulate_sum_complex_float_at,
           accumulate_sum_complex_double_at},
    [2] = {accumulate_min_int32_at, accumulate_min_int64_at, accumulate_min_uint32_at,
           accumulate_min_uint64_at, accumulate_min_float_at, accumulate_min_double_at},
    [3] = {accumulate_max_int32_at, accumulate_max_int64_at, accumulate_max_uint32_at,
           accumulate_max_uint64_at, accumulate_max_float_at, accumulate_max_double_at},
    [7] = {accumulate_and_32_at, accumulate_and_64_at, accumulate_and_32_at, accumulate_and_64_at},
    [8] = {accumulate_or_32_at, accumulate_or_64_at, accumulate_or_32_at, accumulate_or_64_at},
    [9] = {accumulate_xor_32_at, accumulate_xor_64_at, accumulate_xor_32_at, accumulate_xor_64_at},
};

ski_accumulate_fn ski_accumulate_function(const skua_update *update, size_t *element)
{
    uint32_t op = update->op;

    if (op >= OPS || ski_type_index(update->type) >= SKI_NUMBERS || (op != 0 && update->scale))
        return NULL;
    *element = ski_type_size(update->type);
    return functions[op][ski_type_index(update->type)];
}

ski_accumulate_at_fn ski_accumulate_at_function(const skua_update *update)
{
    ski_assert(update->op < OPS && ski_type_index(update->type) < SKI_NUMBERS);
    return at_functions[update->op][ski_type_index(update->type)];
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

/* A stripe is held for microseconds, unless its holder lost its CPU: so the others poll, and then
 * yield theirs. */
static void stripe_acquire(struct ski_stripe *stripe)
{
    for (unsigned i = 1; !stripe_try(stripe); i++)
        if (i % SPINS == 0)
            sched_yield();
}

static inline void stripe_release(struct ski_stripe *stripe)
{
    ski_assert(atomic_load_explicit(&stripe->held, memory_order_relaxed) == 1);
    atomic_store_explicit(&stripe->held, 0, memory_order_release);
}

bool ski_stripe_try(uint32_t number)
{
    return stripe_try(&ski_onesided->stripes[number]);
}

void ski_stripe_acquire(uint32_t number)
{
    stripe_acquire(&ski_onesided->stripes[number]);
}

void ski_stripe_release(uint32_t number)
{
    stripe_release(&ski_onesided->stripes[number]);
}

void ski_stripe_lock_move(struct ski_stripe_lock *lock, int32_t owner, const char *address)
{
    struct ski_stripe *stripe = &ski_onesided->stripes[ski_stripe_number(owner, address)];

    ski_assert(owner >= -1);
    if (stripe == lock->stripe)
        return;
    ski_stripe_lock_release(lock);
    stripe_acquire(stripe);
    lock->stripe = stripe;
}

void ski_stripe_lock_release(struct ski_stripe_lock *lock)
{
    if (lock->stripe)
        stripe_release(lock->stripe);
    lock->stripe = NULL;
}

void ski_accumulate_contiguous(struct ski_stripe_lock *lock, int32_t owner, char *to,
                               const char *from, size_t bytes, ski_accumulate_fn fn, size_t element,
                               const void *scale)
{
    while (bytes > 0) {
        size_t now = ski_stripe_bytes(to, bytes, element);

        ski_stripe_lock_move(lock, owner, to);
        fn(to, from, now / element, scale);
        to += now, from += now, bytes -= now;
    }
}

/* ---- several stripes -------------------------------------------------------- */

void ski_stripe_set_release(struct ski_stripe_set *set)
{
    for (; set->taken; set->taken &= set->taken - 1)
        stripe_release(&ski_onesided->stripes[set->number[__builtin_ctzll(set->taken)]]);
    set->left = SKI_STRIPE_SET_WORK;
}

void ski_stripe_set_add(struct ski_stripe_set *set, uint32_t number)
{
    struct ski_stripe *stripe = &ski_onesided->stripes[number];
    uint32_t           slot   = number % SKI_STRIPE_SET_MAX;

    ski_assert(number < SKI_STRIPES && !ski_stripe_set_has(set, number));
    if (set->taken >> slot & 1) {
        stripe_release(&ski_onesided->stripes[set->number[slot]]);
        set->taken &= ~(UINT64_C(1) << slot);
    }
    if (!stripe_try(stripe)) {
        ski_stripe_set_release(set);
        stripe_acquire(stripe);
    }
    set->number[slot] = (uint16_t)number;
    set->taken |= UINT64_C(1) << slot;
}

void ski_accumulate_scattered(struct ski_stripe_set *set, int32_t owner, char *to, const char *from,
                              size_t bytes, ski_accumulate_fn fn, size_t element, const void *scale)
{
    while (bytes > 0) {
        uint32_t number = ski_stripe_number(owner, to);
        size_t   now = element, count = 1;

        if (bytes > element) { /* a division costs as much as all the rest */
            now   = ski_stripe_bytes(to, bytes, element);
            count = now / element;
        }
        if (set->left <= 0)
            ski_stripe_set_release(set);
        set->left -= 1 + (int32_t)(now / SKI_CACHE_LINE);
        if (!ski_stripe_set_has(set, number))
            ski_stripe_set_add(set, number);
        fn(to, from, count, scale);
        to += now, from += now, bytes -= now;
    }
}
