/* SPDX-License-Identifier: Apache-2.0 */
/* rma_request.c - see rma_request.h. */
#include "onesided/rma/rma_request.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <skua/scheduler.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/sanitizer.h"
#include "core/net/ack_policy.h"
#include "core/sched/wait.h"
#include "onesided/pe/external_thread.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/rma/rma_backlog.h"

#define RMA_POLL    64 /* messages that an external thread runs while it holds the lock       */
#define RMA_LOOKS   64 /* polls before it sleeps for RMA_LOOK_NS between two polls */
#define RMA_LOOK_NS 20000

/* ---- accounting ------------------------------------------------------------------------- */

static void rma_request_count(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_outstanding_table *table = &req->rma->outstanding;

    req->on_pe     = ski_outstanding_add(table, ski_outstanding_pe(req->remote.pe));
    req->in_region = ski_outstanding_add(table, ski_outstanding_region(req->remote.region.id));
    req->on_pe->rma += req->protocol == SKI_RMA_BY_DRIVER;
    req->on_pe->deferred += req->protocol == SKI_RMA_BY_AM_DEFERRED;
    req->on_pe->copies += req->protocol == SKI_RMA_BY_SOURCE;
    req->epoch = req->on_pe->epoch;
    ski_onesided_pe(self)->outstanding++;
    /* Requests to another host do not keep operations on this one from the fast path: nothing is
     * ordered between operations on different PEs but by a flush. */
    if (req->on_host)
        atomic_fetch_add_explicit(&ski_regions.busy, 2, memory_order_relaxed);
}

/* Removes a request from the counts of its target and its region. */
static void rma_request_uncount(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_outstanding_table *table = &req->rma->outstanding;

    ski_assert(ski_onesided_pe(self)->outstanding > 0);
    if (req->epoch != req->on_pe->epoch) { /* a fence came after it */
        ski_assert(req->on_pe->before > 0);
        req->on_pe->before--;
        req->on_pe->before_rma -= req->protocol == SKI_RMA_BY_DRIVER;
    }
    req->on_pe->rma -= req->protocol == SKI_RMA_BY_DRIVER;
    req->on_pe->deferred -= req->protocol == SKI_RMA_BY_AM_DEFERRED;
    req->on_pe->copies -= req->protocol == SKI_RMA_BY_SOURCE;
    req->on_pe->staged -= req->staged;
    ski_outstanding_remove(table, req->on_pe);
    ski_outstanding_remove(table, req->in_region);
    ski_onesided_pe(self)->outstanding--;
    if (req->on_host)
        atomic_fetch_sub_explicit(&ski_regions.busy, 2, memory_order_relaxed);
}

void ski_rma_request_set_protocol(struct ski_rma_request *req, enum ski_rma_protocol protocol)
{
    struct ski_outstanding *on     = req->on_pe;
    bool                    before = req->epoch != on->epoch; /* a fence came after it */

    ski_assert(req->protocol != SKI_RMA_BY_SOURCE && protocol != SKI_RMA_BY_SOURCE);
    on->rma -= req->protocol == SKI_RMA_BY_DRIVER;
    on->before_rma -= before && req->protocol == SKI_RMA_BY_DRIVER;
    on->deferred -= req->protocol == SKI_RMA_BY_AM_DEFERRED;
    req->protocol = protocol;
    on->rma += protocol == SKI_RMA_BY_DRIVER;
    on->before_rma += before && protocol == SKI_RMA_BY_DRIVER;
    on->deferred += protocol == SKI_RMA_BY_AM_DEFERRED;
}

void ski_rma_request_set_staged(struct ski_rma_request *req)
{
    ski_assert(!req->staged);
    req->staged = true;
    req->on_pe->staged++;
}

/* ---- begin and end ---------------------------------------------------------------------- */

struct ski_rma_request *ski_rma_request_begin(struct ski_pe *self, const struct ski_rma_op *op,
                                              const struct ski_resolved *target,
                                              const skua_rma_params     *params,
                                              enum ski_rma_protocol      protocol)
{
    struct ski_rma_request *req = ski_pool_alloc(&self->pool, sizeof *req);

