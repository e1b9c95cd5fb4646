/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - see request.h. */
#include "onesided/request.h"

#include <string.h>

#include "base/config.h"
#include "core/handler.h"
#include "core/wait.h"
#include "onesided/origin.h"
#include "onesided/table.h"

#define RUNS 128 /* most in a packet */

/* On its way from an origin: all packets of one call. */
struct ski_operation {
    struct ski_operation *next, **link; /* in the list of its origin        */
    int32_t               pe;
    struct ski_region    *region; /* held until the end               */
    uint32_t              region_id;
    uint32_t              packets; /* sent and not yet back            */
    bool                  sealed;  /* the last one has been sent       */
    bool                  waited;  /* a caller waits and will free it  */
    bool                  done;
    skua_status_t         status;
    skua_handle          *handle;
    skua_completion       local, remote;
    uint64_t              result; /* of an atomic */
};

struct packet {
    uint32_t              verb;   /* enum ski_verb                        */
    int32_t               origin; /* where it goes back to: a PE, or a hidden one */
    int32_t               source; /* in whose name a signal comes         */
    skua_gaddr            remote;
    struct ski_operation *operation; /* the origin's                         */
    uint64_t              runs, data_bytes, signal_bytes;
    int32_t               status; /* a skua_status_t, set by the server   */
    uint32_t              op;     /* of an update                         */
    uint32_t              type;
    uint32_t              scaled;
    uint64_t              scale[2];
    struct ski_atomic     atomic;
    skua_gaddr            notify; /* of the last packet                   */
    uint64_t              notify_add;
    uint32_t              signal;
};

static struct ski_run *runs_of(struct packet *packet)
{
    return (struct ski_run *)(packet + 1);
}

static char *data_of(struct packet *packet)
{
    return (char *)(runs_of(packet) + packet->runs);
}

/* ---- the origin: operations --------------------------------------------------- */

static struct ski_operation *begin(struct ski_pe *self, const struct ski_transfer *t,
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
    ski_region_hold(place->region);
    atomic_fetch_add_explicit(&ski_regions.busy, 2, memory_order_relaxed);
    return operation;
}

/* All packets are back. */
static void end(struct ski_pe *self, struct ski_operation *operation)
{
    struct ski_origin *origin = ski_origin_of(self);

    *operation->link = operation->next;
    if (operation->next)
        operation->next->link = operation->link;
    ski_region_release(operation->region);
    atomic_fetch_sub_explicit(&ski_regions.busy, 2, memory_order_relaxed);
    operation->done = true;
    if (operation->handle)
        operation->handle->pending--;
    skua_complete(operation->local, NULL, 0);
    skua_complete(operation->remote, NULL, 0);
    if (!operation->waited)
        ski_pool_free(&self->pool, operation);
    ski_wake_all(self, &origin->waiters);
}

/* Waits until @p done(arg) holds; operations that end wake us. */
static bool wait_until(struct ski_pe *self, bool (*done)(void *arg), void *arg)
{
    while (!done(arg))
        if (!ski_wait_on(self, &ski_origin_of(self)->waiters))
            return false;
    return true;
}

static bool is_done(void *arg)
{
    return ((struct ski_operation *)arg)->done;
}

static bool has_room(void *arg)
{
    const struct ski_origin *origin = arg;
    return origin->bytes < ski_config.request_pool;
}

/* ---- the origin: packets ------------------------------------------------------ */

/* Pieces that wait to be sent together. */
struct gather {
    struct ski_pe             *self;
    const struct ski_transfer *t;
    struct ski_operation      *operation;
    size_t                     runs, bytes, limit;
    struct ski_run             run[RUNS];
};

static int server_of(const struct ski_pe *self, int pe)
{
    if (!ski_config.helper)
        return pe;
    return ski_job_helper(self->job, ski_job_process_of(self->job, pe));
}

static void fill_update(struct packet *packet, const struct ski_transfer *t)
{
    packet->op     = t->update->op.id;
    packet->type   = (uint32_t)t->update->type;
    packet->scaled = t->update->scale != NULL;
    if (packet->scaled)
        memcpy(packet->scale, t->update->scale, t->element);
}

