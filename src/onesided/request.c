/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - see request.h. */
#include "onesided/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/handler.h"
#include "core/wait.h"
#include "onesided/known.h"
#include "onesided/operation.h"
#include "onesided/origin.h"
#include "onesided/table.h"

#define RUNS      128 /* most in a packet */
#define LATE_MOST 32  /* answers that wait */

/* A packet of ours that has not been answered.  What comes back names it, and nothing
 * else of the answer is believed: where data goes is written here. */
struct ski_sent {
    struct ski_operation *operation; /* NULL: free                     */
    uint32_t              turn;      /* changes with each use          */
    uint32_t              next_free;
    size_t                bytes; /* in the pool of requests        */
    size_t                runs;  /* of a get                       */
    size_t                data_bytes;
    struct ski_run       *run;
};

/* Where data goes or comes from at the target, in bytes from the address. */
struct piece {
    int64_t  remote;
    uint64_t bytes;
};

struct request {
    uint32_t          verb;   /* enum ski_verb                                  */
    int32_t           origin; /* where it goes back to: a PE, or a hidden one   */
    int32_t           source; /* in whose name a signal comes                   */
    uint32_t          signal;
    uint64_t          packet; /* the origin's name for it                       */
    skua_gaddr        remote;
    uint64_t          pieces, data_bytes, signal_bytes;
    uint32_t          op, type, scaled; /* of an update                         */
    uint32_t          unused;
    uint64_t          scale[2];
    struct ski_atomic atomic;
    skua_gaddr        notify; /* of the last packet                             */
    uint64_t          notify_add;
};

struct answer {
    uint64_t packet;
    int32_t  status; /* a skua_status_t */
    uint32_t unused;
    uint64_t value; /* of an atomic, before */
    uint64_t data_bytes;
};

/* Whether the answer brings the data. */
static bool brings_data(uint32_t verb)
{
    return verb == SKI_GET || verb == SKI_DESCRIBE;
}

static struct piece *pieces_of(struct request *request)
{
    return (struct piece *)(request + 1);
}

