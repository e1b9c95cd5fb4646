/* SPDX-License-Identifier: Apache-2.0 */
/* am_origin.c - see am_origin.h. */
#include "onesided/rma/am_origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/copy.h"
#include "base/memory.h"
#include "base/sanitizer.h"
#include "core/message/inbox_send.h"
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

#define AM_BATCH_ROOM 4096 /* bytes of a message that several requests share                  */
#define AM_INDEX_BITS 24   /* of an id: the slot of the request; the others are its turn      */

/* Blocks of one size that lie at constant strides on both sides. */
struct am_run {
    char     *local;
    ptrdiff_t remote; /* relative to the global address */
    size_t    bytes, count;
    ptrdiff_t local_stride, remote_stride;
};

/* A request that has no reply yet.  The reply repeats its id and nothing else of the reply is
 * trusted: where data go stands here. */
struct ski_am_sent {
    struct ski_rma_request *req;   /* NULL: free                            */
    struct am_run          *runs;  /* of a get, or NULL                     */
    size_t                  bytes; /* counted in am_bytes                   */
    size_t                  data_bytes;
    uint32_t                run_count;
    uint32_t                next_free;
    uint8_t                 turn;    /* changes with each use                 */
    uint8_t                 pool;    /* enum ski_am_pool                      */
    bool                    filling; /* the driver receives into its memory   */
};

/* Runs that are collected for the next request of an operation. */
struct am_gather {
    struct ski_pe           *self;
    const struct ski_rma_op *op;
    struct ski_rma_request  *req;
    size_t                   bytes, limit;
    uint32_t                 run_count;
    bool                     uncopied;   /* the data stay until the end, and are sent from there */
    bool                     deferrable; /* a get: the target may do so                           */
    bool                     nowait;     /* without room in the pool the rest goes to the backlog */
    size_t                   skip;       /* bytes at the beginning that have been sent before     */
    size_t                   sent;       /* bytes that have been sent                             */
    struct am_run            runs[SKI_AM_RUNS_MAX];
};

/* Returns the pool that counts the requests of a verb. */
static enum ski_am_pool am_pool_of(enum ski_rma_verb verb)
{
    static const enum ski_am_pool pools[] = {[SKI_RMA_PUT]        = SKI_AM_POOL_PUT,
                                             [SKI_RMA_GET]        = SKI_AM_POOL_GET,
                                             [SKI_RMA_ACCUMULATE] = SKI_AM_POOL_ACCUMULATE,
                                             [SKI_RMA_ATOMIC]     = SKI_AM_POOL_ACCUMULATE,
                                             [SKI_RMA_RKEY_QUERY] = SKI_AM_POOL_GET};

    return pools[verb];
}

/* Begins to collect; the array is not initialised, since most operations use one run. */
static void am_gather_begin(struct am_gather *g, struct ski_pe *self, const struct ski_rma_op *op,
                            struct ski_rma_request *req)
{
    g->self      = self;
    g->op        = op;
    g->req       = req;
    g->bytes     = 0;
    g->limit     = SIZE_MAX;
    g->run_count = 0;
    g->uncopied = g->deferrable = g->nowait = false;
    g->skip = g->sent = req ? req->resume : 0;
}

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
static uint32_t am_sent_add(struct am_gather *g, size_t bytes)
{
    struct ski_rma_pe  *rma = ski_rma_pe(g->self);
    struct ski_am_sent *sent;
    uint32_t            index;

    if (rma->sent_free == rma->sent_room)
        am_sent_grow(rma);
    index = rma->sent_free;
    if (index >= (1u << AM_INDEX_BITS) - 1) /* the last id is SKI_AM_NO_ID */
        ski_fatal("PE %d has more than %d one-sided requests in flight; flush more often",
                  g->self->pe, 1 << AM_INDEX_BITS);
    sent = &rma->sent[index];
    ski_assert(!sent->req);
    rma->sent_free   = sent->next_free;
    sent->req        = g->req;
    sent->bytes      = bytes;
    sent->data_bytes = 0;
    sent->run_count  = 0;
    sent->runs       = NULL;
    sent->filling    = false;
    sent->pool       = (uint8_t)am_pool_of(g->op->verb);
    if (ski_am_reply_has_data(g->op->verb)) {
        sent->data_bytes = g->bytes;
        sent->run_count  = g->run_count;
        sent->runs       = ski_malloc(g->run_count * sizeof *g->runs);
        memcpy(sent->runs, g->runs, g->run_count * sizeof *g->runs);
    }
    return (uint32_t)sent->turn << AM_INDEX_BITS | index;
}

