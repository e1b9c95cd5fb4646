/* SPDX-License-Identifier: Apache-2.0 */
/* am_target.c - see am_target.h. */
#include "onesided/rma/am_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/net/deferred_ack.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/accumulate_list.h"
#include "onesided/rma/am_sent.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/rma_pe.h"
#include "core/net/zcopy_send.h"
#include "onesided/sync/notify.h"

#define DEFERRED_MAX 128 /* replies that wait to be sent together */

/* ---- checks: a request comes from another process ------------------------------- */

static bool am_target_is_pe(int32_t pe)
{
    return pe >= 0 && pe < ski_self->pes;
}

/* Returns whether PEs, handler and size are ones that exist; am_wire.c has checked the lengths. */
static bool am_target_is_valid(const struct ski_am_request *request)
{
    return am_target_is_pe(request->source) && am_target_is_pe(request->remote.pe) &&
           ski_job_index(ski_self->job, request->remote.pe) >= 0 &&
           (request->verb != SKI_RMA_RKEY_QUERY || request->remote.offset == 0) &&
           (!request->signal ||
            (request->signal >= SKI_HANDLERS && request->signal < ski_handlers.count));
}

int32_t ski_am_sender(const skua_msg *msg)
{
    return msg->source < ski_self->pes
               ? msg->source
               : ski_job_first_pe(ski_self->job, ski_job_process_of(ski_self->job, msg->source));
}

/* Decodes a request of a message. Returns false if it is invalid.  *@p id is that of the request,
 * or SKI_AM_NO_ID. */
static bool am_target_decode(const skua_msg *msg, struct ski_am_span span,
                             struct ski_am_request *request, uint32_t *id)
{
    return ski_am_decode(span, ski_am_sender(msg), ski_self->pe, request, id) &&
           am_target_is_valid(request);
}

static bool am_target_offsets_are_aligned(const struct ski_am_request *request, size_t align)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < request->blocks; i++)
        bits |= (uint32_t)ski_am_offset(request, i);
    return bits % align == 0;
}

/* Returns whether all blocks are whole elements at aligned addresses. */
static bool am_target_are_elements(const struct ski_am_request *request,
                                   const struct ski_resolved *target, size_t element)
{
    size_t    align = element < 8 ? element : 8;
    uintptr_t base  = (uintptr_t)target->memory;

    if (request->blocks == 0)
        return request->total % element == 0 && base % align == 0;
    if (request->is_offsets && base % align == 0)
        return request->block_bytes % element == 0 && am_target_offsets_are_aligned(request, align);
    for (uint32_t i = 0; i < request->blocks; i++) {
        struct ski_am_run run = ski_am_block(request, i);

        if (run.bytes % element || (base + (uintptr_t)run.remote) % align ||
            (run.count > 1 && (uintptr_t)run.stride % align))
            return false;
    }
    return true;
}

/* Returns whether the notification that a request asks for exists and is aligned. */
static bool am_target_can_notify(const struct ski_am_request *request)
{
    struct ski_resolved target;
    bool                usable;

    if (!request->notify.region.id)
        return true;
    if (ski_resolve(NULL, request->notify, 0, sizeof(skua_notify), &target) != SKUA_OK)
        return false;
    usable = ski_resolved_is_direct(&target) && (uintptr_t)target.memory % sizeof(skua_notify) == 0;
    ski_resolved_release(&target);
    return usable;
}

/* ---- serving -------------------------------------------------------------------- */

/* Accumulates single elements at offsets. */
static void am_target_accumulate_elements(const struct ski_am_request *request,
                                          ski_accumulate_at_fn         at_fn,
                                          struct ski_accumulate_list  *list)
{
    ptrdiff_t remote[SKI_ACCUMULATE_CHUNK];
    uint32_t  now;

