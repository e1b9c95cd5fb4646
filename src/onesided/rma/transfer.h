/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.h - one operation, whatever its shape and way.
 */
#ifndef SKI_TRANSFER_H
#define SKI_TRANSFER_H

#include "onesided/onesided.h"
#include "onesided/region/region.h"
#include "onesided/rma/datatype.h"
#include "onesided/rma/accumulate.h"

/* The last is a question about the region (rkey_cache.h). */
enum ski_rma_verb {
    SKI_RMA_PUT,
    SKI_RMA_GET,
    SKI_RMA_ACCUMULATE,
    SKI_RMA_ATOMIC,
    SKI_RMA_RKEY_QUERY
};

enum ski_atomic_op {
    SKI_ATOMIC_ADD,
    SKI_ATOMIC_AND,
    SKI_ATOMIC_OR,
    SKI_ATOMIC_XOR,
    SKI_ATOMIC_SWAP,
    SKI_ATOMIC_COMPARE_SWAP,
    SKI_ATOMIC_LOAD,
    SKI_ATOMIC_STORE
};

struct ski_atomic {
    uint32_t op;    /* enum ski_atomic_op */
    uint32_t bytes; /* 4 or 8             */
    uint64_t value, expected;
};

struct ski_rma_op {
    const char              *call;
    enum ski_rma_verb        verb;
    skua_gaddr               remote;
    struct ski_datatype      shape;
    const skua_update       *update; /* SKI_RMA_ACCUMULATE           */
    ski_accumulate_fn        fn;     /* and what comes of it */
    size_t                   element;
    const struct ski_atomic *atomic; /* SKI_RMA_ATOMIC           */
};

/** Do it on memory of this process, or in the arena; put, get and update. */
void ski_rma_op_apply(const struct ski_rma_op *t, const struct ski_resolved *place);

/** An atomic on such memory; the value before. */
uint64_t ski_atomic_apply(const struct ski_atomic *atomic, const struct ski_resolved *place);

/** What `ends` asks for at the target, after the data: the notification, if we
 *  reach it, and the signal. */
void ski_op_params_apply(const char *call, const skua_ends *ends, int pe, int source);

/** Whether it asks for anything there, which comes after earlier puts whatever the order. */
bool ski_op_params_signal(const skua_ends *ends);

/** The order that is asked for, by `ends` or by the setting. */
skua_order ski_op_params_order(const skua_ends *ends);

/** Whether an operation between hosts has to come after earlier ones on the same PE. */
bool ski_rma_op_is_ordered(const struct ski_rma_op *t, const skua_ends *ends);

/** Raise a notification at a place that is not plain; SKUA_OK is also returned, unless
 *  @p blocking, while the request is on its way. */
skua_status_t ski_rma_notify(const char *call, skua_gaddr at, uint64_t value, bool blocking);

/** Wait for what is on the way to @p pe, if @p order asks for it before @p verb,
 *  and keep the CPU from mixing them up. */
void ski_rma_order_before(skua_order order, enum ski_rma_verb verb, int pe);

#endif