static void fill_ends(struct packet *packet, const skua_ends *ends)
{
    packet->notify     = ends->notify;
    packet->notify_add = ends->notify_add;
    packet->signal     = ends->signal.id;
    if (packet->signal_bytes)
        memcpy(data_of(packet) + packet->data_bytes, ends->signal_data, packet->signal_bytes);
}

static void fill_data(struct packet *packet)
{
    char *to = data_of(packet);

    for (uint64_t i = 0; i < packet->runs; i++) {
        memcpy(to, runs_of(packet)[i].local, runs_of(packet)[i].bytes);
        to += runs_of(packet)[i].bytes;
    }
}

/* Sends what was gathered; @p ends goes with the last packet. */
static void send(struct gather *g, const skua_ends *ends)
{
    size_t         signal = ends && ends->signal.id ? ends->signal_bytes : 0;
    size_t         bytes  = sizeof(struct packet) + g->runs * sizeof *g->run + g->bytes + signal;
    skua_msg      *msg    = skua_msg_alloc(bytes);
    struct packet *packet = skua_msg_data(msg);

    memset(packet, 0, sizeof *packet);
    packet->verb         = g->t->verb;
    packet->origin       = g->self->pe;
    packet->source       = ski_caller_pe();
    packet->remote       = g->t->remote;
    packet->operation    = g->operation;
    packet->runs         = g->runs;
    packet->data_bytes   = g->bytes;
    packet->signal_bytes = signal;
    memcpy(runs_of(packet), g->run, g->runs * sizeof *g->run);
    if (g->t->verb == SKI_ATOMIC)
        packet->atomic = *g->t->atomic;
    if (g->t->verb == SKI_UPDATE)
        fill_update(packet, g->t);
    if (g->t->verb != SKI_GET)
        fill_data(packet);
    if (ends)
        fill_ends(packet, ends);
    g->operation->packets++;
    ski_origin_of(g->self)->bytes += bytes;
    g->runs = g->bytes = 0;
    msg->handler       = SKI_HANDLER_REQUEST;
    msg->source        = g->self->pe;
    ski_msg_post(g->self, server_of(g->self, g->t->remote.pe), SKI_HANDLER_REQUEST, msg);
}

/* Adds a run; what is full is sent, and waits for room in the pool before. */
static bool add(struct gather *g, struct ski_run run)
{
    while (run.bytes > 0) {
        size_t now = run.bytes < g->limit ? run.bytes : g->limit;

        if (g->runs == RUNS || g->bytes + now > g->limit ||
            (g->runs > 0 && now > ski_config.pack)) {
            send(g, NULL);
            if (!wait_until(g->self, has_room, ski_origin_of(g->self)))
                return false;
        }
        g->run[g->runs++] = (struct ski_run){run.local, run.remote, now};
        g->bytes += now;
        run.local += now, run.remote += (ptrdiff_t)now, run.bytes -= now;
    }
    return true;
}

/* Waits for the end; its status, and *result of an atomic. */
static skua_status_t wait_for(struct ski_pe *self, struct ski_operation *operation,
                              uint64_t *result)
{
    skua_status_t status;

    if (!wait_until(self, is_done, operation))
        return SKUA_ERR_EXIT; /* whatever is on the way is forgotten */
    status = operation->status;
    if (result)
        *result = operation->result;
    ski_pool_free(&self->pool, operation);
    return status;
}

/* Sends the packets of an operation; it may be over before this returns. */
static bool send_all(struct gather *g, const skua_ends *ends)
{
    struct ski_runs runs;
    struct ski_run  run;
    bool            go_on = true;

    ski_runs_begin(&runs, &g->t->shape);
    while (go_on && ski_runs_next(&runs, &run))
        go_on = add(g, run);
    g->operation->sealed = true;
    if (go_on)
        send(g, ends);
    return go_on;
}