    for (uint32_t at = 0; at < request->blocks; at += now) {
        uint32_t left = request->blocks - at;

        now = left < SKI_ACCUMULATE_CHUNK ? left : SKI_ACCUMULATE_CHUNK;
        for (uint32_t i = 0; i < now; i++)
            remote[i] = ski_am_offset(request, at + i);
        ski_accumulate_chunk(list, at_fn, remote, NULL, now);
        list->from += now * list->element;
    }
}

/* Applies the accumulate of a request to its target. */
static skua_status am_target_accumulate(const struct ski_am_request *request,
                                        const struct ski_resolved   *target)
{
    skua_update           accumulate = {(skua_op)request->op, (skua_type)request->type,
                              request->scaled ? request->scale : NULL};
    size_t                element    = 1;
    ski_accumulate_fn     fn         = ski_accumulate_function(&accumulate, &element);
    struct ski_stripe_set set;
    const char           *data = request->data;

    if (!fn || !am_target_are_elements(request, target, element))
        return SKUA_ERR_INVAL;
    if (request->is_offsets && request->block_bytes == element &&
        request->blocks >= SKI_ACCUMULATE_FEW) {
        struct ski_accumulate_list list = {accumulate.scale, element, target->process,
                                           target->memory, data};

        am_target_accumulate_elements(request, ski_accumulate_at_function(&accumulate), &list);
        return SKUA_OK;
    }
    ski_stripe_set_begin(&set);
    if (request->blocks == 0)
        ski_accumulate_scattered(&set, target->process, target->memory, data, request->total, fn,
                                 element, accumulate.scale);
    for (uint32_t i = 0; i < request->blocks; i++) {
        struct ski_am_run run = ski_am_block(request, i);

        for (uint32_t k = 0; k < run.count; k++, data += run.bytes)
            ski_accumulate_scattered(&set, target->process,
                                     target->memory + run.remote + k * run.stride, data, run.bytes,
                                     fn, element, accumulate.scale);
    }
    ski_stripe_set_release(&set);
    return SKUA_OK;
}

/* Orders the puts that this thread has performed before its next one, for readers on other cores:
 * the PE whose memory it is, if this is its progress thread, and other PEs of the host.  Pairs with
 * the acquire of a reader that polls a word of the later put. */
static inline void am_target_order_puts(void)
{
    ski_fence(memory_order_release);
}

/* Copies the data of a put.  A single store writes a word, since a reader on another core may poll
 * it; memcpy() of the C library may write 2 bytes one by one. */
static inline void am_target_copy(char *to, const char *from, size_t bytes)
{
    am_target_order_puts();
    switch (bytes) {
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: ski_copy(to, from, bytes);
    }
}

/* Performs a put of the data of the request. */
static void am_target_put(const struct ski_am_request *request, const struct ski_resolved *target)
{
    const char *data = request->data;

    if (request->blocks == 0)
        am_target_copy(target->memory, data, request->total);
    else
        am_target_order_puts();
    for (uint32_t i = 0; i < request->blocks; i++) {
        struct ski_am_run run = ski_am_block(request, i);

        ski_am_copy_strided(target->memory + run.remote, run.stride, data, run.bytes, run.bytes,
                            run.count);
        data += (size_t)run.bytes * run.count;
    }
}

/* Does a get into @p data. */
static void am_target_get(const struct ski_am_request *request, const struct ski_resolved *target,
                          char *data)
{
    if (request->blocks == 0)
        ski_copy(data, target->memory, request->total);
    for (uint32_t i = 0; i < request->blocks; i++) {
        struct ski_am_run run = ski_am_block(request, i);

        ski_am_copy_strided(data, run.bytes, target->memory + run.remote, run.stride, run.bytes,
                            run.count);
        data += (size_t)run.bytes * run.count;
    }
}

/* Serves a request in memory that was resolved; @p result is the value before an atomic, or has
 * room for the data of a get. */
