/* SPDX-License-Identifier: Apache-2.0 */
/* am_reply.c - see am_reply.h. */
#include "onesided/rma/am_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/net/zcopy_send.h"
#include "core/pe/handler.h"
#include "onesided/rma/am_sent.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/rma_request.h"

/* Copies the data of a reply to where they were asked for. */
static void am_reply_scatter(const struct ski_am_sent *sent, const char *data)
{
    ski_assert(sent->runs && !sent->filling);
    for (uint32_t i = 0; i < sent->run_count; i++) {
        const struct ski_am_local_run *run = &sent->runs[i];

        ski_am_copy_strided(run->local, run->local_stride, data, (ptrdiff_t)run->bytes, run->bytes,
                            run->count);
        data += run->bytes * run->count;
    }
}

/* Returns the request that a reply of PE @p source is for; NULL: there is none that such a reply
 * fits. */
static struct ski_am_sent *am_reply_match(const struct ski_rma_pe *rma, int source, uint32_t id,
                                          enum ski_am_reply_kind kind, size_t data_bytes)
{
    struct ski_am_sent *sent = ski_am_sent_find(rma, source, id);

    if (!sent || sent->filling)
        return NULL;
    if (kind == SKI_AM_FAILED)
        return sent;
    return (kind == SKI_AM_DATA) == (sent->runs != NULL) && data_bytes == sent->data_bytes ? sent
                                                                                           : NULL;
}

static bool am_reply_ack(struct ski_pe *self, int source, const struct ski_am_reply *reply,
                         const char *ids)
{
    uint32_t id = reply->id;

    for (uint32_t i = 0; i < reply->count; i++) {
        if (i > 0)
            memcpy(&id, ids + (i - 1) * sizeof id, sizeof id);
        if (!ski_am_sent_ack(self, source, id))
            return false;
    }
    return true;
}

/* Applies one record of a reply of PE @p source, whose head is followed by @p bytes. Returns false
 * if it fits no request. */
static bool am_reply_apply(struct ski_pe *self, int source, const struct ski_am_reply *reply,
                           const char *at, size_t bytes)
{
    bool                has_data = reply->kind == SKI_AM_DATA;
    struct ski_am_sent *sent;

    if (reply->kind == SKI_AM_ACK)
        return am_reply_ack(self, source, reply, at);
    sent = am_reply_match(ski_rma_pe(self), source, reply->id, (enum ski_am_reply_kind)reply->kind,
                          has_data ? bytes : 0);
    if (!sent)
        return false;
    if (reply->kind == SKI_AM_FAILED)
        sent->req->status = (skua_status)(-(int)reply->count);
    else if (has_data)
        am_reply_scatter(sent, at);
    else
        memcpy(&sent->req->result, at, sizeof sent->req->result);
    ski_am_sent_end(self, sent);
    return true;
}

/* Returns the get whose data a packet brings, all of them; NULL: it is another packet. */
static struct ski_am_sent *am_reply_data(struct ski_pe *self, const skua_msg *msg, const char *data,
                                         struct ski_am_reply *reply)
{
    if (msg->bytes < sizeof *reply)
        return NULL;
    memcpy(reply, data, sizeof *reply);
    return reply->kind == SKI_AM_DATA ? am_reply_match(ski_rma_pe(self), msg->source, reply->id,
                                                       SKI_AM_DATA, msg->bytes - sizeof *reply)
                                      : NULL;
}

/* Makes an acknowledgement of a reply whose data have been placed; it is run in its turn. */
static skua_msg *am_reply_without_data(struct ski_pe *self, struct ski_am_sent *sent,
                                       const skua_msg *msg, struct ski_am_reply *reply)
{
    skua_msg *left;

    ski_assert(sent->runs && sent->run_count > 0);
    free(sent->runs);
    sent->runs       = NULL;
    sent->run_count  = 0;
    sent->data_bytes = 0;
    reply->kind      = SKI_AM_ACK;
    reply->count     = 1;
    left             = ski_msg_copy(self, SKI_HANDLER_AM_REPLY, reply, sizeof *reply);
    left->source     = msg->source;
    return left;
}

static skua_msg *am_reply_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct ski_am_reply reply;
    struct ski_am_sent *sent =
        msg->bytes < SKI_PLACE_MIN ? NULL : am_reply_data(self, msg, data, &reply);

    if (!sent)
        return NULL;
    am_reply_scatter(sent, data + sizeof reply);
    return am_reply_without_data(self, sent, msg, &reply);
}

/* Only the thread of the PE itself may receive, and not after requests were given up. */
static bool am_reply_may_recv(const struct ski_pe *self)
{
    return self == ski_self && !ski_pe_exiting(self) && !ski_job_exiting(self->job);
}

skua_msg *ski_am_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    if (!am_reply_may_recv(self))
        return NULL;
    if (msg->handler == SKI_HANDLER_AM_REPLY)
        return am_reply_recv_inline(self, msg, data);
    return msg->handler == SKI_HANDLER_AM_REQUEST ? ski_am_target_recv_inline(self, msg, data)
                                                  : NULL;
}

/* The memory of a get of one segment is the driver's until the data have arrived, even if the job
 * ends meanwhile: ski_rma_wait() waits for that. */
static size_t am_reply_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data,
                                  void **to)
{
    struct ski_am_reply reply;
    struct ski_am_sent *sent = am_reply_data(self, msg, data, &reply);

    _Static_assert(sizeof reply <= SKI_PLACE_DATA, "the driver shows all of it");
    if (!sent || sent->run_count != 1 || sent->runs[0].count != 1)
        return 0;
    sent->filling = true;
    sent->req->rma->at_driver++;
    ski_net_op_begin(self);
    *to = sent->runs[0].local;
    return sent->data_bytes;
}

static skua_msg *am_reply_recv_done(struct ski_pe *self, const skua_msg *msg, const char *data,
                                    bool whole)
{
    struct ski_am_reply reply;
    struct ski_am_sent *sent;

    memcpy(&reply, data, sizeof reply);
    sent = ski_am_sent_find(ski_rma_pe(self), msg->source, reply.id);
    if (!sent || !sent->filling)
        return NULL;
    sent->filling = false;
    sent->req->rma->at_driver--;
    ski_net_op_end(self);
    return whole ? am_reply_without_data(self, sent, msg, &reply) : NULL;
}

size_t ski_am_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    if (!am_reply_may_recv(self))
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

    while (at != end) {
        struct ski_am_reply reply;
        size_t              bytes = ski_am_reply_decode(at, (size_t)(end - at), &reply);

        if (bytes == 0 ||
            !am_reply_apply(ski_self, msg->source, &reply, at + sizeof reply, bytes - sizeof reply))
            break;
        at += bytes;
    }
    if (at != end)
        ski_log(SKI_LOG_ERROR, "PE %d dropped a reply from PE %d that matches no request",
                ski_self->pe, msg->source);
    ski_net_reply_runs(ski_self);
    skua_msg_free(msg);
}
