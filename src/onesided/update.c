/* SPDX-License-Identifier: Apache-2.0 */
/* update.c - see update.h. */
#include "onesided/update.h"

#include <sched.h>

#include "core/collective.h"

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

/* The others have no factor and are those of reductions. */
#define OTHER(name, id, type)                                                                      \
    static void name(void *to, const void *from, size_t count, const void *scale)                  \
    {                                                                                              \
        (void)scale;                                                                               \
        ski_op_function(id, type)(to, from, count, type);                                          \
    }
#define OTHERS(suffix, type)                                                                       \
    OTHER(min_##suffix, SKUA_MIN, type)                                                            \
    OTHER(max_##suffix, SKUA_MAX, type)                                                            \
    OTHER(and_##suffix, SKUA_BIT_AND, type)                                                        \
    OTHER(or_##suffix, SKUA_BIT_OR, type)                                                          \
    OTHER(xor_##suffix, SKUA_BIT_XOR, type)

OTHERS(int32, SKUA_INT32)
OTHERS(int64, SKUA_INT64)
OTHERS(uint64, SKUA_UINT64)
OTHER(min_float, SKUA_MIN, SKUA_FLOAT)
OTHER(max_float, SKUA_MAX, SKUA_FLOAT)
OTHER(min_double, SKUA_MIN, SKUA_DOUBLE)
OTHER(max_double, SKUA_MAX, SKUA_DOUBLE)

#define OPS 10 /* those of skua/collective.h; the rows below are their ids */

static const ski_update_fn functions[OPS][SKUA_BYTE] = {
    [0] = {sum_32, sum_64, sum_64, sum_float, sum_double, sum_complex_float, sum_complex_double},
    [2] = {min_int32, min_int64, min_uint64, min_float, min_double},
    [3] = {max_int32, max_int64, max_uint64, max_float, max_double},
    [7] = {and_int32, and_int64, and_uint64},
    [8] = {or_int32, or_int64, or_uint64},
    [9] = {xor_int32, xor_int64, xor_uint64},
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

static struct ski_stripe *stripe_of(int32_t owner, const char *address)
{
    uint64_t stripe = ((uintptr_t)address >> SKI_STRIPE_SHIFT) + ((uint64_t)(uint32_t)owner << 40);

    return &ski_onesided->stripes[stripe * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

_Static_assert(SKI_STRIPES == 1 << (64 - 54), "the hash above has as many values");

/* Whoever holds a stripe is done within microseconds, unless it lost its CPU: so
 * the others look, and then offer theirs. */
static void acquire(struct ski_stripe *stripe)
{
    for (unsigned i = 1;; i++) {
        uint32_t free = 0;
        /* Acquire: pairs with the release in ski_hold_end(). */
        if (atomic_load_explicit(&stripe->held, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&stripe->held, &free, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
        if (i % SPINS == 0)
            sched_yield();
    }
}

void ski_hold_move(struct ski_hold *hold, int32_t owner, const char *address)
{
    struct ski_stripe *stripe = stripe_of(owner, address);

    if (stripe == hold->stripe)
        return;
    ski_hold_end(hold);
    acquire(stripe);
    hold->stripe = stripe;
}

void ski_hold_end(struct ski_hold *hold)
{
    if (hold->stripe)
        atomic_store_explicit(&hold->stripe->held, 0, memory_order_release);
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
