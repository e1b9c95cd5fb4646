/* SPDX-License-Identifier: Apache-2.0 */
/* global_copy.c - see global_copy.h. */
#include "onesided/rma/global_copy.h"

#include <skua/onesided.h>

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/inbox_send.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/rma/am_sent.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/rma_request.h"

#define GLOBAL_COPY_STAGE 65536 /* bytes of the buffer of a thread that is not a PE */

/* The arguments of a call. */
struct global_copy {
    const char            *call;
    skua_gaddr             to, from;
    size_t                 bytes;
    const skua_rma_params *params; /* or NULL */
};

/* A request to the PE that has the source; the data of the signal follow. */
struct global_copy_request {
    skua_gaddr to, from, notify;
    uint64_t   bytes, notify_add, signal_bytes;
    uint32_t   id; /* of the reply */
    uint32_t   signal;
};

_Static_assert(sizeof(struct global_copy_request) == SKI_COPY_MIN, "see global_copy.h");

/* Returns memory of the arena: what is left of it when the job ends goes with that. */
static void *global_copy_alloc(size_t bytes)
{
    void *memory = ski_pool_alloc(&ski_self->pool, bytes);

    if (!memory)
        ski_fatal("skua_copy: no memory for a request; raise SKUA_ARENA_SIZE");
    return memory;
}

static void global_copy_free(void *memory)
{
    ski_pool_free(&ski_self->pool, memory);
}

/* ---- at the PE that has the source ----------------------------------------------------------- */

/* A put that a request asked for. */
struct global_copy_served {
    skua_msg           *msg; /* the request: the data of its signal are in use */
    struct ski_resolved source;
    skua_status         status; /* of the put */
};

static void global_copy_reply(skua_msg *msg, enum ski_am_reply_kind kind, uint32_t count)
{
    const struct global_copy_request *request = skua_msg_data(msg);
    struct ski_am_reply               reply   = {(uint16_t)kind, (uint16_t)count, request->id};

    ski_msg_post(ski_self, msg->source, SKI_HANDLER_AM_REPLY,
                 ski_msg_copy(ski_self, SKI_HANDLER_AM_REPLY, &reply, sizeof reply));
}

static void global_copy_put_done(void *arg, const void *data, size_t bytes)
{
    struct global_copy_served *served = arg;

    (void)data, (void)bytes;
    ski_resolved_release(&served->source);
    if (served->status == SKUA_OK)
        global_copy_reply(served->msg, SKI_AM_ACK, 1);
    else
        global_copy_reply(served->msg, SKI_AM_FAILED, (uint32_t)-served->status);
    skua_msg_free(served->msg);
    global_copy_free(served);
}

/* Starts the put of @p served, in the name of the PE that sent the request: that PE is the source
 * of the signal, which runs only after data that have arrived. */
static skua_status global_copy_start_put(struct global_copy_served *served)
{
    const struct global_copy_request *request = skua_msg_data(served->msg);
    struct ski_rma_op                 op      = {.call   = "skua_copy",
                                                 .verb   = SKI_RMA_PUT,
                                                 .remote = request->to,
                                                 .datatype =
                                                     ski_datatype_contiguous(served->source.memory, request->bytes),
                                                 .signal_for = 1 + ski_am_sender(served->msg),
                                                 .failed     = &served->status};
    skua_rma_params                   params  = {.order = SKUA_UNORDERED,
                                                 .remote = skua_done_call(global_copy_put_done, served),
                                                 .notify       = request->notify,
                                                 .notify_add   = request->notify_add,
                                                 .signal       = {request->signal},
                                                 .signal_data  = request + 1,
                                                 .signal_bytes = request->signal_bytes};

    return ski_rma_op_put_nb(&op, &params);
}

/* Serves a request that has been checked.  If it fails nothing has happened. */
static skua_status global_copy_put(skua_msg *msg)
{
    const struct global_copy_request *request = skua_msg_data(msg);
    struct global_copy_served        *served  = global_copy_alloc(sizeof *served);
    skua_status                       status;

    served->msg    = msg;
    served->status = SKUA_OK;
    status = ski_resolve("skua_copy", request->from, 0, (ptrdiff_t)request->bytes, &served->source);
    if (status != SKUA_OK) {
        global_copy_free(served);
        return status;
    }
    if (ski_resolved_is_direct(&served->source))
        status = global_copy_start_put(served);
    else
        status = SKUA_ERR_UNREACH;
    if (status >= 0)
        return SKUA_OK;
    ski_resolved_release(&served->source);
    global_copy_free(served);
    return status;
}

