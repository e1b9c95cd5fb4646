/* SPDX-License-Identifier: Apache-2.0 */
/* am_origin.c - see am_origin.h. */
#include "onesided/rma/am_origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/sanitizer.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/pe/external_thread.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/rma_backlog.h"
#include "onesided/rma/rma_request.h"
#include "core/net/zcopy_send.h"

#define AM_HEADER_ROOM 1024 /* of a packet, for everything but its data and that of a signal */

/* A request that has no reply yet.  The reply repeats its id and nothing else of the reply is
 * trusted: where data go stands here. */
struct ski_am_sent {
    struct ski_rma_request *req;  /* NULL: free            */
    uint32_t                turn; /* changes with each use */
    uint32_t                next_free;
    size_t                  bytes; /* counted in am_bytes             */
    size_t                  segments;
    size_t                  data_bytes;
    struct ski_iov         *iov;     /* of a get, or NULL                     */
    bool                    filling; /* the driver receives into its memory   */
};

/* Segments that are collected for the next request of an operation. */
struct am_gather {
    struct ski_pe           *self;
    const struct ski_rma_op *op;
    struct ski_rma_request  *req;
    size_t                   segments, bytes, limit;
    bool                     uncopied;   /* the data stay until the end, and are sent from there */
    bool                     deferrable; /* a get: the target may do so                           */
    struct ski_iov           iov[SKI_AM_SEGMENTS_MAX];
};

/* ---- requests without a reply --------------------------------------------------------------- */

static void am_sent_grow(struct ski_rma_pe *rma)
{
    uint32_t room = rma->sent_room ? 2 * rma->sent_room : 32;

    rma->sent = ski_realloc(rma->sent, room * sizeof *rma->sent);
    memset(rma->sent + rma->sent_room, 0, (room - rma->sent_room) * sizeof *rma->sent);
    for (uint32_t i = rma->sent_room; i < room; i++)
        rma->sent[i].next_free = i + 1;
    rma->sent_free = rma->sent_room;
    rma->sent_room = room;
}

/* Notes the request that is about to be sent; returns its id. */
static uint64_t am_sent_add(struct am_gather *g, size_t bytes)
{
    struct ski_rma_pe  *rma = ski_rma_pe(g->self);
    struct ski_am_sent *sent;
    uint32_t            index;

    if (rma->sent_free == rma->sent_room)
        am_sent_grow(rma);
    index = rma->sent_free;
    sent  = &rma->sent[index];
    ski_assert(!sent->req);
    rma->sent_free   = sent->next_free;
    sent->req        = g->req;
    sent->bytes      = bytes;
    sent->data_bytes = g->bytes;
    sent->segments   = 0;
    sent->iov        = NULL;
    sent->filling    = false;
    if (ski_am_reply_has_data(g->op->verb)) {
        sent->segments = g->segments;
        sent->iov      = ski_malloc(g->segments * sizeof *g->iov);
        memcpy(sent->iov, g->iov, g->segments * sizeof *g->iov);
    }
    return (uint64_t)sent->turn << 32 | index;
}

/* Returns the request of an id; NULL: there is none, the id comes from another host. */
static struct ski_am_sent *am_sent_find(const struct ski_rma_pe *rma, uint64_t id)
{
    uint32_t index = (uint32_t)id;

    if (index >= rma->sent_room || !rma->sent[index].req || rma->sent[index].turn != id >> 32)
        return NULL;
    return &rma->sent[index];
}

static void am_sent_remove(struct ski_rma_pe *rma, struct ski_am_sent *sent)
{
    ski_assert(sent->req && !sent->filling);
    free(sent->iov);
    sent->req = NULL;
    sent->turn++;
    sent->next_free = rma->sent_free;
    rma->sent_free  = (uint32_t)(sent - rma->sent);
}

void ski_am_origin_end(struct ski_pe *self)
{
    struct ski_rma_pe *rma = ski_rma_pe(self);

    ski_rma_backlog_end(&rma->outstanding);
    for (uint32_t i = 0; i < rma->sent_room; i++)
        if (rma->sent[i].req)
            free(rma->sent[i].iov);
    free(rma->sent);
}