/* Returns the request of an id; NULL: there is none, the id comes from another host. */
static struct ski_am_sent *am_sent_find(const struct ski_rma_pe *rma, uint32_t id)
{
    uint32_t index = id & ((1u << AM_INDEX_BITS) - 1);

    if (index >= rma->sent_room || !rma->sent[index].req ||
        rma->sent[index].turn != id >> AM_INDEX_BITS)
        return NULL;
    return &rma->sent[index];
}

static void am_sent_remove(struct ski_rma_pe *rma, struct ski_am_sent *sent)
{
    ski_assert(sent->req && !sent->filling);
    free(sent->runs);
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
            free(rma->sent[i].runs);
    free(rma->sent);
    free(rma->query);
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
    request->notify       = params->notify;
    request->notify_add   = ski_op_params_notify_by(params);
    request->signal       = params->signal.id;
    request->signal_bytes = params->signal.id ? params->signal_bytes : 0;
}

/* Returns whether all runs are single blocks of one size at offsets of 32 bits. */
static bool am_gather_is_offsets(const struct am_gather *g)
{
    for (uint32_t i = 0; i < g->run_count; i++)
        if (g->runs[i].count != 1 || g->runs[i].bytes != g->runs[0].bytes ||
            g->runs[i].remote != (int32_t)g->runs[i].remote)
            return false;
    return true;
}

/* Chooses how the blocks travel; one block is described by the global address alone. */
static void am_fill_blocks(struct ski_am_request *request, const struct am_gather *g)
{
    request->total = g->bytes;
    if (g->run_count == 1 && g->runs[0].count == 1) {
        request->remote.offset += (uint64_t)g->runs[0].remote;
        return;
    }
    request->blocks     = g->run_count;
    request->is_offsets = g->run_count > 1 && am_gather_is_offsets(g);
    if (request->is_offsets)
        request->block_bytes = (uint32_t)g->runs[0].bytes;
}

static void am_fill(struct ski_am_request *request, const struct am_gather *g,
                    const skua_rma_params *params)
{
    memset(request, 0, sizeof *request);
    request->verb       = g->op->verb;
    request->source     = ski_caller_pe();
    request->remote     = g->op->remote;
    request->data_bytes = ski_am_reply_has_data(g->op->verb) ? 0 : g->bytes;
    request->deferrable = g->deferrable;
    if (g->op->verb == SKI_RMA_ATOMIC)
        request->atomic = *g->op->atomic;
    if (g->op->verb == SKI_RMA_ACCUMULATE)
        am_fill_accumulate(request, g->op);
    if (g->run_count > 0)
        am_fill_blocks(request, g);
    if (params)
        am_fill_params(request, params);
}

