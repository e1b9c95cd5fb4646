/* SPDX-License-Identifier: Apache-2.0 */
/* am_origin.c - see am_origin.h. */
#include "onesided/rma/am_origin.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/config.h"
#include "onesided/pe/external_thread.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/am_gather.h"
#include "onesided/rma/rma_backlog.h"

void ski_am_origin_end(struct ski_pe *self)
{
    struct ski_rma_pe *rma = ski_rma_pe(self);

    ski_rma_backlog_end(&rma->outstanding);
    ski_am_sent_free(rma);
    free(rma->query);
}

/* Sends the requests of an operation, and waits for their replies if @p wait. */
static skua_status am_issue(struct ski_pe *self, const struct ski_rma_op *op,
                            const struct ski_resolved *target, const skua_rma_params *params,
                            bool wait, uint64_t *result)
{
    struct ski_am_gather g;

    ski_am_gather_begin(&g, self, op, NULL);
    if (!ski_rma_wait(self, ski_am_gather_has_room, &g))
        return SKUA_ERR_EXIT;
    g.req = ski_rma_request_begin(self, op, target, params, SKI_RMA_BY_AM);
    ski_am_gather_prepare(&g, params);
    g.req->waited = wait;
    if (ski_am_gather_copies(&g))
        g.req->local = skua_done_nothing();
    if (!ski_am_gather_send_all(&g, params))
        return SKUA_ERR_EXIT;
    if (ski_am_gather_copies(&g) && params)
        skua_complete(params->local, NULL, 0);
    return wait ? ski_rma_request_wait(self, g.req, result) : SKUA_PENDING;
}

/* ---- operations that do not wait ------------------------------------------------------------ */

/* Sends an operation, or the rest of one, as far as there is room.  What is left goes to the head
 * of the backlog, and this function is called again. */
static void am_send_as_far(struct ski_pe *self, struct ski_rma_request *req,
                           const struct ski_rma_op *op, const skua_rma_params *params)
{
    struct ski_am_gather g;

    ski_am_gather_begin(&g, self, op, req);
    ski_am_gather_prepare(&g, params);
    g.nowait = true;
    if (ski_am_gather_copies(&g))
        req->local = skua_done_nothing();
    if (ski_am_gather_send_all(&g, params)) {
        if (ski_am_gather_copies(&g) && params)
            skua_complete(params->local, NULL, 0);
        return;
    }
    req->resume = g.sent;
    ski_rma_backlog_add_first(req->on_pe, &(struct ski_rma_issue){req, op, params, am_send_as_far,
                                                                  false, ski_am_pool_has_room});
    ski_rma_backlog_want_room(self, req->on_pe);
}

/* Returns whether an operation has to wait for its turn: after others that wait, or that it could
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
    bool                    room = ski_am_pool_has_room(self, op->verb);

    if (room && !am_must_queue(req->on_pe, op, params)) {
        am_send_as_far(self, req, op, params);
        return SKUA_PENDING;
    }
    ski_rma_backlog_add(req->on_pe, &(struct ski_rma_issue){req, op, params, am_send_as_far, false,
                                                            ski_am_pool_has_room});
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
    /* An operation that does not wait is begun by a caller that runs as a PE (transfer.c). */
    ski_assert(blocking || !caller.external);
    status = blocking ? am_issue(caller.self, op, target, params, caller.external || !handoff, NULL)
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
    struct ski_am_gather g;

    ski_assert(!req->sealed);
    ski_am_gather_begin(&g, self, op, req);
    req->sealed = true;
    ski_am_request_send(&g, params);
}

/* Not limited by the pool of requests, since the call must not wait for room.  The requests of such
 * operations are small, and the program bounds their number. */
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
    ski_assert(ski_self);
    am_start(ski_self, op, target, params, old);
    return SKUA_PENDING;
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

    /* Operations in the backlog may wait for the reply, so the query is sent before them. */
    am_send_as_far(self, ski_rma_request_begin(self, &op, &target, &params, SKI_RMA_BY_AM), &op,
                   &params);
}

skua_status ski_am_query_rkey(struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *to)
{
    struct ski_rma_op   op     = am_rkey_query(at, to);
    struct ski_resolved target = {.remote_host = true};

    return am_issue(self, &op, &target, NULL, true, NULL);
}

void ski_am_after_put(struct ski_pe *self, struct ski_rma_request *req, const struct ski_rma_op *op,
                      const skua_rma_params *params)
{
    struct ski_am_gather g;

    ski_assert(op->verb == SKI_RMA_PUT);
    ski_am_gather_begin(&g, self, op, req);
    ski_am_request_send(&g, params);
}
