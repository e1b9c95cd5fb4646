/* SPDX-License-Identifier: Apache-2.0 */
/* rma_driver.c - see rma_driver.h. */
#include "onesided/rma/rma_driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/pe/external_thread.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/rma_request.h"

/* What happens at the target after the data have been put, or fetched. */
struct ski_rma_after {
    skua_gaddr      to;
    skua_rma_params params; /* only what happens at the target; signal_data is behind this */
};

/* Not in a user thread: libraries of the driver need more stack than it has. */
bool ski_rma_driver_pays(const struct ski_rma_op *op)
{
    const struct ski_driver *driver = ski_net_driver();

    return op->datatype.bytes >= ski_config.rma_threshold &&
           (op->verb == SKI_RMA_PUT || op->verb == SKI_RMA_GET) &&
           (op->datatype.kind == SKI_DATATYPE_CONTIGUOUS ||
            op->datatype.kind == SKI_DATATYPE_STRIDED) &&
           driver && !(ski_self && ski_self->thread) && ski_rma_driver_enabled(driver);
}

/* ---- the end --------------------------------------------------------------------------- */

static struct ski_rma_after *rma_driver_keep_params(const struct ski_rma_op *op,
                                                    const skua_rma_params   *params)
{
    struct ski_rma_after *after;

    if (!params || (skua_gaddr_is_none(params->notify) && !params->signal.id))
        return NULL;
    after  = ski_malloc(sizeof *after + params->signal_bytes);
    *after = (struct ski_rma_after){.to     = op->remote,
                                    .params = {.notify       = params->notify,
                                               .notify_add   = params->notify_add,
                                               .signal       = params->signal,
                                               .signal_data  = after + 1,
                                               .signal_bytes = params->signal_bytes}};
    if (params->signal_bytes)
        memcpy(after + 1, params->signal_data, params->signal_bytes);
    return after;
}

/* Ends an operation, where messages may be sent; or requests what is left to do at the target,
 * which ends it then. */
static void rma_driver_finish(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_rma_after *after = req->after;

    req->after = NULL;
    if (after && req->status == SKUA_OK)
        ski_am_after_put(self, req, after->to, &after->params);
    else
        ski_rma_request_end(self, req);
    free(after);
}

void ski_on_rma(skua_msg *msg)
{
    struct ski_rma_request *req = *(struct ski_rma_request **)skua_msg_data(msg);

    skua_msg_free(msg);
    rma_driver_finish(ski_self, req);
}

/* A part is complete: within the driver, or in the call that began the operation. */
static void rma_driver_end_part(struct ski_net_done *part, skua_status status)
{
    struct ski_rma_request *req = (struct ski_rma_request *)part; /* its first member */

    if (status < 0)
        req->status = status;
    ski_assert(req->parts > 0 && !req->done);
    if (--req->parts > 0)
        return;
    ski_msg_post(ski_self, ski_self->pe, SKI_HANDLER_RMA_REQUEST,
                 ski_msg_copy(ski_self, SKI_HANDLER_RMA_REQUEST, &req, sizeof req));
}

/* ---- parts ----------------------------------------------------------------------------- */

/* The driver says that a part is complete. */
static void rma_driver_part_done(struct ski_net_done *part, skua_status status)
{
    ski_assert(((struct ski_rma_request *)part)->rma->at_driver > 0);
    ((struct ski_rma_request *)part)->rma->at_driver--;
    rma_driver_end_part(part, status);
}

/* Counts a part before it is begun: the driver may say at once that it is complete. */
static void rma_driver_count_part(struct ski_pe *self, struct ski_rma_request *req)
{
    req->parts++;
    req->rma->at_driver++;
    ski_net_op_begin(self);
}

/* Handles what the driver returned; false: it had no room, and the part is to be begun again. */
static bool rma_driver_accepted(struct ski_pe *self, struct ski_rma_request *req,
                                skua_status status)
{
    if (status == SKUA_PENDING)
        return true;
    req->parts--;
    req->rma->at_driver--;
    ski_net_op_end(self);
    if (status == SKUA_ERR_AGAIN)
        ski_net_progress(self);
    else if (status < 0)
        req->status = status;
    return status != SKUA_ERR_AGAIN;
}

