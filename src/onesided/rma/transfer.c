/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.c - put, get, accumulate.
 *
 * The contiguous calls first try the short cut: the region is plain, nothing is
 * on the way, so it is a copy.  Everything else is checked whole before anything
 * is moved, and goes the way that its place asks for (onesided.h).
 */
#include "onesided/rma/transfer.h"

#include <string.h>

#include "base/config.h"
#include "base/copy.h"
#include "base/sanitizer.h"
#include "core/collective/collective.h"
#include "core/pe/handler.h"
#include "onesided/region/cma.h"
#include "onesided/sync/notify.h"
#include "onesided/rma/rma_request.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/rma_driver.h"
#include "onesided/region/region_table.h"

/* ---- order ----------------------------------------------------------------- */

static skua_order or_setting(skua_order order)
{
    return order == SKUA_ORDER_DEFAULT ? (skua_order)ski_config.order : order;
}

skua_order ski_order_of(const skua_ends *ends)
{
    return or_setting(ends ? ends->order : SKUA_ORDER_DEFAULT);
}

bool ski_comes_after(const struct ski_transfer *t, const skua_ends *ends)
{
    skua_order order = ski_order_of(ends);

    return order == SKUA_ORDER_STRICT || (order == SKUA_ORDER_PARTIAL && t->verb != SKI_GET) ||
           ski_ends_tell(ends);
}

void ski_order_before(skua_order order, enum ski_verb verb, int pe)
{
    order = or_setting(order);
    if (order == SKUA_UNORDERED || (order == SKUA_ORDER_PARTIAL && verb != SKI_PUT))
        return;
    if (ski_self && ski_origin_of(ski_self)->outstanding.all > 0)
        ski_operations_fence(pe); /* they went by request and may be overtaken */
    /* Partial: our earlier stores before this one.  Strict: also loads, and
     * stores before loads.  They pair with whatever the others use to see it. */
    if (order == SKUA_ORDER_PARTIAL)
        ski_order_stores();
    else
        ski_fence(memory_order_seq_cst);
}

/* ---- on memory that we reach ------------------------------------------------ */

static void update_runs(const struct ski_transfer *t, const struct ski_place *place)
{
    struct ski_hold hold = {NULL};
    struct ski_runs runs;
    struct ski_run  run;

    ski_runs_begin(&runs, &t->shape);
    while (ski_runs_next(&runs, &run))
        ski_update_run(&hold, place->process, place->memory + run.remote, run.local, run.bytes,
                       t->fn, t->element, t->update->scale);
    ski_hold_end(&hold);
}

static void update_list(const struct ski_transfer *t, const struct ski_place *place)
{
    struct ski_holds holds;
    struct ski_runs  runs;
    struct ski_run   run;

    ski_holds_begin(&holds);
    ski_runs_begin(&runs, &t->shape);
    while (ski_runs_next(&runs, &run))
        ski_update_scattered(&holds, place->process, place->memory + run.remote, run.local,
                             run.bytes, t->fn, t->element, t->update->scale);
    ski_holds_end(&holds);
}

/* A list of single elements: no more is done for each than has to be. */
static void update_elements(const struct ski_transfer *t, const struct ski_place *place)
{
    const skua_indexed *list = t->shape.indexed;
    struct ski_holds    holds;

    ski_holds_begin(&holds);
    for (size_t i = 0; i < t->shape.count; i++) {
        if (i % SKI_HOLDS_WORK == 0)
            ski_holds_end(&holds);
        ski_update_element(&holds, place->process, place->memory + list->remote[i],
                           t->shape.local +
                               (list->local ? list->local[i] : (ptrdiff_t)(i * t->element)),
                           t->fn, t->update->scale);
    }
    ski_holds_end(&holds);
}

static void update_here(const struct ski_transfer *t, const struct ski_place *place)
{
    struct ski_hold hold = {NULL};

    if (t->shape.kind == SKI_STRIDED) {
        update_runs(t, place);
    } else if (t->shape.kind == SKI_INDEXED && t->shape.bytes == t->element) {
        update_elements(t, place);
    } else if (t->shape.kind != SKI_CONTIGUOUS) {
        update_list(t, place);
    } else { /* no need to walk */
        ski_update_run(&hold, place->process, place->memory, t->shape.local, t->shape.bytes, t->fn,
                       t->element, t->update->scale);
        ski_hold_end(&hold);
    }
}

