/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided.h - put, get and accumulate: access to the memory of other PEs while they compute.
 *
 * Each operation has a short form for contiguous memory, and one for layouts (layout.h): strided,
 * indexed, a list of blocks, on either side. Both are available as a blocking and a non-blocking
 * call:
 *
 *   skua_put(to, from, bytes)               returns when the put is complete at the target
 *   skua_put_nb(to, from, bytes, &params)   starts the put; `params` states its order and
 *                                           what happens when it completes
 *   skua_put_layout(to, &remote, &local)    copies from one layout to another
 *   skua_put_layout_nb(to, &remote, &local, &params)
 *
 * They return SKUA_OK, or a failure that has been logged and has changed nothing (of an indexed or
 * list layout, the blocks before the invalid one may have been transferred). The error names the
 * call and the region (skua_region_set_name()). A failure that only the target can detect is logged
 * there too, with the PE that made the request.
 *
 *   SKUA_ERR_REGION   no such region, or freed
 *   SKUA_ERR_RANGE    outside the region, or a PE that has no piece of it
 *   SKUA_ERR_INVAL    an invalid layout, a strided one whose levels overlap or interleave where it
 *                     is written, two layouts of different sizes, or an operator that does not
 *                     apply to the type
 *   SKUA_ERR_ALIGN    an address or size that is not aligned to the type
 *   SKUA_ERR_UNSUPPORTED  parameters of a newer version than the library
 *   SKUA_ERR_SYSTEM   memory of another process that no longer exists
 *   SKUA_ERR_EXIT     the job ends; the operation may or may not have been performed
 *
 * A non-blocking call may also return SKUA_PENDING: not complete yet. It never waits and never
 * delivers a message; only the first operation to a process on another host waits for the
 * connection if that process has a progress thread (the setting `progress_thread`). An operation
 * that has to come after others, or for which there is no room (the setting `request_window`), is
 * queued at its origin and sent while the PE is in the runtime. Small operations in quick
 * succession are also queued, and share packets; one with a notification or signal is sent
 * immediately. Memory that an operation reads belongs to it until `local`, or until it is complete.
 * Where only another host knows the size of a region (one that belongs to a PE there, or a piece of
 * varied size), its owner checks the range. The first blocking operation on such a region requests
 * the size, and delivers messages meanwhile.
 *
 * Any PE, and any other thread of its process, may call these functions at any time until
 * skua_main() returns. Operations of all such threads of a process count as those of one caller:
 * a flush by one of them waits for the operations of all.
 */
#ifndef SKUA_ONESIDED_H
#define SKUA_ONESIDED_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/collective.h>
#include <skua/completion.h>
#include <skua/layout.h>
#include <skua/notify.h>
#include <skua/region.h>

SKUA_BEGIN_DECLS

/* ---- completion and order of operations ---------------------------------- */

/** The order in which operations of one caller on the memory of one PE take effect
 *  (docs/guide/ordering.md). */
typedef enum {
    SKUA_ORDER_DEFAULT, /* the setting `order`, by default partial */
    SKUA_UNORDERED,     /* no order except by a fence or flush */
    SKUA_ORDER_PARTIAL, /* puts take effect in order */
    SKUA_ORDER_STRICT,  /* all operations take effect in order, including gets */
} skua_order;

/** A handle counts operations, to wait for them together. Zero counts none. */
typedef struct {
    int64_t pending; /* internal */
} skua_handle;

/** Initial value of a skua_handle. */
#define SKUA_HANDLE_INIT                                                                           \
    {                                                                                              \
        0                                                                                          \
    }

/** Order and completion of a non-blocking operation. Any combination of members may be set; zero
 *  members have no effect. If none is set, or NULL is given instead, the operation is implicit:
 *  only a flush waits for it. */
typedef struct {
    size_t          size; /* sizeof(skua_rma_params), or 0: its size in version 1.0 */
    skua_order      order;
    skua_handle    *handle; /* counts the operation until it is complete at the target */
    skua_completion local;  /* the local memory is free for reuse, or holds the data of a get */
    skua_completion remote; /* the operation is complete at the target */
    skua_gaddr notify; /* a skua_notify at the target, increased by notify_add (0: by 1) after the
                          data have arrived */
    uint64_t     notify_add;
    skua_handler signal; /* runs at the target after the data have arrived, with a message of
                            signal_bytes at signal_data; zero: none, and no data may be given */
    const void *signal_data;
    size_t      signal_bytes;
} skua_rma_params;

/** Waits until all operations of a handle are complete at their targets. A user thread is
 *  suspended; on the PE's own stack messages are delivered meanwhile. A handle belongs to one PE or
 *  to one thread that is not a PE. */
