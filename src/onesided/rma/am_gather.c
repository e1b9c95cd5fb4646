/* SPDX-License-Identifier: Apache-2.0 */
/* am_gather.c - see am_gather.h. */
#include "onesided/rma/am_gather.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/net/zcopy_send.h"
#include "onesided/rma/iov.h"

#define AM_GATHER_HEADER_ROOM 1024 /* of a packet, for everything but its data and a signal's */
#define AM_GATHER_PACKED_MAX  ((size_t)256 << 10) /* of a reply that the target packs */

/* Sends what was collected; then there must be room in the pool.  Returns false if the job ends, or
 * there is no room and the caller must not wait. */
static bool am_gather_next(struct ski_am_gather *g)
{
    ski_am_request_send(g, NULL);
    if (g->nowait)
        return ski_am_gather_has_room(g);
    return ski_rma_wait(g->self, ski_am_gather_has_room, g);
}

/* Adds one block, split where it is larger than a request.  False as am_gather_next(). */
static bool am_gather_block(struct ski_am_gather *g, struct ski_iov iov)
{
    size_t skip = g->skip < iov.bytes ? g->skip : iov.bytes;

    g->skip -= skip;
    iov.local += skip, iov.remote += (ptrdiff_t)skip, iov.bytes -= skip;
    while (iov.bytes > 0) {
        size_t now = iov.bytes < g->limit ? iov.bytes : g->limit;

        if ((g->run_count == g->runs_max || g->bytes + now > g->limit ||
             (g->run_count > 0 && now > ski_config.pack_max)) &&
            !am_gather_next(g))
            return false;
        ski_assert(g->run_count < g->runs_max);
        g->runs[g->run_count++] = (struct ski_am_local_run){iov.local, iov.remote, now, 1, 0, 0};
        g->bytes += now;
        iov.local += now, iov.remote += (ptrdiff_t)now, iov.bytes -= now;
    }
    return true;
}

