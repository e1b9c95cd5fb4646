/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_op.c - see rma_op.h.
 *
 * Memory of the arena has the CPU's atomics, from every process.  Memory that was registered
 * outside of it has not, from other processes: for it all PEs, its owner included, hold the lock of
 * the stripe instead.
 */
#include "onesided/rma/rma_op.h"

#include <string.h>

#include "base/assert.h"
#include "core/collective/collective.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/rma/accumulate_list.h"
#include "onesided/rma/iov.h"

int32_t ski_rma_op_source(const struct ski_rma_op *op)
{
    return op->signal_for ? op->signal_for - 1 : ski_caller_pe();
}

/* ---- accumulate ----------------------------------------------------------------------------- */

/* The iterator goes over the outer levels; the loop over the innermost one has nothing else to do.
 */
static void rma_op_accumulate_strided(const struct ski_rma_op   *op,
                                      const struct ski_resolved *target)
{
    struct ski_datatype     outer = op->datatype;
    struct ski_stride_pairs inner = outer.strided;
    size_t                  rows  = inner.levels > 0 ? inner.count[0] : 1;
    struct ski_stripe_lock  lock  = {NULL};
    struct ski_iov_iter     iter;
    struct ski_iov          iov;

    if (inner.levels > 0)
        outer.strided = (struct ski_stride_pairs){inner.levels - 1, inner.count + 1,
                                                  inner.local + 1, inner.remote + 1};
    ski_iov_iter_begin(&iter, &outer);
    while (ski_iov_iter_next(&iter, &iov))
        for (size_t i = 0; i < rows; i++) {
            ski_accumulate_contiguous(&lock, target->process, target->memory + iov.remote,
                                      iov.local, iov.bytes, op->fn, op->element,
                                      op->accumulate->scale);
            if (inner.levels > 0)
                iov.local += inner.local[0], iov.remote += inner.remote[0];
        }
    ski_stripe_lock_release(&lock);
}

static void rma_op_accumulate_list(const struct ski_rma_op *op, const struct ski_resolved *target)
{
    struct ski_stripe_set set;
    struct ski_iov_iter   iter;
    struct ski_iov        iov;

    ski_stripe_set_begin(&set);
    ski_iov_iter_begin(&iter, &op->datatype);
    while (ski_iov_iter_next(&iter, &iov))
        ski_accumulate_scattered(&set, target->process, target->memory + iov.remote, iov.local,
                                 iov.bytes, op->fn, op->element, op->accumulate->scale);
    ski_stripe_set_release(&set);
}

static void rma_op_accumulate_elements(const struct ski_rma_op   *op,
                                       const struct ski_resolved *target)
{
    const struct ski_offset_pairs *offsets = &op->datatype.indexed;
    struct ski_accumulate_list     list    = {.scale   = op->accumulate->scale,
                                              .element = op->element,
                                              .owner   = target->process,
                                              .to      = target->memory,
                                              .from    = op->datatype.local};

    ski_accumulate_list(&list, ski_accumulate_at_function(op->accumulate), offsets->remote,
                        offsets->local, op->datatype.count);
}

void ski_rma_op_accumulate(const struct ski_rma_op *op, const struct ski_resolved *target)
{
    struct ski_stripe_lock lock = {NULL};

    ski_assert(op->verb == SKI_RMA_ACCUMULATE && op->fn && op->element > 0);
    if (op->datatype.kind == SKI_DATATYPE_STRIDED) {
        rma_op_accumulate_strided(op, target);
    } else if (op->datatype.kind == SKI_DATATYPE_INDEXED && op->datatype.indexed.remote &&
               op->datatype.bytes == op->element && op->datatype.count >= SKI_ACCUMULATE_FEW) {
        rma_op_accumulate_elements(op, target);
    } else if (op->datatype.kind != SKI_DATATYPE_CONTIGUOUS) {
        rma_op_accumulate_list(op, target);
    } else { /* one block: nothing to iterate over */
        ski_accumulate_contiguous(&lock, target->process, target->memory, op->datatype.local,
                                  op->datatype.bytes, op->fn, op->element, op->accumulate->scale);
        ski_stripe_lock_release(&lock);
    }
}

/* ---- atomics -------------------------------------------------------------------------------- */

bool ski_atomic_is_valid(const struct ski_atomic *a)
{
    bool integer = a->type == SKUA_INT32 || a->type == SKUA_INT64 || a->type == SKUA_UINT32 ||
                   a->type == SKUA_UINT64;

    if (a->op > SKUA_ATOMIC_MAX || !(integer || a->type == SKUA_FLOAT || a->type == SKUA_DOUBLE) ||
        a->bytes != ski_type_size((skua_type)a->type))
        return false;
    return integer ||
           (a->op != SKUA_ATOMIC_AND && a->op != SKUA_ATOMIC_OR && a->op != SKUA_ATOMIC_XOR);
}

