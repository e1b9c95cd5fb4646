/* SPDX-License-Identifier: Apache-2.0 */
/* rma_driver.c - see rma_driver.h. */
#include "onesided/rma/rma_driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/rma_request.h"
#include "onesided/rma/am_origin.h"

/* What an operation brings at the target when its data is there, or was fetched. */
struct ski_afterwards {
    skua_gaddr to;
    skua_ends  ends; /* only what happens there; signal_data is behind this */
};

bool ski_rma_wanted(const struct ski_driver *driver)
{
    if (!driver->put || ski_config.rma == 0)
        return false;
    return ski_config.rma > 0 || (driver->by_hardware && driver->by_hardware());
}

bool ski_rma_pays(const struct ski_transfer *t)
{
    const struct ski_driver *driver = ski_far_driver();

    return t->shape.bytes >= ski_config.rma_threshold &&
           (t->verb == SKI_PUT || t->verb == SKI_GET) &&
           (t->shape.kind == SKI_CONTIGUOUS || t->shape.kind == SKI_STRIDED) && driver &&
           !(ski_self && ski_self->thread) && /* libraries below need more stack */
           ski_rma_wanted(driver);
}

/* ---- ends ------------------------------------------------------------------------------ */

static struct ski_afterwards *keep_ends(const struct ski_transfer *t, const skua_ends *ends)
{
    struct ski_afterwards *after;

    if (!ends || (skua_gaddr_is_none(ends->notify) && !ends->signal.id))
        return NULL;
    after  = ski_malloc(sizeof *after + ends->signal_bytes);
    *after = (struct ski_afterwards){.to   = t->remote,
                                     .ends = {.notify       = ends->notify,
                                              .notify_add   = ends->notify_add,
                                              .signal       = ends->signal,
                                              .signal_data  = after + 1,
                                              .signal_bytes = ends->signal_bytes}};
    if (ends->signal_bytes)
        memcpy(after + 1, ends->signal_data, ends->signal_bytes);
    return after;
}

/* The end, where anything may be sent; or the request that brings what is left to do at the
 * target, which then ends the operation. */
static void finish(struct ski_pe *self, struct ski_operation *operation)
{
    struct ski_afterwards *after = operation->afterwards;

    operation->afterwards = NULL;
    if (after && operation->status == SKUA_OK)
        ski_request_afterwards(self, operation, after->to, &after->ends);
    else
        ski_operation_end(self, operation);
    free(after);
}

void ski_on_rma(skua_msg *msg)
{
    struct ski_operation *operation = *(struct ski_operation **)skua_msg_data(msg);

    skua_msg_free(msg);
    finish(ski_self, operation);
}

/* A part is over: from within the driver, or from the call that began it. */
static void part_over(struct ski_far_done *part, skua_status_t status)
{
    struct ski_operation *operation = (struct ski_operation *)part; /* its first member */

    if (status < 0)
        operation->status = status;
    if (--operation->parts > 0)
        return;
    ski_msg_post(ski_self, ski_self->pe, SKI_HANDLER_RMA,
                 ski_msg_copy(ski_self, SKI_HANDLER_RMA, &operation, sizeof operation));
}

/* ---- parts ----------------------------------------------------------------------------- */

/* The driver's word that a part is over. */
static void driver_over(struct ski_far_done *part, skua_status_t status)
{
    ((struct ski_operation *)part)->origin->at_driver--;
    part_over(part, status);
}

/* Counts a part before it is begun: the driver may say at once that it is over. */
static void expect(struct ski_pe *self, struct ski_operation *operation)
{
    operation->parts++;
    operation->origin->at_driver++;
    ski_far_hold(self);
}

/* What came of it; false: there was no room. */
static bool begun(struct ski_pe *self, struct ski_operation *operation, skua_status_t status)
{
    if (status == SKUA_PENDING)
        return true;
    operation->parts--;
    operation->origin->at_driver--;
    ski_far_release(self);
    if (status == SKUA_ERR_AGAIN)
        ski_far_progress(self);
    else if (status < 0)
        operation->status = status;
    return status != SKUA_ERR_AGAIN;
}

static void move(struct ski_pe *self, struct ski_operation *operation, struct ski_peer *peer,
                 const struct ski_transfer *t, const struct ski_known_region *known,
                 struct ski_run run)
{
    const struct ski_driver *driver = ski_far_driver();
    uint64_t                 remote = known->base + t->remote.offset + (uint64_t)run.remote;
    skua_status_t            status;

    do {
        expect(self, operation);
        status =
            t->verb == SKI_PUT
                ? driver->put(peer, run.local, run.bytes, remote, known->key, &operation->part)
                : driver->get(peer, run.local, run.bytes, remote, known->key, &operation->part);
    } while (!begun(self, operation, status));
}

static void move_all(struct ski_pe *self, struct ski_operation *operation, struct ski_peer *peer,
                     const struct ski_transfer *t, const struct ski_known_region *known)
{
    const struct ski_driver *driver = ski_far_driver();
    struct ski_runs          runs;
    struct ski_run           run;
    skua_status_t            status;

    ski_runs_begin(&runs, &t->shape);
    while (ski_runs_next(&runs, &run))
        move(self, operation, peer, t, known, run);
    if (t->verb != SKI_PUT)
        return;
    do {
        expect(self, operation);
        status = driver->flush(peer, &operation->part);
    } while (!begun(self, operation, status));
}

/* Puts after puts: what is on the way by request is waited for, what the driver has is kept
 * in order by it, or waited for as well. */
