/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.c - the calls of skua/atomic.h: atomics on the memory of other PEs.
 *
 * A word of a plain region is changed by the CPU's atomics within the call.  All others go by the
 * protocols of transfer.c: blocking ones in strict order, non-blocking ones without ever waiting.
 */
#include <skua/atomic.h>

#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/sanitizer.h"
#include "core/collective/collective.h"
#include "onesided/pe/external_thread.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/cma.h"
#include "onesided/rma/rma_driver.h"
#include "onesided/rma/rma_op.h"
#include "onesided/rma/rma_request.h"

/* Performs an atomic on memory of another process of the host, under the lock of its stripe. */
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
        if (a->op != SKUA_ATOMIC_LOAD)
            status = ski_cma_write(call, target->pid, target->memory, word, a->bytes);
    }
    ski_stripe_lock_release(&lock);
    return status;
}

static skua_status atomic_check_aligned(const char *call, const struct ski_atomic *a, skua_gaddr at,
                                        const struct ski_resolved *target)
{
    if (target->unknown || (uintptr_t)target->memory % a->bytes == 0)
        return SKUA_OK;
    return ski_refuse(SKUA_ERR_ALIGN, "%s: offset %llu is not aligned to %u bytes", call,
                      (unsigned long long)at.offset, a->bytes);
}

/* Performs any atomic, on any memory. */
static SKI_COLD skua_status atomic_slow(const char *call, skua_gaddr at, struct ski_atomic a,
                                        uint64_t *old)
{
    struct ski_rma_op   op = {.call = call, .verb = SKI_RMA_ATOMIC, .remote = at, .atomic = &a};
    struct ski_resolved target;
    skua_status         status = ski_resolve(call, at, 0, a.bytes, &target);

    ski_assert(a.bytes > 0 && a.bytes <= sizeof *old);
    if (status != SKUA_OK)
        return status;
    status = atomic_check_aligned(call, &a, at, &target);
    if (status != SKUA_OK) {
        ski_resolved_release(&target);
        return status;
    }
    ski_rma_order_before(SKUA_ORDER_STRICT, SKI_RMA_ATOMIC, at.pe);
    if (ski_config.direct && ski_resolved_is_direct(&target)) {
        *old = ski_atomic_apply(&a, &target);
        ski_fence(memory_order_seq_cst); /* before what follows, as on the fast path */
    } else {
        status = ski_resolved_is_direct(&target) ? SKUA_ERR_UNSUPPORTED
                                                 : atomic_by_cma(call, &a, &target, old);
        if (status == SKUA_ERR_UNSUPPORTED && target.remote_host)
            status = ski_rma_driver_atomic(&op, &target, NULL, old);
        if (status == SKUA_ERR_UNSUPPORTED)
            status = ski_am_atomic(&op, &target, old);
    }
    ski_resolved_release(&target);
    return status;
}

/* ---- non-blocking atomics ------------------------------------------------------------------ */

/* Performs an atomic within the call if this process can, and nothing is in flight that the atomic
 * would have to wait for; SKUA_ERR_UNSUPPORTED: it has to be sent. */
static skua_status atomic_now(const struct ski_rma_op *op, const struct ski_resolved *target,
                              const skua_rma_params *params, void *old)
{
    uint64_t    before;
    skua_status status = SKUA_OK;

    ski_assert(op->verb == SKI_RMA_ATOMIC && op->atomic);
    if (!ski_config.direct || target->remote_host || ski_rma_outstanding(op->remote.pe) ||
        !ski_op_params_notify_is_direct(params))
        return SKUA_ERR_UNSUPPORTED;
    ski_fence(memory_order_seq_cst);
    if (ski_resolved_is_direct(target))
        before = ski_atomic_apply(op->atomic, target);
    else
        status = atomic_by_cma(op->call, op->atomic, target, &before);
    ski_fence(memory_order_seq_cst);
    if (status != SKUA_OK)
        return status;
    if (old)
        ski_atomic_store_old(old, before, op->atomic->bytes);
    if (params) {
        ski_op_params_apply(op->call, params, op->remote.pe, ski_caller_pe());
        ski_op_params_complete(params);
    }
    return SKUA_OK;
}