/* Computes a sum, a minimum or a maximum of @p ctype, the type that the bits stand for; @p utype
 * has as many bits.  Integers are added as unsigned ones, which wrap around. */
#define ATOMIC_ARITHMETIC(name, ctype, utype)                                                      \
    static uint64_t name(uint32_t op, uint64_t before, uint64_t operand)                           \
    {                                                                                              \
        union {                                                                                    \
            ctype number;                                                                          \
            utype bits;                                                                            \
        } a = {.bits = (utype)before}, b = {.bits = (utype)operand};                               \
        if (op == SKUA_ATOMIC_ADD)                                                                 \
            a.number += b.number;                                                                  \
        else if (op == SKUA_ATOMIC_MIN ? b.number < a.number : a.number < b.number)                \
            a.number = b.number;                                                                   \
        return a.bits;                                                                             \
    }

ATOMIC_ARITHMETIC(atomic_arithmetic_int32, int32_t, uint32_t)
ATOMIC_ARITHMETIC(atomic_arithmetic_int64, int64_t, uint64_t)
ATOMIC_ARITHMETIC(atomic_arithmetic_uint32, uint32_t, uint32_t)
ATOMIC_ARITHMETIC(atomic_arithmetic_uint64, uint64_t, uint64_t)
ATOMIC_ARITHMETIC(atomic_arithmetic_float, float, uint32_t)
ATOMIC_ARITHMETIC(atomic_arithmetic_double, double, uint64_t)

/* Signed sums are those of unsigned integers, which do not overflow. */
static uint64_t atomic_arithmetic(const struct ski_atomic *a, uint64_t before)
{
    bool add = a->op == SKUA_ATOMIC_ADD;

    switch ((skua_type)a->type) {
    case SKUA_INT32:
        return (add ? atomic_arithmetic_uint32 : atomic_arithmetic_int32)(a->op, before, a->value);
    case SKUA_INT64:
        return (add ? atomic_arithmetic_uint64 : atomic_arithmetic_int64)(a->op, before, a->value);
    case SKUA_UINT32: return atomic_arithmetic_uint32(a->op, before, a->value);
    case SKUA_FLOAT: return atomic_arithmetic_float(a->op, before, a->value);
    case SKUA_DOUBLE: return atomic_arithmetic_double(a->op, before, a->value);
    default: return atomic_arithmetic_uint64(a->op, before, a->value);
    }
}

uint64_t ski_atomic_result(const struct ski_atomic *a, uint64_t before)
{
    switch ((skua_atomic_op)a->op) {
    case SKUA_ATOMIC_ADD:
    case SKUA_ATOMIC_MIN:
    case SKUA_ATOMIC_MAX: return atomic_arithmetic(a, before);
    case SKUA_ATOMIC_AND: return before & a->value;
    case SKUA_ATOMIC_OR: return before | a->value;
    case SKUA_ATOMIC_XOR: return before ^ a->value;
    case SKUA_ATOMIC_SWAP:
    case SKUA_ATOMIC_STORE: return a->value;
    case SKUA_ATOMIC_COMPARE_SWAP: return before == a->expected ? a->value : before;
    case SKUA_ATOMIC_LOAD: break;
    }
    return before;
}

void ski_atomic_store_old(void *old, uint64_t bits, uint32_t bytes)
{
    uint32_t narrow = (uint32_t)bits;

    memcpy(old, bytes == 4 ? (const void *)&narrow : &bits, bytes);
}

/* A loop around compare-and-swap of the bits does all of them, so they are atomic with respect to
 * each other whatever the type. */
#define ATOMIC_BY_CPU(name, type)                                                                  \
    static uint64_t name(const struct ski_atomic *a, void *memory)                                 \
    {                                                                                              \
        _Atomic type *word   = memory;                                                             \
        type          before = atomic_load(word);                                                  \
        while (a->op != SKUA_ATOMIC_LOAD &&                                                        \
               !atomic_compare_exchange_weak(word, &before, (type)ski_atomic_result(a, before)))   \
            ;                                                                                      \
        return before;                                                                             \
    }

ATOMIC_BY_CPU(atomic_by_cpu_32, uint32_t)
ATOMIC_BY_CPU(atomic_by_cpu_64, uint64_t)

uint64_t ski_atomic_by_cpu(const struct ski_atomic *a, void *word)
{
    ski_assert((a->bytes == 4 || a->bytes == 8) && (uintptr_t)word % a->bytes == 0);
    return a->bytes == 4 ? atomic_by_cpu_32(a, word) : atomic_by_cpu_64(a, word);
}

uint64_t ski_atomic_apply(const struct ski_atomic *a, const struct ski_resolved *target)
{
    struct ski_stripe_lock lock = {NULL};
    uint64_t               before;

    if (target->process >= 0)
        ski_stripe_lock_move(&lock, target->process, target->memory);
    before = ski_atomic_by_cpu(a, target->memory);
    ski_stripe_lock_release(&lock);
    return before;
}