SKUA_API void skua_handle_wait(skua_handle *handle);

/** Returns true if all operations of a handle are complete at their targets. */
SKUA_API bool skua_handle_test(skua_handle *handle);

/* ---- put and get --------------------------------------------------------- */

/** Copies @p bytes at @p from to the global address @p to. Returns when the put is complete at the
 *  target. */
SKUA_API skua_status skua_put(skua_gaddr to, const void *from, size_t bytes);

/** Copies @p bytes at the global address @p from to @p to. Returns when the data have arrived. */
SKUA_API skua_status skua_get(void *to, skua_gaddr from, size_t bytes);

/** Copies the data of the layout @p local to the layout @p remote, which is relative to the global
 *  address @p to. Both layouts have the same number of bytes; their kinds may differ. Returns when
 *  the put is complete at the target. */
SKUA_API skua_status skua_put_layout(skua_gaddr to, const skua_layout *remote,
                                     const skua_layout *local);

/** Copies the data of the layout @p remote, which is relative to the global address @p from, to the
 *  layout @p local. Both layouts have the same number of bytes; their kinds may differ. Returns
 *  when the data have arrived. */
SKUA_API skua_status skua_get_layout(const skua_layout *local, skua_gaddr from,
                                     const skua_layout *remote);

/** Starts a put of @p bytes at @p from to the global address @p to. @p params states its order and
 *  completion; NULL: implicit. */
SKUA_API skua_status skua_put_nb(skua_gaddr to, const void *from, size_t bytes,
                                 const skua_rma_params *params);

/** Starts a get of @p bytes at the global address @p from to @p to. @p params states its order and
 *  completion; NULL: implicit. */
SKUA_API skua_status skua_get_nb(void *to, skua_gaddr from, size_t bytes,
                                 const skua_rma_params *params);

/** Starts a put from the layout @p local to the layout @p remote, which is relative to the global
 *  address @p to; otherwise as skua_put_layout(). @p params states its order and completion; NULL:
 *  implicit. The layouts may be changed when the call returns. */
SKUA_API skua_status skua_put_layout_nb(skua_gaddr to, const skua_layout *remote,
                                        const skua_layout *local, const skua_rma_params *params);

/** Starts a get from the layout @p remote, which is relative to the global address @p from, to the
 *  layout @p local; otherwise as skua_get_layout(). @p params states its order and completion;
 *  NULL: implicit. The layouts may be changed when the call returns. */
SKUA_API skua_status skua_get_layout_nb(const skua_layout *local, skua_gaddr from,
                                        const skua_layout *remote, const skua_rma_params *params);

/* ---- copies between global addresses ------------------------------------- */

/* Neither end need belong to the caller. The data are sent from one end to the other directly: if
 * the caller's process cannot access the source by load and store, the PE that has the source sends
 * them while it is in the runtime. A copy counts as an operation on the destination: a flush of
 * that PE or region waits for it, and a notification or signal happens there. Copies are not
 * ordered with other operations or by a fence, whatever `order` says; their completion is what
 * orders them. The source must not change, and both regions must exist, until a copy is complete.
 * The ends must not overlap. */

/** Copies @p bytes at the global address @p from to the global address @p to. Returns when the copy
 *  is complete at the destination. */
SKUA_API skua_status skua_copy(skua_gaddr to, skua_gaddr from, size_t bytes);

/** Starts a copy of @p bytes at the global address @p from to the global address @p to. @p params
 *  states its completion: `local` when the source may change, `remote` and the handle when the copy
 *  is complete; NULL: implicit. In a thread that is not a PE it waits for completion. */
SKUA_API skua_status skua_copy_nb(skua_gaddr to, skua_gaddr from, size_t bytes,
                                  const skua_rma_params *params);

/** Starts a copy as skua_copy_nb() does when @p event is set, or immediately if it is set already:
 *  with skua_done_future() it follows another operation, with skua_future_all() several. The
 *  addresses and @p params are checked in the call, and @p params is copied. The handle counts the
 *  copy from the call on; a flush waits for it once it has started. @p event belongs to the calling
 *  PE and must stay valid until it is set; if it is cleared before, the copy never happens. A copy
 *  that fails when it starts is logged. Returns SKUA_PENDING if the event is not set. Only a PE or
 *  one of its user threads may call it. */
SKUA_API skua_status skua_copy_after(skua_future *event, skua_gaddr to, skua_gaddr from,
                                     size_t bytes, const skua_rma_params *params);

/* ---- accumulate ---------------------------------------------------------- */