/* Writes the offsets or runs of a request; returns where its data go. */
static char *am_write_blocks(char *to, const struct ski_am_request *request,
                             const struct am_gather *g)
{
    char *next = to + ski_am_list_bytes(request);

    if (request->blocks == 0)
        return to;
    memset(next - 8, 0, 8); /* the padding: no stray memory leaves the host */
    for (uint32_t i = 0; i < request->blocks; i++) {
        const struct am_run *run = &g->runs[i];

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
static char *am_write_data(char *to, const struct am_gather *g)
{
    for (uint32_t i = 0; i < g->run_count; i++) {
        const struct am_run *run = &g->runs[i];

        if (run->count == 1)
            ski_copy(to, run->local, run->bytes);
        else
            ski_am_copy_strided(to, (ptrdiff_t)run->bytes, run->local, run->local_stride,
                                run->bytes, run->count);
        to += run->bytes * run->count;
    }
    return to;
}

/* Copies the data of a reply to where they were asked for. */
static void am_scatter(const struct ski_am_sent *sent, const char *data)
{
    for (uint32_t i = 0; i < sent->run_count; i++) {
        const struct am_run *run = &sent->runs[i];

        ski_am_copy_strided(run->local, run->local_stride, data, (ptrdiff_t)run->bytes, run->bytes,
                            run->count);
        data += run->bytes * run->count;
    }
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

/* A request that is about to be sent. */
struct am_sending {
    struct ski_am_request request;
    struct ski_am_encoded encoded;
    int                   to;
    size_t                head;  /* bytes of head, words and blocks */
    size_t                bytes; /* of all                          */
    skua_msg             *msg;   /* NULL: in one that waits already */
};

static skua_msg *am_new_message(struct am_gather *g, size_t used, size_t room)
{
    skua_msg *msg = skua_msg_alloc(room > used ? room : used);

    msg->bytes   = used;
    msg->handler = SKI_HANDLER_AM_REQUEST;
    msg->source  = g->self->pe;
    return msg;
}

/* Returns memory for a request.  A small one to another host joins the message of earlier ones that
 * wait, or begins such a message in a burst.  Not if the target is to be notified, or a caller
 * waits: then it leaves at once. */
static char *am_request_memory(struct am_gather *g, struct am_sending *s, size_t *room)
{
    size_t padded = (s->bytes + 7) & ~(size_t)7;
    bool   far    = g->self->net && s->bytes <= SKI_AM_BATCH_MOST && !g->req->waited &&
               !s->request.notify.region.id && !s->request.signal &&
               !ski_inbox_is_near(g->self, s->to) && ski_job_index(g->self->job, s->to) < 0;
    char *at = far ? ski_net_extend(g->self, s->to, padded) : NULL;

    *room  = 0;
    s->msg = NULL;
    if (at) {
        s->encoded.head.bytes = (uint16_t)s->bytes;
        return at;
    }
    if (far && ski_net_joins_burst(g->self, s->to)) {
        s->encoded.head.bytes = (uint16_t)s->bytes;
        *room                 = AM_BATCH_ROOM - padded;
        s->msg                = am_new_message(g, padded, AM_BATCH_ROOM);
    } else {
        s->msg = am_new_message(g, s->bytes, 0);
    }
    return skua_msg_data(s->msg);
}

/* Writes the head, its words and the blocks; returns where the data go. */
static char *am_write_head(char *to, const struct am_gather *g, const struct am_sending *s)
{
    size_t words = ski_am_encoded_bytes(&s->encoded) - sizeof s->encoded.head;

    memcpy(to, &s->encoded.head, sizeof s->encoded.head);
    to += sizeof s->encoded.head;
    if (words > 0)
        memcpy(to, s->encoded.word, words);
    return am_write_blocks(to + words, &s->request, g);
}

static void am_send_copied(struct am_gather *g, struct am_sending *s, const skua_rma_params *params)
{
    size_t room;
    char  *begin = am_request_memory(g, s, &room), *at = am_write_head(begin, g, s);

    if (s->request.data_bytes > 0)
        at = am_write_data(at, g);
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

/* Sends the blocks that were collected; @p params go with the last request of an operation. */
static void am_gather_send(struct am_gather *g, const skua_rma_params *params)
{
    struct am_sending s;
    bool              uncopied;

    am_fill(&s.request, g, params);
    s.to     = ski_am_server(g->self->job, g->op->remote.pe);
    uncopied = g->uncopied && g->run_count == 1 && g->runs[0].count == 1 &&
               s.request.data_bytes >= SKI_ZCOPY_SEND_LEAST && !s.request.signal_bytes;
    ski_am_encode(&s.request, g->self->pe, s.to, &s.encoded);
    s.head            = ski_am_encoded_bytes(&s.encoded) + ski_am_list_bytes(&s.request);
    s.bytes           = s.head + s.request.data_bytes + s.request.signal_bytes;
    s.encoded.head.id = am_sent_add(g, s.bytes + g->bytes);
    g->req->parts++;
    ski_rma_pe(g->self)->am_bytes[am_pool_of(g->op->verb)] += s.bytes + g->bytes;
    if (uncopied) {
        struct ski_iov iov = {g->runs[0].local, g->runs[0].remote, g->runs[0].bytes};

        s.msg = am_new_message(g, s.head, s.head + sizeof(struct ski_zcopy_send));
        am_write_head(skua_msg_data(s.msg), g, &s);
        am_send_uncopied(g, s.to, s.msg, s.head, &iov);
    } else {
        am_send_copied(g, &s, params);
    }
    g->sent += g->bytes;
    g->run_count = 0;
    g->bytes     = 0;
}

/* Returns whether requests in flight leave room in the pool of @p verb, which has the size of the
 * setting `request_window`. */
static bool am_pool_has_room(const struct ski_pe *self, enum ski_rma_verb verb)
{
    return ski_rma_pe(self)->am_bytes[am_pool_of(verb)] < ski_config.request_window;
}

static bool am_gather_has_room(void *arg)
{
    const struct am_gather *g = arg;

    return am_pool_has_room(g->self, g->op->verb);
}

/* Sends what was collected; then there must be room in the pool.  False: the job ends, or there is
 * no room and the caller must not wait. */
static bool am_gather_next(struct am_gather *g)
{
    am_gather_send(g, NULL);
    if (g->nowait)
        return am_gather_has_room(g);
    return ski_rma_wait(g->self, am_gather_has_room, g);
}

/* Adds one block, split where it is larger than a request.  False as am_gather_next(). */
static bool am_gather_block(struct am_gather *g, struct ski_iov iov)
{
    size_t skip = g->skip < iov.bytes ? g->skip : iov.bytes;

    g->skip -= skip;
    iov.local += skip, iov.remote += (ptrdiff_t)skip, iov.bytes -= skip;
    while (iov.bytes > 0) {
        size_t now = iov.bytes < g->limit ? iov.bytes : g->limit;

        if ((g->run_count == SKI_AM_RUNS_MAX || g->bytes + now > g->limit ||
             (g->run_count > 0 && now > ski_config.pack_max)) &&
            !am_gather_next(g))
            return false;
        ski_assert(g->run_count < SKI_AM_RUNS_MAX);
        g->runs[g->run_count++] = (struct am_run){iov.local, iov.remote, now, 1, 0, 0};
        g->bytes += now;
        iov.local += now, iov.remote += (ptrdiff_t)now, iov.bytes -= now;
    }
    return true;
}

/* Adds blocks at constant strides.  False as am_gather_next(). */
static bool am_gather_run(struct am_gather *g, struct am_run run)
{
    if (run.count == 1 || g->skip > 0 || run.bytes > ski_config.pack_max ||
        run.bytes > g->limit / 2) {
        for (; run.count > 0; run.count--) {
            if (!am_gather_block(g, (struct ski_iov){run.local, run.remote, run.bytes}))
                return false;
            run.local += run.local_stride, run.remote += run.remote_stride;
        }
        return true;
    }
    while (run.count > 0) {
        struct am_run now = run;
        size_t        fit = (g->limit - g->bytes) / run.bytes;

        if (g->run_count == SKI_AM_RUNS_MAX || fit == 0) {
            if (!am_gather_next(g))
                return false;
            continue;
        }
        now.count               = fit < run.count ? fit : run.count;
        g->runs[g->run_count++] = now;
        g->bytes += now.count * now.bytes;
        run.count -= now.count;
        run.local += (ptrdiff_t)now.count * run.local_stride;
        run.remote += (ptrdiff_t)now.count * run.remote_stride;
    }
    return true;
}

/* Adds all blocks of an operation.  The innermost level of strides is one run; the iterator goes
 * over the others. */
static bool am_gather_all(struct am_gather *g)
{
    struct ski_datatype outer = g->op->datatype;
    struct am_run       inner = {.count = 1};
    struct ski_iov_iter iter;
    struct ski_iov      iov;

    if (outer.kind == SKI_DATATYPE_STRIDED && outer.strided.levels > 0) {
        inner.count         = outer.strided.count[0];
        inner.local_stride  = outer.strided.local[0];
        inner.remote_stride = outer.strided.remote[0];
        outer.strided.levels--;
        outer.strided.count++, outer.strided.local++, outer.strided.remote++;
    }
    ski_iov_iter_begin(&iter, &outer);
    while (inner.count > 0 && ski_iov_iter_next(&iter, &iov)) {
        inner.local  = iov.local;
        inner.remote = iov.remote;
        inner.bytes  = iov.bytes;
        if (!am_gather_run(g, inner))
            return false;
    }
    return true;
}

/* Sends all requests of an operation, which may be complete before this returns.  False as
 * am_gather_next(). */
static bool am_gather_send_all(struct am_gather *g, const skua_rma_params *params)
{
    bool go_on = true;

    if (g->op->datatype.kind == SKI_DATATYPE_CONTIGUOUS && g->op->datatype.bytes <= g->limit &&
        g->skip == 0) {
        g->bytes     = g->op->datatype.bytes;
        g->run_count = g->bytes > 0;
        g->runs[0]   = (struct am_run){g->op->datatype.local, 0, g->bytes, 1, 0, 0};
    } else {
        go_on = am_gather_all(g);
    }
    if (!go_on)
        return false;
    g->req->sealed = true;
    am_gather_send(g, params);
    return true;
}

/* ---- operations ----------------------------------------------------------------------------- */

/* Returns the most data of a request: between hosts whole packets have the size that suits the
 * driver. */
static size_t am_packet_limit(bool remote_host)
{
    size_t bytes = remote_host ? ski_config.packet_size_net : ski_config.packet_size;

    if (remote_host && !bytes)
        bytes = ski_net_packet_bytes() - AM_HEADER_ROOM;
    if (bytes > SKI_AM_DATA_MAX)
        bytes = SKI_AM_DATA_MAX;
    return (bytes < 1024 ? 1024 : bytes) & ~(size_t)15;
}

/* Returns whether the data of a put are sent from where they lie: they are then in use until the
 * operation is complete, which a blocking call waits for unless it hands off.  An operation with a
 * local completion wants its memory back earlier: the data are copied. */
static bool am_may_send_uncopied(const struct ski_rma_op *op, bool remote_host,
                                 const skua_rma_params *params)
{
    return !(params && params->local.kind) && remote_host && op->verb == SKI_RMA_PUT &&
           op->datatype.kind == SKI_DATATYPE_CONTIGUOUS &&
           op->datatype.bytes >= SKI_ZCOPY_SEND_LEAST && !ski_config.local_completion &&
           ski_zcopy_send_supported();
}

/* Returns whether the target may send the data of a get from where they lie, which takes a while:
 * not where the order forbids that later operations overtake it, nor where the target is notified
 * that the data were read. */
static bool am_may_defer(const struct ski_rma_op *op, bool remote_host,
                         const skua_rma_params *params)
{
    return remote_host && op->verb == SKI_RMA_GET && op->datatype.kind == SKI_DATATYPE_CONTIGUOUS &&
           op->datatype.bytes >= SKI_ZCOPY_SEND_LEAST &&
           ski_op_params_order(params) != SKUA_ORDER_STRICT && !ski_op_params_at_target(params);
}

/* Prepares to send an operation that has begun. */
static void am_gather_prepare(struct am_gather *g, const skua_rma_params *params)
{
    bool remote_host = !g->req->on_host;

    g->uncopied   = am_may_send_uncopied(g->op, remote_host, params);
    g->deferrable = am_may_defer(g->op, remote_host, params);
    g->limit      = am_packet_limit(remote_host);
    if (g->deferrable)
        ski_rma_request_set_protocol(g->req, SKI_RMA_BY_AM_DEFERRED);
}

/* Returns whether the local memory is free when all requests are sent, not at the end. */
static bool am_gather_copies(const struct am_gather *g)
{
    return !ski_am_reply_has_data(g->op->verb) && !g->uncopied;
}

static skua_status am_issue(struct ski_pe *self, const struct ski_rma_op *op,
                            const struct ski_resolved *target, const skua_rma_params *params,
                            bool wait, uint64_t *result)
{
    struct am_gather g;

    am_gather_begin(&g, self, op, NULL);
    if (!ski_rma_wait(self, am_gather_has_room, &g))
        return SKUA_ERR_EXIT;
    g.req = ski_rma_request_begin(self, op, target, params, SKI_RMA_BY_AM);
    am_gather_prepare(&g, params);
    g.req->waited = wait;
    if (am_gather_copies(&g))
        g.req->local = skua_done_nothing();
    if (!am_gather_send_all(&g, params))
        return SKUA_ERR_EXIT;
    if (am_gather_copies(&g) && params)
        skua_complete(params->local, NULL, 0);
    return wait ? ski_rma_request_wait(self, g.req, result) : SKUA_PENDING;
}

/* ---- operations that do not wait ------------------------------------------------------------ */

/* Sends an operation, or the rest of one, as far as there is room.  What is left goes to the head
 * of the backlog, and this function is called again. */
static void am_send_as_far(struct ski_pe *self, struct ski_rma_request *req,
                           const struct ski_rma_op *op, const skua_rma_params *params)
{
    struct am_gather g;

    am_gather_begin(&g, self, op, req);
    am_gather_prepare(&g, params);
    g.nowait = true;
    if (am_gather_copies(&g))
        req->local = skua_done_nothing();
    if (am_gather_send_all(&g, params)) {
        if (am_gather_copies(&g) && params)
            skua_complete(params->local, NULL, 0);
        return;
    }
    req->resume = g.sent;
    ski_rma_backlog_add_first(req->on_pe, &(struct ski_rma_issue){req, op, params, am_send_as_far,
                                                                  false, am_pool_has_room});
    ski_rma_backlog_want_room(self, req->on_pe);
}

/* Returns whether an operation has to wait for its turn: behind others that wait, or that it could
 * overtake. */
static bool am_must_queue(const struct ski_outstanding *on, const struct ski_rma_op *op,
                          const skua_rma_params *params)
{
    return on->backlog > 0 || (on->rma > 0 && ski_rma_op_is_ordered(op, params)) ||
           (on->deferred > 0 && ski_op_params_order(params) == SKUA_ORDER_STRICT) ||
           (on->before_rma > 0 && op->verb != SKI_RMA_GET);
}

/* Begins an operation and never waits, nor runs a handler: it is sent, or goes to the backlog. */
static skua_status am_issue_nowait(struct ski_pe *self, const struct ski_rma_op *op,
                                   const struct ski_resolved *target, const skua_rma_params *params)
{
    struct ski_rma_request *req  = ski_rma_request_begin(self, op, target, params, SKI_RMA_BY_AM);
    bool                    room = am_pool_has_room(self, op->verb);

    if (room && !am_must_queue(req->on_pe, op, params)) {
        am_send_as_far(self, req, op, params);
        return SKUA_PENDING;
    }
    ski_rma_backlog_add(req->on_pe, &(struct ski_rma_issue){req, op, params, am_send_as_far, false,
                                                            am_pool_has_room});
    if (!room)
        ski_rma_backlog_want_room(self, req->on_pe);
    return SKUA_PENDING;
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
    status = caller.external || blocking
                 ? am_issue(caller.self, op, target, params, caller.external || !handoff, NULL)
                 : am_issue_nowait(caller.self, op, target, params);
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
    struct am_gather g;

    am_gather_begin(&g, self, op, req);
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
                            &(struct ski_rma_issue){req, op, params, ski_am_send_one, false, NULL});
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

    /* Operations in the backlog may wait for the answer: the query goes before them. */
    am_send_as_far(self, ski_rma_request_begin(self, &op, &target, &params, SKI_RMA_BY_AM), &op,
                   &params);
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
    struct am_gather  g;

    am_gather_begin(&g, self, &op, req);
    am_gather_send(&g, params);
}

/* ---- replies -------------------------------------------------------------------------------- */

/* Ends one request: its reply has been applied. */
static void am_sent_end(struct ski_pe *self, struct ski_am_sent *sent)
{
    struct ski_rma_pe      *rma = ski_rma_pe(self);
    struct ski_rma_request *req = sent->req;

    ski_assert(rma->am_bytes[sent->pool] >= sent->bytes && req->parts > 0);
    rma->am_bytes[sent->pool] -= sent->bytes;
    am_sent_remove(rma, sent);
    if (SKI_UNLIKELY(rma->wanting_room != NULL))
        ski_rma_backlog_room(self);
    if (--req->parts == 0 && req->sealed)
        ski_rma_request_end(self, req);
    else
        ski_wake_all(self, &rma->waiters); /* for room in the pool */
}

/* Returns the request that a reply is for; NULL: there is none that such a reply fits. */
static struct ski_am_sent *am_reply_match(const struct ski_rma_pe *rma, uint32_t id,
                                          enum ski_am_reply_kind kind, size_t data_bytes)
{
    struct ski_am_sent *sent = am_sent_find(rma, id);

    if (!sent || sent->filling)
        return NULL;
    if (kind == SKI_AM_FAILED)
        return sent;
    return (kind == SKI_AM_DATA) == (sent->runs != NULL) && data_bytes == sent->data_bytes ? sent
                                                                                           : NULL;
}

static bool am_reply_ack(struct ski_pe *self, const struct ski_am_reply *reply, const char *ids)
{
    uint32_t id = reply->id;

    for (uint32_t i = 0; i < reply->count; i++) {
        struct ski_am_sent *sent;

        if (i > 0)
            memcpy(&id, ids + (i - 1) * sizeof id, sizeof id);
        sent = am_reply_match(ski_rma_pe(self), id, SKI_AM_ACK, 0);
        if (!sent)
            return false;
        am_sent_end(self, sent);
    }
    return true;
}

/* Applies one record of a reply, whose head is followed by @p bytes; false: it fits no request. */
static bool am_reply_apply(struct ski_pe *self, const struct ski_am_reply *reply, const char *at,
                           size_t bytes)
{
    bool                has_data = reply->kind == SKI_AM_DATA;
    struct ski_am_sent *sent;

    if (reply->kind == SKI_AM_ACK)
        return am_reply_ack(self, reply, at);
    sent = am_reply_match(ski_rma_pe(self), reply->id, (enum ski_am_reply_kind)reply->kind,
                          has_data ? bytes : 0);
    if (!sent)
        return false;
    if (reply->kind == SKI_AM_FAILED)
        sent->req->status = (skua_status)(-(int)reply->count);
    else if (has_data)
        am_scatter(sent, at);
    else
        memcpy(&sent->req->result, at, sizeof sent->req->result);
    am_sent_end(self, sent);
    return true;
}

/* Returns the get whose data a packet brings, all of them; NULL: it is another packet. */
static struct ski_am_sent *am_reply_data(struct ski_pe *self, const skua_msg *msg, const char *data,
                                         struct ski_am_reply *reply)
{
    if (msg->bytes < sizeof *reply)
        return NULL;
    memcpy(reply, data, sizeof *reply);
    return reply->kind == SKI_AM_DATA ? am_reply_match(ski_rma_pe(self), reply->id, SKI_AM_DATA,
                                                       msg->bytes - sizeof *reply)
                                      : NULL;
}

/* Makes an acknowledgement of a reply whose data have been placed; it is run in its turn. */
static skua_msg *am_reply_without_data(struct ski_pe *self, struct ski_am_sent *sent,
                                       const skua_msg *msg, struct ski_am_reply *reply)
{
    skua_msg *left;

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

    while (at != end) {
        struct ski_am_reply reply;
        size_t              bytes = ski_am_reply_decode(at, (size_t)(end - at), &reply);

        if (bytes == 0 ||
            !am_reply_apply(ski_self, &reply, at + sizeof reply, bytes - sizeof reply))
            break;
        at += bytes;
    }
    if (at != end)
        ski_log(SKI_LOG_ERROR, "PE %d dropped a reply from PE %d that matches no request",
                ski_self->pe, msg->source);
    skua_msg_free(msg);
}