static skua_status am_target_apply(const struct ski_am_request *request,
                                   const struct ski_resolved *target, void *result)
{
    switch (request->verb) {
    case SKI_RMA_PUT: am_target_put(request, target); return SKUA_OK;
    case SKI_RMA_GET: am_target_get(request, target, result); return SKUA_OK;
    case SKI_RMA_ACCUMULATE: return am_target_accumulate(request, target);
    case SKI_RMA_ATOMIC:
        if ((uintptr_t)target->memory % request->atomic.bytes)
            return SKUA_ERR_ALIGN;
        *(uint64_t *)result = ski_atomic_apply(&request->atomic, target);
        return SKUA_OK;
    case SKI_RMA_RKEY_QUERY:
        ski_rkey_export(request->remote.region.id, target->region, target->pe, result);
    }
    return SKUA_OK;
}

static skua_status am_target_serve(const struct ski_am_request *request, void *result)
{
    struct ski_resolved target;
    skua_status status = ski_resolve(NULL, request->remote, request->lo, request->hi, &target);

    if (status != SKUA_OK)
        return status;
    if (!ski_resolved_is_direct(&target))
        status = SKUA_ERR_UNREACH; /* the request came to the wrong process */
    else if (!am_target_can_notify(request))
        status = SKUA_ERR_REGION;
    else
        status = am_target_apply(request, &target, result);
    ski_resolved_release(&target);
    return status;
}

/* Performs what the last request of an operation asks for after the data. */
static void am_target_apply_params(const struct ski_am_request *request, const char *signal)
{
    skua_rma_params params = {.notify       = request->notify,
                              .notify_add   = request->notify_add,
                              .signal       = {request->signal},
                              .signal_data  = signal,
                              .signal_bytes = request->signal_bytes};

    if (request->signal || request->notify.region.id)
        ski_op_params_apply(NULL, &params, request->remote.pe, request->source);
}

/* ---- replies without data ------------------------------------------------------- */

/* A reply that waits to be sent with others to the same PE.  The reply to a put or an accumulate of
 * another host is not urgent: the work that the put triggered here, such as the handler of its
 * signal, runs first (core/net/deferred_ack.h). */
struct ski_am_deferred_reply {
    int32_t  origin;
    uint32_t id;
    bool     has_value;
    uint64_t value; /* of an atomic */
};

/* Writes one record that acknowledges @p acks requests of @p origin.  Returns its end. */
static char *am_target_write_acks(char *to, int32_t origin, const struct ski_am_deferred_reply *all,
                                  uint32_t count, uint32_t acks)
{
    struct ski_am_reply head = {SKI_AM_ACK, (uint16_t)acks, 0};
    char               *next = to + ski_am_ack_bytes(acks), *at = to + sizeof head;
    bool                first = true;

    memset(next - 8, 0, 8); /* the padding */
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].origin != origin || all[i].has_value)
            continue;
        if (first)
            head.id = all[i].id;
        else
            at = (char *)memcpy(at, &all[i].id, sizeof all[i].id) + sizeof all[i].id;
        first = false;
    }
    memcpy(to, &head, sizeof head);
    return next;
}

static char *am_target_write_values(char *to, int32_t origin,
                                    const struct ski_am_deferred_reply *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct ski_am_reply head = {SKI_AM_VALUE, 1, all[i].id};

        if (all[i].origin != origin || !all[i].has_value)
            continue;
        memcpy(to, &head, sizeof head);
        memcpy(to + sizeof head, &all[i].value, sizeof all[i].value);
        to += sizeof head + sizeof all[i].value;
    }
    return to;
}