/* ---- filling a request ---------------------------------------------------------------------- */

static void am_fill_accumulate(struct ski_am_request *request, const struct ski_rma_op *op)
{
    ski_assert(op->element <= sizeof request->scale);
    request->op     = op->accumulate->op;
    request->type   = (uint32_t)op->accumulate->type;
    request->scaled = op->accumulate->scale != NULL;
    if (request->scaled)
        memcpy(request->scale, op->accumulate->scale, op->element);
}

static void am_fill_params(struct ski_am_request *request, const skua_rma_params *params)
{
    request->notify     = params->notify;
    request->notify_add = params->notify_add;
    request->signal     = params->signal.id;
    if (request->signal_bytes)
        memcpy(ski_am_data(request) + request->data_bytes, params->signal_data,
               request->signal_bytes);
}

/* Fills in the segments and, unless they are sent from where they lie, the data. */
static void am_fill_segments(struct ski_am_request *request, const struct am_gather *g,
                             bool uncopied)
{
    char *to = ski_am_data(request);

    for (size_t i = 0; i < g->segments; i++) {
        ski_am_segments(request)[i] = (struct ski_am_segment){g->iov[i].remote, g->iov[i].bytes};
        if (request->data_bytes && !uncopied)
            memcpy(to, g->iov[i].local, g->iov[i].bytes);
        to += g->iov[i].bytes;
    }
}

static void am_fill_header(struct ski_am_request *request, struct am_gather *g, size_t data,
                           size_t signal)
{
    memset(request, 0, sizeof *request);
    request->verb         = g->op->verb;
    request->origin       = g->self->pe;
    request->source       = ski_caller_pe();
    request->remote       = g->op->remote;
    request->segments     = g->segments;
    request->data_bytes   = data;
    request->signal_bytes = signal;
    request->deferrable   = g->deferrable;
    if (g->op->verb == SKI_RMA_ATOMIC)
        request->atomic = *g->op->atomic;
    if (g->op->verb == SKI_RMA_ACCUMULATE)
        am_fill_accumulate(request, g->op);
}

/* ---- sending -------------------------------------------------------------------------------- */

/* The driver is done with data that were sent uncopied.  That counts as a part of the operation, so
 * that the data are free at its end; this runs within the driver, so the end comes by a message. */
static void am_send_done(struct ski_pe *self, void *arg)
{
    struct ski_rma_request *req = arg;

    req->rma->at_driver--;
    if (--req->parts == 0 && req->sealed)
        ski_msg_post(self, self->pe, SKI_HANDLER_RMA_REQUEST,
                     ski_msg_copy(self, SKI_HANDLER_RMA_REQUEST, &req, sizeof req));
}

/* Copies header and data into one message, where the driver cannot take them apart. */
static skua_msg *am_make_whole(skua_msg *msg, size_t header, const struct ski_iov *iov)
{
    skua_msg *made = skua_msg_alloc(header + iov->bytes);

    memcpy(skua_msg_data(made), skua_msg_data(msg), header);
    memcpy((char *)skua_msg_data(made) + header, iov->local, iov->bytes);
    made->handler = msg->handler;
    made->source  = msg->source;
    skua_msg_free(msg);
    return made;
}

static void am_send_uncopied(struct am_gather *g, int to, skua_msg *msg, size_t header,
                             const struct ski_iov *iov)
{
    g->req->parts++; /* it may be complete before the call returns */
    g->req->rma->at_driver++;
    if (ski_zcopy_send(g->self, to, msg, header, iov->local, iov->bytes, am_send_done, g->req))
        return;
    g->req->parts--;
    g->req->rma->at_driver--;
    ski_msg_post(g->self, to, SKI_HANDLER_AM_REQUEST, am_make_whole(msg, header, iov));
}