static void rma_driver_move(struct ski_pe *self, struct ski_rma_request *req, struct ski_peer *peer,
                            const struct ski_rma_op *op, const struct ski_rkey *rkey,
                            struct ski_iov iov)
{
    const struct ski_driver *driver = ski_net_driver();
    uint64_t                 remote = rkey->base + op->remote.offset + (uint64_t)iov.remote;
    skua_status              status;

    do {
        rma_driver_count_part(self, req);
        status = op->verb == SKI_RMA_PUT
                     ? driver->put(peer, iov.local, iov.bytes, remote, rkey->key, &req->part)
                     : driver->get(peer, iov.local, iov.bytes, remote, rkey->key, &req->part);
    } while (!rma_driver_accepted(self, req, status));
}

static void rma_driver_move_all(struct ski_pe *self, struct ski_rma_request *req,
                                struct ski_peer *peer, const struct ski_rma_op *op,
                                const struct ski_rkey *rkey)
{
    const struct ski_driver *driver = ski_net_driver();
    struct ski_iov_iter      iter;
    struct ski_iov           iov;
    skua_status              status;

    ski_iov_iter_begin(&iter, &op->datatype);
    while (ski_iov_iter_next(&iter, &iov))
        rma_driver_move(self, req, peer, op, rkey, iov);
    if (op->verb != SKI_RMA_PUT)
        return;
    do {
        rma_driver_count_part(self, req);
        status = driver->flush(peer, &req->part);
    } while (!rma_driver_accepted(self, req, status));
}

/* Returns whether the driver orders what it is asked for next behind what it was asked for before.
 */
static bool rma_driver_fence(struct ski_peer *peer)
{
    const struct ski_driver *driver = ski_net_driver();

    return driver->fence && driver->fence(peer);
}

/* Orders puts behind puts: waits for requests by active message; the driver keeps its own in order,
 * or they are waited for as well.  An unordered put is ordered behind a fence only. */
static void rma_driver_order(struct ski_pe *self, const struct ski_rma_op *op,
                             const skua_rma_params *params, struct ski_peer *peer)
{
    struct ski_outstanding on = ski_rma_outstanding_on(self, op->remote.pe);

    if (!ski_rma_op_is_ordered(op, params)) {
        if (op->verb != SKI_RMA_GET && on.before > 0 &&
            (on.before > on.before_rma || !rma_driver_fence(peer)))
            ski_rma_flush_before_fence(op->remote.pe, false);
    } else if (ski_op_params_order(params) == SKUA_ORDER_STRICT || on.all > on.rma ||
               (on.rma > 0 && !rma_driver_fence(peer))) {
        ski_rma_flush(op->remote.pe);
    }
    ski_order_stores(); /* the driver may have stored them itself, through shared memory */
}

/* ---- calls ----------------------------------------------------------------------------- */

/* Finds the key of a region and the peer; SKUA_ERR_UNSUPPORTED: the driver cannot access it. */
static skua_status rma_driver_find_peer(struct ski_pe *self, skua_gaddr at,
                                        const struct ski_rkey **rkey, struct ski_peer **peer)
{
    skua_status status = SKUA_OK;

    *peer = NULL;
    *rkey = ski_rkey_lookup(self, at, &status);
    if (!*rkey)
        return status;
    *peer = ski_net_endpoint(self, ski_am_server(self->job, at.pe));
    return (*rkey)->key && *peer ? SKUA_OK : SKUA_ERR_UNSUPPORTED;
}

/* Begins a request with one part that keeps it from ending before all are begun. */
static struct ski_rma_request *rma_driver_begin(struct ski_pe *self, const struct ski_rma_op *op,
                                                const struct ski_resolved *target,
                                                const skua_rma_params *params, bool wait)
{
    struct ski_rma_request *req =
        ski_rma_request_begin(self, op, target, params, SKI_RMA_BY_DRIVER);

    req->part.fn = rma_driver_part_done;
    req->waited  = wait;
    req->sealed  = true;
    req->parts   = 1;
    req->after   = rma_driver_keep_params(op, params);
    return req;
}