void ski_transfer_here(const struct ski_transfer *t, const struct ski_place *place)
{
    if (t->verb == SKI_PUT)
        ski_shape_put(&t->shape, place->memory);
    else if (t->verb == SKI_GET)
        ski_shape_get(&t->shape, place->memory);
    else
        update_here(t, place);
}

/* ---- ends ------------------------------------------------------------------- */

static bool wants_notify(const skua_ends *ends)
{
    return ends && !skua_gaddr_is_none(ends->notify);
}

bool ski_ends_tell(const skua_ends *ends)
{
    return wants_notify(ends) || (ends && ends->signal.id);
}

/* Whether what is asked for at the end makes sense, before anything is done. */
static skua_status_t check_ends(const char *call, const skua_ends *ends, int pe)
{
    struct ski_place place;
    skua_status_t    status;

    if (!ends)
        return SKUA_OK;
    if (ends->signal.id &&
        (ends->signal.id < SKI_HANDLERS || ends->signal.id >= ski_handlers.count))
        return ski_refuse(SKUA_ERR_INVAL, "%s: handler %u was never registered", call,
                          ends->signal.id);
    if (!ends->signal.id && ends->signal_bytes)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: data for a signal whose handler was never registered (its id is 0)",
                          call);
    if (ends->signal.id && !ski_is_message(ends->signal_data, ends->signal_bytes))
        return ski_refuse(SKUA_ERR_INVAL, "%s: a signal of %zu bytes at %p is no message", call,
                          ends->signal_bytes, ends->signal_data);
    if (!wants_notify(ends))
        return SKUA_OK;
    if (ends->notify.pe != pe)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the notification is on PE %d, the data on PE %d",
                          call, ends->notify.pe, pe);
    status = ski_locate(call, ends->notify, 0, sizeof(skua_notify), &place);
    if (status != SKUA_OK)
        return status;
    ski_place_drop(&place);
    if ((uintptr_t)place.memory % sizeof(skua_notify))
        return ski_refuse(SKUA_ERR_ALIGN, "%s: the notification is not aligned", call);
    return SKUA_OK;
}

static void signal_there(const skua_ends *ends, int pe, int source)
{
    struct ski_actor actor;

    if (!ski_act_begin(&actor))
        return;
    if (source == actor.self->pe) {
        skua_send_copy(pe, ends->signal, ends->signal_data, ends->signal_bytes);
    } else { /* in the name of another: of whom we serve, or of a thread's process */
        struct skua_msg *msg =
            ski_msg_copy(actor.self, ends->signal.id, ends->signal_data, ends->signal_bytes);
        msg->source = source;
        ski_msg_post(actor.self, pe, ends->signal.id, msg);
    }
    ski_act_end(&actor);
}

void ski_ends_there(const char *call, const skua_ends *ends, int pe, int source)
{
    struct ski_place place;

    if (wants_notify(ends) &&
        ski_locate(call, ends->notify, 0, sizeof(skua_notify), &place) == SKUA_OK) {
        if (ski_place_direct(&place) && (uintptr_t)place.memory % sizeof(skua_notify) == 0)
            ski_notify_raise((skua_notify *)(void *)place.memory, pe,
                             ends->notify_add ? ends->notify_add : 1);
        ski_place_drop(&place);
    }
    if (ends->signal.id)
        signal_there(ends, pe, source);
}

/* Whether the end of a direct operation needs the owner: a notification in
 * memory that only it reaches. */
static bool notify_is_far(const skua_ends *ends)
{
    struct ski_place place;
    bool             far;

    if (!wants_notify(ends) ||
        ski_locate(NULL, ends->notify, 0, sizeof(skua_notify), &place) != SKUA_OK)
        return false;
    far = !ski_place_direct(&place);
    ski_place_drop(&place);
    return far;
}

static void complete(const skua_ends *ends)
{
    struct ski_actor actor;

    if (!ski_act_begin(&actor))
        return;
    skua_complete(ends->local, NULL, 0);
    skua_complete(ends->remote, NULL, 0);
    ski_act_end(&actor);
}