/* Sends the segments that were collected; @p params go with the last request of an operation. */
static void am_gather_send(struct am_gather *g, const skua_rma_params *params)
{
    size_t signal   = params && params->signal.id ? params->signal_bytes : 0;
    size_t data     = ski_am_reply_has_data(g->op->verb) ? 0 : g->bytes;
    size_t header   = sizeof(struct ski_am_request) + g->segments * sizeof(struct ski_am_segment);
    size_t bytes    = header + data + signal;
    bool   uncopied = g->uncopied && g->segments == 1 && data >= SKI_ZCOPY_SEND_LEAST && !signal;
    struct ski_iov iov = g->iov[0];
    int            to  = ski_am_server(g->self->job, g->op->remote.pe);
    skua_msg      *msg = skua_msg_alloc(uncopied ? header + sizeof(struct ski_zcopy_send) : bytes);
    struct ski_am_request *request = skua_msg_data(msg);

    am_fill_header(request, g, data, signal);
    am_fill_segments(request, g, uncopied);
    if (params)
        am_fill_params(request, params);
    request->id = am_sent_add(g, bytes + g->bytes);
    g->req->parts++;
    ski_rma_pe(g->self)->am_bytes += bytes + g->bytes;
    g->segments = g->bytes = 0;
    msg->handler           = SKI_HANDLER_AM_REQUEST;
    msg->source            = g->self->pe;
    if (uncopied)
        am_send_uncopied(g, to, msg, header, &iov);
    else
        ski_msg_post(g->self, to, SKI_HANDLER_AM_REQUEST, msg);
}

/* Returns whether requests in flight leave room in the pool of the setting `request_window`. */
static bool am_pool_has_room(void *arg)
{
    const struct ski_rma_pe *rma = arg;
    return rma->am_bytes < ski_config.request_window;
}

/* Adds data to the request; a request that is full is sent, and then there must be room in the
 * pool. False: the job ends. */
static bool am_gather_add(struct am_gather *g, struct ski_iov iov)
{
    while (iov.bytes > 0) {
        size_t now = iov.bytes < g->limit ? iov.bytes : g->limit;

        if (g->segments == SKI_AM_SEGMENTS_MAX || g->bytes + now > g->limit ||
            (g->segments > 0 && now > ski_config.pack_max)) {
            am_gather_send(g, NULL);
            if (!ski_rma_wait(g->self, am_pool_has_room, ski_rma_pe(g->self)))
                return false;
        }
        ski_assert(g->segments < SKI_AM_SEGMENTS_MAX);
        g->iov[g->segments++] = (struct ski_iov){iov.local, iov.remote, now};
        g->bytes += now;
        iov.local += now, iov.remote += (ptrdiff_t)now, iov.bytes -= now;
    }
    return true;
}

/* Sends all requests of an operation, which may be complete before this returns. */
static bool am_gather_send_all(struct am_gather *g, const skua_rma_params *params)
{
    struct ski_iov_iter iter;
    struct ski_iov      iov;
    bool                go_on = true;

    ski_iov_iter_begin(&iter, &g->op->datatype);
    while (go_on && ski_iov_iter_next(&iter, &iov))
        go_on = am_gather_add(g, iov);
    g->req->sealed = true;
    if (go_on)
        am_gather_send(g, params);
    return go_on;
}

/* ---- operations ----------------------------------------------------------------------------- */

/* Returns the most data of a request: between hosts whole packets have the size that suits the
 * driver. */
static size_t am_packet_limit(const struct ski_resolved *target)
{
    size_t bytes = target->remote_host ? ski_config.packet_size_net : ski_config.packet_size;

    if (target->remote_host && !bytes)
        bytes = ski_net_packet_bytes() - AM_HEADER_ROOM;
    return (bytes < 1024 ? 1024 : bytes) & ~(size_t)15;
}

/* Returns whether the data of a put are sent from where they lie: they are then in use until the
 * operation is complete, which a blocking call waits for unless it hands off.  An operation with a
 * local completion wants its memory back earlier: the data are copied. */
static bool am_may_send_uncopied(const struct ski_rma_op *op, const struct ski_resolved *target,
                                 const skua_rma_params *params)
{
    return !(params && params->local.kind) && target->remote_host && op->verb == SKI_RMA_PUT &&
           op->datatype.kind == SKI_DATATYPE_CONTIGUOUS &&
           op->datatype.bytes >= SKI_ZCOPY_SEND_LEAST && !ski_config.local_completion &&
           ski_zcopy_send_supported();
}