static skua_status_t request(struct ski_pe *self, const struct ski_transfer *t,
                             const struct ski_place *place, const skua_ends *ends, bool wait,
                             uint64_t *result)
{
    struct gather g      = {.self = self, .t = t};
    bool          copied = t->verb != SKI_GET; /* when all is sent, the local memory is free */

    if (!wait_until(self, has_room, ski_origin_of(self)))
        return SKUA_ERR_EXIT;
    g.operation         = begin(self, t, place, ends);
    g.limit             = (ski_config.packet < 1024 ? 1024 : ski_config.packet) & ~(size_t)15;
    g.operation->waited = wait;
    if (copied)
        g.operation->local = skua_done_nothing();
    if (!send_all(&g, ends))
        return SKUA_ERR_EXIT;
    if (copied && ends)
        skua_complete(ends->local, NULL, 0);
    return wait ? wait_for(self, g.operation, result) : SKUA_PENDING;
}

skua_status_t ski_request_transfer(const struct ski_transfer *t, const struct ski_place *place,
                                   const skua_ends *ends, bool blocking)
{
    bool             handoff = ski_config.handoff && t->verb != SKI_GET;
    struct ski_actor actor;
    skua_status_t    status;

    if (!ski_act_begin(&actor))
        return SKUA_ERR_EXIT;
    /* A guest leaves nothing on the way: nobody would receive the answer. */
    status = request(actor.self, t, place, ends, actor.guest || (blocking && !handoff), NULL);
    ski_act_end(&actor);
    return blocking && status == SKUA_PENDING ? SKUA_OK : status;
}

skua_status_t ski_request_atomic(const struct ski_transfer *t, const struct ski_place *place,
                                 uint64_t *old)
{
    struct ski_actor actor;
    skua_status_t    status;

    if (!ski_act_begin(&actor))
        return SKUA_ERR_EXIT;
    status = request(actor.self, t, place, NULL, true, old);
    ski_act_end(&actor);
    return status;
}

/* ---- the server ----------------------------------------------------------------- */

/* Whether the head of a packet is whole, so that it can be answered. */
static bool can_be_answered(const skua_msg *msg, const struct packet *packet)
{
    return msg->bytes >= sizeof *packet && packet->origin >= 0 &&
           packet->origin < ski_job_all(ski_self->job);
}

/* Whether its parts are as long as it says. */
static bool is_whole(const skua_msg *msg, const struct packet *packet)
{
    size_t room = msg->bytes - sizeof *packet;

    if (packet->runs > RUNS || packet->runs * sizeof(struct ski_run) > room)
        return false;
    room -= packet->runs * sizeof(struct ski_run);
    return packet->data_bytes <= room && packet->signal_bytes <= room - packet->data_bytes;
}

/* Whether it asks for something that there is; the lowest and highest byte it
 * touches.  (Whether they are in the region is found out by ski_locate().) */
static bool is_sound(struct packet *packet, ptrdiff_t *lo, ptrdiff_t *hi)
{
    size_t total = 0;

    *lo = *hi = 0;
    for (uint64_t i = 0; i < packet->runs; i++) {
        const struct ski_run *run = &runs_of(packet)[i];
        ptrdiff_t             end;
        if (run->bytes > packet->data_bytes - total ||
            __builtin_add_overflow(run->remote, (ptrdiff_t)run->bytes, &end))
            return false;
        total += run->bytes;
        *lo = run->remote < *lo ? run->remote : *lo;
        *hi = end > *hi ? end : *hi;
    }
    if (packet->verb == SKI_ATOMIC)
        *hi = packet->atomic.bytes;
    return total == packet->data_bytes && packet->verb <= SKI_ATOMIC &&
           (packet->verb != SKI_ATOMIC ||
            ((packet->atomic.bytes == 4 || packet->atomic.bytes == 8) &&
             packet->atomic.op <= SKI_STORE)) &&
           (!packet->signal ||
            (packet->signal >= SKI_HANDLERS && packet->signal < ski_handlers.count)) &&
           (!packet->notify.region.id || packet->notify.pe == packet->remote.pe);
}