/* Moves the deferred replies to @p origin into one message; NULL: there are none. */
static skua_msg *am_target_take_replies(struct ski_pe *self, struct ski_rma_pe *rma, int32_t origin)
{
    uint32_t  acks = 0, values = 0, left = 0;
    skua_msg *msg;
    char     *at;

    for (uint32_t i = 0; i < rma->deferred_count; i++)
        if (rma->deferred[i].origin == origin)
            rma->deferred[i].has_value ? values++ : acks++;
    if (acks + values == 0)
        return NULL;
    msg = skua_msg_alloc((acks > 0 ? ski_am_ack_bytes(acks) : 0) + values * 16);
    at  = skua_msg_data(msg);
    if (acks > 0)
        at = am_target_write_acks(at, origin, rma->deferred, rma->deferred_count, acks);
    at = am_target_write_values(at, origin, rma->deferred, rma->deferred_count);
    ski_assert(at == (char *)skua_msg_data(msg) + msg->bytes);
    for (uint32_t i = 0; i < rma->deferred_count; i++)
        if (rma->deferred[i].origin != origin)
            rma->deferred[left++] = rma->deferred[i];
    rma->deferred_count = left;
    msg->handler        = SKI_HANDLER_AM_REPLY;
    msg->source         = self->pe;
    return msg;
}

static void am_target_send_deferred(struct ski_pe *self)
{
    struct ski_rma_pe *rma = ski_rma_pe(self);

    rma->deferred_urgent = false;
    while (rma->deferred_count > 0) {
        int32_t origin = rma->deferred[0].origin;

        ski_msg_post(self, origin, SKI_HANDLER_AM_REPLY, am_target_take_replies(self, rma, origin));
    }
}

static skua_msg *am_target_take_deferred(struct ski_pe *self, int pe, bool *more)
{
    struct ski_rma_pe *rma = ski_rma_pe(self);
    skua_msg          *msg = am_target_take_replies(self, rma, pe);

    *more = rma->deferred_count > 0;
    return msg;
}

static const struct ski_deferred_ack_calls am_target_ack_calls = {am_target_send_deferred,
                                                                  am_target_take_deferred};

/* Adds a reply without data to those that wait; it is urgent if the origin waits for its value, or
 * is of this host, where it costs no packet.  @p relaxed: the origin is not expected to wait for
 * it. */
static void am_target_defer_reply(struct ski_pe *self, int origin, enum ski_rma_verb verb,
                                  uint32_t id, uint64_t value, bool relaxed)
{
    struct ski_rma_pe *rma       = ski_rma_pe(self);
    bool               has_value = verb == SKI_RMA_ATOMIC;

    if (!rma->deferred)
        rma->deferred = ski_malloc(DEFERRED_MAX * sizeof *rma->deferred);
    ski_assert(rma->deferred_count < DEFERRED_MAX);
    rma->deferred[rma->deferred_count++] =
        (struct ski_am_deferred_reply){origin, id, has_value, value};
    if (has_value || !self->net || ski_job_index(self->job, origin) >= 0)
        rma->deferred_urgent = true;
    else
        ski_net_defer_ack(self, origin, &am_target_ack_calls, relaxed);
    if (rma->deferred_count == DEFERRED_MAX)
        am_target_send_deferred(self);
}

uint32_t ski_am_target_take_acks(struct ski_pe *self, int pe, uint32_t *ack)
{
    struct ski_rma_pe *rma   = ski_rma_pe(self);
    uint32_t           count = 0, left = 0;

    for (uint32_t i = 0; i < rma->deferred_count; i++)
        if (rma->deferred[i].origin == pe) {
            if (rma->deferred[i].has_value || count == SKI_AM_ACKS_MAX)
                return 0; /* they are coalesced with the packet */
            ack[count++] = rma->deferred[i].id;
        }
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < rma->deferred_count; i++)
        if (rma->deferred[i].origin != pe)
            rma->deferred[left++] = rma->deferred[i];
    rma->deferred_count = left;
    ski_net_acks_taken(self, pe, left > 0);
    return count;
}

/* Ends the requests of this PE that a request from PE @p source acknowledges.  That may call a
 * function of the program, which sends and so lets the driver receive: the request itself has been
 * served before, as the next one of its origin may be served within the driver. */