/* The operation is done: everything that was asked for. */
static void finish(const struct ski_transfer *t, const skua_ends *ends)
{
    if (!ends)
        return;
    if (notify_is_far(ends))
        ski_notify_far(t->call, ends->notify, ends->notify_add ? ends->notify_add : 1, true);
    ski_ends_there(t->call, ends, t->remote.pe, ski_caller_pe());
    complete(ends);
}

/* The same, where nothing is far and everything has been looked at. */
static bool ends_are_plain(const skua_ends *ends, int pe)
{
    return !ends->signal.id && !ends->signal_bytes &&
           (skua_gaddr_is_none(ends->notify) ||
            (ends->notify.pe == pe && ends->notify.offset % 8 == 0 &&
             ski_reach(ends->notify, sizeof(skua_notify))));
}

static inline void finish_plain(const struct ski_transfer *t, const skua_ends *ends)
{
    if (!skua_gaddr_is_none(ends->notify))
        ski_notify_raise((skua_notify *)(void *)ski_reach(ends->notify, sizeof(skua_notify)),
                         t->remote.pe, ends->notify_add ? ends->notify_add : 1);
    if (ends->local.kind | ends->remote.kind)
        complete(ends);
}

/* ---- an operation ------------------------------------------------------------ */

/* Whole elements, at aligned places; @p grain as in datatype.h. */
static skua_status_t check_update(struct ski_transfer *t, size_t grain)
{
    size_t align;

    t->fn = ski_update_function(t->update, &t->element);
    if (!t->fn)
        return ski_refuse(SKUA_ERR_INVAL, "%s: there is no accumulate by %s of type %s%s", t->call,
                          ski_op_name(t->update->op), ski_type_name(t->update->type),
                          t->update->scale ? " with a factor" : "");
    align = t->element < 8 ? t->element : 8;
    if (grain % align)
        return ski_refuse(SKUA_ERR_ALIGN, "%s: places or sizes that are no multiple of %zu",
                          t->call, align);
    for (size_t i = 0; i < (t->shape.kind == SKI_VECTOR ? t->shape.count : 1); i++)
        if ((t->shape.kind == SKI_VECTOR ? t->shape.list[i].bytes : t->shape.bytes) % t->element)
            return ski_refuse(SKUA_ERR_INVAL, "%s: a block that is not whole elements of %zu bytes",
                              t->call, t->element);
    return SKUA_OK;
}

static skua_status_t attach(const struct ski_transfer *t, const struct ski_place *place)
{
    switch (t->verb) {
    case SKI_PUT: return ski_attach_put(t->call, place, &t->shape);
    case SKI_GET: return ski_attach_get(t->call, place, &t->shape);
    default:
        return ski_attach_update(t->call, place, &t->shape, t->fn, t->element, t->update->scale);
    }
}

/* Where it is done by us, now: in order with what is on the way by request. */
static void order_now(const struct ski_transfer *t, const skua_ends *ends)
{
    if (ski_ends_tell(ends)) /* that comes after earlier puts, whatever the order of the data */
        ski_order_before(SKUA_ORDER_PARTIAL, SKI_PUT, t->remote.pe);
    ski_order_before(ends ? ends->order : SKUA_ORDER_DEFAULT, t->verb, t->remote.pe);
}

/* What goes by request is not overtaken by it; what the driver does may be, and so may large
 * gets, which only strict order minds. */
static void order_behind(const struct ski_transfer *t, const skua_ends *ends,
                         const struct ski_place *place)
{
    struct ski_outstanding on;

    if (!place->far || !ski_self)
        return;
    on = ski_operations_on(ski_self, t->remote.pe);
    if ((on.rma > 0 && ski_comes_after(t, ends)) ||
        (on.deferred > 0 && ski_order_of(ends) == SKUA_ORDER_STRICT))
        ski_operations_fence(t->remote.pe);
}

static skua_status_t by_request(const struct ski_transfer *t, const struct ski_place *place,
                                const skua_ends *ends, bool blocking)
{
    order_behind(t, ends, place);
    /* Requests to a PE are served in the order of sending; what we did by
     * ourselves is done, and the message carries it (or a full fence does). */
    ski_fence(memory_order_seq_cst);
    return ski_request_transfer(t, place, ends, blocking);
}