/* Begins a non-blocking atomic. */
static SKI_COLD skua_status atomic_start(const char *call, skua_gaddr at,
                                         const struct ski_atomic *a, void *old,
                                         const skua_rma_params *params)
{
    struct ski_rma_op   op = {.call = call, .verb = SKI_RMA_ATOMIC, .remote = at, .atomic = a};
    struct ski_resolved target;
    skua_status         status = ski_op_params_check_nowait(call, params, at.pe);

    if (status == SKUA_OK)
        status = ski_resolve_nowait(call, at, 0, a->bytes, &target);
    if (status != SKUA_OK)
        return status;
    status = atomic_check_aligned(call, a, at, &target);
    if (status == SKUA_OK)
        status = atomic_now(&op, &target, params, old);
    if (status == SKUA_ERR_UNSUPPORTED && target.remote_host)
        status = ski_rma_driver_start_atomic(&op, &target, params, old);
    if (status == SKUA_ERR_UNSUPPORTED)
        status = ski_am_start(&op, &target, params, old);
    ski_resolved_release(&target);
    return status;
}

/* Begins an atomic of an external thread: it is one of the PE of external threads.  Without a job
 * the checks report misuse. */
static SKI_COLD skua_status atomic_start_outside(const char *call, skua_gaddr at,
                                                 const struct ski_atomic *a, void *old,
                                                 const skua_rma_params *params)
{
    struct ski_caller caller;
    skua_status       status;

    if (!ski_onesided_job())
        return atomic_start(call, at, a, old, params);
    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    status = atomic_start(call, at, a, old, params);
    ski_caller_leave(&caller);
    return status;
}

/* Returns an aligned word of a plain region, or NULL. */
static inline char *atomic_word(skua_gaddr at, size_t bytes)
{
    char *memory = ski_region_ptr(at, bytes);
    return (uintptr_t)memory % bytes == 0 && ski_fast_path_open() ? memory : NULL;
}

/* Describes an atomic on an unsigned integer of @p bytes. */
static inline struct ski_atomic atomic_unsigned(skua_atomic_op op, size_t bytes, uint64_t value,
                                                uint64_t expected)
{
    return (struct ski_atomic){.op       = (uint16_t)op,
                               .type     = bytes == 4 ? SKUA_UINT32 : SKUA_UINT64,
                               .bytes    = (uint32_t)bytes,
                               .value    = value,
                               .expected = expected};
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
            status = atomic_slow(__func__, at, atomic_unsigned(op_id, sizeof value, value, 0),     \
                                 &before);                                                         \
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
                atomic_unsigned(SKUA_ATOMIC_COMPARE_SWAP, sizeof value, value, expected),          \
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
            status = atomic_slow(__func__, at,                                                     \
                                 atomic_unsigned(SKUA_ATOMIC_LOAD, sizeof *value, 0, 0), &seen);   \
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
                               atomic_unsigned(SKUA_ATOMIC_STORE, sizeof value, value, 0),         \
                               &before);                                                           \
        atomic_store(word, value);                                                                 \
        ski_fence(memory_order_seq_cst);                                                           \
        return SKUA_OK;                                                                            \
    }