/* Returns whether the target may send the data of a get from where they lie, which takes a while:
 * not where the order forbids that later operations overtake it, nor where the target is notified
 * that the data were read. */
static bool am_may_defer(const struct ski_rma_op *op, const struct ski_resolved *target,
                         const skua_rma_params *params)
{
    return target->remote_host && op->verb == SKI_RMA_GET &&
           op->datatype.kind == SKI_DATATYPE_CONTIGUOUS &&
           op->datatype.bytes >= SKI_ZCOPY_SEND_LEAST &&
           ski_op_params_order(params) != SKUA_ORDER_STRICT && !ski_op_params_at_target(params);
}

static skua_status am_issue(struct ski_pe *self, const struct ski_rma_op *op,
                            const struct ski_resolved *target, const skua_rma_params *params,
                            bool wait, uint64_t *result)
{
    struct am_gather g      = {.self       = self,
                               .op         = op,
                               .uncopied   = am_may_send_uncopied(op, target, params),
                               .deferrable = am_may_defer(op, target, params)};
    bool             copied = !ski_am_reply_has_data(op->verb) && !g.uncopied;

    if (!ski_rma_wait(self, am_pool_has_room, ski_rma_pe(self)))
        return SKUA_ERR_EXIT;
    g.req         = ski_rma_request_begin(self, op, target, params,
                                  g.deferrable ? SKI_RMA_BY_AM_DEFERRED : SKI_RMA_BY_AM);
    g.limit       = am_packet_limit(target);
    g.req->waited = wait;
    if (copied) /* the memory is free when all requests are sent, not at the end */
        g.req->local = skua_done_nothing();
    if (!am_gather_send_all(&g, params))
        return SKUA_ERR_EXIT;
    if (copied && params)
        skua_complete(params->local, NULL, 0);
    return wait ? ski_rma_request_wait(self, g.req, result) : SKUA_PENDING;
}

skua_status ski_am_transfer(const struct ski_rma_op *op, const struct ski_resolved *target,
                            const skua_rma_params *params, bool blocking)
{
    bool              handoff = ski_config.local_completion && op->verb != SKI_RMA_GET;
    struct ski_caller caller;
    skua_status       status;

    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    /* The PE of external threads leaves nothing in flight: it has no scheduler for the replies. */
    status =
        am_issue(caller.self, op, target, params, caller.external || (blocking && !handoff), NULL);
    ski_caller_leave(&caller);
    return blocking && status == SKUA_PENDING ? SKUA_OK : status;
}

skua_status ski_am_atomic(const struct ski_rma_op *op, const struct ski_resolved *target,
                          uint64_t *old)
{
    struct ski_caller caller;
    skua_status       status;

    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    status = am_issue(caller.self, op, target, NULL, true, old);
    ski_caller_leave(&caller);
    return status;
}

void ski_am_send_one(struct ski_pe *self, struct ski_rma_request *req, const struct ski_rma_op *op,
                     const skua_rma_params *params)
{
    struct am_gather g = {.self = self, .op = op, .req = req};

    req->sealed = true;
    am_gather_send(&g, params);
}

/* Not bound by the pool of requests: to wait for room would be to wait.  The requests of such
 * operations are small, and as many as the program starts without waiting. */
static void am_start(struct ski_pe *self, const struct ski_rma_op *op,
                     const struct ski_resolved *target, const skua_rma_params *params, void *old)
{
    struct ski_rma_request *req = ski_rma_request_begin(self, op, target, params, SKI_RMA_BY_AM);

    req->old       = old;
    req->old_bytes = op->atomic ? op->atomic->bytes : 0;
    if (!old) /* the operands have been copied */
        req->local = skua_done_nothing();
    /* What this process did itself is visible before the request is. */
    ski_fence(memory_order_seq_cst);
    if (ski_rma_backlog_needed(req->on_pe, params))
        ski_rma_backlog_add(req->on_pe,
                            &(struct ski_rma_issue){req, op, params, ski_am_send_one, false});
    else
        ski_am_send_one(self, req, op, params);
    if (!old && params)
        skua_complete(params->local, NULL, 0);
}

