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
enum ski_verb { SKI_PUT, SKI_GET, SKI_UPDATE, SKI_ATOMIC, SKI_DESCRIBE };

enum ski_atomic_op {
    SKI_ADD,
    SKI_AND,
    SKI_OR,
    SKI_XOR,
    SKI_SWAP,
    SKI_COMPARE_SWAP,
    SKI_LOAD,
    SKI_STORE
};

struct ski_atomic {
    uint32_t op;    /* enum ski_atomic_op */
    uint32_t bytes; /* 4 or 8             */
    uint64_t value, expected;
};

struct ski_transfer {
    const char              *call;
    enum ski_verb            verb;
    skua_gaddr               remote;
    struct ski_shape         shape;
    const skua_update       *update; /* SKI_UPDATE           */
    ski_update_fn            fn;     /* and what comes of it */
    size_t                   element;
    const struct ski_atomic *atomic; /* SKI_ATOMIC           */
};

/** Do it on memory of this process, or in the arena; put, get and update. */
void ski_transfer_here(const struct ski_transfer *t, const struct ski_place *place);

/** An atomic on such memory; the value before. */
uint64_t ski_atomic_here(const struct ski_atomic *atomic, const struct ski_place *place);

/** What `ends` asks for at the target, after the data: the notification, if we
 *  reach it, and the signal. */
void ski_ends_there(const char *call, const skua_ends *ends, int pe, int source);

/** Whether it asks for anything there, which comes after earlier puts whatever the order. */
bool ski_ends_tell(const skua_ends *ends);

/** The order that is asked for, by `ends` or by the setting. */
skua_order ski_order_of(const skua_ends *ends);

/** Whether an operation between hosts has to come after earlier ones on the same PE. */
bool ski_comes_after(const struct ski_transfer *t, const skua_ends *ends);

/** Raise a notification at a place that is not plain; SKUA_OK is also returned, unless
 *  @p blocking, while the request is on its way. */
skua_status_t ski_notify_far(const char *call, skua_gaddr at, uint64_t value, bool blocking);

/** Wait for what is on the way to @p pe, if @p order asks for it before @p verb,
 *  and keep the CPU from mixing them up. */
void ski_order_before(skua_order order, enum ski_verb verb, int pe);

#endif
