/* SPDX-License-Identifier: Apache-2.0 */
/* am_target.c - see am_target.h. */
#include "onesided/rma/am_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/rma_pe.h"
#include "core/net/zcopy_send.h"

#define DEFERRED_MOST 32 /* replies that wait to be sent together */

/* ---- checks: a request comes from another process ------------------------------- */

/* Returns whether the header is complete and names its sender as the origin, so that a reply is
 * possible: another origin may not exist. */
static bool am_target_can_reply(const skua_msg *msg, const struct ski_am_request *request)
{
    return msg->bytes >= sizeof *request && request->origin == msg->source;
}

/* Returns whether the message contains the segments, data and signal that the header claims. */
static bool am_target_is_whole(const skua_msg *msg, const struct ski_am_request *request)
{
    size_t room = msg->bytes - sizeof *request;

    if (request->segments > SKI_AM_SEGMENTS_MAX ||
        request->segments * sizeof(struct ski_am_segment) > room)
        return false;
    room -= request->segments * sizeof(struct ski_am_segment);
    return request->data_bytes <= room && request->signal_bytes <= room - request->data_bytes;
}

/* Computes the bytes of all segments and the extent that they touch; false: they overflow.  Whether
 * the extent lies in the region is checked by ski_resolve(). */
static bool am_target_extent(struct ski_am_request *request, size_t *total, ptrdiff_t *lo,
                             ptrdiff_t *hi)
{
    *total = 0;
    *lo = *hi = 0;
    for (uint64_t i = 0; i < request->segments; i++) {
        const struct ski_am_segment *segment = &ski_am_segments(request)[i];
        ptrdiff_t                    end;

        if (segment->bytes > PTRDIFF_MAX - *total ||
            __builtin_add_overflow(segment->remote, (ptrdiff_t)segment->bytes, &end))
            return false;
        *total += segment->bytes;
        *lo = segment->remote < *lo ? segment->remote : *lo;
        *hi = end > *hi ? end : *hi;
    }
    if (request->verb == SKI_RMA_ATOMIC)
        *hi = request->atomic.bytes;
    if (request->verb == SKI_RMA_RKEY_QUERY)
        *hi = 0;
    return true;
}

static bool am_target_is_pe(int32_t pe)
{
    return pe >= 0 && pe < ski_self->pes;
}

/* Returns whether verb, PEs, sizes, handler and notification are ones that exist. */
static bool am_target_is_valid(const struct ski_am_request *request, size_t total)
{
    if (request->verb > SKI_RMA_RKEY_QUERY || !am_target_is_pe(request->source) ||
        !am_target_is_pe(request->remote.pe) ||
        ski_job_index(ski_self->job, request->remote.pe) < 0 ||
        (request->verb == SKI_RMA_RKEY_QUERY &&
         (total != sizeof(struct ski_rkey_info) || request->remote.offset != 0)) ||
        (!ski_am_reply_has_data(request->verb) && total != request->data_bytes))
        return false;
    if (request->verb == SKI_RMA_ATOMIC && !ski_atomic_is_valid(&request->atomic))
        return false;
    return (!request->signal ||
            (request->signal >= SKI_HANDLERS && request->signal < ski_handlers.count)) &&
           (!request->notify.region.id || request->notify.pe == request->remote.pe);
}