static char *data_of(struct request *request)
{
    return (char *)(pieces_of(request) + request->pieces);
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

static void more_sent(struct ski_origin *origin)
{
    uint32_t room = origin->sent_room ? 2 * origin->sent_room : 32;

    origin->sent = ski_realloc(origin->sent, room * sizeof *origin->sent);
    memset(origin->sent + origin->sent_room, 0, (room - origin->sent_room) * sizeof *origin->sent);
    for (uint32_t i = origin->sent_room; i < room; i++)
        origin->sent[i].next_free = i + 1;
    origin->sent_free = origin->sent_room;
    origin->sent_room = room;
}

/* A place for the packet that is about to be sent; its name. */
static uint64_t note_sent(struct gather *g, size_t bytes)
{
    struct ski_origin *origin = ski_origin_of(g->self);
    struct ski_sent   *sent;
    uint32_t           index;

    if (origin->sent_free == origin->sent_room)
        more_sent(origin);
    index             = origin->sent_free;
    sent              = &origin->sent[index];
    origin->sent_free = sent->next_free;
    sent->operation   = g->operation;
    sent->bytes       = bytes;
    sent->data_bytes  = g->bytes;
    sent->runs        = 0;
    sent->run         = NULL;
    if (brings_data(g->t->verb)) {
        sent->runs = g->runs;
        sent->run  = ski_malloc(g->runs * sizeof *g->run);
        memcpy(sent->run, g->run, g->runs * sizeof *g->run);
    }
    return (uint64_t)sent->turn << 32 | index;
}

/* The packet of that name, or NULL. */
static struct ski_sent *find_sent(const struct ski_origin *origin, uint64_t packet)
{
    uint32_t index = (uint32_t)packet;

    if (index >= origin->sent_room || !origin->sent[index].operation ||
        origin->sent[index].turn != packet >> 32)
        return NULL;
    return &origin->sent[index];
}

static void forget_sent(struct ski_origin *origin, struct ski_sent *sent)
{
    free(sent->run);
    sent->operation = NULL;
    sent->turn++;
    sent->next_free   = origin->sent_free;
    origin->sent_free = (uint32_t)(sent - origin->sent);
}

void ski_requests_end(struct ski_origin *origin)
{
    for (uint32_t i = 0; i < origin->sent_room; i++)
        if (origin->sent[i].operation)
            free(origin->sent[i].run);
    free(origin->sent);
    free(origin->late);
}

static void fill_update(struct request *request, const struct ski_transfer *t)
{
    request->op     = t->update->op.id;
    request->type   = (uint32_t)t->update->type;
    request->scaled = t->update->scale != NULL;
    if (request->scaled)
        memcpy(request->scale, t->update->scale, t->element);
}

static void fill_ends(struct request *request, const skua_ends *ends)
{
    request->notify     = ends->notify;
    request->notify_add = ends->notify_add;
    request->signal     = ends->signal.id;
    if (request->signal_bytes)
        memcpy(data_of(request) + request->data_bytes, ends->signal_data, request->signal_bytes);
}

static void fill_pieces(struct request *request, const struct gather *g)
{
    char *to = data_of(request);

    for (size_t i = 0; i < g->runs; i++) {
        pieces_of(request)[i] = (struct piece){g->run[i].remote, g->run[i].bytes};
        if (request->data_bytes)
            memcpy(to, g->run[i].local, g->run[i].bytes);
        to += g->run[i].bytes;
    }
}

/* Sends what was gathered; @p ends goes with the last packet. */
static void send(struct gather *g, const skua_ends *ends)
{
    size_t          signal = ends && ends->signal.id ? ends->signal_bytes : 0;
    size_t          data   = brings_data(g->t->verb) ? 0 : g->bytes;
    size_t          bytes = sizeof(struct request) + g->runs * sizeof(struct piece) + data + signal;
    skua_msg       *msg   = skua_msg_alloc(bytes);
    struct request *request = skua_msg_data(msg);

    memset(request, 0, sizeof *request);
    request->verb         = g->t->verb;
    request->origin       = g->self->pe;
    request->source       = ski_caller_pe();
    request->remote       = g->t->remote;
    request->packet       = note_sent(g, bytes + g->bytes);
    request->pieces       = g->runs;
    request->data_bytes   = data;
    request->signal_bytes = signal;
    if (g->t->verb == SKI_ATOMIC)
        request->atomic = *g->t->atomic;
    if (g->t->verb == SKI_UPDATE)
        fill_update(request, g->t);
    fill_pieces(request, g);
    if (ends)
        fill_ends(request, ends);
    g->operation->parts++;
    ski_origin_of(g->self)->bytes += bytes + g->bytes;
    g->runs = g->bytes = 0;
    msg->handler       = SKI_HANDLER_REQUEST;
    msg->source        = g->self->pe;
    ski_msg_post(g->self, ski_server(g->self->job, g->t->remote.pe), SKI_HANDLER_REQUEST, msg);
}

static bool has_room(void *arg)
{
    const struct ski_origin *origin = arg;
    return origin->bytes < ski_config.request_pool;
}

/* Adds a run; what is full is sent, and waits for room in the pool before. */
static bool add(struct gather *g, struct ski_run run)
{
    while (run.bytes > 0) {
        size_t now = run.bytes < g->limit ? run.bytes : g->limit;

        if (g->runs == RUNS || g->bytes + now > g->limit ||
            (g->runs > 0 && now > ski_config.pack)) {
            send(g, NULL);
            if (!ski_operations_wait(g->self, has_room, ski_origin_of(g->self)))
                return false;
        }
        g->run[g->runs++] = (struct ski_run){run.local, run.remote, now};
        g->bytes += now;
        run.local += now, run.remote += (ptrdiff_t)now, run.bytes -= now;
    }
    return true;
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

/* Between hosts, large packets are not copied by the network. */
static size_t packet_limit(const struct ski_place *place)
{
    size_t bytes = place->far ? ski_config.packet_far : ski_config.packet;

    return (bytes < 1024 ? 1024 : bytes) & ~(size_t)15;
}

static skua_status_t request(struct ski_pe *self, const struct ski_transfer *t,
                             const struct ski_place *place, const skua_ends *ends, bool wait,
                             uint64_t *result)
{
    struct gather g      = {.self = self, .t = t};
    bool          copied = !brings_data(t->verb); /* when all is sent, the local memory is free */

    if (!ski_operations_wait(self, has_room, ski_origin_of(self)))
        return SKUA_ERR_EXIT;
    g.operation         = ski_operation_begin(self, t, place, ends);
    g.limit             = packet_limit(place);
    g.operation->waited = wait;
    if (copied)
        g.operation->local = skua_done_nothing();
    if (!send_all(&g, ends))
        return SKUA_ERR_EXIT;
    if (copied && ends)
        skua_complete(ends->local, NULL, 0);
    return wait ? ski_operation_wait(self, g.operation, result) : SKUA_PENDING;
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

skua_status_t ski_request_describe(struct ski_pe *self, skua_gaddr at, struct ski_description *to)
{
    struct ski_transfer t     = {.call   = "description",
                                 .verb   = SKI_DESCRIBE,
                                 .remote = {.pe = at.pe, .region = at.region},
                                 .shape  = ski_shape_contiguous(to, sizeof *to)};
    struct ski_place    place = {.far = true};

    return request(self, &t, &place, NULL, true, NULL);
}

void ski_request_afterwards(struct ski_pe *self, struct ski_operation *operation, skua_gaddr at,
                            const skua_ends *ends)
{
    struct ski_transfer t = {.verb = SKI_PUT, .remote = at};
    struct gather       g = {.self = self, .t = &t, .operation = operation};

    send(&g, ends);
}

/* ---- the server ----------------------------------------------------------------- */

/* Whether the head of a request is whole, so that it can be answered: to whoever sent it,
 * as others may not be there to hear it. */
static bool can_be_answered(const skua_msg *msg, const struct request *request)
{
    return msg->bytes >= sizeof *request && request->origin == msg->source;
}

/* Whether its parts are as long as it says. */
static bool is_whole(const skua_msg *msg, const struct request *request)
{
    size_t room = msg->bytes - sizeof *request;

    if (request->pieces > RUNS || request->pieces * sizeof(struct piece) > room)
        return false;
    room -= request->pieces * sizeof(struct piece);
    return request->data_bytes <= room && request->signal_bytes <= room - request->data_bytes;
}

/* The bytes that its pieces are, and the lowest and highest that they touch; false: they
 * make no sense.  (Whether they are in the region is found out by ski_locate().) */
static bool measure(struct request *request, size_t *total, ptrdiff_t *lo, ptrdiff_t *hi)
{
    *total = 0;
    *lo = *hi = 0;
    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct piece *piece = &pieces_of(request)[i];
        ptrdiff_t           end;
        if (piece->bytes > PTRDIFF_MAX - *total ||
            __builtin_add_overflow(piece->remote, (ptrdiff_t)piece->bytes, &end))
            return false;
        *total += piece->bytes;
        *lo = piece->remote < *lo ? piece->remote : *lo;
        *hi = end > *hi ? end : *hi;
    }
    if (request->verb == SKI_ATOMIC)
        *hi = request->atomic.bytes;
    if (request->verb == SKI_DESCRIBE)
        *hi = 0;
    return true;
}

/* Whether it asks for something that there is. */
static bool is_sound(const struct request *request, size_t total)
{
    const struct ski_atomic *atomic = &request->atomic;

    if (request->verb > SKI_DESCRIBE || request->remote.pe < 0 ||
        request->remote.pe >= ski_self->pes ||
        ski_job_index(ski_self->job, request->remote.pe) < 0 ||
        (request->verb == SKI_DESCRIBE &&
         (total != sizeof(struct ski_description) || request->remote.offset != 0)) ||
        total != (brings_data(request->verb) ? total : request->data_bytes))
        return false;
    if (request->verb == SKI_ATOMIC &&
        ((atomic->bytes != 4 && atomic->bytes != 8) || atomic->op > SKI_STORE))
        return false;
    return (!request->signal ||
            (request->signal >= SKI_HANDLERS && request->signal < ski_handlers.count)) &&
           (!request->notify.region.id || request->notify.pe == request->remote.pe);
}

/* Whether its pieces are whole elements at aligned places. */
static bool are_elements(struct request *request, const struct ski_place *place, size_t element)
{
    size_t align = element < 8 ? element : 8;

    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct piece *piece = &pieces_of(request)[i];
        if (piece->bytes % element || (uintptr_t)(place->memory + piece->remote) % align)
            return false;
    }
    return true;
}

static skua_status_t serve_update(struct request *request, const struct ski_place *place)
{
    skua_update update = {
        {request->op}, (skua_type)request->type, request->scaled ? request->scale : NULL};
    size_t          element = 1;
    ski_update_fn   fn      = ski_update_function(&update, &element);
    struct ski_hold hold    = {NULL};
    char           *data    = data_of(request);

    if (!fn || !are_elements(request, place, element))
        return SKUA_ERR_INVAL;
    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct piece *piece = &pieces_of(request)[i];
        ski_update_run(&hold, place->process, place->memory + piece->remote, data, piece->bytes, fn,
                       element, update.scale);
        data += piece->bytes;
    }
    ski_hold_end(&hold);
    return SKUA_OK;
}

