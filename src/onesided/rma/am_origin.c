/* SPDX-License-Identifier: Apache-2.0 */
/* am_origin.c - see am_origin.h. */
#include "onesided/rma/am_origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/rma_request.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region_table.h"
#include "onesided/rma/am_wire.h"
#include "transport/driver.h"

#define HEADS 1024 /* room for all of a packet but its data, and that of a signal */

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
    bool                  filling; /* the driver receives its data where it belongs */
};

/* ---- the origin: packets ------------------------------------------------------ */

/* Pieces that wait to be sent together. */
struct gather {
    struct ski_pe             *self;
    const struct ski_transfer *t;
    struct ski_operation      *operation;
    size_t                     runs, bytes, limit;
    bool                       split; /* its memory stays until it is over, and is sent from */
    bool                       late;  /* the same at the target of a get                     */
    struct ski_run             run[SKI_RUNS];
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
    sent->filling     = false;
    if (ski_brings_data(g->t->verb)) {
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

static void fill_update(struct ski_request *request, const struct ski_transfer *t)
{
    request->op     = t->update->op.id;
    request->type   = (uint32_t)t->update->type;
    request->scaled = t->update->scale != NULL;
    if (request->scaled)
        memcpy(request->scale, t->update->scale, t->element);
}

static void fill_ends(struct ski_request *request, const skua_ends *ends)
{
    request->notify     = ends->notify;
    request->notify_add = ends->notify_add;
    request->signal     = ends->signal.id;
    if (request->signal_bytes)
        memcpy(ski_data_of(request) + request->data_bytes, ends->signal_data,
               request->signal_bytes);
}

/* With the data, unless that is sent from where it is. */
static void fill_pieces(struct ski_request *request, const struct gather *g, bool split)
{
    char *to = ski_data_of(request);

    for (size_t i = 0; i < g->runs; i++) {
        ski_pieces_of(request)[i] = (struct ski_piece){g->run[i].remote, g->run[i].bytes};
        if (request->data_bytes && !split)
            memcpy(to, g->run[i].local, g->run[i].bytes);
        to += g->run[i].bytes;
    }
}

/* The packet that was gathered, with room for @p data bytes and @p signal ones. */
static void fill(struct ski_request *request, struct gather *g, size_t data, size_t signal)
{
    memset(request, 0, sizeof *request);
    request->verb         = g->t->verb;
    request->origin       = g->self->pe;
    request->source       = ski_caller_pe();
    request->remote       = g->t->remote;
    request->pieces       = g->runs;
    request->data_bytes   = data;
    request->signal_bytes = signal;
    request->late         = g->late;
    if (g->t->verb == SKI_ATOMIC)
        request->atomic = *g->t->atomic;
    if (g->t->verb == SKI_UPDATE)
        fill_update(request, g->t);
}

/* A packet whose data is sent from the caller's memory; it lies behind the rest of it. */
struct split {
    struct ski_far_done   done; /* with both; first */
    struct ski_pe        *self;
    struct ski_operation *operation;
    skua_msg             *msg;
};

/* The network needs the data no more.  That is a part of the operation, so that its end is
 * the end of that, too; and, as we are within the driver, it ends a little later. */
static void split_over(struct ski_far_done *done, skua_status_t status)
{
    struct split         *split     = (struct split *)done;
    struct ski_pe        *self      = split->self;
    struct ski_operation *operation = split->operation;

    (void)status; /* who is lost is told by others */
    operation->origin->at_driver--;
    ski_pool_free(&self->pool, split->msg);
    if (--operation->parts == 0 && operation->sealed)
        ski_msg_post(self, self->pe, SKI_HANDLER_RMA,
                     ski_msg_copy(self, SKI_HANDLER_RMA, &operation, sizeof operation));
}

/* The packet in one, where it cannot be sent in two. */
static skua_msg *whole(skua_msg *msg, size_t head, const struct ski_run *run)
{
    skua_msg *made = skua_msg_alloc(head + run->bytes);

    memcpy(skua_msg_data(made), skua_msg_data(msg), head);
    memcpy((char *)skua_msg_data(made) + head, run->local, run->bytes);
    made->handler = msg->handler;
    made->source  = msg->source;
    skua_msg_free(msg);
    return made;
}

static void post_split(struct gather *g, int to, skua_msg *msg, size_t head,
                       const struct ski_run *run)
{
    struct split *split = (struct split *)(void *)((char *)skua_msg_data(msg) + head);

    *split = (struct split){{split_over}, g->self, g->operation, msg};
    g->operation->parts++; /* it may be over before the call returns */
    g->operation->origin->at_driver++;
    if (ski_far_send_split(g->self, to, msg, run->local, run->bytes, &split->done))
        return;
    g->operation->parts--;
    g->operation->origin->at_driver--;
    ski_msg_post(g->self, to, SKI_HANDLER_REQUEST, whole(msg, head, run));
}

/* Sends what was gathered; @p ends goes with the last packet. */
static void send(struct gather *g, const skua_ends *ends)
{
    size_t              signal = ends && ends->signal.id ? ends->signal_bytes : 0;
    size_t              data   = ski_brings_data(g->t->verb) ? 0 : g->bytes;
    size_t              head   = sizeof(struct ski_request) + g->runs * sizeof(struct ski_piece);
    size_t              bytes  = head + data + signal;
    bool                split  = g->split && g->runs == 1 && data >= SKI_SPLIT_LEAST && signal == 0;
    struct ski_run      run    = g->run[0];
    int                 to     = ski_server(g->self->job, g->t->remote.pe);
    skua_msg           *msg    = skua_msg_alloc(split ? head + sizeof(struct split) : bytes);
    struct ski_request *request = skua_msg_data(msg);

    fill(request, g, data, signal);
    fill_pieces(request, g, split);
    if (ends)
        fill_ends(request, ends);
    request->packet = note_sent(g, bytes + g->bytes);
    g->operation->parts++;
    ski_origin_of(g->self)->bytes += bytes + g->bytes;
    g->runs = g->bytes = 0;
    msg->bytes         = bytes; /* on the way */
    msg->handler       = SKI_HANDLER_REQUEST;
    msg->source        = g->self->pe;
    if (split)
        post_split(g, to, msg, head, &run);
    else
        ski_msg_post(g->self, to, SKI_HANDLER_REQUEST, msg);
}

static bool has_room(void *arg)
{
    const struct ski_origin *origin = arg;
    return origin->bytes < ski_config.request_window;
}

/* Adds a run; what is full is sent, and waits for room in the pool before. */
static bool add(struct gather *g, struct ski_run run)
{
    while (run.bytes > 0) {
        size_t now = run.bytes < g->limit ? run.bytes : g->limit;

        if (g->runs == SKI_RUNS || g->bytes + now > g->limit ||
            (g->runs > 0 && now > ski_config.pack_max)) {
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

/* Between hosts there is a size that the network likes, all of it. */
static size_t packet_limit(const struct ski_place *place)
{
    size_t bytes = place->far ? ski_config.packet_size_net : ski_config.packet_size;

    if (place->far && !bytes)
        bytes = ski_far_packet() - HEADS;
    return (bytes < 1024 ? 1024 : bytes) & ~(size_t)15;
}

/* Whether large data of a put is sent from where it is: its memory is then in use until the
 * operation is over, which a blocking call waits for unless it hands off.  Who asks when the
 * memory is free wants it back sooner: it is copied. */
static bool may_split(const struct ski_transfer *t, const struct ski_place *place,
                      const skua_ends *ends)
{
    return !(ends && ends->local.kind) && place->far && t->verb == SKI_PUT &&
           t->shape.kind == SKI_CONTIGUOUS && t->shape.bytes >= SKI_SPLIT_LEAST &&
           !ski_config.local_completion && ski_far_driver()->send_split;
}

/* Whether the target may send the data of a large get from where it is, which takes a while:
 * not where order forbids that it is overtaken, nor where the target is told when it was read. */
static bool may_be_late(const struct ski_transfer *t, const struct ski_place *place,
                        const skua_ends *ends)
{
    return place->far && t->verb == SKI_GET && t->shape.kind == SKI_CONTIGUOUS &&
           t->shape.bytes >= SKI_SPLIT_LEAST && ski_order_of(ends) != SKUA_ORDER_STRICT &&
           !ski_ends_tell(ends);
}

static skua_status_t request(struct ski_pe *self, const struct ski_transfer *t,
                             const struct ski_place *place, const skua_ends *ends, bool wait,
                             uint64_t *result)
{
    struct gather g = {.self  = self,
                       .t     = t,
                       .split = may_split(t, place, ends),
                       .late  = may_be_late(t, place, ends)};
    bool          copied =
        !ski_brings_data(t->verb) && !g.split; /* when all is sent, the local memory is free */

    if (!ski_operations_wait(self, has_room, ski_origin_of(self)))
        return SKUA_ERR_EXIT;
    g.operation         = ski_operation_begin(self, t, place, ends,
                                      g.late ? SKI_OPERATION_DEFERRED : SKI_OPERATION_REQUEST);
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
    bool             handoff = ski_config.local_completion && t->verb != SKI_GET;
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

/* ---- the origin: answers ---------------------------------------------------------- */

static void scatter(const struct ski_sent *sent, const char *data)
{
    for (size_t i = 0; i < sent->runs; i++) {
        memcpy(sent->run[i].local, data, sent->run[i].bytes);
        data += sent->run[i].bytes;
    }
}

/* The packet that an answer is for; NULL: it makes no sense. */
static struct ski_sent *answered(const struct ski_origin *origin, const struct ski_answer *answer)
{
    struct ski_sent *sent = find_sent(origin, answer->packet);

    if (sent && (sent->filling || (sent->run && answer->status == SKUA_OK &&
                                   answer->data_bytes != sent->data_bytes)))
        return NULL;
    return sent;
}

static void take_answer(struct ski_pe *self, struct ski_sent *sent, const struct ski_answer *answer,
                        const char *data)
{
    struct ski_origin    *origin    = ski_origin_of(self);
    struct ski_operation *operation = sent->operation;

    origin->bytes -= sent->bytes;
    if (answer->status != SKUA_OK)
        operation->status = (skua_status_t)answer->status;
    else
        scatter(sent, data);
    operation->result = answer->value;
    forget_sent(origin, sent);
    if (--operation->parts == 0 && operation->sealed)
        ski_operation_end(self, operation);
    else
        ski_wake_all(self, &origin->waiters); /* for room in the pool */
}

/* The get whose data an answer brings, all of it; NULL: it is another answer. */
static struct ski_sent *data_for(struct ski_pe *self, const skua_msg *head, const char *data,
                                 struct ski_answer *answer)
{
    struct ski_sent *sent;

    if (head->bytes < sizeof *answer)
        return NULL;
    memcpy(answer, data, sizeof *answer);
    sent = answered(ski_origin_of(self), answer);
    return sent && sent->run && answer->status == SKUA_OK &&
                   answer->data_bytes == head->bytes - sizeof *answer
               ? sent
               : NULL;
}

/* An answer without data is left of it, which is run in its turn.  A get is over then: who waits
 * for it is still there, unless the job ends. */
static skua_msg *rest_of(struct ski_pe *self, struct ski_sent *sent, const skua_msg *head,
                         struct ski_answer *answer)
{
    skua_msg *left;

    free(sent->run);
    sent->run          = NULL;
    sent->runs         = 0;
    answer->data_bytes = 0;
    left               = ski_msg_copy(self, SKI_HANDLER_SERVED, answer, sizeof *answer);
    left->source       = head->source;
    return left;
}

/* The data of a get goes to its place from the network's memory. */
static skua_msg *take_data(struct ski_pe *self, const skua_msg *head, const char *data)
{
    struct ski_answer answer;
    struct ski_sent  *sent = data_for(self, head, data, &answer);

    if (!sent)
        return NULL;
    scatter(sent, data + sizeof answer);
    return rest_of(self, sent, head, &answer);
}

/* Only on the thread of the PE itself, and not when operations have been given up. */
static bool may_take(const struct ski_pe *self)
{
    return self == ski_self && !ski_pe_exiting(self) && !ski_job_exiting(self->job);
}

skua_msg *ski_request_take(struct ski_pe *self, const skua_msg *head, const char *data)
{
    if (!may_take(self))
        return NULL;
    if (head->handler == SKI_HANDLER_SERVED)
        return take_data(self, head, data);
    return head->handler == SKI_HANDLER_REQUEST ? ski_serve_take(self, head, data) : NULL;
}

/* The memory of a get in one piece is the driver's until the data is there, also if the job ends
 * meanwhile (ski_operations_wait()): and nobody leaves before. */
static size_t place_answer(struct ski_pe *self, const skua_msg *head, const char *data, void **to)
{
    struct ski_answer answer;
    struct ski_sent  *sent = data_for(self, head, data, &answer);

    _Static_assert(sizeof answer <= SKI_PLACE_DATA, "all of it is there");
    if (!sent || sent->runs != 1)
        return 0;
    sent->filling = true;
    sent->operation->origin->at_driver++;
    ski_far_hold(self);
    *to = sent->run->local;
    return answer.data_bytes;
}

static skua_msg *placed_answer(struct ski_pe *self, const skua_msg *head, const char *data,
                               bool whole)
{
    struct ski_answer answer;
    struct ski_sent  *sent;

    memcpy(&answer, data, sizeof answer);
    sent = find_sent(ski_origin_of(self), answer.packet);
    if (!sent || !sent->filling)
        return NULL;
    sent->filling = false;
    sent->operation->origin->at_driver--;
    ski_far_release(self);
    return whole ? rest_of(self, sent, head, &answer) : NULL;
}

size_t ski_request_place(struct ski_pe *self, const skua_msg *head, const char *data, void **to)
{
    if (!may_take(self))
        return 0;
    if (head->handler == SKI_HANDLER_SERVED)
        return place_answer(self, head, data, to);
    return head->handler == SKI_HANDLER_REQUEST ? ski_serve_place(self, head, data, to) : 0;
}

skua_msg *ski_request_placed(struct ski_pe *self, const skua_msg *head, const char *data,
                             bool whole)
{
    if (head->handler == SKI_HANDLER_SERVED)
        return placed_answer(self, head, data, whole);
    return whole ? ski_serve_placed(head, data) : NULL;
}

/* One answer or several, one behind another. */
void ski_on_served(skua_msg *msg)
{
    const char *at = skua_msg_data(msg), *end = at + msg->bytes;

    while ((size_t)(end - at) >= sizeof(struct ski_answer)) {
        struct ski_answer answer;
        struct ski_sent  *sent;

        memcpy(&answer, at, sizeof answer);
        sent = answered(ski_origin_of(ski_self), &answer);
        at += sizeof answer;
        if (!sent || answer.data_bytes > (size_t)(end - at)) {
            at = NULL;
            break;
        }
        take_answer(ski_self, sent, &answer, at);
        at += answer.data_bytes;
    }
    if (at != end)
        ski_log(SKI_LOG_ERROR, "an answer from PE %d to nothing we asked was dropped", msg->source);
    skua_msg_free(msg);
}
