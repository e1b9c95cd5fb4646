/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_op.c - see rma_op.h.
 *
 * Memory of the arena has the CPU's atomics, from every process.  Memory that was registered
 * outside of it has not, from other processes: for it all PEs, its owner included, hold the lock of
 * the stripe instead.
 */
#include "onesided/rma/rma_op.h"

#include "base/assert.h"

/* ---- accumulate -------------------------------------------------------------------------------
 */

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

/* Single elements at offsets of the target: the loop does for each no more than it must. */
static void rma_op_accumulate_elements(const struct ski_rma_op   *op,
                                       const struct ski_resolved *target)
{
    const struct ski_offset_pairs *list = &op->datatype.indexed;
    struct ski_stripe_set          set;

    ski_stripe_set_begin(&set);
    for (size_t i = 0; i < op->datatype.count; i++) {
        if (i % SKI_STRIPE_SET_WORK == 0)
            ski_stripe_set_release(&set);
        ski_accumulate_element(&set, target->process, target->memory + list->remote[i],
                               op->datatype.local +
                                   (list->local ? list->local[i] : (ptrdiff_t)(i * op->element)),
                               op->fn, op->accumulate->scale);
    }
    ski_stripe_set_release(&set);
}

void ski_rma_op_accumulate(const struct ski_rma_op *op, const struct ski_resolved *target)
{
    struct ski_stripe_lock lock = {NULL};

    ski_assert(op->verb == SKI_RMA_ACCUMULATE && op->fn && op->element > 0);
    if (op->datatype.kind == SKI_DATATYPE_STRIDED) {
        rma_op_accumulate_strided(op, target);
    } else if (op->datatype.kind == SKI_DATATYPE_INDEXED && op->datatype.indexed.remote &&
               op->datatype.bytes == op->element) {
        rma_op_accumulate_elements(op, target);
    } else if (op->datatype.kind != SKI_DATATYPE_CONTIGUOUS) {
        rma_op_accumulate_list(op, target);
    } else { /* one block: nothing to iterate over */
        ski_accumulate_contiguous(&lock, target->process, target->memory, op->datatype.local,
                                  op->datatype.bytes, op->fn, op->element, op->accumulate->scale);
        ski_stripe_lock_release(&lock);
    }
}

/* ---- atomics ----------------------------------------------------------------------------------
 */

uint64_t ski_atomic_result(const struct ski_atomic *a, uint64_t before)
{
    switch ((enum ski_atomic_op)a->op) {
    case SKI_ATOMIC_ADD: return before + a->value;
    case SKI_ATOMIC_AND: return before & a->value;
    case SKI_ATOMIC_OR: return before | a->value;
    case SKI_ATOMIC_XOR: return before ^ a->value;
    case SKI_ATOMIC_SWAP:
    case SKI_ATOMIC_STORE: return a->value;
    case SKI_ATOMIC_COMPARE_SWAP: return before == a->expected ? a->value : before;
    case SKI_ATOMIC_LOAD: break;
    }
    return before;
}

/* A loop around compare-and-swap does all of them. */
#define ATOMIC_BY_CPU(name, type)                                                                  \
    static uint64_t name(const struct ski_atomic *a, void *memory)                                 \
    {                                                                                              \
        _Atomic type *word   = memory;                                                             \
        type          before = atomic_load(word);                                                  \
        while (a->op != SKI_ATOMIC_LOAD &&                                                         \
               !atomic_compare_exchange_weak(word, &before, (type)ski_atomic_result(a, before)))   \
            ;                                                                                      \
        return before;                                                                             \
    }

ATOMIC_BY_CPU(atomic_by_cpu_32, uint32_t)
ATOMIC_BY_CPU(atomic_by_cpu_64, uint64_t)

uint64_t ski_atomic_apply(const struct ski_atomic *a, const struct ski_resolved *target)
{
    struct ski_stripe_lock lock = {NULL};
    uint64_t               before;

    ski_assert((a->bytes == 4 || a->bytes == 8) && (uintptr_t)target->memory % a->bytes == 0);
    if (target->process >= 0)
        ski_stripe_lock_move(&lock, target->process, target->memory);
    before =
        a->bytes == 4 ? atomic_by_cpu_32(a, target->memory) : atomic_by_cpu_64(a, target->memory);
    ski_stripe_lock_release(&lock);
    return before;
}
