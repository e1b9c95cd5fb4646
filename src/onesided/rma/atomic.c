/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.c - the calls of skua/atomic.h: atomics on the memory of other PEs.
 *
 * A word of a plain region is changed by the CPU's atomics at once.  All others go by the protocols
 * of transfer.c, in strict order.
 */
#include <skua/atomic.h>

#include "base/config.h"
#include "base/sanitizer.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/cma.h"
#include "onesided/rma/rma_driver.h"
#include "onesided/rma/rma_op.h"
#include "onesided/rma/rma_request.h"

static skua_status atomic_by_cma(const char *call, const struct ski_atomic *a,
                                 const struct ski_resolved *target, uint64_t *old)
{
    struct ski_stripe_lock lock = {NULL};
    uint32_t               narrow;
    uint64_t               wide, after;
    void                  *word = a->bytes == 4 ? (void *)&narrow : (void *)&wide;
    skua_status            status;

    if (!ski_config.cma || !ski_config.direct || target->remote_host)
        return SKUA_ERR_UNSUPPORTED;
    ski_stripe_lock_move(&lock, target->process, target->memory);
    status = ski_cma_read(call, target->pid, word, target->memory, a->bytes);
    if (status == SKUA_OK) {
        *old  = a->bytes == 4 ? narrow : wide;
        after = ski_atomic_result(a, *old);
        if (a->bytes == 4)
            narrow = (uint32_t)after;
        else
            wide = after;
        if (a->op != SKI_ATOMIC_LOAD)
            status = ski_cma_write(call, target->pid, target->memory, word, a->bytes);
    }
    ski_stripe_lock_release(&lock);
    return status;
}

/* Does any atomic, on any memory. */
static SKI_COLD skua_status atomic_slow(const char *call, skua_gaddr at, struct ski_atomic a,
                                        uint64_t *old)
{
    struct ski_rma_op   op = {.call = call, .verb = SKI_RMA_ATOMIC, .remote = at, .atomic = &a};
    struct ski_resolved target;
    skua_status         status = ski_resolve(call, at, 0, a.bytes, &target);

    if (status != SKUA_OK)
        return status;
    if ((uintptr_t)target.memory % a.bytes) {
        ski_resolved_release(&target);
        return ski_refuse(SKUA_ERR_ALIGN, "%s: offset %llu is not aligned to %u bytes", call,
                          (unsigned long long)at.offset, a.bytes);
    }
    ski_rma_order_before(SKUA_ORDER_STRICT, SKI_RMA_ATOMIC, at.pe);
    if (ski_config.direct && ski_resolved_is_direct(&target)) {
        *old = ski_atomic_apply(&a, &target);
        ski_fence(memory_order_seq_cst); /* before what follows, as on the fast path */
    } else {
        status = ski_resolved_is_direct(&target) ? SKUA_ERR_UNSUPPORTED
                                                 : atomic_by_cma(call, &a, &target, old);
        if (status == SKUA_ERR_UNSUPPORTED && target.remote_host)
            status = ski_rma_driver_atomic(&op, &target, old);
        if (status == SKUA_ERR_UNSUPPORTED)
            status = ski_am_atomic(&op, &target, old);
    }
    ski_resolved_release(&target);
    return status;
}

/* Returns an aligned word of a plain region, or NULL. */
static inline char *atomic_word(skua_gaddr at, size_t bytes)
{
    char *memory = ski_region_ptr(at, bytes);
    return (uintptr_t)memory % bytes == 0 && ski_fast_path_open() ? memory : NULL;
}

#define ATOMIC_FETCH(name, type, op_id, function)                                                  \
    skua_status name(skua_gaddr at, type value, type *old)                                         \
    {                                                                                              \
        _Atomic type *word = (_Atomic type *)(void *)atomic_word(at, sizeof value);                \
        uint64_t      before;                                                                      \
        skua_status   status = SKUA_OK;                                                            \
        if (SKI_LIKELY(word != NULL))                                                              \
            before = function(word, value), ski_order_swap();                                      \
        else                                                                                       \
            status = atomic_slow(                                                                  \
                __func__, at,                                                                      \
                (struct ski_atomic){.op = op_id, .bytes = sizeof value, .value = value}, &before); \
        if (status == SKUA_OK && old)                                                              \
            *old = (type)before;                                                                   \
        return status;                                                                             \
    }