static void am_target_apply_acks(struct ski_pe *self, int source, const uint32_t *ack,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!ski_am_sent_ack(self, source, ack[i]))
            ski_log(SKI_LOG_ERROR,
                    "PE %d dropped an acknowledgement from PE %d that matches no request", self->pe,
                    source);
}

void ski_am_target_end(struct ski_pe *self)
{
    free(ski_rma_pe(self)->deferred);
}

/* The origin logs the call as well, when it gets the status. */
static SKI_COLD void am_target_refuse(struct ski_pe *self, int origin,
                                      const struct ski_am_request *request, uint32_t id,
                                      skua_status status)
{
    static const char *const verbs[] = {"put", "get", "accumulate", "atomic", "look-up"};
    struct ski_am_reply      reply   = {SKI_AM_FAILED, (uint16_t)-status, id};
    char                     text[SKI_REGION_STR];

    ski_log(SKI_LOG_ERROR, "a one-sided %s of PE %d, at offset %llu of %s on PE %d, refused: %s",
            verbs[request->verb], request->source, (unsigned long long)request->remote.offset,
            ski_region_str(request->remote.region.id, text), request->remote.pe,
            skua_status_str(status));
    ski_msg_post(self, origin, SKI_HANDLER_AM_REPLY,
                 ski_msg_copy(self, SKI_HANDLER_AM_REPLY, &reply, sizeof reply));
}

/* ---- replies with data ---------------------------------------------------------- */

/* Returns a message for the reply, with room for @p bytes of data; NULL: there is no memory. */
static skua_msg *am_target_new_reply(const struct ski_am_request *request, size_t bytes)
{
    skua_msg           *msg;
    struct ski_am_reply head = {SKI_AM_DATA, 0, request->id};

    if (skua_msg_try_alloc(sizeof head + bytes, &msg) != SKUA_OK)
        return NULL;
    memcpy(skua_msg_data(msg), &head, sizeof head);
    msg->handler = SKI_HANDLER_AM_REPLY;
    msg->source  = ski_self->pe;
    return msg;
}

/* Sends the data of a get from the memory of the region.  The region is in the arena, which is not
 * unmapped before the driver has sent everything. */
static bool am_target_send_zcopy(struct ski_pe *self, int origin,
                                 const struct ski_am_request *request, const char *data)
{
    skua_msg *msg = am_target_new_reply(request, sizeof(struct ski_zcopy_send));

    if (!msg)
        return false;
    if (ski_zcopy_send(self, origin, msg, sizeof(struct ski_am_reply), data, request->total, NULL,
                       NULL))
        return true;
    skua_msg_free(msg);
    return false;
}

/* Replies to a large get from the memory of the region, if the origin allows that. Returns false if
 * it has done nothing. */
static bool am_target_reply_zcopy(struct ski_pe *self, int origin,
                                  const struct ski_am_request *request)
{
    struct ski_resolved target;
    bool                sent;

    if (!request->deferrable || request->verb != SKI_RMA_GET || request->blocks > 0 ||
        request->signal || request->notify.region.id || !self->net || !ski_zcopy_send_supported() ||
        ski_job_index(self->job, origin) >= 0 || request->total < SKI_ZCOPY_SEND_MIN ||
        ski_resolve(NULL, request->remote, request->lo, request->hi, &target) != SKUA_OK)
        return false;
    sent = ski_resolved_is_direct(&target) && target.process < 0 &&
           am_target_send_zcopy(self, origin, request, target.memory);
    ski_resolved_release(&target);
    return sent;
}

/* Serves a request whose reply has data. */
static skua_status am_target_serve_data(struct ski_pe *self, int origin,
                                        const struct ski_am_request *request)
{
    size_t bytes =
        request->verb == SKI_RMA_RKEY_QUERY ? sizeof(struct ski_rkey_info) : request->total;
    skua_msg   *reply;
    skua_status status;

    if (am_target_reply_zcopy(self, origin, request))
        return SKUA_OK;
    reply = am_target_new_reply(request, bytes);
    if (!reply)
        return SKUA_ERR_NOMEM;
    status = am_target_serve(request, (struct ski_am_reply *)skua_msg_data(reply) + 1);
    if (status != SKUA_OK) {
        skua_msg_free(reply); /* its data are not initialised, and must not leave */
        return status;
    }
    am_target_apply_params(request, request->data);
    ski_msg_post(self, origin, SKI_HANDLER_AM_REPLY, reply);
    return SKUA_OK;
}