static skua_status rma_driver_transfer(struct ski_pe *self, const struct ski_rma_op *op,
                                       const struct ski_resolved *target,
                                       const skua_rma_params *params, bool wait)
{
    const struct ski_rkey  *rkey;
    struct ski_peer        *peer;
    struct ski_rma_request *req;
    skua_status             status = rma_driver_find_peer(self, op->remote, &rkey, &peer);

    if (status != SKUA_OK)
        return status;
    rma_driver_order(self, op, params, peer);
    req = rma_driver_begin(self, op, target, params, wait);
    rma_driver_move_all(self, req, peer, op, rkey);
    rma_driver_end_part(&req->part, SKUA_OK);
    return wait ? ski_rma_request_wait(self, req, NULL) : SKUA_PENDING;
}

skua_status ski_rma_driver_transfer(const struct ski_rma_op *op, const struct ski_resolved *target,
                                    const skua_rma_params *params, bool blocking)
{
    struct ski_caller caller;
    skua_status       status;

    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    status = rma_driver_transfer(caller.self, op, target, params, caller.external || blocking);
    ski_caller_leave(&caller);
    return status;
}

static bool rma_driver_net_op(uint32_t op, enum ski_net_op *out)
{
    static const enum ski_net_op ops[] = {
        [SKI_ATOMIC_ADD] = SKI_NET_ADD,   [SKI_ATOMIC_AND] = SKI_NET_AND,
        [SKI_ATOMIC_OR] = SKI_NET_OR,     [SKI_ATOMIC_XOR] = SKI_NET_XOR,
        [SKI_ATOMIC_SWAP] = SKI_NET_SWAP, [SKI_ATOMIC_COMPARE_SWAP] = SKI_NET_CSWAP};

    if (op > SKI_ATOMIC_COMPARE_SWAP)
        return false;
    *out = ops[op];
    return true;
}

/* Begins an atomic; its result is stored in the request. */
static void rma_driver_begin_atomic(struct ski_pe *self, struct ski_rma_request *req,
                                    struct ski_peer *peer, const struct ski_rma_op *op,
                                    const struct ski_rkey *rkey, enum ski_net_op net_op)
{
    skua_status status;

    do {
        req->result = op->atomic->expected;
        rma_driver_count_part(self, req);
        status = ski_net_driver()->atomic(peer, net_op, op->atomic->bytes, op->atomic->value,
                                          &req->result, rkey->base + op->remote.offset, rkey->key,
                                          &req->part);
    } while (!rma_driver_accepted(self, req, status));
}

static skua_status rma_driver_atomic(struct ski_pe *self, const struct ski_rma_op *op,
                                     const struct ski_resolved *target, uint64_t *old)
{
    const struct ski_rkey  *rkey;
    struct ski_peer        *peer;
    struct ski_rma_request *req;
    enum ski_net_op         net_op;
    skua_status             status = rma_driver_find_peer(self, op->remote, &rkey, &peer);

    if (status == SKUA_OK && !rma_driver_net_op(op->atomic->op, &net_op))
        status = SKUA_ERR_UNSUPPORTED;
    if (status != SKUA_OK)
        return status;
    ski_assert(op->atomic->bytes == 4 || op->atomic->bytes == 8);
    ski_rma_flush(op->remote.pe);
    req = rma_driver_begin(self, op, target, NULL, true);
    rma_driver_begin_atomic(self, req, peer, op, rkey, net_op);
    rma_driver_end_part(&req->part, SKUA_OK);
    status = ski_rma_request_wait(self, req, old);
    if (op->atomic->bytes == 4)
        *old = (uint32_t)*old;
    return status;
}

skua_status ski_rma_driver_atomic(const struct ski_rma_op *op, const struct ski_resolved *target,
                                  uint64_t *old)
{
    struct ski_caller caller;
    skua_status       status;

    if (!ski_config.rma_atomics || !ski_net_driver() || !ski_net_driver()->atomic)
        return SKUA_ERR_UNSUPPORTED;
    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    status = rma_driver_atomic(caller.self, op, target, old);
    ski_caller_leave(&caller);
    return status;
}