static void order(struct ski_pe *self, const struct ski_transfer *t, const skua_ends *ends,
                  struct ski_peer *peer)
{
    const struct ski_driver *driver = ski_far_driver();
    struct ski_outstanding   on;

    if (!ski_comes_after(t, ends))
        return;
    on = ski_operations_on(self, t->remote.pe);
    if (ski_order_of(ends) == SKUA_ORDER_STRICT || on.all > on.rma ||
        (on.rma > 0 && !(driver->fence && driver->fence(peer))))
        ski_operations_fence(t->remote.pe);
    ski_order_stores(); /* the driver may have stored them itself, through shared memory */
}

/* ---- calls ----------------------------------------------------------------------------- */

/* How to reach a place: what is known of its region, and through whom; SKUA_ERR_UNSUPPORTED:
 * not by the driver. */
static skua_status_t find_way(struct ski_pe *self, skua_gaddr at,
                              const struct ski_known_region **known, struct ski_peer **peer)
{
    skua_status_t status = SKUA_OK;

    *peer  = NULL;
    *known = ski_known(self, at, &status);
    if (!*known)
        return status;
    *peer = ski_far_peer(self, ski_server(self->job, at.pe));
    return (*known)->key && *peer ? SKUA_OK : SKUA_ERR_UNSUPPORTED;
}

/* An operation, with a part of ours that keeps it from ending before all are begun. */
static struct ski_operation *begin(struct ski_pe *self, const struct ski_transfer *t,
                                   const struct ski_place *place, const skua_ends *ends, bool wait)
{
    struct ski_operation *operation = ski_operation_begin(self, t, place, ends, SKI_OPERATION_RMA);

    operation->part.fn    = driver_over;
    operation->waited     = wait;
    operation->sealed     = true;
    operation->parts      = 1;
    operation->afterwards = keep_ends(t, ends);
    return operation;
}

static skua_status_t transfer(struct ski_pe *self, const struct ski_transfer *t,
                              const struct ski_place *place, const skua_ends *ends, bool wait)
{
    const struct ski_known_region *known;
    struct ski_peer               *peer;
    struct ski_operation          *operation;
    skua_status_t                  status = find_way(self, t->remote, &known, &peer);

    if (status != SKUA_OK)
        return status;
    order(self, t, ends, peer);
    operation = begin(self, t, place, ends, wait);
    move_all(self, operation, peer, t, known);
    part_over(&operation->part, SKUA_OK);
    return wait ? ski_operation_wait(self, operation, NULL) : SKUA_PENDING;
}

skua_status_t ski_rma_transfer(const struct ski_transfer *t, const struct ski_place *place,
                               const skua_ends *ends, bool blocking)
{
    struct ski_actor actor;
    skua_status_t    status;

    if (!ski_act_begin(&actor))
        return SKUA_ERR_EXIT;
    status = transfer(actor.self, t, place, ends, actor.guest || blocking);
    ski_act_end(&actor);
    return status;
}

static bool op_of(uint32_t op, enum ski_net_op *out)
{
    static const enum ski_net_op ops[] = {
        [SKI_ADD] = SKI_NET_ADD, [SKI_AND] = SKI_NET_AND,   [SKI_OR] = SKI_NET_OR,
        [SKI_XOR] = SKI_NET_XOR, [SKI_SWAP] = SKI_NET_SWAP, [SKI_COMPARE_SWAP] = SKI_NET_CSWAP};

    if (op > SKI_COMPARE_SWAP)
        return false;
    *out = ops[op];
    return true;
}

/* Begins an atomic; its result comes into the operation. */
static void begin_atomic(struct ski_pe *self, struct ski_operation *operation,
                         struct ski_peer *peer, const struct ski_transfer *t,
                         const struct ski_known_region *known, enum ski_net_op op)
{
    skua_status_t status;

    do {
        operation->result = t->atomic->expected;
        expect(self, operation);
        status = ski_far_driver()->atomic(peer, op, t->atomic->bytes, t->atomic->value,
                                          &operation->result, known->base + t->remote.offset,
                                          known->key, &operation->part);
    } while (!begun(self, operation, status));
}

static skua_status_t atomic(struct ski_pe *self, const struct ski_transfer *t,
                            const struct ski_place *place, uint64_t *old)
{
    const struct ski_known_region *known;
    struct ski_peer               *peer;
    struct ski_operation          *operation;
    enum ski_net_op                op;
    skua_status_t                  status = find_way(self, t->remote, &known, &peer);

    if (status == SKUA_OK && !op_of(t->atomic->op, &op))
        status = SKUA_ERR_UNSUPPORTED;
    if (status != SKUA_OK)
        return status;
    ski_operations_fence(t->remote.pe);
    operation = begin(self, t, place, NULL, true);
    begin_atomic(self, operation, peer, t, known, op);
    part_over(&operation->part, SKUA_OK);
    status = ski_operation_wait(self, operation, old);
    if (t->atomic->bytes == 4)
        *old = (uint32_t)*old;
    return status;
}

skua_status_t ski_rma_atomic(const struct ski_transfer *t, const struct ski_place *place,
                             uint64_t *old)
{
    struct ski_actor actor;
    skua_status_t    status;

    if (!ski_config.rma_atomics || !ski_far_driver() || !ski_far_driver()->atomic)
        return SKUA_ERR_UNSUPPORTED;
    if (!ski_act_begin(&actor))
        return SKUA_ERR_EXIT;
    status = atomic(actor.self, t, place, old);
    ski_act_end(&actor);
    return status;
}