/* A request comes from another process: nothing of it is trusted. */
static bool global_copy_is_valid(const skua_msg *msg, const struct global_copy_request *request)
{
    return request->from.pe == ski_self->pe && request->to.pe >= 0 &&
           request->to.pe < ski_self->pes && request->bytes <= PTRDIFF_MAX &&
           request->signal_bytes == msg->bytes - sizeof *request &&
           (request->signal
                ? request->signal >= SKI_HANDLERS && request->signal < ski_handlers.count
                : request->signal_bytes == 0);
}

void ski_on_copy_request(skua_msg *msg)
{
    const struct global_copy_request *request = skua_msg_data(msg);
    skua_status                       status  = SKUA_ERR_INVAL;

    if (global_copy_is_valid(msg, request))
        status = global_copy_put(msg);
    else
        ski_log(SKI_LOG_ERROR, "PE %d refused a malformed request to copy from PE %d", ski_self->pe,
                msg->source);
    if (status == SKUA_OK) /* the end of the put frees it */
        return;
    global_copy_reply(msg, SKI_AM_FAILED, (uint32_t)-status);
    skua_msg_free(msg);
}

/* ---- at the caller --------------------------------------------------------------------------- */

/* Returns the request to the PE that has the source. */
static skua_msg *global_copy_message(struct ski_pe *self, const struct global_copy *copy,
                                     uint32_t id)
{
    struct global_copy_request request = {
        .to = copy->to, .from = copy->from, .bytes = copy->bytes, .id = id};
    const skua_rma_params *params = copy->params;
    skua_msg              *msg;

    if (params) {
        request.notify       = params->notify;
        request.notify_add   = params->notify_add;
        request.signal       = params->signal.id;
        request.signal_bytes = params->signal.id ? params->signal_bytes : 0;
    }
    msg = skua_msg_alloc(sizeof request + request.signal_bytes);
    memcpy(skua_msg_data(msg), &request, sizeof request);
    if (request.signal_bytes > 0)
        memcpy((char *)skua_msg_data(msg) + sizeof request, params->signal_data,
               request.signal_bytes);
    msg->handler = SKI_HANDLER_COPY_REQUEST;
    msg->source  = self->pe;
    return msg;
}

/* Requests that the PE that has the source puts it to the destination, @p target. */
static skua_status global_copy_ask(struct ski_pe *self, const struct global_copy *copy,
                                   const struct ski_resolved *target, bool wait)
{
    struct ski_rma_op       op = {.call = copy->call, .verb = SKI_RMA_PUT, .remote = copy->to};
    struct ski_rma_request *req =
        ski_rma_request_begin(self, &op, target, copy->params, SKI_RMA_BY_SOURCE);
    struct ski_am_sent sent = {.req = req, .pool = SKI_AM_POOL_PUT, .server = copy->from.pe};
    uint32_t           id;

    req->waited = wait;
    req->parts  = 1;
    req->sealed = true;
    id          = ski_am_sent_add(self, &sent);
    ski_fence(memory_order_seq_cst); /* what this process stored is visible before */
    ski_msg_post(self, copy->from.pe, SKI_HANDLER_COPY_REQUEST,
                 global_copy_message(self, copy, id));
    return wait ? ski_rma_request_wait(self, req, NULL) : SKUA_PENDING;
}

/* Copies from memory that this process reaches. */
static skua_status global_copy_from(const struct global_copy *copy, const char *memory,
                                    bool blocking)
{
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_rma_params params = {.order = SKUA_UNORDERED, .handle = &handle};
    skua_status     status;

    if (blocking) { /* not skua_put(), which the setting local_completion lets return earlier */
        status = skua_put_nb(copy->to, memory, copy->bytes, &params);
        if (status == SKUA_PENDING)
            skua_handle_wait(&handle);
        return status < 0 ? status : SKUA_OK;
    }
    params.handle = NULL;
    if (copy->params)
        params = *copy->params;
    params.order = SKUA_UNORDERED;
    return skua_put_nb(copy->to, memory, copy->bytes, &params);
}

static skua_status global_copy_resolve(const char *call, skua_gaddr at, size_t bytes, bool blocking,
                                       struct ski_resolved *target)
{
    if (bytes > PTRDIFF_MAX)
        return ski_refuse(SKUA_ERR_RANGE, "%s: no region has %zu bytes", call, bytes);
    return blocking ? ski_resolve(call, at, 0, (ptrdiff_t)bytes, target)
                    : ski_resolve_nowait(call, at, 0, (ptrdiff_t)bytes, target);
}

/* A thread that is not a PE gets and puts through a buffer, and waits.  Only the last put has
 * parameters; those without are blocking, so that their status is what the target answers. */
