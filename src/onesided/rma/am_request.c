/* SPDX-License-Identifier: Apache-2.0 */
/* am_request.c - see am_request.h. */
#include "onesided/rma/am_request.h"

#include <string.h>

#include "base/assert.h"
#include "base/copy.h"
#include "core/message/inbox_send.h"
#include "core/message/message.h"
#include "core/net/zcopy_send.h"
#include "core/pe/handler.h"
#include "onesided/pe/external_thread.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/iov.h"

#define AM_REQUEST_BATCH_ROOM 4096 /* bytes of a message that several requests share */

/* ---- filling a request ---------------------------------------------------------------------- */

static void am_request_fill_accumulate(struct ski_am_request *request, const struct ski_rma_op *op)
{
    ski_assert(op->element <= sizeof request->scale);
    request->op     = op->accumulate->op;
    request->type   = (uint32_t)op->accumulate->type;
    request->scaled = op->accumulate->scale != NULL;
    if (request->scaled)
        memcpy(request->scale, op->accumulate->scale, op->element);
}

static void am_request_fill_params(struct ski_am_request *request, const skua_rma_params *params)
{
    request->notify       = params->notify;
    request->notify_add   = ski_op_params_notify_by(params);
    request->signal       = params->signal.id;
    request->signal_bytes = params->signal.id ? params->signal_bytes : 0;
}

/* Returns whether all runs are single blocks of one size at offsets of 32 bits. */
static bool am_request_is_offsets(const struct ski_am_gather *g)
{
    for (uint32_t i = 0; i < g->run_count; i++)
        if (g->runs[i].count != 1 || g->runs[i].bytes != g->runs[0].bytes ||
            g->runs[i].remote != (int32_t)g->runs[i].remote)
            return false;
    return true;
}

/* Chooses the encoding of the blocks; one block is described by the global address alone. */
static void am_request_fill_blocks(struct ski_am_request *request, const struct ski_am_gather *g)
{
    request->total = g->bytes;
    if (g->run_count == 1 && g->runs[0].count == 1) {
        request->remote.offset += (uint64_t)g->runs[0].remote;
        return;
    }
    request->blocks     = g->run_count;
    request->is_offsets = g->run_count > 1 && am_request_is_offsets(g);
    if (request->is_offsets)
        request->block_bytes = (uint32_t)g->runs[0].bytes;
}

/* Describes the blocks that were gathered as a request. */
static void am_request_fill(struct ski_am_request *request, const struct ski_am_gather *g,
                            const skua_rma_params *params)
{
    memset(request, 0, sizeof *request);
    request->verb       = g->op->verb;
    request->source     = ski_rma_op_source(g->op);
    request->remote     = g->op->remote;
    request->data_bytes = ski_am_reply_has_data(g->op->verb) ? 0 : g->bytes;
    request->deferrable = g->deferrable;
    if (g->op->verb == SKI_RMA_ATOMIC)
        request->atomic = *g->op->atomic;
    if (g->op->verb == SKI_RMA_ACCUMULATE)
        am_request_fill_accumulate(request, g->op);
    if (g->run_count > 0)
        am_request_fill_blocks(request, g);
    if (params)
        am_request_fill_params(request, params);
}

/* Writes the offsets or runs of a request; returns where its data go. */
static char *am_request_write_blocks(char *to, const struct ski_am_request *request,
                                     const struct ski_am_gather *g)
{
    char *next = to + ski_am_list_bytes(request);

    if (request->blocks == 0)
        return to;
    memset(next - 8, 0, 8); /* the padding: no uninitialised memory leaves the host */
    for (uint32_t i = 0; i < request->blocks; i++) {
        const struct ski_am_local_run *run = &g->runs[i];

        if (request->is_offsets) {
            int32_t offset = (int32_t)run->remote;
            memcpy(to + i * sizeof offset, &offset, sizeof offset);
        } else {
            struct ski_am_run wire = {run->remote, (uint32_t)run->bytes, (uint32_t)run->count,
                                      run->remote_stride};
            memcpy(to + i * sizeof wire, &wire, sizeof wire);
        }
    }
    return next;
}

