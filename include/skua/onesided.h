/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided.h - put, get, accumulate: into and out of the memory of others,
 * while these compute.
 *
 * Each has four shapes: contiguous, strided, a list of segments (vector), and
 * blocks of one size at indexed places.  Each comes blocking and non-blocking:
 *
 *   skua_put(to, from, bytes)            returns when it is done at the target
 *   skua_put_nb(to, from, bytes, &ends)  starts it; `ends` says what shall
 *                                        happen when it ends, and in what order
 *
 * They return SKUA_OK, or a failure that has been logged and has changed
 * nothing (of a list, entries before the wrong one may have been moved).  The line names the call
 * and the region (skua_region_set_name()); what only the target can refuse is logged there, too, with
 * the PE that asked:
 *
 *   SKUA_ERR_REGION   no such region, or freed
 *   SKUA_ERR_RANGE    outside of it, or a PE that has no piece of it
 *   SKUA_ERR_INVAL    a shape that makes no sense, or overlaps itself where it is
 *                     written; an operator that the type does not have
 *   SKUA_ERR_ALIGN    a place or size that does not fit the type
 *   SKUA_ERR_SYSTEM   memory of another process that is not there any more
 *   SKUA_ERR_EXIT     the job ends; whether it has been done is not known
 *
 * A non-blocking call may also return SKUA_PENDING: not done yet.  With the first
 * operation on a region of one PE of another host the caller asks it for its size,
 * and waits, delivering messages, also in a non-blocking call.
 *
 * Any PE and any other thread of its process may call these at any time, until
 * skua_main() returns.  Only what has to do with handles and completions belongs
 * on a PE.
 */
#ifndef SKUA_ONESIDED_H
#define SKUA_ONESIDED_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/collective.h>
#include <skua/completion.h>
#include <skua/region.h>

SKUA_BEGIN_DECLS

/* ---- shapes -------------------------------------------------------------- */

#define SKUA_LEVELS_MAX 8

/** Blocks of `bytes`, repeated count[0] times, all of that count[1] times ...
 *  The strides, in bytes, lead from one repetition to the next; they may be
 *  negative.  levels 0 is one block. */
typedef struct {
    size_t    bytes;                  /* of a block          */
    int       levels;                 /* 0 to SKUA_LEVELS_MAX */
    size_t    count[SKUA_LEVELS_MAX]; /* repetitions         */
    ptrdiff_t local[SKUA_LEVELS_MAX]; /* strides here        */
    ptrdiff_t remote[SKUA_LEVELS_MAX];
} skua_strided;

/** A segment of a list: @p remote is relative to the global address. */
typedef struct {
    void     *local;
    ptrdiff_t remote;
    size_t    bytes;
} skua_segment;

/** Blocks of one size; offsets in bytes.  local NULL: one behind another. */
typedef struct {
    size_t           bytes; /* of a block */
    size_t           count;
    const ptrdiff_t *local;
    const ptrdiff_t *remote;
} skua_indexed;

/* ---- ends ---------------------------------------------------------------- */

/**
 * What is promised about the order in which operations of one caller on the
 * memory of one PE take effect (docs/guide/ordering.md).
 */
typedef enum {
    SKUA_ORDER_DEFAULT, /* the setting `order`, which is partial unless changed   */
    SKUA_UNORDERED,     /* nothing, until a fence                                 */
    SKUA_ORDER_PARTIAL, /* puts after puts                                        */
    SKUA_ORDER_STRICT,  /* everything after everything before it, gets included   */
} skua_order;

/** Operations that may be waited for together; zero is none. */
typedef struct {
    int64_t pending; /* the runtime's */
} skua_handle;

#define SKUA_HANDLE_INIT                                                                           \
    {                                                                                              \
        0                                                                                          \
    }

/** What shall happen at the end of an operation.  All of it may be asked for
 *  together; what is zero is not asked for.  Without anything (or with NULL for
 *  the whole) the operation is implicit: a fence waits for it. */
