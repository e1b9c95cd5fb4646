/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.c - put, get and accumulate: the fast path, the checks, the choice of a protocol.
 *
 * A call first tries the fast path: the region is plain and nothing is in flight that the operation
 * would have to be ordered with, so it is a copy.  Everything else is checked completely before any
 * data move, and then uses the first protocol that the target allows:
 *
 *   direct     this process reaches the memory by load and store
 *   cma        the memory belongs to another process of the host: the system copies (cma.h)
 *   driver     the memory is on another host, and the network accesses it (rma_driver.h)
 *   am         a request goes to the process that has the memory (am_origin.h)
 *
 * The first two are complete when the call returns.
 */
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/copy.h"
#include "base/params.h"
#include "base/sanitizer.h"
#include "core/collective/collective.h"
#include "core/pe/handler.h"
#include "onesided/pe/external_thread.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/am_short.h"
#include "onesided/rma/cma.h"
#include "onesided/rma/datatype_copy.h"
#include "onesided/rma/rma_driver.h"
#include "onesided/rma/rma_op.h"
#include "onesided/rma/rma_request.h"
#include "onesided/sync/notify.h"

/* ---- completion of operations that this process has done itself ---------------------------- */

static void transfer_finish(const struct ski_rma_op *op, const skua_rma_params *params)
{
    if (!params)
        return;
    ski_op_params_apply(op->call, params, op->remote.pe, ski_rma_op_source(op));
    ski_op_params_complete(params);
}

/* Returns whether transfer_raise_fast() can raise the notification, if any, and send the signal, if
 * any, that @p params ask for, and sets *@p counter to that of the notification, or NULL.  A
 * notification must be on @p pe and in a plain region; an external thread cannot send a signal. */
static inline bool transfer_raises_fast(const skua_rma_params *params, int pe,
                                        skua_notify **counter)
{
    *counter = NULL;
    if (!skua_gaddr_is_none(params->notify)) {
        if (params->notify.pe != pe || params->notify.offset % 8 != 0)
            return false;
        *counter = (skua_notify *)(void *)ski_region_ptr(params->notify, sizeof(skua_notify));
        if (!*counter)
            return false;
    }
    if (SKI_LIKELY(!params->signal.id))
        return !params->signal_bytes;
    return ski_self && params->signal.id >= SKI_HANDLERS &&
           ski_pe_has_handler(ski_self, params->signal.id) &&
           ski_fits_message(params->signal_data, params->signal_bytes);
}

static inline void transfer_raise_fast(const skua_rma_params *params, int pe, skua_notify *counter)
{
    if (counter)
        ski_notify_raise(counter, pe, ski_op_params_notify_by(params));
    if (params->signal.id)
        skua_send_copy(pe, params->signal, params->signal_data, params->signal_bytes);
}

/* ---- an operation ------------------------------------------------------------ */

/* Checks that blocks are whole elements at aligned offsets; @p grain and @p sizes as in layout.h.
 */
static skua_status transfer_check_accumulate(struct ski_rma_op *op, size_t grain, size_t sizes)
{
    size_t align;

    op->fn = ski_accumulate_function(op->accumulate, &op->element);
    if (!op->fn)
        return ski_refuse(SKUA_ERR_INVAL, "%s: there is no accumulate by %s of type %s%s", op->call,
                          ski_op_name(op->accumulate->op), ski_type_name(op->accumulate->type),
                          op->accumulate->scale ? " with a factor" : "");
    ski_assert((op->element & (op->element - 1)) == 0);
    align = op->element < 8 ? op->element : 8;
    if ((grain | sizes) % align)
        return ski_refuse(SKUA_ERR_ALIGN, "%s: offsets or sizes are not multiples of %zu", op->call,
                          align);
    if (sizes % op->element)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: a block does not consist of whole elements of %zu bytes", op->call,
                          op->element);
    return SKUA_OK;
}

static skua_status transfer_by_cma(const struct ski_rma_op *op, const struct ski_resolved *target)
{
    switch (op->verb) {
    case SKI_RMA_PUT: return ski_cma_put(op->call, target, &op->datatype);
    case SKI_RMA_GET: return ski_cma_get(op->call, target, &op->datatype);
    default:
        return ski_cma_accumulate(op->call, target, &op->datatype, op->fn, op->element,
                                  op->accumulate->scale);
    }
}