    if (!req)
        ski_fatal("%s: no memory for a request; raise SKUA_ARENA_SIZE", op->call);
    memset(req, 0, sizeof *req);
    ski_assert(op->remote.pe >= 0);
    req->rma      = ski_rma_pe(self);
    req->call     = op->verb == SKI_RMA_RKEY_QUERY ? NULL : op->call;
    req->remote   = op->remote;
    req->failed   = op->failed;
    req->protocol = protocol;
    req->on_host  = !target->remote_host;
    if (params) {
        req->handle      = params->handle;
        req->local       = params->local;
        req->remote_done = params->remote;
    }
    if (req->handle)
        req->handle->pending++;
    if (target->region && target->region->kind != SKI_REGION_SYMMETRIC) {
        req->region = target->region; /* it may be freed at any time */
        ski_region_retain(req->region);
    }
    rma_request_count(self, req);
    return req;
}

/* The target has logged more about it. */
static SKI_COLD void rma_request_refused(const struct ski_rma_request *req)
{
    char text[SKI_REGION_STR], offset[40] = "in";

    if (req->failed)
        *req->failed = req->status;
    if (!req->joined) /* else it may be any of several puts; the target has logged its offset */
        snprintf(offset, sizeof offset, "at offset %llu of",
                 (unsigned long long)req->remote.offset);
    if (req->call)
        (void)ski_refuse(req->status, "%s: PE %d refused it, %s %s: %s", req->call, req->remote.pe,
                         offset, ski_region_str(req->remote.region.id, text),
                         skua_status_str(req->status));
}

void ski_rma_request_end(struct ski_pe *self, struct ski_rma_request *req)
{
    struct ski_rma_pe      *rma   = req->rma;
    struct ski_outstanding *on_pe = req->on_pe; /* stays: unused ones are kept */

    rma_request_uncount(self, req);
    if (rma->short_puts == req)
        rma->short_puts = NULL;
    if (on_pe->backlog > 0) /* before completions: what they begin must not overtake it */
        ski_rma_backlog_advance(self, on_pe);
    if (req->region)
        ski_region_release(req->region);
    ski_assert(!req->done && req->sealed && req->parts == 0);
    req->done = true;
    if (req->status != SKUA_OK)
        rma_request_refused(req);
    if (req->old && req->status == SKUA_OK)
        ski_atomic_store_old(req->old, req->result, req->old_bytes);
    if (req->handle)
        req->handle->pending--;
    skua_complete(req->local, NULL, 0);
    skua_complete(req->remote_done, NULL, 0);
    if (req->waited)
        ski_wake_all(self, &req->waiters);
    else
        ski_pool_free(&self->pool, req);
    ski_wake_all(self, &rma->waiters);
}

/* ---- waiting ---------------------------------------------------------------------------- */

void ski_rma_note_wait(struct ski_rma_pe *rma, uint64_t ticks)
{
    uint64_t              ns     = (uint64_t)(ski_config.ack_delay * 1e3);
    struct ski_ack_policy policy = {.limit = ski_ns_to_ticks(ns)};

    rma->waits.needed =
        ns > 0 ? ski_ack_policy_needed(&policy, rma->waits.relaxed ? ticks : 0) : UINT32_MAX;
    rma->waits.puts    = 0;
    rma->waits.relaxed = false;
}

/* A caller that gives up may free its memory: the driver has to be done with it. */
static bool rma_wait_on(struct ski_pe *self, void **list, bool (*done)(void *arg), void *arg)
{
    uint64_t begun = ski_ticks();

    while (!done(arg))
        if (!ski_wait_on_runtime(self, list, (struct ski_call){"a one-sided operation", NULL})) {
            while (ski_rma_pe(self)->at_driver > 0)
                ski_net_progress(self);
            return false;
        }
    if (!ski_onesided_pe(self)->syncing) /* else the barrier would wait for the same PEs */
        ski_rma_note_wait(ski_rma_pe(self), ski_ticks() - begun);
    return true;
}

bool ski_rma_wait(struct ski_pe *self, bool (*done)(void *arg), void *arg)
{
    return rma_wait_on(self, &ski_rma_pe(self)->waiters, done, arg);
}

static bool rma_request_is_done(void *arg)
{
    return ((struct ski_rma_request *)arg)->done;
}