typedef struct {
    skua_order      order;
    skua_handle    *handle; /* counts it until it is done at the target            */
    skua_completion local;  /* the local memory may be used again (put, accumulate)
                               or holds the data (get)                             */
    skua_completion remote; /* it is done at the target                            */
    skua_gaddr      notify; /* a skua_notify at the target that grows by
                               notify_add, 1 if that is 0, after the data is there */
    uint64_t     notify_add;
    skua_handler signal; /* runs at the target after the data is there, with a
                            message that holds signal_bytes of signal_data; zero
                            is none, and an error if there is data for it       */
    const void *signal_data;
    size_t      signal_bytes;
} skua_ends;

/** Wait for, or ask after, all operations of a handle.  Test: true if done.  A
 *  user thread is suspended; on the PE's own stack messages are delivered. */
SKUA_API void skua_handle_wait(skua_handle *handle);
SKUA_API bool skua_handle_test(skua_handle *handle);

/* ---- put and get --------------------------------------------------------- */

SKUA_API skua_status_t skua_put(skua_gaddr to, const void *from, size_t bytes);
SKUA_API skua_status_t skua_get(void *to, skua_gaddr from, size_t bytes);

SKUA_API skua_status_t skua_put_strided(skua_gaddr to, const void *from, const skua_strided *shape);
SKUA_API skua_status_t skua_get_strided(void *to, skua_gaddr from, const skua_strided *shape);

SKUA_API skua_status_t skua_put_vector(skua_gaddr to, const skua_segment *list, size_t n);
SKUA_API skua_status_t skua_get_vector(const skua_segment *list, size_t n, skua_gaddr from);

SKUA_API skua_status_t skua_put_indexed(skua_gaddr to, const void *from, const skua_indexed *shape);
SKUA_API skua_status_t skua_get_indexed(void *to, skua_gaddr from, const skua_indexed *shape);

SKUA_API skua_status_t skua_put_nb(skua_gaddr to, const void *from, size_t bytes,
                                   const skua_ends *ends);
SKUA_API skua_status_t skua_get_nb(void *to, skua_gaddr from, size_t bytes, const skua_ends *ends);
SKUA_API skua_status_t skua_put_strided_nb(skua_gaddr to, const void *from,
                                           const skua_strided *shape, const skua_ends *ends);
SKUA_API skua_status_t skua_get_strided_nb(void *to, skua_gaddr from, const skua_strided *shape,
                                           const skua_ends *ends);
SKUA_API skua_status_t skua_put_vector_nb(skua_gaddr to, const skua_segment *list, size_t n,
                                          const skua_ends *ends);
SKUA_API skua_status_t skua_get_vector_nb(const skua_segment *list, size_t n, skua_gaddr from,
                                          const skua_ends *ends);
SKUA_API skua_status_t skua_put_indexed_nb(skua_gaddr to, const void *from,
                                           const skua_indexed *shape, const skua_ends *ends);
SKUA_API skua_status_t skua_get_indexed_nb(void *to, skua_gaddr from, const skua_indexed *shape,
                                           const skua_ends *ends);

/* ---- accumulate ---------------------------------------------------------- */

/**
 * target = target (op) scale * local, element by element.  Each element is
 * updated atomically with respect to other accumulates (not to atomics, puts or
 * plain stores).
 *
 *   SKUA_SUM                        every type but SKUA_BYTE
 *   SKUA_MIN, SKUA_MAX              the integers, float, double
 *   SKUA_BIT_AND, _OR, _XOR         the integers
 *
 * @p scale points to one element of the type, and goes with SKUA_SUM; NULL is 1.
 * Blocks are whole elements, and places at the target are aligned to them.
 */
typedef struct {
    skua_op     op;
    skua_type   type;
    const void *scale;
} skua_update;