/* Returns whether an operation that does not wait may be performed within the call: it overtakes no
 * request that it has to follow, and needs none for its notification.  Else it is a request, and
 * those to a PE are served in the order of sending. */
static bool transfer_is_free(const struct ski_rma_op *op, const skua_rma_params *params)
{
    int pe = op->remote.pe;

    if (!ski_op_params_notify_is_direct(params))
        return false;
    return !ski_rma_outstanding(pe) ||
           !(ski_rma_op_is_ordered(op, params) ||
             (op->verb != SKI_RMA_GET && ski_rma_outstanding_on(ski_self, pe).before > 0));
}

/* Orders an operation that this process does itself after its requests in flight. */
static void transfer_order_now(const struct ski_rma_op *op, const skua_rma_params *params)
{
    if (op->verb != SKI_RMA_GET)
        ski_rma_flush_before_fence(op->remote.pe, false);
    /* A notification or signal comes after earlier puts, whatever the order of the data. */
    if (ski_op_params_at_target(params))
        ski_rma_order_before(SKUA_ORDER_PARTIAL, SKI_RMA_PUT, op->remote.pe);
    ski_rma_order_before(params ? params->order : SKUA_ORDER_DEFAULT, op->verb, op->remote.pe);
}

/* Orders an operation by active message after those in flight: others by active message are served
 * before it, but operations of the driver may be overtaken, and so may deferred gets, which matters
 * in strict order only. */
static void transfer_order_behind(const struct ski_rma_op *op, const skua_rma_params *params,
                                  const struct ski_resolved *target)
{
    struct ski_outstanding on;

    if (!ski_self) {
        ski_rma_flush(op->remote.pe);
        return;
    }
    on = ski_rma_outstanding_on(ski_self, op->remote.pe);
    if (!target->remote_host && on.backlog == 0)
        return;
    if (((on.rma > 0 || on.backlog > 0) && ski_rma_op_is_ordered(op, params)) ||
        (on.deferred > 0 && ski_op_params_order(params) == SKUA_ORDER_STRICT))
        ski_rma_flush(op->remote.pe);
    else if (on.before > 0 && (on.before_rma > 0 || on.backlog > 0) && op->verb != SKI_RMA_GET)
        ski_rma_flush_before_fence(op->remote.pe, true);
}

/* Performs or begins an operation by active message. */
static skua_status transfer_by_am(const struct ski_rma_op *op, const struct ski_resolved *target,
                                  const skua_rma_params *params, bool blocking)
{
    ski_assert(!target->remote_host || target->process < 0);
    if (blocking) /* else it never waits: the backlog keeps the order */
        transfer_order_behind(op, params, target);
    /* Requests to a PE are served in the order of sending.  What this process did itself is done,
     * and the message, or this fence, makes it visible before.  A request to another host leaves
     * by a driver, whose locks or barriers do that. */
    if (!target->remote_host)
        ski_fence(memory_order_seq_cst);
    return ski_am_transfer(op, target, params, blocking);
}

/* Returns whether a blocking put returns as soon as its data have been sent.  Such a put is an
 * active message, which copies the data: a put by the driver from the caller's memory would have to
 * be waited for, and might need a busy target.  Not if the copies would have to wait for room. */
static bool transfer_hands_off(const struct ski_rma_op *op, bool blocking)
{
    return blocking && ski_self && ski_config.local_completion && op->verb == SKI_RMA_PUT &&
           op->datatype.bytes <= ski_config.request_window / 2;
}

/* Performs an operation on memory of this host within the call.  Returns SKUA_ERR_UNSUPPORTED if
 * this process does not reach the memory, or the operation would have to wait and must not. */
static skua_status transfer_on_host(const struct ski_rma_op *op, const struct ski_resolved *target,
                                    const skua_rma_params *params, bool blocking)
{
    bool        direct = ski_resolved_is_direct(target);
    skua_status status = SKUA_OK;

    if (!ski_config.direct || (!direct && !ski_config.cma) ||
        (!blocking && !transfer_is_free(op, params)))
        return SKUA_ERR_UNSUPPORTED;
    transfer_order_now(op, params);
    if (direct)
        ski_rma_op_apply(op, target);
    else
        status = transfer_by_cma(op, target);
    if (status == SKUA_OK)
        transfer_finish(op, params);
    return status;
}