skua_status ski_am_start(const struct ski_rma_op *op, const struct ski_resolved *target,
                         const skua_rma_params *params, void *old)
{
    struct ski_caller caller;
    skua_status       status = SKUA_PENDING;
    uint64_t          result = 0;

    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    if (caller.external)
        status = am_issue(caller.self, op, target, params, true, &result);
    else
        am_start(caller.self, op, target, params, old);
    ski_caller_leave(&caller);
    if (status == SKUA_OK && old)
        ski_atomic_store_old(old, result, op->atomic->bytes);
    return status;
}

static struct ski_rma_op am_rkey_query(skua_gaddr at, struct ski_rkey_info *to)
{
    return (struct ski_rma_op){.call     = "description",
                               .verb     = SKI_RMA_RKEY_QUERY,
                               .remote   = {.pe = at.pe, .region = at.region},
                               .datatype = ski_datatype_contiguous(to, sizeof *to)};
}

void ski_am_start_rkey_query(struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *to,
                             skua_completion done)
{
    struct ski_rma_op   op     = am_rkey_query(at, to);
    struct ski_resolved target = {.remote_host = true};
    skua_rma_params     params = {.remote = done};

    (void)am_issue(self, &op, &target, &params, false, NULL);
}

skua_status ski_am_query_rkey(struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *to)
{
    struct ski_rma_op   op     = am_rkey_query(at, to);
    struct ski_resolved target = {.remote_host = true};

    return am_issue(self, &op, &target, NULL, true, NULL);
}

void ski_am_after_put(struct ski_pe *self, struct ski_rma_request *req, skua_gaddr at,
                      const skua_rma_params *params)
{
    struct ski_rma_op op = {.verb = SKI_RMA_PUT, .remote = at};
    struct am_gather  g  = {.self = self, .op = &op, .req = req};

    am_gather_send(&g, params);
}

/* ---- replies -------------------------------------------------------------------------------- */

static void am_scatter(const struct ski_am_sent *sent, const char *data)
{
    for (size_t i = 0; i < sent->segments; i++) {
        memcpy(sent->iov[i].local, data, sent->iov[i].bytes);
        data += sent->iov[i].bytes;
    }
}

/* Returns the request that a reply is for; NULL: there is none, or the reply does not fit it. */
static struct ski_am_sent *am_reply_match(const struct ski_rma_pe   *rma,
                                          const struct ski_am_reply *reply)
{
    struct ski_am_sent *sent = am_sent_find(rma, reply->id);

    if (sent && (sent->filling ||
                 (sent->iov && reply->status == SKUA_OK && reply->data_bytes != sent->data_bytes)))
        return NULL;
    return sent;
}

static void am_reply_apply(struct ski_pe *self, struct ski_am_sent *sent,
                           const struct ski_am_reply *reply, const char *data)
{
    struct ski_rma_pe      *rma = ski_rma_pe(self);
    struct ski_rma_request *req = sent->req;

    ski_assert(rma->am_bytes >= sent->bytes && req->parts > 0);
    rma->am_bytes -= sent->bytes;
    if (reply->status != SKUA_OK)
        req->status = (skua_status)reply->status;
    else
        am_scatter(sent, data);
    req->result = reply->value;
    am_sent_remove(rma, sent);
    if (--req->parts == 0 && req->sealed)
        ski_rma_request_end(self, req);
    else
        ski_wake_all(self, &rma->waiters); /* for room in the pool */
}

/* Returns the get whose data a packet brings, all of them; NULL: it is another packet. */
static struct ski_am_sent *am_reply_data(struct ski_pe *self, const skua_msg *msg, const char *data,
                                         struct ski_am_reply *reply)
{
    struct ski_am_sent *sent;

    if (msg->bytes < sizeof *reply)
        return NULL;
    memcpy(reply, data, sizeof *reply);
    sent = am_reply_match(ski_rma_pe(self), reply);
    return sent && sent->iov && reply->status == SKUA_OK &&
                   reply->data_bytes == msg->bytes - sizeof *reply
               ? sent
               : NULL;
}