/* Adds blocks at constant strides.  False as am_gather_next(). */
static bool am_gather_run(struct ski_am_gather *g, struct ski_am_local_run run)
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
        struct ski_am_local_run now = run;
        size_t                  fit = (g->limit - g->bytes) / run.bytes;

        if (g->run_count == g->runs_max || fit == 0) {
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
static bool am_gather_all(struct ski_am_gather *g)
{
    struct ski_datatype     outer = g->op->datatype;
    struct ski_am_local_run inner = {.count = 1};
    struct ski_iov_iter     iter;
    struct ski_iov          iov;

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

/* Adds the blocks of a list of offsets, each of which fits in a packet with others. */
static bool am_gather_indexed(struct ski_am_gather *g)
{
    const struct ski_datatype *type   = &g->op->datatype;
    const ptrdiff_t           *local  = type->indexed.local;
    const ptrdiff_t           *remote = type->indexed.remote;
    size_t                     bytes  = type->bytes;

    for (size_t i = 0; i < type->count; i++) {
        ptrdiff_t behind = (ptrdiff_t)(i * bytes); /* where one side has no offsets */

        if ((g->run_count == g->runs_max || g->bytes + bytes > g->limit) && !am_gather_next(g))
            return false;
        g->runs[g->run_count++] = (struct ski_am_local_run){
            type->local + (local ? local[i] : behind), remote ? remote[i] : behind, bytes, 1, 0, 0};
        g->bytes += bytes;
    }
    return true;
}

/* Frees the memory for the runs of a long list. */
static void am_gather_free_runs(struct ski_am_gather *g)
{
    if (g->runs != g->few)
        free(g->runs);
    g->runs = g->few;
}

/* Adds all blocks of an operation, with room for many if it is a long list. */
static bool am_gather_list(struct ski_am_gather *g)
{
    const struct ski_datatype *type = &g->op->datatype;
    bool                       all;

    if ((type->kind != SKI_DATATYPE_INDEXED && type->kind != SKI_DATATYPE_LIST) ||
        type->count <= SKI_AM_RUNS_FEW)
        return am_gather_all(g);
    g->runs     = ski_malloc(SKI_AM_RUNS_MAX * sizeof *g->runs);
    g->runs_max = SKI_AM_RUNS_MAX;
    all         = type->kind == SKI_DATATYPE_INDEXED && g->skip == 0 && type->bytes > 0 &&
                  type->bytes <= ski_config.pack_max && type->bytes <= g->limit
                      ? am_gather_indexed(g)
                      : am_gather_all(g);
    if (all)
        return true; /* with the rest, which the caller sends */
    ski_assert(g->run_count == 0);
    am_gather_free_runs(g);
    return false;
}

bool ski_am_gather_send_all(struct ski_am_gather *g, const skua_rma_params *params)
{
    bool go_on = true;

    if (g->op->datatype.kind == SKI_DATATYPE_CONTIGUOUS && g->op->datatype.bytes <= g->limit &&
        g->skip == 0) {
        g->bytes     = g->op->datatype.bytes;
        g->run_count = g->bytes > 0;
        g->runs[0]   = (struct ski_am_local_run){g->op->datatype.local, 0, g->bytes, 1, 0, 0};
    } else {
        go_on = am_gather_list(g);
    }
    if (!go_on)
        return false;
    g->req->sealed = true;
    ski_am_request_send(g, params);
    am_gather_free_runs(g);
    return true;
}

/* Returns the size in bytes of packets between hosts: the one that suits the driver.  A target that
 * packs the data of a get packs the next packet while one is sent, so these are short. */
static size_t am_gather_packet_bytes(bool packed_get)
{
    size_t bytes = ski_net_packet_bytes();

    return packed_get && bytes > AM_GATHER_PACKED_MAX ? AM_GATHER_PACKED_MAX : bytes;
}

/* Returns the most data of a request. */
static size_t am_gather_limit(bool remote_host, bool packed_get)
{
    size_t bytes = remote_host ? ski_config.packet_size_net : ski_config.packet_size;

    if (remote_host && !bytes)
        bytes = am_gather_packet_bytes(packed_get) - AM_GATHER_HEADER_ROOM;
    if (bytes > SKI_AM_DATA_MAX)
        bytes = SKI_AM_DATA_MAX;
    return (bytes < 1024 ? 1024 : bytes) & ~(size_t)15;
}

/* Returns the number of bytes, if they are contiguous at the origin; else 0. */
static size_t am_gather_packed_bytes(const struct ski_datatype *type)
{
    if (type->kind == SKI_DATATYPE_CONTIGUOUS)
        return type->bytes;
    return type->kind == SKI_DATATYPE_STRIDED && type->strided.levels == 1 &&
                   type->strided.local[0] == (ptrdiff_t)type->bytes
               ? type->bytes * type->strided.count[0]
               : 0;
}

/* Returns whether the data of a put or accumulate are sent without a copy: they are then in
 * use until the operation is complete, which a blocking call waits for unless the setting
 * local_completion is on.  An operation with a local completion needs its memory back earlier: the
 * data are copied. */
static bool am_gather_is_zcopy(const struct ski_rma_op *op, bool remote_host,
                               const skua_rma_params *params)
{
    return !(params && params->local.kind) && remote_host &&
           (op->verb == SKI_RMA_PUT || op->verb == SKI_RMA_ACCUMULATE) &&
           am_gather_packed_bytes(&op->datatype) >= SKI_ZCOPY_SEND_MIN &&
           !ski_config.local_completion && ski_zcopy_send_supported();
}

/* Returns whether the target may send the data of a get without a copy, which takes a while:
 * not where the order forbids that later operations overtake it, nor where the target is notified
 * that the data were read. */
static bool am_gather_is_deferrable(const struct ski_rma_op *op, bool remote_host,
                                    const skua_rma_params *params)
{
    return remote_host && op->verb == SKI_RMA_GET && op->datatype.kind == SKI_DATATYPE_CONTIGUOUS &&
           op->datatype.bytes >= SKI_ZCOPY_SEND_MIN &&
           ski_op_params_order(params) != SKUA_ORDER_STRICT && !ski_op_params_at_target(params);
}

void ski_am_gather_prepare(struct ski_am_gather *g, const skua_rma_params *params)
{
    bool remote_host = !g->req->on_host;

    g->zcopy      = am_gather_is_zcopy(g->op, remote_host, params);
    g->deferrable = am_gather_is_deferrable(g->op, remote_host, params);
    g->limit      = am_gather_limit(remote_host, g->op->verb == SKI_RMA_GET && !g->deferrable);
    if (g->deferrable)
        ski_rma_request_set_protocol(g->req, SKI_RMA_BY_AM_DEFERRED);
}