/* Performs or begins an operation by the first protocol that its target allows. */
static skua_status transfer_move(const struct ski_rma_op *op, const struct ski_resolved *target,
                                 const skua_rma_params *params, bool blocking)
{
    skua_status status = SKUA_ERR_UNSUPPORTED;

    if (!target->remote_host)
        status = transfer_on_host(op, target, params, blocking);
    else if (!target->unknown && !transfer_hands_off(op, blocking) && ski_rma_driver_pays(op))
        status = ski_rma_driver_transfer(op, target, params, blocking);
    return status == SKUA_ERR_UNSUPPORTED ? transfer_by_am(op, target, params, blocking) : status;
}

/* Returns whether the entries of a list are checked while they are copied. */
static bool transfer_is_list(const struct ski_rma_op *op)
{
    return op->verb != SKI_RMA_ACCUMULATE &&
           (op->datatype.kind == SKI_DATATYPE_LIST || op->datatype.kind == SKI_DATATYPE_INDEXED);
}

static bool transfer_move_list(const struct ski_rma_op *op, char *piece, uint64_t room)
{
    return op->verb == SKI_RMA_PUT
               ? ski_datatype_list_put(&op->datatype, piece, op->remote.offset, room)
               : ski_datatype_list_get(&op->datatype, piece, op->remote.offset, room);
}

/* The fast path of everything that is not contiguous or has parameters: a plain region and a
 * datatype that ski_datatype_fits() accepts. */
static inline bool transfer_try_fast(struct ski_rma_op *op, const skua_rma_params *params)
{
    uint64_t            room;
    char               *piece   = ski_region_piece(op->remote, &room);
    struct ski_resolved target  = {.process = -1};
    skua_notify        *counter = NULL;
    size_t              element = 1;

    if (!piece)
        piece = ski_region_varied_piece(op->remote, &room);
    if (!piece || op->remote.offset > room || !ski_fast_path_open())
        return false;
    if (op->verb == SKI_RMA_ACCUMULATE) {
        op->fn = ski_accumulate_function(op->accumulate, &op->element);
        if (!op->fn)
            return false;
        element = op->element;
    }
    if (params &&
        (!ski_params_known(params->size, sizeof *params) || params->order == SKUA_ORDER_STRICT ||
         op->signal_for || !transfer_raises_fast(params, op->remote.pe, &counter)))
        return false;
    if (op->verb == SKI_RMA_PUT)
        ski_order_stores(); /* after earlier puts */
    if (transfer_is_list(op)) {
        if (!transfer_move_list(op, piece, room))
            return false; /* the slow path reports what is wrong */
    } else if (ski_datatype_fits(&op->datatype,
                                 op->verb == SKI_RMA_GET ? SKI_SIDE_LOCAL : SKI_SIDE_REMOTE,
                                 op->remote.offset, room, element)) {
        target.memory = piece + op->remote.offset;
        ski_rma_op_apply(op, &target);
    } else {
        return false;
    }
    if (params) {
        transfer_raise_fast(params, op->remote.pe, counter);
        if (params->local.kind | params->remote.kind)
            ski_op_params_complete(params);
    }
    return true;
}

/* Checks an operation completely and then performs or begins it. */
static skua_status transfer_checked(struct ski_rma_op *op, const skua_rma_params *params,
                                    bool blocking)
{
    struct ski_resolved target;
    struct ski_extent   extent;
    size_t              sizes;
    skua_status         status;

    status = ski_datatype_check(op->call, &op->datatype,
                                op->verb == SKI_RMA_GET ? SKI_SIDE_LOCAL : SKI_SIDE_REMOTE, &extent,
                                &sizes);
    if (status == SKUA_OK && op->verb == SKI_RMA_ACCUMULATE)
        status = transfer_check_accumulate(op, extent.grain, sizes);
    if (status == SKUA_OK)
        status = blocking ? ski_op_params_check(op->call, params, op->remote.pe)
                          : ski_op_params_check_nowait(op->call, params, op->remote.pe);
    if (status == SKUA_OK)
        status = blocking ? ski_resolve(op->call, op->remote, extent.lo, extent.hi, &target)
                          : ski_resolve_nowait(op->call, op->remote, extent.lo, extent.hi, &target);
    if (status != SKUA_OK)
        return status;
    if (op->verb == SKI_RMA_ACCUMULATE && !target.unknown &&
        (uintptr_t)target.memory % (op->element < 8 ? op->element : 8))
        status =
            ski_refuse(SKUA_ERR_ALIGN, "%s: the address is not aligned to its elements", op->call);
    else
        status = transfer_move(op, &target, params, blocking);
    ski_resolved_release(&target);
    return status;
}