#define ATOMIC_ALL(bits)                                                                           \
    ATOMIC_FETCH(skua_fetch_add##bits, uint##bits##_t, SKUA_ATOMIC_ADD, atomic_fetch_add)          \
    ATOMIC_FETCH(skua_fetch_and##bits, uint##bits##_t, SKUA_ATOMIC_AND, atomic_fetch_and)          \
    ATOMIC_FETCH(skua_fetch_or##bits, uint##bits##_t, SKUA_ATOMIC_OR, atomic_fetch_or)             \
    ATOMIC_FETCH(skua_fetch_xor##bits, uint##bits##_t, SKUA_ATOMIC_XOR, atomic_fetch_xor)          \
    ATOMIC_FETCH(skua_swap##bits, uint##bits##_t, SKUA_ATOMIC_SWAP, atomic_exchange)               \
    ATOMIC_COMPARE_SWAP(skua_compare_swap##bits, uint##bits##_t)                                   \
    ATOMIC_LOAD_STORE(skua_load##bits, skua_store##bits, uint##bits##_t)

ATOMIC_ALL(32)
ATOMIC_ALL(64)

/* ---- any operation, any type ----------------------------------------------------------------- */

static uint64_t atomic_bits(const void *element, size_t bytes)
{
    uint32_t narrow;
    uint64_t wide;

    if (bytes == 8) {
        memcpy(&wide, element, 8);
        return wide;
    }
    memcpy(&narrow, element, 4);
    return narrow;
}

/* Makes an atomic of the arguments of a call. */
static skua_status atomic_make(const char *call, skua_atomic_op op, skua_type type,
                               const void *operand, struct ski_atomic *a)
{
    size_t bytes = ski_type_size(type);

    *a = (struct ski_atomic){.op = (uint16_t)op, .type = (uint16_t)type, .bytes = (uint32_t)bytes};
    if ((unsigned)op > SKUA_ATOMIC_MAX || (unsigned)type > UINT16_MAX || !ski_atomic_is_valid(a))
        return ski_refuse(SKUA_ERR_INVAL, "%s: there is no atomic operation %d of type %s", call,
                          (int)op, ski_type_name(type));
    if (op == SKUA_ATOMIC_LOAD)
        return SKUA_OK;
    if (!operand)
        return ski_refuse(SKUA_ERR_INVAL, "%s: there is no operand", call);
    if (op == SKUA_ATOMIC_COMPARE_SWAP) {
        a->expected = atomic_bits(operand, bytes);
        operand     = (const char *)operand + bytes;
    }
    a->value = atomic_bits(operand, bytes);
    return SKUA_OK;
}

/* Performs an atomic on a word of a plain region.  Returns false if that is not possible. */
static inline bool atomic_try_fast(skua_gaddr at, const struct ski_atomic *a, uint64_t *before)
{
    char *word = atomic_word(at, a->bytes);

    if (SKI_UNLIKELY(!word))
        return false;
    if (a->op == SKUA_ATOMIC_LOAD)
        ski_fence(memory_order_seq_cst);
    *before = ski_atomic_by_cpu(a, word);
    ski_fence(memory_order_seq_cst);
    return true;
}

skua_status skua_atomic(skua_gaddr at, skua_atomic_op op, skua_type type, const void *operand,
                        void *old)
{
    struct ski_atomic a;
    uint64_t          before;
    skua_status       status = atomic_make(__func__, op, type, operand, &a);

    if (status == SKUA_OK && !atomic_try_fast(at, &a, &before))
        status = atomic_slow(__func__, at, a, &before);
    if (status == SKUA_OK && old)
        ski_atomic_store_old(old, before, a.bytes);
    return status;
}

skua_status skua_atomic_nb(skua_gaddr at, skua_atomic_op op, skua_type type, const void *operand,
                           void *old, const skua_rma_params *params)
{
    struct ski_atomic a;
    uint64_t          before;
    skua_status       status = atomic_make(__func__, op, type, operand, &a);

    if (status != SKUA_OK)
        return status;
    if (params || !atomic_try_fast(at, &a, &before))
        return ski_self ? atomic_start(__func__, at, &a, old, params)
                        : atomic_start_outside(__func__, at, &a, old, params);
    if (old)
        ski_atomic_store_old(old, before, a.bytes);
    return SKUA_OK;
}