SKUA_API skua_status_t skua_acc(skua_gaddr to, const void *from, size_t bytes,
                                const skua_update *update);
SKUA_API skua_status_t skua_acc_strided(skua_gaddr to, const void *from, const skua_strided *shape,
                                        const skua_update *update);
SKUA_API skua_status_t skua_acc_vector(skua_gaddr to, const skua_segment *list, size_t n,
                                       const skua_update *update);
SKUA_API skua_status_t skua_acc_indexed(skua_gaddr to, const void *from, const skua_indexed *shape,
                                        const skua_update *update);

SKUA_API skua_status_t skua_acc_nb(skua_gaddr to, const void *from, size_t bytes,
                                   const skua_update *update, const skua_ends *ends);
SKUA_API skua_status_t skua_acc_strided_nb(skua_gaddr to, const void *from,
                                           const skua_strided *shape, const skua_update *update,
                                           const skua_ends *ends);
SKUA_API skua_status_t skua_acc_vector_nb(skua_gaddr to, const skua_segment *list, size_t n,
                                          const skua_update *update, const skua_ends *ends);
SKUA_API skua_status_t skua_acc_indexed_nb(skua_gaddr to, const void *from,
                                           const skua_indexed *shape, const skua_update *update,
                                           const skua_ends *ends);

/* ---- fences -------------------------------------------------------------- */

/** Wait until what the calling PE has started is done: on the memory of @p pe, in
 *  @p region, or everywhere.  (A thread that is no PE has nothing to wait for.)  A PE that does not
 *  exist, or no region, is logged, and nothing is waited for. */
SKUA_API void skua_fence(int pe);
SKUA_API void skua_fence_region(skua_region region);
SKUA_API void skua_fence_all(void);

/** skua_fence_all(), then a barrier of all PEs, which all call it: when it returns, what any PE
 *  started one-sidedly before its call is done.  Messages and the collectives of
 *  skua/collective.h are not waited for.  Handlers run while it waits. */
SKUA_API void skua_sync(void);

/* ---- notification -------------------------------------------------------- */

/** A counter in a region that operations of others increase, and its owner
 *  waits for.  Zero (SKUA_NOTIFY_INIT, memset) is zero. */
typedef struct {
    uint64_t word; /* the runtime's */
} skua_notify;

#define SKUA_NOTIFY_INIT                                                                           \
    {                                                                                              \
        0                                                                                          \
    }

/** Its value.  What came with the operations counted is visible. */
SKUA_API uint64_t skua_notify_value(const skua_notify *notify);

/** Wait until it is at least @p target; false: the job ends.  One PE waits for
 *  it, the one whose piece it is in: as with skua_counter_wait(). */
SKUA_API bool skua_notify_wait(skua_notify *notify, uint64_t target);

/** Take @p value off, for the next round. */
SKUA_API void skua_notify_take(skua_notify *notify, uint64_t value);

/** Increase one, without data.  Ordered after the caller's earlier puts.  To a place that is
 *  reached by request it is on its way when this returns SKUA_OK; a fence waits for it. */
SKUA_API skua_status_t skua_notify_add(skua_gaddr notify, uint64_t value);

/* ---- remote tasks -------------------------------------------------------- */

/** A function that can be called on other PEs. */
typedef struct {
    uint32_t id;
} skua_function;

/** Runs on the PE that was called.  skua_complete(done, result, bytes) returns
 *  the result, at once or later; @p args lives until the function returns. */
typedef void (*skua_function_fn)(const void *args, size_t bytes, skua_completion done);

/** Register one before skua_main(), as with skua_register(). */
SKUA_API skua_function skua_function_register(const char *name, skua_function_fn fn);

/** Call it on @p pe with a copy of @p args; @p done gets the result.  A PE or function that does not
 *  exist ends the job with a line that says so. */
SKUA_API void skua_call(int pe, skua_function function, const void *args, size_t bytes,
                        skua_completion done);

SKUA_END_DECLS

#endif