static skua_status_t move(const struct ski_transfer *t, const struct ski_place *place,
                          const skua_ends *ends, bool blocking)
{
    skua_status_t status = SKUA_ERR_UNSUPPORTED;

    if (ski_config.direct && ski_place_direct(place)) {
        order_now(t, ends);
        ski_transfer_here(t, place);
        status = SKUA_OK;
    } else if (ski_config.direct && ski_config.cma && !place->far && !ski_place_direct(place)) {
        order_now(t, ends);
        status = attach(t, place);
    }
    if (place->far && ski_rma_pays(t))
        status = ski_rma_transfer(t, place, ends, blocking);
    if (place->far && status != SKUA_ERR_UNSUPPORTED)
        return status;
    if (status == SKUA_ERR_UNSUPPORTED)
        return by_request(t, place, ends, blocking);
    if (status == SKUA_OK)
        finish(t, ends);
    return status;
}

/* Lists that are copied are checked on the way. */
static bool is_list(const struct ski_transfer *t)
{
    return t->verb != SKI_UPDATE && (t->shape.kind == SKI_VECTOR ||
                                     (t->shape.kind == SKI_INDEXED && t->shape.indexed->remote));
}

static bool move_list(const struct ski_transfer *t, char *piece, uint64_t room)
{
    return t->verb == SKI_PUT ? ski_list_put(&t->shape, piece, t->remote.offset, room)
                              : ski_list_get(&t->shape, piece, t->remote.offset, room);
}

/* The short cut of everything that is not contiguous or has ends: a plain region
 * and a shape without surprises. */
static inline bool try_short(struct ski_transfer *t, const skua_ends *ends)
{
    uint64_t         room;
    char            *piece   = ski_piece(t->remote, &room);
    struct ski_place place   = {.process = -1};
    size_t           element = 1;

    if (!piece || !ski_calm())
        return false;
    if (t->verb == SKI_UPDATE) {
        t->fn = ski_update_function(t->update, &t->element);
        if (!t->fn)
            return false;
        element = t->element;
    }
    if (ends && (ends->order == SKUA_ORDER_STRICT || !ends_are_plain(ends, t->remote.pe)))
        return false;
    if (t->verb == SKI_PUT)
        ski_order_stores(); /* after earlier puts */
    if (is_list(t)) {
        if (!move_list(t, piece, room))
            return false; /* to be told why */
    } else if (ski_shape_fits(&t->shape, t->verb == SKI_GET ? SKI_LOCAL : SKI_REMOTE,
                              t->remote.offset, room, element)) {
        place.memory = piece + t->remote.offset;
        ski_transfer_here(t, &place);
    } else {
        return false;
    }
    if (ends)
        finish_plain(t, ends);
    return true;
}

static skua_status_t perform(struct ski_transfer *t, const skua_ends *ends, bool blocking)
{
    struct ski_place place;
    ptrdiff_t        lo, hi;
    size_t           grain;
    skua_status_t    status;

    if (SKI_LIKELY(try_short(t, ends)))
        return SKUA_OK;
    status = ski_shape_extent(t->call, &t->shape, t->verb == SKI_GET ? SKI_LOCAL : SKI_REMOTE, &lo,
                              &hi, &grain);
    if (status == SKUA_OK && t->verb == SKI_UPDATE)
        status = check_update(t, grain);
    if (status == SKUA_OK)
        status = check_ends(t->call, ends, t->remote.pe);
    if (status == SKUA_OK)
        status = ski_locate(t->call, t->remote, lo, hi, &place);
    if (status != SKUA_OK)
        return status;
    if (t->verb == SKI_UPDATE && (uintptr_t)place.memory % (t->element < 8 ? t->element : 8))
        status =
            ski_refuse(SKUA_ERR_ALIGN, "%s: a place that is not aligned to its elements", t->call);
    else
        status = move(t, &place, ends, blocking);
    ski_place_drop(&place);
    return status;
}