skua_status ski_rma_request_wait(struct ski_pe *self, struct ski_rma_request *req, uint64_t *result)
{
    skua_status status;

    if (!rma_wait_on(self, &req->waiters, rma_request_is_done, req))
        return SKUA_ERR_EXIT; /* the job ends, and other requests with it */
    ski_assert(req->waited);
    status = req->status;
    if (result)
        *result = req->result;
    ski_pool_free(&self->pool, req);
    return status;
}

/* ---- handles and flushes ------------------------------------------------------------ */

/* Polls once, as the PE of external threads.  Returns true if @p done(arg) holds, or the job ends
 * and the driver is done with memory of callers, which they may free. */
static bool rma_look_outside(struct ski_pe *self, bool (*done)(void *arg), void *arg)
{
    ski_pe_check_exit(self);
    if (done(arg) || (skua_poll(RMA_POLL), done(arg)))
        return true;
    if (!ski_pe_exiting(self))
        return false;
    while (ski_rma_pe(self)->at_driver > 0)
        ski_net_progress(self);
    return true;
}

/* Waits on an external thread until @p done(arg) holds on the PE of external threads, and releases
 * that PE to other threads between two polls.  The process does not leave skua_main() meanwhile; if
 * it is leaving already, the end of that PE waits for the driver, and is waited for here. */
static void rma_wait_outside(bool (*done)(void *arg), void *arg)
{
    struct ski_caller caller;
    uint64_t          begun = ski_ticks();

    while (!ski_caller_enter(&caller)) {
        if (!ski_external_outstanding())
            return;
        sched_yield();
    }
    for (unsigned looks = 1; !rma_look_outside(caller.self, done, arg); looks++) {
        ski_caller_pause(&caller);
        if (looks > RMA_LOOKS)
            nanosleep(&(struct timespec){0, RMA_LOOK_NS}, NULL);
        else
            sched_yield();
        ski_caller_resume(&caller);
    }
    ski_rma_note_wait(ski_rma_pe(caller.self), ski_ticks() - begun);
    ski_caller_leave(&caller);
}

static bool rma_handle_is_done(void *arg)
{
    return ((skua_handle *)arg)->pending == 0;
}

/* Handles of external threads change under the lock of their PE.  When the process leaves
 * skua_main() they are complete once the driver is done with memory of callers. */
static bool rma_handle_test_outside(skua_handle *handle)
{
    struct ski_caller caller;
    bool              done;

    if (!ski_external_outstanding())
        return true;
    if (!ski_caller_enter(&caller))
        return !ski_external_outstanding();
    done = rma_handle_is_done(handle) || (skua_poll(RMA_POLL), rma_handle_is_done(handle));
    ski_caller_leave(&caller);
    return done;
}

bool skua_handle_test(skua_handle *handle)
{
    if (!ski_self)
        return rma_handle_test_outside(handle);
    if (handle->pending && !ski_self->thread)
        skua_poll(1);
    return rma_handle_is_done(handle);
}

void skua_handle_wait(skua_handle *handle)
{
    if (!ski_self) {
        if (ski_external_outstanding())
            rma_wait_outside(rma_handle_is_done, handle);
    } else if (handle->pending)
        ski_rma_wait(SKI_SELF(), rma_handle_is_done, handle);
}

/* What a flush waits for: the end of all requests of a key, or of all. */
struct rma_flush {
    uint64_t key;
    bool     all;
};

static bool rma_flush_is_done(void *arg)
{
    const struct rma_flush *f = arg;

    return f->all ? ski_onesided_pe(ski_self)->outstanding == 0
                  : !ski_outstanding_find(&ski_rma_pe(ski_self)->outstanding, f->key);
}

/* The fence of the CPU orders what this process did itself before what follows. */
static void rma_flush_key(const char *call, uint64_t key, bool all)
{
    struct rma_flush f = {key, all};

    if (!ski_self)
        ski_onesided_check(call);
    if (!ski_self && ski_external_outstanding())
        rma_wait_outside(rma_flush_is_done, &f);
    else if (ski_self && !rma_flush_is_done(&f))
        ski_rma_wait(ski_self, rma_flush_is_done, &f);
    ski_fence(memory_order_seq_cst);
}

void ski_rma_flush(int pe)
{
    rma_flush_key("skua_flush", ski_outstanding_pe(pe), false);
}

