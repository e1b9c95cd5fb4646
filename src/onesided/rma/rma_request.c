/* SPDX-License-Identifier: Apache-2.0 */
/* rma_request.c - see rma_request.h. */
#include "onesided/rma/rma_request.h"

#include <string.h>

#include "core/sched/wait.h"
#include "onesided/region/region_table.h"

/* ---- accounting ------------------------------------------------------------------------- */

static void operation_count(struct ski_operation *operation)
{
    struct ski_outstanding_table *table = &operation->origin->outstanding;

    operation->on_pe = ski_outstanding_add(table, ski_outstanding_pe(operation->remote.pe));
    operation->in_region =
        ski_outstanding_add(table, ski_outstanding_region(operation->remote.region.id));
    operation->on_pe->rma += operation->way == SKI_OPERATION_RMA;
    operation->on_pe->deferred += operation->way == SKI_OPERATION_DEFERRED;
    table->all++;
    /* What is on its way to another host does not keep operations on this one from their short
     * cut: nothing is ordered between operations on different PEs but by a fence. */
    if (operation->near)
        atomic_fetch_add_explicit(&ski_regions.busy, 2, memory_order_relaxed);
}

static void operation_uncount(struct ski_operation *operation)
{
    struct ski_outstanding_table *table = &operation->origin->outstanding;

    operation->on_pe->rma -= operation->way == SKI_OPERATION_RMA;
    operation->on_pe->deferred -= operation->way == SKI_OPERATION_DEFERRED;
    ski_outstanding_remove(table, operation->on_pe);
    ski_outstanding_remove(table, operation->in_region);
    table->all--;
    if (operation->near)
        atomic_fetch_sub_explicit(&ski_regions.busy, 2, memory_order_relaxed);
}

/* ---- begin and end ---------------------------------------------------------------------- */

struct ski_operation *ski_operation_begin(struct ski_pe *self, const struct ski_transfer *t,
                                          const struct ski_place *place, const skua_ends *ends,
                                          enum ski_operation_way way)
{
    struct ski_operation *operation = ski_pool_alloc(&self->pool, sizeof *operation);

    if (!operation)
        ski_fatal("%s: no memory for a request; raise SKUA_ARENA_SIZE", t->call);
    memset(operation, 0, sizeof *operation);
    operation->origin = ski_origin_of(self);
    operation->call   = t->verb == SKI_DESCRIBE ? NULL : t->call;
    operation->remote = t->remote;
    operation->region = place->region;
    operation->way    = way;
    operation->near   = !place->far;
    if (ends) {
        operation->handle      = ends->handle;
        operation->local       = ends->local;
        operation->remote_done = ends->remote;
    }
    if (operation->handle)
        operation->handle->pending++;
    if (place->region)
        ski_region_hold(place->region);
    operation_count(operation);
    return operation;
}

/* The target has said more about it in its own log. */
static SKI_COLD void operation_refused(const struct ski_operation *operation)
{
    char text[SKI_REGION_TEXT];

    if (operation->call)
        (void)ski_refuse(
            operation->status, "%s: PE %d refused it, at offset %llu of %s: %s", operation->call,
            operation->remote.pe, (unsigned long long)operation->remote.offset,
            ski_region_text(operation->remote.region.id, text), skua_status_str(operation->status));
}

void ski_operation_end(struct ski_pe *self, struct ski_operation *operation)
{
    struct ski_origin *origin = operation->origin;

    operation_uncount(operation);
    if (operation->region)
        ski_region_release(operation->region);
    operation->done = true;
    if (operation->status != SKUA_OK)
        operation_refused(operation);
    if (operation->handle)
        operation->handle->pending--;
    skua_complete(operation->local, NULL, 0);
    skua_complete(operation->remote_done, NULL, 0);
    if (operation->waited)
        ski_wake_all(self, &operation->waiters);
    else
        ski_pool_free(&self->pool, operation);
    ski_wake_all(self, &origin->waiters);
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* Whoever gives up may have its memory back: so the driver has to be done with it. */
static bool operation_wait_on(struct ski_pe *self, void **list, bool (*done)(void *arg), void *arg)
{
    while (!done(arg))
        if (!ski_wait_on_runtime(self, list, (struct ski_call){"a one-sided operation", NULL})) {
            while (ski_origin_of(self)->at_driver > 0)
                ski_far_progress(self);
            return false;
        }
    return true;
}

bool ski_operations_wait(struct ski_pe *self, bool (*done)(void *arg), void *arg)
{
    return operation_wait_on(self, &ski_origin_of(self)->waiters, done, arg);
}

static bool is_done(void *arg)
{
    return ((struct ski_operation *)arg)->done;
}

skua_status_t ski_operation_wait(struct ski_pe *self, struct ski_operation *operation,
                                 uint64_t *result)
{
    skua_status_t status;

    if (!operation_wait_on(self, &operation->waiters, is_done, operation))
        return SKUA_ERR_EXIT; /* whatever else is on the way is forgotten */
    status = operation->status;
    if (result)
        *result = operation->result;
    ski_pool_free(&self->pool, operation);
    return status;
}

/* ---- handles and fences ------------------------------------------------------------ */

static bool handle_is_done(void *arg)
{
    return ((skua_handle *)arg)->pending == 0;
}

bool skua_handle_test(skua_handle *handle)
{
    if (handle->pending && ski_self && !ski_self->thread)
        skua_poll(1);
    return handle_is_done(handle);
}

void skua_handle_wait(skua_handle *handle)
{
    if (handle->pending)
        ski_operations_wait(SKI_SELF(), handle_is_done, handle);
}

/* What a fence waits for: the end of all operations of a key, or of all. */
struct fenced {
    const struct ski_outstanding_table *table;
    uint64_t                            key;
    bool                                all;
};

static bool is_quiet(void *arg)
{
    const struct fenced *f = arg;

    return f->all ? f->table->all == 0 : !ski_outstanding_find(f->table, f->key);
}

/* Everything we did is done, also by the CPU: a fence orders what follows. */
static void fence(uint64_t key, bool all)
{
    struct fenced f = {ski_self ? &ski_origin_of(ski_self)->outstanding : NULL, key, all};

    if (ski_self && !is_quiet(&f))
        ski_operations_wait(ski_self, is_quiet, &f);
    ski_fence(memory_order_seq_cst);
}

void ski_operations_fence(int pe)
{
    fence(ski_outstanding_pe(pe), false);
}

void skua_fence(int pe)
{
    const struct ski_job *job = ski_origin_job();

    if (job && (uint32_t)pe >= (uint32_t)job->pes)
        (void)ski_refuse(SKUA_ERR_INVAL, "%s: PE %d does not exist; this job has PEs 0 to %d",
                         __func__, pe, job->pes - 1);
    else
        ski_operations_fence(pe);
}

void skua_fence_region(skua_region region)
{
    if (!region.id)
        (void)ski_refuse(SKUA_ERR_REGION, "%s: this is no region; skua_fence_all() waits for all",
                         __func__);
    else
        fence(ski_outstanding_region(region.id), false);
}

void skua_fence_all(void)
{
    fence(0, true);
}