/**
 * The operation of an accumulate: target = target (op) scale * local, element by element. Each
 * element is updated atomically with respect to other accumulates, but not to atomics, puts or
 * plain stores.
 *
 *   SKUA_SUM                        every type but SKUA_BYTE
 *   SKUA_MIN, SKUA_MAX              the integers, float, double
 *   SKUA_BIT_AND, _OR, _XOR         the integers
 *
 * `scale` points to one element of the type and applies to SKUA_SUM only; NULL is 1. Blocks consist
 * of whole elements and are aligned to them at the target.
 *
 * It is a plain value, as skua_op is: it has no `size` member and will not grow.
 */
typedef struct {
    skua_op     op;
    skua_type   type;
    const void *scale;
} skua_update;

/** Accumulates @p bytes at @p from into the global address @p to. Returns when the accumulate is
 *  complete at the target. */
SKUA_API skua_status skua_acc(skua_gaddr to, const void *from, size_t bytes,
                              const skua_update *update);

/** Accumulates the data of the layout @p local into the layout @p remote, which is relative to the
 *  global address @p to. Both layouts have the same number of bytes, in blocks of whole elements;
 *  their kinds may differ. An element that an indexed or list layout names twice is updated
 *  twice. Returns when the accumulate is complete at the target. */
SKUA_API skua_status skua_acc_layout(skua_gaddr to, const skua_layout *remote,
                                     const skua_layout *local, const skua_update *update);

/** Starts an accumulate of @p bytes at @p from into the global address @p to. @p params states its
 *  order and completion; NULL: implicit. */
SKUA_API skua_status skua_acc_nb(skua_gaddr to, const void *from, size_t bytes,
                                 const skua_update *update, const skua_rma_params *params);

/** Starts an accumulate of the layout @p local into the layout @p remote, which is relative to the
 *  global address @p to; otherwise as skua_acc_layout(). @p params states its order and completion;
 *  NULL: implicit. The layouts may be changed when the call returns. */
SKUA_API skua_status skua_acc_layout_nb(skua_gaddr to, const skua_layout *remote,
                                        const skua_layout *local, const skua_update *update,
                                        const skua_rma_params *params);

/* ---- fence --------------------------------------------------------------- */

/** Orders the caller's operations on the memory of @p pe: puts, accumulates, atomics and
 *  notifications that the calling PE started before the fence take effect before those that it
 *  starts later, whatever their `order`. Every observer that sees the effect of a later one also
 *  sees that of the earlier ones. Gets are not ordered. The fence does not wait for completion; a
 *  later operation waits where the network keeps no order. In a thread that is not a PE it orders
 *  operations of all such threads of the process. Misuse ends the job: a PE that does not exist. */
SKUA_API void skua_fence(int pe);

/** Orders the caller's operations on the memory of every PE, for each as skua_fence(). Operations
 *  on different PEs are not ordered with each other: that takes a flush. */
SKUA_API void skua_fence_all(void);

/* ---- flush --------------------------------------------------------------- */

/** Waits until all operations of the calling PE on the memory of @p pe are complete at the target.
 *  In a thread that is not a PE it waits for the operations of all such threads of the process.
 *  Misuse ends the job: a PE that does not exist. */
SKUA_API void skua_flush(int pe);

/** Waits until all operations of the calling PE on @p region are complete at the target. In a
 *  thread that is not a PE it waits for the operations of all such threads of the process. Misuse
 *  ends the job: a zero region. */
SKUA_API void skua_flush_region(skua_region region);

/** Waits until all operations of the calling PE are complete at their targets. In a thread that is
 *  not a PE it waits for the operations of all such threads of the process. */
SKUA_API void skua_flush_all(void);

/** Completes all one-sided operations of all PEs: skua_flush_all(), then a barrier. Collective.
 *  When it returns, every one-sided operation that any PE started before its call is complete.
 *  It does not wait for messages or for the collectives of collective.h. Handlers run while it
 *  waits. */
SKUA_API void skua_sync(void);

/* ---- remote procedure calls ------------------------------------------------ */

/** A function that can be called on other PEs. */
typedef struct {
    uint32_t id;
} skua_function;

/** The implementation of a remote function; it runs on the PE that was called. It returns its
 *  result by skua_complete(done, result, bytes), before it returns or later. @p args is valid until
 *  the function returns. */
typedef void (*skua_function_fn)(const void *args, size_t bytes, skua_completion done);

/** Registers a remote function, before skua_main(), under the rules of skua_handler_register(). */
SKUA_API skua_function skua_function_register(const char *name, skua_function_fn fn);

/** Calls @p function on @p pe with a copy of @p args. @p done gets the result. A PE or function
 *  that does not exist ends the job with an error. */
SKUA_API void skua_call(int pe, skua_function function, const void *args, size_t bytes,
                        skua_completion done);

SKUA_END_DECLS

#endif