/* ---- fences ------------------------------------------------------------------------- */

/* What an operation after a fence waits for. */
struct rma_before {
    const struct ski_pe *self;
    int                  pe;
    bool                 driver_only;
};

static bool rma_before_is_done(void *arg)
{
    const struct rma_before *b  = arg;
    struct ski_outstanding   on = ski_rma_outstanding_on(b->self, b->pe);

    return on.before == 0 || (b->driver_only && on.before_rma == 0 && on.backlog == 0);
}

void ski_rma_flush_before_fence(int pe, bool driver_only)
{
    struct rma_before b = {ski_self, pe, driver_only};

    if (!ski_self)
        ski_rma_flush(pe);
    else if (ski_onesided_pe(ski_self)->outstanding > 0 && !rma_before_is_done(&b))
        ski_rma_wait(ski_self, rma_before_is_done, &b);
}

/* Ends the job with an error if @p pe does not exist. */
static void rma_check_pe(const char *call, int pe)
{
    const struct ski_job *job = ski_onesided_job();

    if (job && (uint32_t)pe >= (uint32_t)job->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, job->pes - 1);
}

/* A fence of an external thread divides the operations of all of them. */
static void rma_fence_outside(void (*divide)(struct ski_outstanding_table *table, int pe), int pe)
{
    struct ski_caller caller;

    if (!ski_external_outstanding() || !ski_caller_enter(&caller))
        return;
    divide(&ski_rma_pe(caller.self)->outstanding, pe);
    ski_caller_leave(&caller);
}

static void rma_fence_pe(struct ski_outstanding_table *table, int pe)
{
    struct ski_outstanding *entry = ski_outstanding_find(table, ski_outstanding_pe(pe));

    if (entry)
        ski_outstanding_fence(entry);
}

static void rma_fence_every_pe(struct ski_outstanding_table *table, int pe)
{
    (void)pe;
    ski_outstanding_fence_all(table);
}

/* The fence of the CPU orders what this process stored before it, also as seen by a PE that gets
 * the later data by acquire, or by a request that was sent after it. */
static void rma_fence(const char *call, void (*divide)(struct ski_outstanding_table *table, int pe),
                      int         pe)
{
    if (!ski_self)
        ski_onesided_check(call);
    ski_fence(memory_order_seq_cst);
    if (!ski_self)
        rma_fence_outside(divide, pe);
    else if (ski_onesided_pe(ski_self)->outstanding > 0)
        divide(&ski_rma_pe(ski_self)->outstanding, pe);
}

void skua_fence(int pe)
{
    rma_check_pe(__func__, pe);
    rma_fence(__func__, rma_fence_pe, pe);
}

void skua_fence_all(void)
{
    rma_fence(__func__, rma_fence_every_pe, 0);
}

/* ---- orders ------------------------------------------------------------------------- */

bool ski_rma_outstanding(int pe)
{
    if (!ski_self)
        return ski_external_outstanding();
    return ski_onesided_pe(ski_self)->outstanding > 0 &&
           ski_rma_outstanding_on(ski_self, pe).all > 0;
}

void ski_rma_order_before(skua_order order, enum ski_rma_verb verb, int pe)
{
    order = ski_order_or_setting(order);
    if (order == SKUA_UNORDERED || (order == SKUA_ORDER_PARTIAL && verb != SKI_RMA_PUT))
        return;
    if (ski_self ? ski_onesided_pe(ski_self)->outstanding > 0 : ski_external_outstanding())
        ski_rma_flush(pe); /* requests in flight may be overtaken */
    /* Partial: earlier stores come before this one.  Strict: loads as well, and stores before
     * loads.  These pair with whatever the PEs that look at the memory use. */
    if (order == SKUA_ORDER_PARTIAL)
        ski_order_stores();
    else
        ski_fence(memory_order_seq_cst);
}

void skua_flush(int pe)
{
    rma_check_pe(__func__, pe);
    ski_rma_flush(pe);
}

void skua_flush_region(skua_region region)
{
    if (!region.id)
        ski_misuse("%s: this is not a region; skua_flush_all() waits for all", __func__);
    rma_flush_key(__func__, ski_outstanding_region(region.id), false);
}

void skua_flush_all(void)
{
    rma_flush_key(__func__, 0, true);
}