/* ---- requests ------------------------------------------------------------------- */

/* Serves a request and replies. */
static skua_status am_target_serve_one(struct ski_pe *self, int origin,
                                       const struct ski_am_request *request)
{
    uint64_t    value = 0;
    skua_status status;

    if (ski_am_reply_has_data(request->verb))
        return am_target_serve_data(self, origin, request);
    status = am_target_serve(request, &value);
    if (status != SKUA_OK)
        return status;
    am_target_apply_params(request, request->data + request->data_bytes);
    am_target_defer_reply(self, origin, request->verb, request->id, value, request->relaxed);
    return SKUA_OK;
}

/* Serves the request at the beginning of @p span if it is a short put into a plain region of this
 * PE and asks for nothing else (am_short.h).  Returns its length; 0: nothing has been done, and it
 * is served like any other. */
static size_t am_target_serve_short(struct ski_pe *self, int origin, struct ski_am_span span)
{
    struct ski_am_head head;
    size_t             whole, bytes;
    char              *to;

    if (span.bytes < sizeof head)
        return 0;
    memcpy(&head, span.at, sizeof head);
    bytes = head.bytes - sizeof head; /* too many if there are none */
    whole = ((size_t)head.bytes + 7) & ~(size_t)7;
    if (head.kind != SKI_RMA_PUT || bytes - 1 >= SKI_AM_SHORT_MAX || whole > span.bytes ||
        head.id == SKI_AM_NO_ID ||
        !ski_region_table_find((skua_region){head.region})) /* acquires what the next line reads */
        return 0;
    to = ski_region_ptr((skua_gaddr){self->pe, {head.region}, head.offset}, bytes);
    if (!to)
        return 0;
    am_target_copy(to, span.at + sizeof head, bytes);
    am_target_defer_reply(self, origin, SKI_RMA_PUT, head.id, 0, false);
    return whole;
}

/* Serves the request at the beginning of @p span.  Returns its length; 0: it is not known where the
 * next one begins. */
static size_t am_target_serve_any(struct ski_pe *self, const skua_msg *msg, struct ski_am_span span)
{
    struct ski_am_request request;
    uint32_t              id = SKI_AM_NO_ID;
    bool        decoded      = ski_am_decode(span, ski_am_sender(msg), self->pe, &request, &id);
    skua_status status       = SKUA_ERR_INVAL;

    if (decoded && am_target_is_valid(&request))
        status = am_target_serve_one(self, msg->source, &request);
    if (id == SKI_AM_NO_ID) {
        ski_log(SKI_LOG_ERROR, "PE %d dropped a one-sided request from PE %d that is malformed",
                self->pe, msg->source);
        return 0;
    }
    if (status != SKUA_OK)
        am_target_refuse(self, msg->source, &request, id, status);
    if (decoded) /* also by a request that is refused */
        am_target_apply_acks(self, msg->source, request.ack, request.ack_count);
    return request.length;
}

void ski_on_am_request(skua_msg *msg)
{
    struct ski_pe     *self = ski_self;
    struct ski_am_span span = {skua_msg_data(msg), msg->bytes, msg->bytes};
    size_t             length;

    if (ski_job_index(self->job, msg->source) < 0)
        self->counted--;
    do {
        length = am_target_serve_short(self, msg->source, span);
        if (length == 0)
            length = am_target_serve_any(self, msg, span);
        span = (struct ski_am_span){span.at + length, span.bytes - length, span.bytes - length};
    } while (length > 0 && span.bytes > 0);
    if (ski_rma_pe(self)->deferred_urgent)
        am_target_send_deferred(self);
    skua_msg_free(msg);
}