/* Begins an operation of an external thread, which does not wait: it is one of the PE of external
 * threads.  Without a job the checks report misuse. */
static skua_status transfer_outside(struct ski_rma_op *op, const skua_rma_params *params)
{
    struct ski_caller caller;
    skua_status       status;

    if (!ski_onesided_job())
        return transfer_checked(op, params, false);
    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    status = transfer_checked(op, params, false);
    ski_caller_leave(&caller);
    return status;
}

/* Kept out of line so that all calls share it. */
static __attribute__((noinline)) skua_status transfer_perform(struct ski_rma_op     *op,
                                                              const skua_rma_params *params,
                                                              bool                   blocking)
{
    if (SKI_LIKELY(transfer_try_fast(op, params)))
        return SKUA_OK;
    return ski_self || blocking ? transfer_checked(op, params, blocking)
                                : transfer_outside(op, params);
}

skua_status ski_rma_op_put_nb(struct ski_rma_op *op, const skua_rma_params *params)
{
    ski_assert(op->verb == SKI_RMA_PUT);
    return transfer_perform(op, params, false);
}

/* Never waits: if it must not overtake earlier operations, it is an active message, which the
 * target serves in the order of sending, or waits in the backlog of its PE. */
static skua_status transfer_notify_as_pe(const char *call, skua_gaddr at, uint64_t value)
{
    struct ski_rma_op   op     = {.call = call, .verb = SKI_RMA_PUT, .remote = at};
    skua_rma_params     params = {.notify = at, .notify_add = value};
    struct ski_resolved target;
    skua_status         status;

    if (ski_am_put_notify(call, at, NULL, 0, &params))
        return SKUA_OK;
    status = ski_op_params_check_nowait(call, &params, at.pe);
    if (status == SKUA_OK)
        status = ski_resolve_nowait(call, at, 0, sizeof(skua_notify), &target);
    if (status != SKUA_OK)
        return status;
    if (ski_config.direct && ski_resolved_is_direct(&target) && !ski_rma_outstanding(at.pe)) {
        ski_order_stores(); /* after earlier puts */
        ski_op_params_apply(call, &params, at.pe, ski_caller_pe());
    } else {
        status = ski_am_start(&op, &target, &params, NULL);
    }
    ski_resolved_release(&target);
    return status == SKUA_PENDING ? SKUA_OK : status;
}

static skua_status transfer_notify(const char *call, skua_gaddr at, uint64_t value)
{
    struct ski_caller caller;
    skua_status       status;

    if (ski_self || !ski_onesided_job()) /* without a job the checks report misuse */
        return transfer_notify_as_pe(call, at, value);
    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    status = transfer_notify_as_pe(call, at, value);
    ski_caller_leave(&caller);
    return status;
}

static __attribute__((noinline)) skua_status transfer_put(const char *call, skua_gaddr to,
                                                          struct ski_datatype    datatype,
                                                          const skua_rma_params *params,
                                                          bool                   blocking)
{
    struct ski_rma_op op = {.call = call, .verb = SKI_RMA_PUT, .remote = to, .datatype = datatype};
    return transfer_perform(&op, params, blocking);
}

static __attribute__((noinline)) skua_status transfer_get(const char *call, skua_gaddr from,
                                                          struct ski_datatype    datatype,
                                                          const skua_rma_params *params,
                                                          bool                   blocking)
{
    struct ski_rma_op op = {
        .call = call, .verb = SKI_RMA_GET, .remote = from, .datatype = datatype};
    return transfer_perform(&op, params, blocking);
}