/* A put from the request, or a get into @p data. */
static void serve_copy(struct request *request, const struct ski_place *place, char *data)
{
    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct piece *piece  = &pieces_of(request)[i];
        char               *remote = place->memory + piece->remote;

        if (request->verb == SKI_PUT)
            memcpy(remote, data, piece->bytes);
        else
            memcpy(data, remote, piece->bytes);
        data += piece->bytes;
    }
}

/* Whether the notification that it asks for is there, before anything is done. */
static bool can_notify(const struct request *request)
{
    struct ski_place place;

    if (!request->notify.region.id)
        return true;
    if (ski_locate("request", request->notify, 0, sizeof(skua_notify), &place) != SKUA_OK)
        return false;
    ski_place_drop(&place);
    return ski_place_direct(&place);
}

static skua_status_t serve(struct request *request, ptrdiff_t lo, ptrdiff_t hi,
                           struct answer *answer)
{
    struct ski_place place;
    skua_status_t    status = ski_locate("request", request->remote, lo, hi, &place);

    if (status != SKUA_OK)
        return status;
    if (!ski_place_direct(&place))
        status = SKUA_ERR_UNREACH; /* it came to the wrong process */
    else if (!can_notify(request))
        status = SKUA_ERR_REGION;
    else if (request->verb == SKI_DESCRIBE)
        ski_describe(request->remote.region.id, &place, place.region->bytes,
                     (struct ski_description *)(answer + 1));
    else if (request->verb == SKI_UPDATE)
        status = serve_update(request, &place);
    else if (request->verb == SKI_ATOMIC && (uintptr_t)place.memory % request->atomic.bytes)
        status = SKUA_ERR_ALIGN;
    else if (request->verb == SKI_ATOMIC)
        answer->value = ski_atomic_here(&request->atomic, &place);
    else
        serve_copy(request, &place,
                   request->verb == SKI_GET ? (char *)(answer + 1) : data_of(request));
    ski_place_drop(&place);
    return status;
}