static skua_status global_copy_staged(const struct global_copy *copy)
{
    char       *stage = ski_malloc(GLOBAL_COPY_STAGE);
    skua_gaddr  to = copy->to, from = copy->from;
    size_t      left   = copy->bytes;
    skua_status status = SKUA_OK;

    do {
        size_t now = left < GLOBAL_COPY_STAGE ? left : GLOBAL_COPY_STAGE;

        status = skua_get(stage, from, now);
        left -= now;
        if (status == SKUA_OK)
            status = left > 0 || !copy->params ? skua_put(to, stage, now)
                                               : skua_put_nb(to, stage, now, copy->params);
        to.offset += now, from.offset += now;
    } while (status == SKUA_OK && left > 0);
    if (status == SKUA_PENDING) { /* the put uses the buffer */
        skua_flush(to.pe);
        status = SKUA_OK;
    }
    free(stage);
    return status;
}

/* Checks both ends before anything is done. */
static skua_status global_copy_check(const struct global_copy *copy, bool blocking,
                                     struct ski_resolved *to, struct ski_resolved *from)
{
    skua_status status =
        blocking ? SKUA_OK : ski_op_params_check_nowait(copy->call, copy->params, copy->to.pe);

    if (status == SKUA_OK)
        status = global_copy_resolve(copy->call, copy->from, copy->bytes, blocking, from);
    if (status != SKUA_OK)
        return status;
    status = global_copy_resolve(copy->call, copy->to, copy->bytes, blocking, to);
    if (status != SKUA_OK)
        ski_resolved_release(from);
    return status;
}

/* Checks a copy and begins it: as a put, or by a request to the PE that has the source. */
static skua_status global_copy_start(const struct global_copy *copy, bool blocking)
{
    struct ski_resolved to, from;
    skua_status         status;

    ski_onesided_check(copy->call);
    if (!ski_self)
        return global_copy_staged(copy);
    status = global_copy_check(copy, blocking, &to, &from);
    if (status != SKUA_OK)
        return status;
    if (ski_resolved_is_direct(&from))
        status = global_copy_from(copy, from.memory, blocking);
    else
        status = global_copy_ask(ski_self, copy, &to, blocking);
    ski_resolved_release(&to);
    ski_resolved_release(&from);
    return status;
}

skua_status skua_copy(skua_gaddr to, skua_gaddr from, size_t bytes)
{
    return global_copy_start(&(struct global_copy){__func__, to, from, bytes, NULL}, true);
}

skua_status skua_copy_nb(skua_gaddr to, skua_gaddr from, size_t bytes,
                         const skua_rma_params *params)
{
    return global_copy_start(&(struct global_copy){__func__, to, from, bytes, params}, false);
}

/* ---- after an event -------------------------------------------------------------------------- */

/* A copy that has not begun; the data of its signal follow. */
struct global_copy_pending {
    struct global_copy copy;
    skua_rma_params    params;
};

/* The event has happened.  The handle has counted the copy since the call. */
static void global_copy_begin(void *arg, const void *data, size_t bytes)
{
    struct global_copy_pending *pending = arg;
    skua_handle                *handle  = pending->params.handle;

    (void)data, (void)bytes;
    (void)global_copy_start(&pending->copy, false);
    if (handle && --handle->pending == 0)
        ski_wake_all(ski_self, &ski_rma_pe(ski_self)->waiters);
    global_copy_free(pending);
}

static struct global_copy_pending *global_copy_keep(const struct global_copy *copy)
{
    const skua_rma_params      *params  = copy->params;
    size_t                      signal  = params && params->signal.id ? params->signal_bytes : 0;
    struct global_copy_pending *pending = global_copy_alloc(sizeof *pending + signal);

    pending->copy        = *copy;
    pending->params      = params ? *params : (skua_rma_params){.order = SKUA_UNORDERED};
    pending->copy.params = &pending->params;
    if (signal > 0)
        pending->params.signal_data = memcpy(pending + 1, params->signal_data, signal);
    if (pending->params.handle)
        pending->params.handle->pending++;
    return pending;
}

skua_status skua_copy_after(skua_future *event, skua_gaddr to, skua_gaddr from, size_t bytes,
                            const skua_rma_params *params)
{
    struct global_copy  copy = {__func__, to, from, bytes, params};
    struct ski_resolved to_at, from_at;
    skua_status         status;

    (void)SKI_SELF();
    if (event->ready)
        return global_copy_start(&copy, false);
    status = global_copy_check(&copy, false, &to_at, &from_at);
    if (status != SKUA_OK)
        return status;
    ski_resolved_release(&to_at);
    ski_resolved_release(&from_at);
    skua_future_then(event, skua_done_call(global_copy_begin, global_copy_keep(&copy)));
    return SKUA_PENDING;
}