static skua_status transfer_accumulate(const char *call, skua_gaddr to,
                                       struct ski_datatype datatype, const skua_update *how,
                                       const skua_rma_params *params, bool blocking)
{
    struct ski_rma_op op = {.call       = call,
                            .verb       = SKI_RMA_ACCUMULATE,
                            .remote     = to,
                            .datatype   = datatype,
                            .accumulate = how};
    return transfer_perform(&op, params, blocking);
}

/* The fast path of one block. Returns false if it is not possible. */
static inline bool transfer_put_fast(skua_gaddr to, const void *from, size_t bytes)
{
    char *at = ski_region_ptr(to, bytes);

    if (SKI_UNLIKELY(!at || !ski_fast_path_open()))
        return false;
    /* After earlier puts: a release store, or a barrier before the copy. */
    if (bytes == 8 && (uintptr_t)at % 8 == 0) {
        uint64_t word;
        memcpy(&word, from, 8);
        atomic_store_explicit((_Atomic uint64_t *)(void *)at, word, memory_order_release);
    } else {
        ski_order_stores();
        ski_copy(at, from, bytes);
    }
    return true;
}

/* The fast path of one block with parameters that ask for no more than a notification and a signal.
 * Returns false if it is not possible; without data, @p from may be NULL, and the general path is
 * used. */
static inline bool transfer_put_params_fast(skua_gaddr to, const void *from, size_t bytes,
                                            const skua_rma_params *params)
{
    skua_notify *counter;

    if (!ski_params_known(params->size, sizeof *params) || params->order == SKUA_ORDER_STRICT ||
        (params->local.kind | params->remote.kind) || bytes == 0 ||
        !transfer_raises_fast(params, to.pe, &counter) || !transfer_put_fast(to, from, bytes))
        return false;
    transfer_raise_fast(params, to.pe, counter);
    return true;
}

static inline bool transfer_get_fast(void *to, skua_gaddr from, size_t bytes)
{
    const char *at = ski_region_ptr(from, bytes);

    if (SKI_UNLIKELY(!at || !ski_fast_path_open()))
        return false;
    if (bytes == 8)
        memcpy(to, at, 8);
    else
        ski_copy(to, at, bytes);
    return true;
}

/* ---- calls ---------------------------------------------------------------------------------- */

skua_status skua_put(skua_gaddr to, const void *from, size_t bytes)
{
    if (SKI_LIKELY(transfer_put_fast(to, from, bytes)))
        return SKUA_OK;
    return transfer_put(__func__, to, ski_datatype_contiguous(from, bytes), NULL, true);
}

skua_status skua_put_nb(skua_gaddr to, const void *from, size_t bytes,
                        const skua_rma_params *params)
{
    if (!params && SKI_LIKELY(transfer_put_fast(to, from, bytes)))
        return SKUA_OK;
    if (!params && ski_am_put_short(__func__, to, from, bytes))
        return SKUA_PENDING;
    if (params && transfer_put_params_fast(to, from, bytes, params))
        return SKUA_OK;
    if (params && ski_am_put_notify(__func__, to, from, bytes, params))
        return SKUA_PENDING;
    return transfer_put(__func__, to, ski_datatype_contiguous(from, bytes), params, false);
}

skua_status skua_get(void *to, skua_gaddr from, size_t bytes)
{
    if (SKI_LIKELY(transfer_get_fast(to, from, bytes)))
        return SKUA_OK;
    return transfer_get(__func__, from, ski_datatype_contiguous(to, bytes), NULL, true);
}

skua_status skua_get_nb(void *to, skua_gaddr from, size_t bytes, const skua_rma_params *params)
{
    if (!params && SKI_LIKELY(transfer_get_fast(to, from, bytes)))
        return SKUA_OK;
    return transfer_get(__func__, from, ski_datatype_contiguous(to, bytes), params, false);
}