/* What the last packet asks for besides. */
static void serve_ends(struct request *request)
{
    skua_ends ends = {.notify       = request->notify,
                      .notify_add   = request->notify_add,
                      .signal       = {request->signal},
                      .signal_data  = data_of(request) + request->data_bytes,
                      .signal_bytes = request->signal_bytes};

    if (request->signal || request->notify.region.id)
        ski_ends_there("request", &ends, request->remote.pe, request->source);
}

/* A message for the answer, with room for @p bytes of data; NULL: there is no memory. */
static skua_msg *new_answer(const struct request *request, size_t bytes)
{
    skua_msg      *msg;
    struct answer *answer;

    if (bytes > PTRDIFF_MAX / 2 || skua_msg_try_alloc(sizeof *answer + bytes, &msg) != SKUA_OK)
        return NULL;
    answer       = skua_msg_data(msg);
    *answer      = (struct answer){.packet = request->packet, .data_bytes = bytes};
    msg->handler = SKI_HANDLER_SERVED;
    msg->source  = ski_self->pe;
    return msg;
}

/* ---- late answers --------------------------------------------------------------- */

/* That a put is done is not urgent: what it set off here goes first, a handler that its
 * signal started, say.  Such answers to other hosts are sent a little later, those to one
 * PE together. */
struct ski_late {
    int32_t       origin;
    struct answer answer;
};

/* Those from @p i on that go to the same PE, as one message; the others are moved up. */
static void send_late(struct ski_pe *self, struct ski_origin *own, uint32_t i)
{
    struct answer together[LATE_MOST];
    int32_t       to = own->late[i].origin;
    uint32_t      n = 0, left = i;
    skua_msg     *msg;

    for (uint32_t k = i; k < own->late_count; k++)
        if (own->late[k].origin == to)
            together[n++] = own->late[k].answer;
        else
            own->late[left++] = own->late[k];
    own->late_count = left;
    msg             = ski_msg_copy(self, SKI_HANDLER_SERVED, together, n * sizeof *together);
    ski_msg_post(self, to, SKI_HANDLER_SERVED, msg);
}

static void send_all_late(struct ski_pe *self)
{
    struct ski_origin *own = ski_origin_of(self);

    while (own->late_count > 0)
        send_late(self, own, 0);
}