skua_status_t ski_notify_far(const char *call, skua_gaddr at, uint64_t value, bool blocking)
{
    struct ski_transfer t    = {.call = call, .verb = SKI_PUT, .remote = at};
    skua_ends           ends = {.notify = at, .notify_add = value};
    struct ski_place    place;
    skua_status_t       status = check_ends(call, &ends, at.pe);

    if (status == SKUA_OK)
        status = ski_locate(call, at, 0, 0, &place);
    if (status != SKUA_OK)
        return status;
    if (ski_config.direct && ski_place_direct(&place)) {
        ski_order_before(SKUA_ORDER_PARTIAL, SKI_PUT, at.pe);
        ski_ends_there(call, &ends, at.pe, ski_caller_pe());
    } else {
        status = by_request(&t, &place, &ends, blocking);
    }
    ski_place_drop(&place);
    return status == SKUA_PENDING ? SKUA_OK : status;
}

/* ---- calls ------------------------------------------------------------------- */

static __attribute__((noinline)) skua_status_t put(const char *call, skua_gaddr to,
                                                   struct ski_shape shape, const skua_ends *ends,
                                                   bool blocking)
{
    struct ski_transfer t = {.call = call, .verb = SKI_PUT, .remote = to, .shape = shape};
    return perform(&t, ends, blocking);
}

static __attribute__((noinline)) skua_status_t get(const char *call, skua_gaddr from,
                                                   struct ski_shape shape, const skua_ends *ends,
                                                   bool blocking)
{
    struct ski_transfer t = {.call = call, .verb = SKI_GET, .remote = from, .shape = shape};
    return perform(&t, ends, blocking);
}

static skua_status_t update(const char *call, skua_gaddr to, struct ski_shape shape,
                            const skua_update *how, const skua_ends *ends, bool blocking)
{
    struct ski_transfer t = {
        .call = call, .verb = SKI_UPDATE, .remote = to, .shape = shape, .update = how};
    return perform(&t, ends, blocking);
}