skua_status skua_acc(skua_gaddr to, const void *from, size_t bytes, const skua_update *how)
{
    char                  *at      = ski_region_ptr(to, bytes);
    size_t                 element = 1;
    ski_accumulate_fn      fn      = ski_accumulate_function(how, &element);
    struct ski_stripe_lock lock    = {NULL};

    if (SKI_LIKELY(at && fn && ski_fast_path_open() && bytes % element == 0 &&
                   ((uintptr_t)at & (element - 1) & 7) == 0)) {
        ski_accumulate_contiguous(&lock, -1, at, from, bytes, fn, element, how->scale);
        ski_stripe_lock_release(&lock);
        return SKUA_OK;
    }
    return transfer_accumulate(__func__, to, ski_datatype_contiguous(from, bytes), how, NULL, true);
}

skua_status skua_acc_nb(skua_gaddr to, const void *from, size_t bytes, const skua_update *how,
                        const skua_rma_params *params)
{
    return transfer_accumulate(__func__, to, ski_datatype_contiguous(from, bytes), how, params,
                               false);
}

/* Begins an operation whose datatype is still to be set.  `fn` and `element` are set when the
 * operator of an accumulate has been checked. */
static inline void transfer_begin(struct ski_rma_op *op, const char *call, enum ski_rma_verb verb,
                                  skua_gaddr remote, const skua_update *how)
{
    op->call       = call;
    op->verb       = verb;
    op->remote     = remote;
    op->accumulate = how;
    op->atomic     = NULL;
    op->signal_for = 0;
    op->failed     = NULL;
}

/* Performs an operation between two layouts. */
static inline skua_status transfer_layouts(struct ski_rma_op *op, const skua_layout *remote,
                                           const skua_layout *local, const skua_rma_params *params,
                                           bool blocking)
{
    ptrdiff_t packed[SKUA_LAYOUT_LEVELS];

    ski_datatype_pair(&op->datatype, local, remote, packed);
    return transfer_perform(op, params, blocking);
}

skua_status skua_put_layout(skua_gaddr to, const skua_layout *remote, const skua_layout *local)
{
    struct ski_rma_op op;

    transfer_begin(&op, __func__, SKI_RMA_PUT, to, NULL);
    return transfer_layouts(&op, remote, local, NULL, true);
}

skua_status skua_put_layout_nb(skua_gaddr to, const skua_layout *remote, const skua_layout *local,
                               const skua_rma_params *params)
{
    struct ski_rma_op op;

    transfer_begin(&op, __func__, SKI_RMA_PUT, to, NULL);
    return transfer_layouts(&op, remote, local, params, false);
}

skua_status skua_get_layout(const skua_layout *local, skua_gaddr from, const skua_layout *remote)
{
    struct ski_rma_op op;

    transfer_begin(&op, __func__, SKI_RMA_GET, from, NULL);
    return transfer_layouts(&op, remote, local, NULL, true);
}

skua_status skua_get_layout_nb(const skua_layout *local, skua_gaddr from, const skua_layout *remote,
                               const skua_rma_params *params)
{
    struct ski_rma_op op;

    transfer_begin(&op, __func__, SKI_RMA_GET, from, NULL);
    return transfer_layouts(&op, remote, local, params, false);
}

skua_status skua_acc_layout(skua_gaddr to, const skua_layout *remote, const skua_layout *local,
                            const skua_update *how)
{
    struct ski_rma_op op;

    transfer_begin(&op, __func__, SKI_RMA_ACCUMULATE, to, how);
    return transfer_layouts(&op, remote, local, NULL, true);
}

skua_status skua_acc_layout_nb(skua_gaddr to, const skua_layout *remote, const skua_layout *local,
                               const skua_update *how, const skua_rma_params *params)
{
    struct ski_rma_op op;

    transfer_begin(&op, __func__, SKI_RMA_ACCUMULATE, to, how);
    return transfer_layouts(&op, remote, local, params, false);
}

skua_status skua_notify_add(skua_gaddr at, uint64_t value)
{
    char *memory = ski_region_ptr(at, sizeof(skua_notify));

    if (SKI_UNLIKELY(value == 0))
        return SKUA_OK;
    if (SKI_UNLIKELY(!memory || !ski_fast_path_open() || (uintptr_t)memory % sizeof(skua_notify)))
        return transfer_notify(__func__, at, value);
    ski_notify_raise((skua_notify *)(void *)memory, at.pe, value);
    return SKUA_OK;
}