/* Copies the data of a request; returns where those of the signal go. */
static char *am_request_write_data(char *to, const struct ski_am_gather *g)
{
    for (uint32_t i = 0; i < g->run_count; i++) {
        const struct ski_am_local_run *run = &g->runs[i];

        if (run->count == 1)
            ski_copy(to, run->local, run->bytes);
        else
            ski_am_copy_strided(to, (ptrdiff_t)run->bytes, run->local, run->local_stride,
                                run->bytes, run->count);
        to += run->bytes * run->count;
    }
    return to;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* The driver is done with data that were sent without a copy.  That counts as a part of the
 * operation, so that the data are free at its end; this runs within the driver, so the end comes by
 * a message. */
static void am_request_send_done(struct ski_pe *self, void *arg)
{
    struct ski_rma_request *req = arg;

    req->rma->at_driver--;
    if (--req->parts == 0 && req->sealed)
        ski_msg_post(self, self->pe, SKI_HANDLER_RMA_REQUEST,
                     ski_msg_copy(self, SKI_HANDLER_RMA_REQUEST, &req, sizeof req));
}

/* Copies header and data into one message, for a driver that cannot send them separately. */
static skua_msg *am_request_make_whole(skua_msg *msg, size_t header, const struct ski_iov *iov)
{
    skua_msg *made = skua_msg_alloc(header + iov->bytes);

    memcpy(skua_msg_data(made), skua_msg_data(msg), header);
    memcpy((char *)skua_msg_data(made) + header, iov->local, iov->bytes);
    made->handler = msg->handler;
    made->source  = msg->source;
    skua_msg_free(msg);
    return made;
}

static void am_request_send_zcopy(struct ski_am_gather *g, int to, skua_msg *msg, size_t header,
                                  const struct ski_iov *iov)
{
    g->req->parts++; /* it may be complete before the call returns */
    g->req->rma->at_driver++;
    if (ski_zcopy_send(g->self, to, msg, header, iov->local, iov->bytes, am_request_send_done,
                       g->req))
        return;
    g->req->parts--;
    g->req->rma->at_driver--;
    ski_msg_post(g->self, to, SKI_HANDLER_AM_REQUEST, am_request_make_whole(msg, header, iov));
}

/* A request that is about to be sent. */
struct am_request_sending {
    struct ski_am_request request;
    struct ski_am_encoded encoded;
    int                   to;
    bool                  batched; /* small, and not urgent: it may share a message */
    size_t                head;    /* bytes of head, words and blocks */
    size_t                bytes;   /* of all                          */
    skua_msg             *msg;     /* NULL: in one that waits already */
};

static skua_msg *am_request_new_message(struct ski_am_gather *g, size_t used, size_t room)
{
    skua_msg *msg = skua_msg_alloc(room > used ? room : used);

    msg->bytes   = used;
    msg->handler = SKI_HANDLER_AM_REQUEST;
    msg->source  = g->self->pe;
    return msg;
}

/* Returns memory for a request.  A small one to another host joins the message of earlier ones that
 * wait, or begins such a message in a burst.  Not if the target must be notified, or a caller
 * waits: then it is sent immediately. */
static char *am_request_memory(struct ski_am_gather *g, struct am_request_sending *s, size_t *room)
{
    size_t padded = (s->bytes + 7) & ~(size_t)7;
    char  *at     = s->batched ? ski_net_extend(g->self, s->to, padded) : NULL;

    *room  = 0;
    s->msg = NULL;
    if (at) {
        s->encoded.head.bytes = (uint16_t)s->bytes;
        return at;
    }
    if (s->batched && ski_net_joins_burst(g->self, s->to)) {
        s->encoded.head.bytes = (uint16_t)s->bytes;
        *room                 = AM_REQUEST_BATCH_ROOM - padded;
        s->msg                = am_request_new_message(g, padded, AM_REQUEST_BATCH_ROOM);
    } else {
        s->msg = am_request_new_message(g, s->bytes, 0);
    }
    return skua_msg_data(s->msg);
}

/* Writes the head, its words and the blocks; returns where the data go. */
static char *am_request_write_head(char *to, const struct ski_am_gather *g,
                                   const struct am_request_sending *s)
{
    size_t words = ski_am_encoded_bytes(&s->encoded) - sizeof s->encoded.head;

    memcpy(to, &s->encoded.head, sizeof s->encoded.head);
    to += sizeof s->encoded.head;
    if (words > 0)
        memcpy(to, s->encoded.word, words);
    return am_request_write_blocks(to + words, &s->request, g);
}

/* Writes a request with a copy of its data, and sends it or leaves it in its batch. */
static void am_request_send_copied(struct ski_am_gather *g, struct am_request_sending *s,
                                   const skua_rma_params *params)
{
    size_t room;
    char  *begin = am_request_memory(g, s, &room), *at = am_request_write_head(begin, g, s);

    if (s->request.data_bytes > 0)
        at = am_request_write_data(at, g);
    if (s->request.signal_bytes > 0)
        at = (char *)memcpy(at, params->signal_data, s->request.signal_bytes) +
             s->request.signal_bytes;
    ski_assert((size_t)(at - begin) == s->bytes);
    if (s->encoded.head.bytes && s->bytes % 8)
        memset(at, 0, 8 - s->bytes % 8); /* no stray memory leaves the host */
    if (room > 0)
        (void)ski_net_send_open(g->self, s->to, s->msg, room);
    else if (s->msg)
        ski_msg_post(g->self, s->to, SKI_HANDLER_AM_REQUEST, s->msg);
}

/* Returns whether a request goes to another host. */
static bool am_request_is_far(const struct ski_am_gather *g, int to)
{
    return g->self->net && !ski_inbox_is_near(g->self, to) && ski_job_index(g->self->job, to) < 0;
}

/* Returns whether the origin is not expected to wait for the reply to a request. */
static bool am_request_is_relaxed(const struct ski_am_gather *g, const struct ski_am_request *r)
{
    return r->verb == SKI_RMA_PUT && r->notify.region.id && !g->req->waited && !g->req->handle &&
           !(g->req->local.kind | g->req->remote_done.kind) && ski_rma_is_relaxed(g->req->rma);
}

/* Encodes the request.  Deferred acknowledgements for its receiver are piggybacked on one that is
 * sent immediately. */
static void am_request_encode(struct ski_am_gather *g, struct am_request_sending *s)
{
    bool   far  = am_request_is_far(g, s->to);
    size_t rest = ski_am_list_bytes(&s->request) + s->request.data_bytes + s->request.signal_bytes;

    s->request.relaxed = am_request_is_relaxed(g, &s->request);
    ski_am_encode(&s->request, g->self->pe, s->to, &s->encoded);
    s->batched = far && ski_am_encoded_bytes(&s->encoded) + rest <= SKI_AM_BATCH_MAX &&
                 !g->req->waited && !s->request.notify.region.id && !s->request.signal;
    if (far && !s->batched && ski_rma_pe(g->self)->deferred_count > 0) {
        s->request.ack_count = ski_am_target_take_acks(g->self, s->to, s->request.ack);
        ski_am_encode(&s->request, g->self->pe, s->to, &s->encoded);
    }
    s->head  = ski_am_encoded_bytes(&s->encoded) + ski_am_list_bytes(&s->request);
    s->bytes = ski_am_encoded_bytes(&s->encoded) + rest;
}

/* Records the request that is about to be sent to PE @p to; returns its id. */
static uint32_t am_request_note(const struct ski_am_gather *g, int to, size_t bytes)
{
    struct ski_am_sent sent = {
        .req = g->req, .bytes = bytes, .pool = (uint8_t)ski_am_pool_of(g->op->verb), .server = to};

    if (ski_am_reply_has_data(g->op->verb)) {
        sent.data_bytes = g->bytes;
        sent.run_count  = g->run_count;
        sent.runs       = (struct ski_am_local_run *)g->runs;
    }
    return ski_am_sent_add(g->self, &sent);
}

void ski_am_request_send(struct ski_am_gather *g, const skua_rma_params *params)
{
    struct am_request_sending s;
    bool                      zcopy;

    am_request_fill(&s.request, g, params);
    s.to  = ski_am_server(g->self->job, g->op->remote.pe);
    zcopy = g->zcopy && g->run_count == 1 &&
            (g->runs[0].count == 1 || g->runs[0].local_stride == (ptrdiff_t)g->runs[0].bytes) &&
            s.request.data_bytes >= SKI_ZCOPY_SEND_MIN && !s.request.signal_bytes;
    am_request_encode(g, &s);
    s.encoded.head.id = am_request_note(g, s.to, s.bytes + g->bytes);
    g->req->parts++;
    if (zcopy) {
        struct ski_iov iov = {g->runs[0].local, g->runs[0].remote,
                              g->runs[0].bytes * g->runs[0].count};

        s.msg = am_request_new_message(g, s.head, s.head + sizeof(struct ski_zcopy_send));
        am_request_write_head(skua_msg_data(s.msg), g, &s);
        am_request_send_zcopy(g, s.to, s.msg, s.head, &iov);
    } else {
        am_request_send_copied(g, &s, params);
    }
    g->sent += g->bytes;
    g->run_count = 0;
    g->bytes     = 0;
}