/* Makes a reply without data of one whose data have been placed; it is run in its turn. */
static skua_msg *am_reply_without_data(struct ski_pe *self, struct ski_am_sent *sent,
                                       const skua_msg *msg, struct ski_am_reply *reply)
{
    skua_msg *left;

    free(sent->iov);
    sent->iov         = NULL;
    sent->segments    = 0;
    reply->data_bytes = 0;
    left              = ski_msg_copy(self, SKI_HANDLER_AM_REPLY, reply, sizeof *reply);
    left->source      = msg->source;
    return left;
}

static skua_msg *am_reply_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct ski_am_reply reply;
    struct ski_am_sent *sent = am_reply_data(self, msg, data, &reply);

    if (!sent)
        return NULL;
    am_scatter(sent, data + sizeof reply);
    return am_reply_without_data(self, sent, msg, &reply);
}

/* Only the thread of the PE itself may receive, and not after requests were given up. */
static bool am_may_recv(const struct ski_pe *self)
{
    return self == ski_self && !ski_pe_exiting(self) && !ski_job_exiting(self->job);
}

skua_msg *ski_am_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    if (!am_may_recv(self))
        return NULL;
    if (msg->handler == SKI_HANDLER_AM_REPLY)
        return am_reply_recv_inline(self, msg, data);
    return msg->handler == SKI_HANDLER_AM_REQUEST ? ski_am_target_recv_inline(self, msg, data)
                                                  : NULL;
}

/* The memory of a get of one segment is the driver's until the data have come, even if the job ends
 * meanwhile: ski_rma_wait() waits for that. */
static size_t am_reply_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data,
                                  void **to)
{
    struct ski_am_reply reply;
    struct ski_am_sent *sent = am_reply_data(self, msg, data, &reply);

    _Static_assert(sizeof reply <= SKI_PLACE_DATA, "the driver shows all of it");
    if (!sent || sent->segments != 1)
        return 0;
    sent->filling = true;
    sent->req->rma->at_driver++;
    ski_net_op_begin(self);
    *to = sent->iov->local;
    return reply.data_bytes;
}

static skua_msg *am_reply_recv_done(struct ski_pe *self, const skua_msg *msg, const char *data,
                                    bool whole)
{
    struct ski_am_reply reply;
    struct ski_am_sent *sent;

    memcpy(&reply, data, sizeof reply);
    sent = am_sent_find(ski_rma_pe(self), reply.id);
    if (!sent || !sent->filling)
        return NULL;
    sent->filling = false;
    sent->req->rma->at_driver--;
    ski_net_op_end(self);
    return whole ? am_reply_without_data(self, sent, msg, &reply) : NULL;
}

size_t ski_am_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    if (!am_may_recv(self))
        return 0;
    if (msg->handler == SKI_HANDLER_AM_REPLY)
        return am_reply_recv_alloc(self, msg, data, to);
    return msg->handler == SKI_HANDLER_AM_REQUEST ? ski_am_target_recv_alloc(self, msg, data, to)
                                                  : 0;
}

skua_msg *ski_am_recv_done(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole)
{
    if (msg->handler == SKI_HANDLER_AM_REPLY)
        return am_reply_recv_done(self, msg, data, whole);
    return whole ? ski_am_target_recv_done(msg, data) : NULL;
}

void ski_on_am_reply(skua_msg *msg)
{
    const char *at = skua_msg_data(msg), *end = at + msg->bytes;

    while ((size_t)(end - at) >= sizeof(struct ski_am_reply)) {
        struct ski_am_reply reply;
        struct ski_am_sent *sent;

        memcpy(&reply, at, sizeof reply);
        sent = am_reply_match(ski_rma_pe(ski_self), &reply);
        at += sizeof reply;
        if (!sent || reply.data_bytes > (size_t)(end - at)) {
            at = NULL;
            break;
        }
        am_reply_apply(ski_self, sent, &reply, at);
        at += reply.data_bytes;
    }
    if (at != end)
        ski_log(SKI_LOG_ERROR, "PE %d dropped a reply from PE %d that matches no request",
                ski_self->pe, msg->source);
    skua_msg_free(msg);
}