/* Returns whether all segments are whole elements at aligned addresses. */
static bool am_target_are_elements(struct ski_am_request     *request,
                                   const struct ski_resolved *target, size_t element)
{
    size_t align = element < 8 ? element : 8;

    for (uint64_t i = 0; i < request->segments; i++) {
        const struct ski_am_segment *segment = &ski_am_segments(request)[i];

        if (segment->bytes % element || (uintptr_t)(target->memory + segment->remote) % align)
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

static skua_status am_target_accumulate(struct ski_am_request     *request,
                                        const struct ski_resolved *target)
{
    skua_update           accumulate = {(skua_op)request->op, (skua_type)request->type,
                              request->scaled ? request->scale : NULL};
    size_t                element    = 1;
    ski_accumulate_fn     fn         = ski_accumulate_function(&accumulate, &element);
    struct ski_stripe_set set;
    char                 *data = ski_am_data(request);

    if (!fn || !am_target_are_elements(request, target, element))
        return SKUA_ERR_INVAL;
    ski_stripe_set_begin(&set);
    for (uint64_t i = 0; i < request->segments; i++) {
        const struct ski_am_segment *segment = &ski_am_segments(request)[i];

        ski_accumulate_scattered(&set, target->process, target->memory + segment->remote, data,
                                 segment->bytes, fn, element, accumulate.scale);
        data += segment->bytes;
    }
    ski_stripe_set_release(&set);
    return SKUA_OK;
}

/* Does a put from @p data, or a get into it. */
static void am_target_copy(struct ski_am_request *request, const struct ski_resolved *target,
                           char *data)
{
    for (uint64_t i = 0; i < request->segments; i++) {
        const struct ski_am_segment *segment = &ski_am_segments(request)[i];
        char                        *remote  = target->memory + segment->remote;

        if (request->verb == SKI_RMA_PUT)
            memcpy(remote, data, segment->bytes);
        else
            memcpy(data, remote, segment->bytes);
        data += segment->bytes;
    }
}

static skua_status am_target_serve(struct ski_am_request *request, ptrdiff_t lo, ptrdiff_t hi,
                                   struct ski_am_reply *reply)
{
    struct ski_resolved target;
    skua_status         status = ski_resolve(NULL, request->remote, lo, hi, &target);

    if (status != SKUA_OK)
        return status;
    if (!ski_resolved_is_direct(&target))
        status = SKUA_ERR_UNREACH; /* the request came to the wrong process */
    else if (!am_target_can_notify(request))
        status = SKUA_ERR_REGION;
    else if (request->verb == SKI_RMA_RKEY_QUERY)
        ski_rkey_export(
            request->remote.region.id, target.pe, target.memory,
            ski_region_piece_bytes(target.region, ski_region_rank(target.region, target.pe)),
            (struct ski_rkey_info *)(reply + 1));
    else if (request->verb == SKI_RMA_ACCUMULATE)
        status = am_target_accumulate(request, &target);
    else if (request->verb == SKI_RMA_ATOMIC && (uintptr_t)target.memory % request->atomic.bytes)
        status = SKUA_ERR_ALIGN;
    else if (request->verb == SKI_RMA_ATOMIC)
        reply->value = ski_atomic_apply(&request->atomic, &target);
    else
        am_target_copy(request, &target,
                       request->verb == SKI_RMA_GET ? (char *)(reply + 1) : ski_am_data(request));
    ski_resolved_release(&target);
    return status;
}

/* Does what the last request of an operation asks for after the data. */
static void am_target_apply_params(struct ski_am_request *request)
{
    skua_rma_params params = {.notify       = request->notify,
                              .notify_add   = request->notify_add,
                              .signal       = {request->signal},
                              .signal_data  = ski_am_data(request) + request->data_bytes,
                              .signal_bytes = request->signal_bytes};

    if (request->signal || request->notify.region.id)
        ski_op_params_apply(NULL, &params, request->remote.pe, request->source);
}

/* Returns a message for the reply, with room for @p bytes of data; NULL: there is no memory. */
static skua_msg *am_target_new_reply(const struct ski_am_request *request, size_t bytes)
{
    skua_msg            *msg;
    struct ski_am_reply *reply;

    if (bytes > PTRDIFF_MAX / 2 || skua_msg_try_alloc(sizeof *reply + bytes, &msg) != SKUA_OK)
        return NULL;
    reply        = skua_msg_data(msg);
    *reply       = (struct ski_am_reply){.id = request->id, .data_bytes = bytes};
    msg->handler = SKI_HANDLER_AM_REPLY;
    msg->source  = ski_self->pe;
    return msg;
}

/* ---- deferred replies ----------------------------------------------------------- */

/* A reply to a put or an accumulate of another host is not urgent: what the put started here, the
 * handler of its signal for example, goes first.  Such replies wait a little, and those to one PE
 * are sent in one message (core/net/deferred_ack.h). */
struct ski_am_deferred_reply {
    int32_t             origin;
    struct ski_am_reply reply;
};

/* Sends those to the origin of the first one in one message, and moves the others up. */
static void am_target_send_deferred_to_first(struct ski_pe *self, struct ski_rma_pe *rma)
{
    struct ski_am_reply replies[DEFERRED_MOST];
    int32_t             to = rma->deferred[0].origin;
    uint32_t            n = 0, left = 0;
    skua_msg           *msg;

    for (uint32_t i = 0; i < rma->deferred_count; i++)
        if (rma->deferred[i].origin == to)
            replies[n++] = rma->deferred[i].reply;
        else
            rma->deferred[left++] = rma->deferred[i];
    rma->deferred_count = left;
    msg                 = ski_msg_copy(self, SKI_HANDLER_AM_REPLY, replies, n * sizeof *replies);
    ski_msg_post(self, to, SKI_HANDLER_AM_REPLY, msg);
}

static void am_target_send_deferred(struct ski_pe *self)
{
    struct ski_rma_pe *rma = ski_rma_pe(self);

    while (rma->deferred_count > 0)
        am_target_send_deferred_to_first(self, rma);
}

static void am_target_defer_reply(struct ski_pe *self, int origin, const struct ski_am_reply *reply)
{
    struct ski_rma_pe *rma = ski_rma_pe(self);

    if (!rma->deferred)
        rma->deferred = ski_malloc(DEFERRED_MOST * sizeof *rma->deferred);
    ski_assert(rma->deferred_count < DEFERRED_MOST);
    rma->deferred[rma->deferred_count++] = (struct ski_am_deferred_reply){origin, *reply};
    ski_net_defer_ack(self, am_target_send_deferred);
    if (rma->deferred_count == DEFERRED_MOST)
        am_target_send_deferred(self);
}

void ski_am_target_end(struct ski_pe *self)
{
    free(ski_rma_pe(self)->deferred);
}

static void am_target_send_reply(struct ski_pe *self, const struct ski_am_request *request,
                                 skua_msg *msg)
{
    const struct ski_am_reply *reply = skua_msg_data(msg);

    if (self->net && reply->data_bytes == 0 && request->verb != SKI_RMA_ATOMIC &&
        ski_job_index(self->job, request->origin) < 0) {
        am_target_defer_reply(self, request->origin, reply);
        skua_msg_free(msg);
    } else {
        ski_msg_post(self, request->origin, SKI_HANDLER_AM_REPLY, msg);
    }
}

/* ---- replies from where the data lie -------------------------------------------- */

/* Sends the data of a get from the memory of the region.  That lies in the arena, which is not
 * unmapped before everything that was sent has left. */
static bool am_target_send_uncopied(struct ski_pe *self, const struct ski_am_request *request,
                                    const char *data, size_t bytes)
{
    skua_msg            *msg   = am_target_new_reply(request, sizeof(struct ski_zcopy_send));
    struct ski_am_reply *reply = msg ? skua_msg_data(msg) : NULL;

    if (!msg)
        return false;
    reply->data_bytes = bytes;
    if (ski_zcopy_send(self, request->origin, msg, sizeof *reply, data, bytes, NULL, NULL))
        return true;
    skua_msg_free(msg);
    return false;
}

/* Replies to a large get from the memory of the region, if the origin allows that; false: nothing
 * has happened. */
static bool am_target_reply_uncopied(struct ski_pe *self, skua_msg *msg)
{
    struct ski_am_request *request = skua_msg_data(msg);
    struct ski_resolved    target;
    size_t                 total;
    ptrdiff_t              lo, hi;
    bool                   sent;

    if (!request->deferrable || request->verb != SKI_RMA_GET || request->segments != 1 ||
        request->signal || request->notify.region.id || !self->net || !ski_zcopy_send_supported() ||
        ski_job_index(self->job, request->origin) >= 0 || !am_target_is_whole(msg, request) ||
        !am_target_extent(request, &total, &lo, &hi) || !am_target_is_valid(request, total) ||
        total < SKI_ZCOPY_SEND_LEAST ||
        ski_resolve(NULL, request->remote, lo, hi, &target) != SKUA_OK)
        return false;
    sent = ski_resolved_is_direct(&target) && target.process < 0 &&
           am_target_send_uncopied(self, request, target.memory + ski_am_segments(request)->remote,
                                   total);
    ski_resolved_release(&target);
    return sent;
}

/* ---- requests ------------------------------------------------------------------- */

/* The origin logs the call as well, when it gets the status. */
static SKI_COLD void am_target_log_refused(const struct ski_am_request *request, skua_status status)
{
    static const char *const verbs[] = {"put", "get", "accumulate", "atomic", "look-up"};
    char                     text[SKI_REGION_STR];

    ski_log(SKI_LOG_ERROR, "a one-sided %s of PE %d, at offset %llu of %s on PE %d, refused: %s",
            request->verb <= SKI_RMA_RKEY_QUERY ? verbs[request->verb] : "request", request->source,
            (unsigned long long)request->remote.offset,
            ski_region_str(request->remote.region.id, text), request->remote.pe,
            skua_status_str(status));
}

/* Serves a request and returns its reply; NULL: there is no memory for one. */
static skua_msg *am_target_serve_and_reply(skua_msg *msg)
{
    struct ski_am_request *request = skua_msg_data(msg);
    size_t                 total   = 0;
    ptrdiff_t              lo, hi;
    bool valid = am_target_is_whole(msg, request) && am_target_extent(request, &total, &lo, &hi) &&
                 am_target_is_valid(request, total);
    skua_msg *reply_msg =
        valid ? am_target_new_reply(request, ski_am_reply_has_data(request->verb) ? total : 0)
              : NULL;
    skua_status          status = valid ? SKUA_ERR_NOMEM : SKUA_ERR_INVAL;
    struct ski_am_reply *reply;

    if (reply_msg) {
        reply  = skua_msg_data(reply_msg);
        status = reply->status = am_target_serve(request, lo, hi, reply);
        if (status == SKUA_OK) {
            am_target_apply_params(request);
            return reply_msg;
        }
        skua_msg_free(reply_msg); /* its data are not initialised, and must not leave */
    }
    am_target_log_refused(request, status);
    reply_msg = am_target_new_reply(request, 0);
    reply     = reply_msg ? skua_msg_data(reply_msg) : NULL;
    if (reply)
        reply->status = status;
    return reply_msg;
}

static void am_target_on_message(skua_msg *msg)
{
    struct ski_am_request *request = skua_msg_data(msg);
    skua_msg              *reply;

    if (!am_target_can_reply(msg, request)) {
        ski_log(SKI_LOG_ERROR, "PE %d dropped a one-sided request from PE %d that is malformed",
                ski_self->pe, msg->source);
        skua_msg_free(msg);
        return;
    }
    if (!am_target_reply_uncopied(ski_self, msg)) {
        reply = am_target_serve_and_reply(msg);
        if (!reply)
            ski_fatal("no memory to answer a one-sided request; raise SKUA_ARENA_SIZE");
        am_target_send_reply(ski_self, request, reply);
    }
    skua_msg_free(msg);
}

void ski_on_am_request(skua_msg *msg)
{
    if (ski_job_index(ski_self->job, msg->source) < 0)
        ski_self->counted--;
    am_target_on_message(msg);
}

void ski_on_am_placed(skua_msg *msg)
{
    am_target_on_message(msg);
}

/* ---- puts whose data the driver still has --------------------------------------- */

/* A put of one segment, without its data. */
struct am_put_header {
    struct ski_am_request request;
    struct ski_am_segment segment;
};

/* Copies the data to their place; false: the request is to be served in the ordinary way, which
 * also reports what is wrong with it. */
static bool am_target_place_data(struct am_put_header *header, ptrdiff_t lo, ptrdiff_t hi,
                                 const char *data)
{
    struct ski_resolved target;
    bool                can;

    if (ski_resolve(NULL, header->request.remote, lo, hi, &target) != SKUA_OK)
        return false;
    can = ski_resolved_is_direct(&target) && am_target_can_notify(&header->request);
    if (can)
        memcpy(target.memory + header->segment.remote, data, header->segment.bytes);
    ski_resolved_release(&target);
    return can;
}

/* Builds the remainder of a put whose data are in place.  It is queued like any message and carries
 * the notification, the signal and the reply. */
static skua_msg *am_target_put_without_data(const skua_msg *msg, struct am_put_header *header,
                                            const char *signal)
{
    struct ski_am_request *request   = &header->request;
    skua_msg              *remainder = skua_msg_alloc(sizeof *request + request->signal_bytes);

    request->segments = request->data_bytes = 0;
    memcpy(skua_msg_data(remainder), request, sizeof *request);
    if (request->signal_bytes > 0)
        memcpy(ski_am_data(skua_msg_data(remainder)), signal, request->signal_bytes);
    remainder->handler = SKI_HANDLER_AM_PLACED;
    remainder->source  = msg->source;
    return remainder;
}

/* Returns whether a packet is a put of one segment that may be placed now, and its header.  Not
 * while a request with its data is queued (self->counted): it may be an earlier one of the same
 * origin. Queued remainders do not matter, since their data are in place. */
static bool am_target_is_put(const struct ski_pe *self, const skua_msg *msg, const char *data,
                             struct am_put_header *header, ptrdiff_t *lo, ptrdiff_t *hi)
{
    size_t total;

    if (self->counted > 0 || msg->bytes < sizeof *header)
        return false;
    memcpy(header, data, sizeof *header);
    return header->request.verb == SKI_RMA_PUT && header->request.segments == 1 &&
           am_target_can_reply(msg, &header->request) &&
           am_target_is_whole(msg, &header->request) &&
           am_target_extent(&header->request, &total, lo, hi) &&
           am_target_is_valid(&header->request, total);
}

skua_msg *ski_am_target_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct am_put_header header;
    ptrdiff_t            lo, hi;

    if (!am_target_is_put(self, msg, data, &header, &lo, &hi) ||
        !am_target_place_data(&header, lo, hi, data + sizeof header))
        return NULL;
    return am_target_put_without_data(msg, &header, data + sizeof header + header.segment.bytes);
}

/* Not into regions that count their operations: to free such a region this PE would wait for data
 * that only this PE can receive.  Other regions are freed by all their PEs together,
 * when what they put is complete. */
size_t ski_am_target_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data,
                                void **to)
{
    struct am_put_header header;
    struct ski_resolved  target;
    ptrdiff_t            lo, hi;
    bool                 can;

    _Static_assert(sizeof header <= SKI_PLACE_DATA, "the driver shows all of it");
    if (!am_target_is_put(self, msg, data, &header, &lo, &hi) ||
        msg->bytes != sizeof header + header.segment.bytes || /* a signal lies behind the data */
        ski_resolve(NULL, header.request.remote, lo, hi, &target) != SKUA_OK)
        return 0;
    can =
        ski_resolved_is_direct(&target) && !target.counted && am_target_can_notify(&header.request);
    *to = target.memory + header.segment.remote;
    ski_resolved_release(&target);
    return can ? header.segment.bytes : 0;
}

skua_msg *ski_am_target_recv_done(const skua_msg *msg, const char *data)
{
    struct am_put_header header;

    memcpy(&header, data, sizeof header);
    return am_target_put_without_data(msg, &header, NULL);
}