/* The remainder of a put whose data are in place: the decoded request, and the data of its signal.
 * It is never sent. */
void ski_on_am_placed(skua_msg *msg)
{
    struct ski_am_request *request = skua_msg_data(msg);

    ski_assert(ski_rma_pe(ski_self)->placed > 0);
    am_target_apply_params(request, (const char *)(request + 1));
    ski_rma_pe(ski_self)->placed--;
    am_target_defer_reply(ski_self, msg->source, request->verb, request->id, 0, request->relaxed);
    am_target_apply_acks(ski_self, msg->source, request->ack, request->ack_count);
    if (ski_rma_pe(ski_self)->deferred_urgent)
        am_target_send_deferred(ski_self);
    skua_msg_free(msg);
}

/* ---- puts whose data the driver still has --------------------------------------- */

/* Returns whether the memory of a put is there, and where. After false the request is served in
 * the ordinary way, which also reports what is wrong with it. */
static bool am_target_find_place(const struct ski_am_request *request, struct ski_resolved *target)
{
    if (ski_resolve(NULL, request->remote, request->lo, request->hi, target) != SKUA_OK)
        return false;
    if (ski_resolved_is_direct(target) && am_target_can_notify(request))
        return true;
    ski_resolved_release(target);
    return false;
}

/* Builds the remainder of a put whose data are in place.  It is queued like any message and carries
 * the notification, the signal and the reply. */
static skua_msg *am_target_put_without_data(const skua_msg *msg, struct ski_am_request *request,
                                            const char *signal)
{
    skua_msg *remainder = skua_msg_alloc(sizeof *request + request->signal_bytes);
    char     *to        = skua_msg_data(remainder);

    request->list = request->data = NULL;
    memcpy(to, request, sizeof *request);
    if (request->signal_bytes > 0)
        memcpy(to + sizeof *request, signal, request->signal_bytes);
    remainder->handler = SKI_HANDLER_AM_PLACED;
    remainder->source  = msg->source;
    ski_rma_pe(ski_self)->placed++;
    return remainder;
}

/* Returns whether a packet, of which @p visible bytes are there, is one put of one block that may
 * be placed now.  Not while a request with its data is queued (self->counted): it may be an earlier
 * one of the same origin. Queued remainders do not matter, since their data are in place. */
static bool am_target_is_put(const struct ski_pe *self, const skua_msg *msg, const char *data,
                             size_t visible, struct ski_am_request *request)
{
    struct ski_am_span span = {data, msg->bytes, visible < msg->bytes ? visible : msg->bytes};
    uint32_t           id;

    return self->counted == 0 && am_target_decode(msg, span, request, &id) &&
           request->verb == SKI_RMA_PUT && request->blocks == 0 && request->length == msg->bytes;
}

/* Returns the memory of a symmetric region of this PE that a put, or its notification, names; NULL:
 * it is another region, or does not exist. */
static char *am_target_plain(const struct ski_pe *self, uint32_t region, uint32_t offset,
                             size_t bytes)
{
    skua_gaddr at = {self->pe, {region}, offset};
    uint64_t   room;
    char      *piece;

    if (!ski_region_table_find(at.region)) /* acquires what the next lines read */
        return NULL;
    piece = ski_region_piece(at, &room);
    if (!piece)
        piece = ski_region_varied_piece(at, &room);
    return piece && offset <= room && bytes <= room - offset ? piece + offset : NULL;
}

/* Returns whether the acknowledgements in a put of PE @p source can be applied within the driver.
 */
static bool am_target_acks_are_quiet(const struct ski_rma_pe *rma, int source,
                                     const struct ski_am_put *put)
{
    for (uint32_t i = 0; i < put->ack_count; i++)
        if (!ski_am_sent_acks_quietly(rma, source, put->ack[i]))
            return false;
    return true;
}