#define ATOMIC_COMPARE_SWAP(name, type)                                                            \
    skua_status name(skua_gaddr at, type expected, type value, type *old)                          \
    {                                                                                              \
        _Atomic type *word   = (_Atomic type *)(void *)atomic_word(at, sizeof value);              \
        uint64_t      before = expected;                                                           \
        type          seen   = expected;                                                           \
        skua_status   status = SKUA_OK;                                                            \
        if (SKI_LIKELY(word != NULL)) {                                                            \
            atomic_compare_exchange_strong(word, &seen, value);                                    \
            ski_order_swap();                                                                      \
            before = seen;                                                                         \
        } else {                                                                                   \
            status = atomic_slow(                                                                  \
                __func__, at,                                                                      \
                (struct ski_atomic){SKI_ATOMIC_COMPARE_SWAP, sizeof value, value, expected},       \
                &before);                                                                          \
        }                                                                                          \
        if (status == SKUA_OK && old)                                                              \
            *old = (type)before;                                                                   \
        return status;                                                                             \
    }

#define ATOMIC_LOAD_STORE(load, store, type)                                                       \
    skua_status load(skua_gaddr at, type *value)                                                   \
    {                                                                                              \
        _Atomic type *word = (_Atomic type *)(void *)atomic_word(at, sizeof *value);               \
        uint64_t      seen;                                                                        \
        skua_status   status = SKUA_OK;                                                            \
        if (SKI_LIKELY(word != NULL))                                                              \
            ski_fence(memory_order_seq_cst), seen = atomic_load(word);                             \
        else                                                                                       \
            status = atomic_slow(                                                                  \
                __func__, at, (struct ski_atomic){.op = SKI_ATOMIC_LOAD, .bytes = sizeof *value},  \
                &seen);                                                                            \
        if (status == SKUA_OK)                                                                     \
            *value = (type)seen;                                                                   \
        return status;                                                                             \
    }                                                                                              \
    skua_status store(skua_gaddr at, type value)                                                   \
    {                                                                                              \
        _Atomic type *word = (_Atomic type *)(void *)atomic_word(at, sizeof value);                \
        uint64_t      before;                                                                      \
        if (SKI_UNLIKELY(word == NULL))                                                            \
            return atomic_slow(__func__, at,                                                       \
                               (struct ski_atomic){                                                \
                                   .op = SKI_ATOMIC_STORE, .bytes = sizeof value, .value = value}, \
                               &before);                                                           \
        atomic_store(word, value);                                                                 \
        ski_fence(memory_order_seq_cst);                                                           \
        return SKUA_OK;                                                                            \
    }

#define ATOMIC_ALL(bits)                                                                           \
    ATOMIC_FETCH(skua_fetch_add##bits, uint##bits##_t, SKI_ATOMIC_ADD, atomic_fetch_add)           \
    ATOMIC_FETCH(skua_fetch_and##bits, uint##bits##_t, SKI_ATOMIC_AND, atomic_fetch_and)           \
    ATOMIC_FETCH(skua_fetch_or##bits, uint##bits##_t, SKI_ATOMIC_OR, atomic_fetch_or)              \
    ATOMIC_FETCH(skua_fetch_xor##bits, uint##bits##_t, SKI_ATOMIC_XOR, atomic_fetch_xor)           \
    ATOMIC_FETCH(skua_swap##bits, uint##bits##_t, SKI_ATOMIC_SWAP, atomic_exchange)                \
    ATOMIC_COMPARE_SWAP(skua_compare_swap##bits, uint##bits##_t)                                   \
    ATOMIC_LOAD_STORE(skua_load##bits, skua_store##bits, uint##bits##_t)

ATOMIC_ALL(32)
ATOMIC_ALL(64)
