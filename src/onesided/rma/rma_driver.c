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
#include "onesided/pe/external_thread.h"
#include "onesided/region/region_pe.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/iov.h"
#include "onesided/rma/rma_backlog.h"
#include "onesided/rma/rma_request.h"

/* The actions at the target after the data have been put, or fetched. */
struct ski_rma_after {
    struct ski_rma_op op;     /* a put without data */
    skua_rma_params   params; /* only what happens at the target; signal_data follows this struct */
};

static bool rma_driver_advance_atomic(struct ski_pe *self, struct ski_rma_request *req);

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

/* Returns a copy of what comes after the data at the target, or NULL if nothing does. */
static struct ski_rma_after *rma_driver_keep_params(const struct ski_rma_op *op,
                                                    const skua_rma_params   *params)
{
    struct ski_rma_after *after;

    if (!params || (skua_gaddr_is_none(params->notify) && !params->signal.id))
        return NULL;
    after  = ski_malloc(sizeof *after + params->signal_bytes);
    *after = (struct ski_rma_after){
        .op     = {.verb = SKI_RMA_PUT, .remote = op->remote, .signal_for = op->signal_for},
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

    ski_assert(req->parts == 0 && !req->done);
    if (req->atomic && !rma_driver_advance_atomic(self, req))
        return;
    req->after = NULL;
    if (after && req->status == SKUA_OK)
        ski_am_after_put(self, req, &after->op, &after->params);
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

/* Upcall of the driver: a part is complete. */
static void rma_driver_part_done(struct ski_net_done *part, skua_status status)
{
    ski_assert(((struct ski_rma_request *)part)->rma->at_driver > 0);
    ((struct ski_rma_request *)part)->rma->at_driver--;
    rma_driver_end_part(part, status);
}

/* Counts a part before it is begun: the driver may report its completion within the call. */
static void rma_driver_count_part(struct ski_pe *self, struct ski_rma_request *req)
{
    req->parts++;
    req->rma->at_driver++;
    ski_net_op_begin(self);
}

/* Handles what the driver returned.  Returns false if it had no room: the part must be begun again.
 */
static bool rma_driver_accepted(struct ski_pe *self, struct ski_rma_request *req,
                                skua_status status)
{
    if (status == SKUA_PENDING)
        return true;
    ski_assert(req->parts > 0 && req->rma->at_driver > 0);
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

    ski_assert(op->verb == SKI_RMA_PUT || op->verb == SKI_RMA_GET);
    do {
        rma_driver_count_part(self, req);
        status = op->verb == SKI_RMA_PUT
                     ? driver->put(peer, iov.local, iov.bytes, remote, rkey->key, &req->part)
                     : driver->get(peer, iov.local, iov.bytes, remote, rkey->key, &req->part);
    } while (!rma_driver_accepted(self, req, status));
}

/* Moves all blocks of an operation, and flushes them if it is a put. */
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

/* Returns whether the driver orders what it is asked for next after what it was asked for
 * before. */
static bool rma_driver_fence(struct ski_peer *peer)
{
    const struct ski_driver *driver = ski_net_driver();

    return driver->fence && driver->fence(peer);
}

/* Orders puts after puts: waits for requests by active message; the driver keeps its own in order,
 * or they are waited for as well.  An unordered put is ordered after a fence only. */
static void rma_driver_order(struct ski_pe *self, const struct ski_rma_op *op,
                             const skua_rma_params *params, struct ski_peer *peer)
{
    struct ski_outstanding on = ski_rma_outstanding_on(self, op->remote.pe);

    if (on.backlog > 0) { /* which would wait for this operation as well */
        ski_rma_flush(op->remote.pe);
        on = ski_rma_outstanding_on(self, op->remote.pe);
    }
    if (op->verb != SKI_RMA_GET && on.before > 0 &&
        (on.before > on.before_rma || on.staged > 0 || !rma_driver_fence(peer))) {
        ski_rma_flush_before_fence(op->remote.pe, false);
        on = ski_rma_outstanding_on(self, op->remote.pe);
    }
    if (ski_rma_op_is_ordered(op, params) &&
        (ski_op_params_order(params) == SKUA_ORDER_STRICT || on.all > on.rma ||
         (on.rma > 0 && !rma_driver_fence(peer))))
        ski_rma_flush(op->remote.pe);
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
    if (req->after)
        ski_rma_request_set_staged(req);
    return req;
}

/* A query for a key that a non-blocking operation started; it does not wait for the answer. */
struct ski_rma_rkey_query {
    skua_gaddr           at;
    struct ski_rkey_info info;
};

static void rma_driver_on_query(void *arg, const void *data, size_t bytes)
{
    struct ski_rma_rkey_query *query = arg;

    (void)data, (void)bytes;
    if (query->info.bytes > 0) /* else refused: the target reports this to the operations */
        ski_rkey_add(ski_self, query->at, &query->info);
    ski_rma_pe(ski_self)->query = NULL;
    free(query);
}

/* Returns whether the driver may do an operation now, without waiting.  The first operations on a
 * region, whose key is queried meanwhile, and those that would have to wait for others go by active
 * message. */
static bool rma_driver_is_ready(struct ski_pe *self, const struct ski_rma_op *op,
                                const skua_rma_params *params)
{
    struct ski_rma_pe     *rma  = ski_rma_pe(self);
    struct ski_outstanding on   = ski_rma_outstanding_on(self, op->remote.pe);
    struct ski_peer       *peer = ski_net_endpoint(self, ski_am_server(self->job, op->remote.pe));

    if (!ski_rkey_find(self, op->remote)) {
        if (!rma->query) {
            rma->query  = ski_calloc(1, sizeof *rma->query);
            *rma->query = (struct ski_rma_rkey_query){.at = op->remote};
            ski_am_start_rkey_query(self, op->remote, &rma->query->info,
                                    skua_done_call(rma_driver_on_query, rma->query));
        }
        return false;
    }
    return on.backlog == 0 && (op->verb == SKI_RMA_GET || on.before == 0) &&
           (!ski_rma_op_is_ordered(op, params) || on.all == 0 ||
            (ski_op_params_order(params) != SKUA_ORDER_STRICT && on.all == on.rma && peer &&
             rma_driver_fence(peer)));
}

/* Performs or begins a put or a get by the driver. */
static skua_status rma_driver_transfer(struct ski_pe *self, const struct ski_rma_op *op,
                                       const struct ski_resolved *target,
                                       const skua_rma_params *params, bool wait)
{
    const struct ski_rkey  *rkey;
    struct ski_peer        *peer;
    struct ski_rma_request *req;
    skua_status             status;

    if (!wait && !rma_driver_is_ready(self, op, params))
        return SKUA_ERR_UNSUPPORTED;
    status = rma_driver_find_peer(self, op->remote, &rkey, &peer);
    if (status != SKUA_OK)
        return status;
    ski_region_pe(self)->rkeys_held++; /* handlers may look up others during the wait */
    rma_driver_order(self, op, params, peer);
    ski_region_pe(self)->rkeys_held--;
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

/* ---- atomics ---------------------------------------------------------------------------- */

/* An atomic of the driver.  What the driver does not know (minima, maxima, floating-point sums) is
 * a loop around its compare-and-swap: all atomics of a word are then the driver's, and atomic with
 * respect to each other. */
struct ski_rma_atomic {
    struct ski_atomic      atomic;
    const struct ski_rkey *rkey; /* NULL: not known yet, and `info` is asked for */
    struct ski_peer       *peer;
    enum ski_net_op        op; /* of the driver                                            */
    bool                   loops, issued;
    uint64_t               guess; /* expected value of the word, in a loop                 */
    struct ski_rkey_info   info;
};

/* Selects the operation of the driver, and whether it loops. */
static void rma_driver_select_atomic(struct ski_rma_atomic *a)
{
    bool real = a->atomic.type == SKUA_FLOAT || a->atomic.type == SKUA_DOUBLE;

    a->loops = false;
    switch ((skua_atomic_op)a->atomic.op) {
    case SKUA_ATOMIC_AND: a->op = SKI_NET_AND; return;
    case SKUA_ATOMIC_OR: a->op = SKI_NET_OR; return;
    case SKUA_ATOMIC_XOR: a->op = SKI_NET_XOR; return;
    case SKUA_ATOMIC_SWAP:
    case SKUA_ATOMIC_STORE: a->op = SKI_NET_SWAP; return;
    case SKUA_ATOMIC_LOAD: a->op = SKI_NET_ADD; return; /* of 0 */
    case SKUA_ATOMIC_COMPARE_SWAP: a->op = SKI_NET_CSWAP; return;
    case SKUA_ATOMIC_ADD:
    case SKUA_ATOMIC_MIN:
    case SKUA_ATOMIC_MAX: break;
    }
    a->loops = real || a->atomic.op != SKUA_ATOMIC_ADD;
    a->op    = a->loops ? SKI_NET_CSWAP : SKI_NET_ADD;
}

static struct ski_rma_atomic *rma_driver_new_atomic(const struct ski_atomic *atomic)
{
    struct ski_rma_atomic *a = ski_calloc(1, sizeof *a);

    a->atomic = *atomic;
    rma_driver_select_atomic(a);
    return a;
}

/* Sends an atomic that the driver cannot do. */
static void rma_driver_atomic_by_am(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_rma_after *after = req->after;
    struct ski_rma_op     op    = {.call   = req->call,
                                   .verb   = SKI_RMA_ATOMIC,
                                   .remote = req->remote,
                                   .atomic = &req->atomic->atomic};

    req->parts = 0;
    ski_rma_request_set_protocol(req, SKI_RMA_BY_AM);
    ski_am_send_one(self, req, &op, after ? &after->params : NULL);
    free(req->atomic);
    free(after);
    req->atomic = NULL;
    req->after  = NULL;
}

/* Issues an atomic, or the next attempt of a loop; the value before is stored in the request. */
static void rma_driver_issue_atomic(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_rma_atomic *a = req->atomic;
    uint64_t    value        = a->loops ? ski_atomic_result(&a->atomic, a->guess) : a->atomic.value;
    skua_status status;

    req->parts = 1; /* keeps it from ending before the loop below is left */
    a->issued  = true;
    do {
        req->result = a->loops ? a->guess : a->atomic.expected;
        rma_driver_count_part(self, req);
        status =
            ski_net_driver()->atomic(a->peer, a->op, a->atomic.bytes, value, &req->result,
                                     a->rkey->base + req->remote.offset, a->rkey->key, &req->part);
    } while (!rma_driver_accepted(self, req, status));
    if (status != SKUA_ERR_UNSUPPORTED) {
        rma_driver_end_part(&req->part, SKUA_OK);
        return;
    }
    req->status = SKUA_OK;
    rma_driver_atomic_by_am(self, req);
}

/* Returns whether an atomic is done; if not, the guess of its loop was wrong. */
static bool rma_driver_atomic_is_done(struct ski_rma_request *req)
{
    struct ski_rma_atomic *a = req->atomic;

    if (!a->issued)
        return false;
    if (a->atomic.bytes == 4)
        req->result = (uint32_t)req->result;
    if (req->status != SKUA_OK || !a->loops || req->result == a->guess ||
        ski_atomic_result(&a->atomic, req->result) == req->result)
        return true;
    a->guess = req->result;
    return false;
}

/* Advances an atomic, where messages may be sent and the driver called. Returns true if it is done.
 */
static bool rma_driver_advance_atomic(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_rma_atomic *a = req->atomic;

    if (!rma_driver_atomic_is_done(req)) {
        rma_driver_issue_atomic(self, req);
        return false;
    }
    req->atomic = NULL;
    free(a);
    return true;
}

/* Performs an atomic by the driver. */
static skua_status rma_driver_atomic(struct ski_pe *self, const struct ski_rma_op *op,
                                     const struct ski_resolved *target,
                                     const skua_rma_params *params, uint64_t *old)
{
    const struct ski_rkey  *rkey;
    struct ski_peer        *peer;
    struct ski_rma_request *req;
    skua_status             status = rma_driver_find_peer(self, op->remote, &rkey, &peer);

    if (status != SKUA_OK)
        return status;
    ski_assert(ski_atomic_is_valid(op->atomic));
    ski_region_pe(self)->rkeys_held++;
    ski_rma_flush(op->remote.pe);
    ski_region_pe(self)->rkeys_held--;
    req               = rma_driver_begin(self, op, target, params, true);
    req->atomic       = rma_driver_new_atomic(op->atomic);
    req->atomic->rkey = rkey;
    req->atomic->peer = peer;
    rma_driver_end_part(&req->part, SKUA_OK); /* issued by the message that this sends */
    return ski_rma_request_wait(self, req, old);
}

static bool rma_driver_has_atomics(void)
{
    return ski_config.rma_atomics && ski_net_driver() && ski_net_driver()->atomic &&
           ski_rma_driver_enabled(ski_net_driver());
}

skua_status ski_rma_driver_atomic(const struct ski_rma_op *op, const struct ski_resolved *target,
                                  const skua_rma_params *params, uint64_t *old)
{
    struct ski_caller caller;
    skua_status       status;

    if (!rma_driver_has_atomics())
        return SKUA_ERR_UNSUPPORTED;
    if (!ski_caller_enter(&caller))
        return SKUA_ERR_EXIT;
    status = rma_driver_atomic(caller.self, op, target, params, old);
    ski_caller_leave(&caller);
    return status;
}

/* ---- non-blocking atomics ------------------------------------------------------------------ */

/* Returns whether the driver can access a word, which is in the piece and is aligned.  If not, the
 * target reports why. */
static bool rma_driver_key_covers(const struct ski_rkey *rkey, uint64_t offset, size_t bytes)
{
    return rkey->key && bytes <= rkey->bytes && offset <= rkey->bytes - bytes &&
           (rkey->base + offset) % bytes == 0;
}

/* Issues an atomic whose key is known, or sends it if the driver cannot access the memory. */
static void rma_driver_atomic_with_key(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_rma_atomic *a = req->atomic;

    a->peer = ski_net_endpoint(self, ski_am_server(self->job, req->remote.pe));
    if (a->peer && rma_driver_key_covers(a->rkey, req->remote.offset, a->atomic.bytes))
        rma_driver_end_part(&req->part, SKUA_OK); /* by the message that this sends */
    else
        rma_driver_atomic_by_am(self, req);
}

static void rma_driver_on_rkey(void *arg, const void *data, size_t bytes)
{
    struct ski_rma_request *req = arg;

    (void)data, (void)bytes;
    if (req->atomic->info.bytes == 0) { /* refused, or no memory: the target reports why */
        rma_driver_atomic_by_am(ski_self, req);
        return;
    }
    req->atomic->rkey = ski_rkey_add(ski_self, req->remote, &req->atomic->info);
    rma_driver_atomic_with_key(ski_self, req);
}

/* Begins an atomic of the backlog in its turn. */
static void rma_driver_start_in_turn(struct ski_pe *self, struct ski_rma_request *req,
                                     const struct ski_rma_op *op, const skua_rma_params *params)
{
    req->part.fn = rma_driver_part_done;
    req->sealed  = true;
    req->parts   = 1;
    req->after   = rma_driver_keep_params(op, params);
    req->atomic  = rma_driver_new_atomic(op->atomic);
    ski_rma_request_set_protocol(req, SKI_RMA_BY_DRIVER);
    ski_rma_request_set_staged(req);
    req->atomic->rkey = ski_rkey_find(self, op->remote);
    if (req->atomic->rkey)
        rma_driver_atomic_with_key(self, req);
    else
        ski_am_start_rkey_query(self, op->remote, &req->atomic->info,
                                skua_done_call(rma_driver_on_rkey, req));
}

skua_status ski_rma_driver_start_atomic(const struct ski_rma_op   *op,
                                        const struct ski_resolved *target,
                                        const skua_rma_params *params, void *old)
{
    struct ski_rma_request *req;

    if (!rma_driver_has_atomics())
        return SKUA_ERR_UNSUPPORTED;
    req            = ski_rma_request_begin(ski_self, op, target, params, SKI_RMA_BY_AM);
    req->old       = old;
    req->old_bytes = op->atomic->bytes;
    if (!old)
        req->local = skua_done_nothing();
    ski_rma_backlog_add(
        req->on_pe, &(struct ski_rma_issue){req, op, params, rma_driver_start_in_turn, true, NULL});
    ski_rma_backlog_advance(ski_self, req->on_pe);
    if (!old && params)
        skua_complete(params->local, NULL, 0);
    return SKUA_PENDING;
}