static skua_status_t serve_update(struct packet *packet, const struct ski_place *place)
{
    skua_update update = {
        {packet->op}, (skua_type)packet->type, packet->scaled ? packet->scale : NULL};
    size_t          element = 1;
    ski_update_fn   fn      = ski_update_function(&update, &element);
    struct ski_hold hold    = {NULL};
    char           *data    = data_of(packet);

    if (!fn || (uintptr_t)place->memory % (element < 8 ? element : 8))
        return SKUA_ERR_INVAL;
    for (uint64_t i = 0; i < packet->runs; i++) {
        struct ski_run *run = &runs_of(packet)[i];
        ski_update_run(&hold, place->process, place->memory + run->remote, data, run->bytes, fn,
                       element, update.scale);
        data += run->bytes;
    }
    ski_hold_end(&hold);
    return SKUA_OK;
}

static void serve_copy(struct packet *packet, const struct ski_place *place)
{
    char *data = data_of(packet);

    for (uint64_t i = 0; i < packet->runs; i++) {
        struct ski_run *run    = &runs_of(packet)[i];
        char           *remote = place->memory + run->remote;

        if (packet->verb == SKI_PUT)
            memcpy(remote, data, run->bytes);
        else
            memcpy(data, remote, run->bytes);
        data += run->bytes;
    }
}

static skua_status_t serve(struct packet *packet, ptrdiff_t lo, ptrdiff_t hi)
{
    struct ski_place place;
    skua_status_t    status = ski_locate("request", packet->remote, lo, hi, &place);

    if (status != SKUA_OK)
        return status;
    if (!ski_place_direct(&place))
        status = SKUA_ERR_UNREACH; /* it came to the wrong process */
    else if (packet->verb == SKI_UPDATE)
        status = serve_update(packet, &place);
    else if (packet->verb == SKI_ATOMIC && (uintptr_t)place.memory % packet->atomic.bytes)
        status = SKUA_ERR_ALIGN;
    else if (packet->verb == SKI_ATOMIC)
        packet->atomic.value = ski_atomic_here(&packet->atomic, &place);
    else
        serve_copy(packet, &place);
    ski_place_drop(&place);
    return status;
}

void ski_on_request(skua_msg *msg)
{
    struct packet *packet = skua_msg_data(msg);
    ptrdiff_t      lo, hi;

    if (!can_be_answered(msg, packet)) {
        ski_log(SKI_LOG_ERROR, "a one-sided request from PE %d that makes no sense was dropped",
                msg->source);
        skua_msg_free(msg);
        return;
    }
    packet->status = SKUA_ERR_INVAL;
    if (is_whole(msg, packet) && is_sound(packet, &lo, &hi))
        packet->status = serve(packet, lo, hi);
    if (packet->status == SKUA_OK && (packet->signal || packet->notify.region.id)) {
        skua_ends ends = {.notify       = packet->notify,
                          .notify_add   = packet->notify_add,
                          .signal       = {packet->signal},
                          .signal_data  = data_of(packet) + packet->data_bytes,
                          .signal_bytes = packet->signal_bytes};
        ski_ends_there("request", &ends, packet->remote.pe, packet->source);
    }
    msg->handler = SKI_HANDLER_SERVED;
    msg->source  = ski_self->pe;
    ski_msg_post(ski_self, packet->origin, SKI_HANDLER_SERVED, msg);
}

/* ---- the origin: answers ---------------------------------------------------------- */

void ski_on_served(skua_msg *msg)
{
    struct packet        *packet    = skua_msg_data(msg);
    struct ski_operation *operation = packet->operation;
    const char           *data      = data_of(packet);

    ski_origin_of(ski_self)->bytes -= msg->bytes;
    if (packet->status != SKUA_OK)
        operation->status = (skua_status_t)packet->status;
    else if (packet->verb == SKI_GET)
        for (uint64_t i = 0; i < packet->runs; i++) {
            memcpy(runs_of(packet)[i].local, data, runs_of(packet)[i].bytes);
            data += runs_of(packet)[i].bytes;
        }
    operation->result = packet->atomic.value;
    skua_msg_free(msg);
    if (--operation->packets == 0 && operation->sealed)
        end(ski_self, operation);
    else
        ski_wake_all(ski_self, &ski_origin_of(ski_self)->waiters); /* for room in the pool */
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
        wait_until(SKI_SELF(), handle_is_done, handle);
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
        wait_until(ski_self, is_quiet, &f);
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