static void add_late(struct ski_pe *self, int origin, const struct answer *answer)
{
    struct ski_origin *own = ski_origin_of(self);

    if (!own->late)
        own->late = ski_malloc(LATE_MOST * sizeof *own->late);
    own->late[own->late_count++] = (struct ski_late){origin, *answer};
    self->late                   = send_all_late;
    if (own->late_count == LATE_MOST)
        send_all_late(self);
}

/* Sends an answer, now or a little later. */
static void send_answer(struct ski_pe *self, const struct request *request, skua_msg *reply)
{
    const struct answer *answer = skua_msg_data(reply);

    if (self->far && answer->data_bytes == 0 && request->verb != SKI_ATOMIC &&
        ski_job_index(self->job, request->origin) < 0) {
        add_late(self, request->origin, answer);
        skua_msg_free(reply);
    } else {
        ski_msg_post(self, request->origin, SKI_HANDLER_SERVED, reply);
    }
}

/* The answer to a request. */
static skua_msg *answer_to(skua_msg *msg)
{
    struct request *request = skua_msg_data(msg);
    size_t          total   = 0;
    ptrdiff_t       lo, hi;
    bool            sound =
        is_whole(msg, request) && measure(request, &total, &lo, &hi) && is_sound(request, total);
    skua_msg *reply = sound ? new_answer(request, brings_data(request->verb) ? total : 0) : NULL;
    skua_status_t  status = sound ? SKUA_ERR_NOMEM : SKUA_ERR_INVAL;
    struct answer *answer;

    if (reply) {
        answer = skua_msg_data(reply);
        status = answer->status = serve(request, lo, hi, answer);
        if (status == SKUA_OK) {
            serve_ends(request);
            return reply;
        }
        skua_msg_free(reply); /* nobody gets what happened to lie there */
    }
    reply  = new_answer(request, 0);
    answer = reply ? skua_msg_data(reply) : NULL;
    if (answer)
        answer->status = status;
    return reply;
}

void ski_on_request(skua_msg *msg)
{
    struct request *request = skua_msg_data(msg);
    skua_msg       *reply;

    if (!can_be_answered(msg, request)) {
        ski_log(SKI_LOG_ERROR, "a one-sided request from PE %d that makes no sense was dropped",
                msg->source);
        skua_msg_free(msg);
        return;
    }
    reply = answer_to(msg);
    if (!reply)
        ski_fatal("no memory to answer a one-sided request; raise SKUA_ARENA_SIZE");
    send_answer(ski_self, request, reply);
    skua_msg_free(msg);
}

/* ---- the origin: answers ---------------------------------------------------------- */

static void scatter(const struct ski_sent *sent, const char *data)
{
    for (size_t i = 0; i < sent->runs; i++) {
        memcpy(sent->run[i].local, data, sent->run[i].bytes);
        data += sent->run[i].bytes;
    }
}

/* The packet that an answer is for; NULL: it makes no sense. */
static struct ski_sent *answered(const struct ski_origin *origin, const struct answer *answer)
{
    struct ski_sent *sent = find_sent(origin, answer->packet);

    if (sent && sent->run && answer->status == SKUA_OK && answer->data_bytes != sent->data_bytes)
        return NULL;
    return sent;
}

static void take_answer(struct ski_pe *self, struct ski_sent *sent, const struct answer *answer)
{
    struct ski_origin    *origin    = ski_origin_of(self);
    struct ski_operation *operation = sent->operation;

    origin->bytes -= sent->bytes;
    if (answer->status != SKUA_OK)
        operation->status = (skua_status_t)answer->status;
    else
        scatter(sent, (const char *)(answer + 1));
    operation->result = answer->value;
    forget_sent(origin, sent);
    if (--operation->parts == 0 && operation->sealed)
        ski_operation_end(self, operation);
    else
        ski_wake_all(self, &origin->waiters); /* for room in the pool */
}

/* One answer or several, one behind another. */
void ski_on_served(skua_msg *msg)
{
    const char *at = skua_msg_data(msg), *end = at + msg->bytes;

    while ((size_t)(end - at) >= sizeof(struct answer)) {
        const struct answer *answer = (const struct answer *)(const void *)at;
        struct ski_sent     *sent   = answered(ski_origin_of(ski_self), answer);

        at += sizeof *answer;
        if (!sent || answer->data_bytes > (size_t)(end - at)) {
            at = NULL;
            break;
        }
        at += answer->data_bytes;
        take_answer(ski_self, sent, answer);
    }
    if (at != end)
        ski_log(SKI_LOG_ERROR, "an answer from PE %d to nothing we asked was dropped", msg->source);
    skua_msg_free(msg);
}