/* Serves a put in the driver's memory, its notification and what it acknowledges included, without
 * a message.  Not while a request, or the remainder of one, is queued: they come first, also with
 * their notifications.  Nor where that would send a message or run code of the program, which must
 * not happen within the driver: a thread waits for the notification or for the end of requests, or
 * replies must be sent.  Returns false if nothing has been done.
 *
 * Order: the data come after those of earlier puts (am_target_copy()), the notification after the
 * data: ski_notify_raise() releases them. */
static bool am_target_serve_inline(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct ski_rma_pe *rma     = ski_rma_pe(self);
    char              *counter = NULL, *to;
    struct ski_am_put  put;

    if (self->counted > 0 || rma->placed > 0 || rma->deferred_count + 1 >= DEFERRED_MAX ||
        !ski_am_decode_put(data, msg->bytes, &put) ||
        !am_target_acks_are_quiet(rma, msg->source, &put))
        return false;
    to = am_target_plain(self, put.region, put.offset, put.bytes);
    if (put.has_notify)
        counter = am_target_plain(self, put.notify_region, put.notify_offset, sizeof(skua_notify));
    if (!to || (put.has_notify && (!counter || (uintptr_t)counter % sizeof(skua_notify) ||
                                   ski_notify_is_watched((skua_notify *)(void *)counter))))
        return false;
    am_target_apply_acks(self, msg->source, put.ack, put.ack_count);
    if (put.bytes > 0)
        am_target_copy(to, put.data, put.bytes);
    if (counter)
        ski_notify_raise((skua_notify *)(void *)counter, self->pe, put.notify_add);
    am_target_defer_reply(self, msg->source, SKI_RMA_PUT, put.id, 0, put.relaxed);
    self->stats.received++;
    self->queue.pushed++; /* it counts as a message that was delivered (msg_counts.h) */
    self->queue.popped++;
    self->idle_passes = 0; /* a caller of the scheduler that waits for the data looks at them */
    return true;
}

skua_msg *ski_am_target_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct ski_am_request request;
    struct ski_resolved   target;

    if (am_target_serve_inline(self, msg, data))
        return &ski_net_nothing_left;
    if (msg->bytes < SKI_PLACE_MIN) /* a copy costs less than a remainder */
        return NULL;
    if (!am_target_is_put(self, msg, data, msg->bytes, &request) ||
        !am_target_find_place(&request, &target))
        return NULL;
    am_target_copy(target.memory, request.data, request.total);
    ski_resolved_release(&target);
    return am_target_put_without_data(msg, &request, request.data + request.data_bytes);
}

/* Not into regions that count their operations: to free such a region this PE would wait for data
 * that only this PE can receive.  Other regions are freed by all their PEs together,
 * when what they put is complete. */
size_t ski_am_target_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data,
                                void **to)
{
    struct ski_am_request request;
    struct ski_resolved   target;
    bool                  can;

    _Static_assert(SKI_AM_HEAD_MAX <= SKI_PLACE_DATA, "the driver shows all of it");
    if (!am_target_is_put(self, msg, data, SKI_PLACE_DATA, &request) ||
        request.signal_bytes > 0 || /* they follow the data */
        !am_target_find_place(&request, &target))
        return 0;
    can = !target.counted;
    *to = target.memory;
    am_target_order_puts();
    ski_resolved_release(&target);
    return can ? request.total : 0;
}

skua_msg *ski_am_target_recv_done(const skua_msg *msg, const char *data)
{
    struct ski_am_span    span = {data, msg->bytes,
                               msg->bytes < SKI_PLACE_DATA ? msg->bytes : SKI_PLACE_DATA};
    struct ski_am_request request;
    uint32_t              id;

    if (!am_target_decode(msg, span, &request, &id))
        return NULL;
    return am_target_put_without_data(msg, &request, NULL);
}
