/* SPDX-License-Identifier: Apache-2.0 */
/* operation.c - see operation.h. */
#include "onesided/operation.h"

#include <string.h>

#include "core/wait.h"

struct ski_operation *ski_operation_begin(struct ski_pe *self, const struct ski_transfer *t,
                                          const struct ski_place *place, const skua_ends *ends)
{
    struct ski_origin    *origin    = ski_origin_of(self);
    struct ski_operation *operation = ski_pool_alloc(&self->pool, sizeof *operation);

    if (!operation)
        ski_fatal("%s: no memory for a request; raise SKUA_ARENA_SIZE", t->call);
    memset(operation, 0, sizeof *operation);
    operation->pe        = t->remote.pe;
    operation->region    = place->region;
    operation->region_id = t->remote.region.id;
    if (ends) {
        operation->handle = ends->handle;
        operation->local  = ends->local;
        operation->remote = ends->remote;
    }
    if (operation->handle)
        operation->handle->pending++;
    operation->next = origin->operations;
    operation->link = &origin->operations;
    if (operation->next)
        operation->next->link = &operation->next;
    origin->operations = operation;
    if (place->region)
        ski_region_hold(place->region);
    atomic_fetch_add_explicit(&ski_regions.busy, 2, memory_order_relaxed);
    return operation;
}

void ski_operation_end(struct ski_pe *self, struct ski_operation *operation)
{
    struct ski_origin *origin = ski_origin_of(self);

    *operation->link = operation->next;
    if (operation->next)
        operation->next->link = operation->link;
    if (operation->region)
        ski_region_release(operation->region);
    atomic_fetch_sub_explicit(&ski_regions.busy, 2, memory_order_relaxed);
    operation->done = true;
    if (operation->status != SKUA_OK && !operation->waited)
        ski_log(SKI_LOG_ERROR, "PE %d refused a one-sided operation: %s", operation->pe,
                skua_status_str(operation->status));
    if (operation->handle)
        operation->handle->pending--;
    skua_complete(operation->local, NULL, 0);
    skua_complete(operation->remote, NULL, 0);
    if (!operation->waited)
        ski_pool_free(&self->pool, operation);
    ski_wake_all(self, &origin->waiters);
}

/* Whether the driver uses memory of callers. */
static bool any_at_driver(const struct ski_pe *self)
{
    for (const struct ski_operation *o = ski_origin_of(self)->operations; o; o = o->next)
        if (o->at_driver > 0)
            return true;
    return false;
}

/* Whoever gives up may have its memory back: so the driver has to be done with it. */
bool ski_operations_wait(struct ski_pe *self, bool (*done)(void *arg), void *arg)
{
    while (!done(arg))
        if (!ski_wait_on_runtime(self, &ski_origin_of(self)->waiters,
                                 (struct ski_call){"a one-sided operation", NULL})) {
            while (any_at_driver(self))
                ski_far_progress(self);
            return false;
        }
    return true;
}

static bool is_done(void *arg)
{
    return ((struct ski_operation *)arg)->done;
}

skua_status_t ski_operation_wait(struct ski_pe *self, struct ski_operation *operation,
                                 uint64_t *result)
{
    skua_status_t status;

    if (!ski_operations_wait(self, is_done, operation))
        return SKUA_ERR_EXIT; /* whatever else is on the way is forgotten */
    status = operation->status;
    if (result)
        *result = operation->result;
    ski_pool_free(&self->pool, operation);
    return status;
}

bool ski_operations_any(const struct ski_pe *self, int pe, bool rma)
{
    for (const struct ski_operation *o = ski_origin_of(self)->operations; o; o = o->next)
        if (o->pe == pe && o->rma == rma)
            return true;
    return false;
}

bool ski_operations_late(const struct ski_pe *self, int pe)
{
    for (const struct ski_operation *o = ski_origin_of(self)->operations; o; o = o->next)
        if (o->pe == pe && o->late)
            return true;
    return false;
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

/* What a fence is about. */
struct fenced {
    const struct ski_origin *origin;
    int                      pe; /* or -1 */
    uint32_t                 region;
};

static bool is_quiet(void *arg)
{
    const struct fenced *f = arg;

    for (const struct ski_operation *o = f->origin->operations; o; o = o->next)
        if ((f->pe < 0 || o->pe == f->pe) && (!f->region || o->region_id == f->region))
            return false;
    return true;
}

/* Everything we did is done, also by the CPU: a fence orders what follows. */
static void fence(int pe, uint32_t region)
{
    struct fenced f = {ski_self ? ski_origin_of(ski_self) : NULL, pe, region};

    if (ski_self && f.origin->operations)
        ski_operations_wait(ski_self, is_quiet, &f);
    ski_fence(memory_order_seq_cst);
}

void skua_fence(int pe)
{
    fence(pe, 0);
}

void skua_fence_region(skua_region region)
{
    fence(-1, region.id);
}

void skua_fence_all(void)
{
    fence(-1, 0);
}