/* The short cuts of one piece; false: there is none. */
static inline bool put_short(skua_gaddr to, const void *from, size_t bytes)
{
    char *at = ski_reach(to, bytes);

    if (SKI_UNLIKELY(!at || !ski_calm()))
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

static inline bool get_short(void *to, skua_gaddr from, size_t bytes)
{
    const char *at = ski_reach(from, bytes);

    if (SKI_UNLIKELY(!at || !ski_calm()))
        return false;
    if (bytes == 8)
        memcpy(to, at, 8);
    else
        ski_copy(to, at, bytes);
    return true;
}

skua_status_t skua_put(skua_gaddr to, const void *from, size_t bytes)
{
    if (SKI_LIKELY(put_short(to, from, bytes)))
        return SKUA_OK;
    return put(__func__, to, ski_shape_contiguous(from, bytes), NULL, true);
}

skua_status_t skua_get(void *to, skua_gaddr from, size_t bytes)
{
    if (SKI_LIKELY(get_short(to, from, bytes)))
        return SKUA_OK;
    return get(__func__, from, ski_shape_contiguous(to, bytes), NULL, true);
}

skua_status_t skua_put_strided(skua_gaddr to, const void *from, const skua_strided *shape)
{
    return put(__func__, to, ski_shape_strided(from, shape), NULL, true);
}

skua_status_t skua_get_strided(void *to, skua_gaddr from, const skua_strided *shape)
{
    return get(__func__, from, ski_shape_strided(to, shape), NULL, true);
}

skua_status_t skua_put_vector(skua_gaddr to, const skua_segment *list, size_t n)
{
    return put(__func__, to, ski_shape_vector(list, n), NULL, true);
}

skua_status_t skua_get_vector(const skua_segment *list, size_t n, skua_gaddr from)
{
    return get(__func__, from, ski_shape_vector(list, n), NULL, true);
}

skua_status_t skua_put_indexed(skua_gaddr to, const void *from, const skua_indexed *shape)
{
    return put(__func__, to, ski_shape_indexed(from, shape), NULL, true);
}

skua_status_t skua_get_indexed(void *to, skua_gaddr from, const skua_indexed *shape)
{
    return get(__func__, from, ski_shape_indexed(to, shape), NULL, true);
}

skua_status_t skua_acc(skua_gaddr to, const void *from, size_t bytes, const skua_update *how)
{
    char           *at      = ski_reach(to, bytes);
    size_t          element = 1;
    ski_update_fn   fn      = ski_update_function(how, &element);
    struct ski_hold hold    = {NULL};

    if (SKI_LIKELY(at && fn && ski_calm() && bytes % element == 0 &&
                   ((uintptr_t)at & (element - 1) & 7) == 0)) {
        ski_update_run(&hold, -1, at, from, bytes, fn, element, how->scale);
        ski_hold_end(&hold);
        return SKUA_OK;
    }
    return update(__func__, to, ski_shape_contiguous(from, bytes), how, NULL, true);
}

skua_status_t skua_acc_strided(skua_gaddr to, const void *from, const skua_strided *shape,
                               const skua_update *how)
{
    return update(__func__, to, ski_shape_strided(from, shape), how, NULL, true);
}

skua_status_t skua_acc_vector(skua_gaddr to, const skua_segment *list, size_t n,
                              const skua_update *how)
{
    return update(__func__, to, ski_shape_vector(list, n), how, NULL, true);
}

skua_status_t skua_acc_indexed(skua_gaddr to, const void *from, const skua_indexed *shape,
                               const skua_update *how)
{
    return update(__func__, to, ski_shape_indexed(from, shape), how, NULL, true);
}

/* ---- non-blocking ------------------------------------------------------------ */

skua_status_t skua_put_nb(skua_gaddr to, const void *from, size_t bytes, const skua_ends *ends)
{
    if (!ends && SKI_LIKELY(put_short(to, from, bytes)))
        return SKUA_OK;
    return put(__func__, to, ski_shape_contiguous(from, bytes), ends, false);
}

skua_status_t skua_get_nb(void *to, skua_gaddr from, size_t bytes, const skua_ends *ends)
{
    if (!ends && SKI_LIKELY(get_short(to, from, bytes)))
        return SKUA_OK;
    return get(__func__, from, ski_shape_contiguous(to, bytes), ends, false);
}

skua_status_t skua_put_strided_nb(skua_gaddr to, const void *from, const skua_strided *shape,
                                  const skua_ends *ends)
{
    return put(__func__, to, ski_shape_strided(from, shape), ends, false);
}

skua_status_t skua_get_strided_nb(void *to, skua_gaddr from, const skua_strided *shape,
                                  const skua_ends *ends)
{
    return get(__func__, from, ski_shape_strided(to, shape), ends, false);
}

skua_status_t skua_put_vector_nb(skua_gaddr to, const skua_segment *list, size_t n,
                                 const skua_ends *ends)
{
    return put(__func__, to, ski_shape_vector(list, n), ends, false);
}

skua_status_t skua_get_vector_nb(const skua_segment *list, size_t n, skua_gaddr from,
                                 const skua_ends *ends)
{
    return get(__func__, from, ski_shape_vector(list, n), ends, false);
}

skua_status_t skua_put_indexed_nb(skua_gaddr to, const void *from, const skua_indexed *shape,
                                  const skua_ends *ends)
{
    return put(__func__, to, ski_shape_indexed(from, shape), ends, false);
}

skua_status_t skua_get_indexed_nb(void *to, skua_gaddr from, const skua_indexed *shape,
                                  const skua_ends *ends)
{
    return get(__func__, from, ski_shape_indexed(to, shape), ends, false);
}

skua_status_t skua_acc_nb(skua_gaddr to, const void *from, size_t bytes, const skua_update *how,
                          const skua_ends *ends)
{
    return update(__func__, to, ski_shape_contiguous(from, bytes), how, ends, false);
}

skua_status_t skua_acc_strided_nb(skua_gaddr to, const void *from, const skua_strided *shape,
                                  const skua_update *how, const skua_ends *ends)
{
    return update(__func__, to, ski_shape_strided(from, shape), how, ends, false);
}

skua_status_t skua_acc_vector_nb(skua_gaddr to, const skua_segment *list, size_t n,
                                 const skua_update *how, const skua_ends *ends)
{
    return update(__func__, to, ski_shape_vector(list, n), how, ends, false);
}

skua_status_t skua_acc_indexed_nb(skua_gaddr to, const void *from, const skua_indexed *shape,
                                  const skua_update *how, const skua_ends *ends)
{
    return update(__func__, to, ski_shape_indexed(from, shape), how, ends, false);
}
