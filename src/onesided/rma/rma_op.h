/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_op.h - one operation: put, get, accumulate or atomic, with its remote address and the
 * datatype of its data; and how it is applied to memory that this process reaches.
 */
#ifndef SKI_RMA_OP_H
#define SKI_RMA_OP_H

#include <skua/atomic.h>

#include "onesided/region/resolve.h"
#include "onesided/rma/accumulate.h"
#include "onesided/rma/datatype_copy.h"
#include "onesided/rma/op_params.h"

/* The kinds of operations.  RKEY_QUERY requests the description of a region (rkey_cache.h). */
enum ski_rma_verb {
    SKI_RMA_PUT,
    SKI_RMA_GET,
    SKI_RMA_ACCUMULATE,
    SKI_RMA_ATOMIC,
    SKI_RMA_RKEY_QUERY
};

/* An atomic, also as a part of a request on the wire. */
struct ski_atomic {
    uint16_t op;              /* skua_atomic_op                             */
    uint16_t type;            /* skua_type                                  */
    uint32_t bytes;           /* of the type: 4 or 8                        */
    uint64_t value, expected; /* the bits of the operands, 4 or 8 bytes each */
};

/* An operation. */
struct ski_rma_op {
    const char              *call; /* the public function, for errors */
    enum ski_rma_verb        verb;
    skua_gaddr               remote;
    struct ski_datatype      datatype;
    const skua_update       *accumulate; /* SKI_RMA_ACCUMULATE: operator, type and factor ... */
    ski_accumulate_fn        fn;         /* ... the function that they select ...             */
    size_t                   element;    /* ... and the bytes of an element                   */
    const struct ski_atomic *atomic;     /* SKI_RMA_ATOMIC                                    */
    int32_t      signal_for; /* 1 + the PE that is the source of a signal; 0: the caller is   */
    skua_status *failed;     /* NULL, or is set to the status of a request that fails         */
};

/** Returns the PE that is the source of the signal of @p op. */
int32_t ski_rma_op_source(const struct ski_rma_op *op);

/** Begins @p op, a put, as skua_put_nb() does.  Returns as skua_put_nb() does. */
skua_status ski_rma_op_put_nb(struct ski_rma_op *op, const skua_rma_params *params);

/** Returns whether an operation between hosts has to come after earlier ones on the same PE. */
static inline bool ski_rma_op_is_ordered(const struct ski_rma_op *op, const skua_rma_params *params)
{
    skua_order order = ski_op_params_order(params);

    return order == SKUA_ORDER_STRICT || (order == SKUA_ORDER_PARTIAL && op->verb != SKI_RMA_GET) ||
           ski_op_params_at_target(params);
}

/** Performs an accumulate on memory that this process reaches by load and store. */
void ski_rma_op_accumulate(const struct ski_rma_op *op, const struct ski_resolved *target);

/** Performs a put, get or accumulate on memory that this process reaches by load and store. */
static inline void ski_rma_op_apply(const struct ski_rma_op *op, const struct ski_resolved *target)
{
    if (op->verb == SKI_RMA_PUT)
        ski_datatype_put(&op->datatype, target->memory);
    else if (op->verb == SKI_RMA_GET)
        ski_datatype_get(&op->datatype, target->memory);
    else
        ski_rma_op_accumulate(op, target);
}

/** Returns whether the operation of an atomic is defined for its type, and its size is that of the
 *  type.  Any values are allowed: they may come from another host. */
bool ski_atomic_is_valid(const struct ski_atomic *a);

/** Returns the bits of a word after an atomic, given those before. */
uint64_t ski_atomic_result(const struct ski_atomic *a, uint64_t before);

/** Stores the bits of a previous value, of 4 or 8 bytes, in @p old, which need not be aligned. */
void ski_atomic_store_old(void *old, uint64_t bits, uint32_t bytes);

/** Performs an atomic by the CPU on an aligned word of the arena.  Returns the bits before. */
uint64_t ski_atomic_by_cpu(const struct ski_atomic *a, void *word);

/** Performs an atomic on memory that this process reaches.  Returns the bits before. */
uint64_t ski_atomic_apply(const struct ski_atomic *atomic, const struct ski_resolved *target);

#endif
