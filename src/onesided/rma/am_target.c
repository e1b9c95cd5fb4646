/* SPDX-License-Identifier: Apache-2.0 */
/* am_target.c - the server of requests (am_origin.h). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/am_origin.h"
#include "onesided/region/region_table.h"
#include "onesided/rma/am_wire.h"
#include "transport/driver.h"

#define LATE_MOST 32 /* answers that wait */

/* ---- the server ----------------------------------------------------------------- */

/* Whether the head of a request is whole, so that it can be answered: to whoever sent it,
 * as others may not be there to hear it. */
static bool can_be_answered(const skua_msg *msg, const struct ski_request *request)
{
    return msg->bytes >= sizeof *request && request->origin == msg->source;
}

/* Whether its parts are as long as it says. */
static bool is_whole(const skua_msg *msg, const struct ski_request *request)
{
    size_t room = msg->bytes - sizeof *request;

    if (request->pieces > SKI_RUNS || request->pieces * sizeof(struct ski_piece) > room)
        return false;
    room -= request->pieces * sizeof(struct ski_piece);
    return request->data_bytes <= room && request->signal_bytes <= room - request->data_bytes;
}

/* The bytes that its pieces are, and the lowest and highest that they touch; false: they
 * make no sense.  (Whether they are in the region is found out by ski_locate().) */
static bool measure(struct ski_request *request, size_t *total, ptrdiff_t *lo, ptrdiff_t *hi)
{
    *total = 0;
    *lo = *hi = 0;
    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct ski_piece *piece = &ski_pieces_of(request)[i];
        ptrdiff_t               end;
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
static bool is_sound(const struct ski_request *request, size_t total)
{
    const struct ski_atomic *atomic = &request->atomic;

    if (request->verb > SKI_DESCRIBE || request->source < 0 || request->source >= ski_self->pes ||
        request->remote.pe < 0 || request->remote.pe >= ski_self->pes ||
        ski_job_index(ski_self->job, request->remote.pe) < 0 ||
        (request->verb == SKI_DESCRIBE &&
         (total != sizeof(struct ski_description) || request->remote.offset != 0)) ||
        total != (ski_brings_data(request->verb) ? total : request->data_bytes))
        return false;
    if (request->verb == SKI_ATOMIC &&
        ((atomic->bytes != 4 && atomic->bytes != 8) || atomic->op > SKI_STORE))
        return false;
    return (!request->signal ||
            (request->signal >= SKI_HANDLERS && request->signal < ski_handlers.count)) &&
           (!request->notify.region.id || request->notify.pe == request->remote.pe);
}

/* Whether its pieces are whole elements at aligned places. */
static bool are_elements(struct ski_request *request, const struct ski_place *place, size_t element)
{
    size_t align = element < 8 ? element : 8;

    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct ski_piece *piece = &ski_pieces_of(request)[i];
        if (piece->bytes % element || (uintptr_t)(place->memory + piece->remote) % align)
            return false;
    }
    return true;
}

static skua_status_t serve_update(struct ski_request *request, const struct ski_place *place)
{
    skua_update update = {
        {request->op}, (skua_type)request->type, request->scaled ? request->scale : NULL};
    size_t           element = 1;
    ski_update_fn    fn      = ski_update_function(&update, &element);
    struct ski_holds holds;
    char            *data = ski_data_of(request);

    if (!fn || !are_elements(request, place, element))
        return SKUA_ERR_INVAL;
    ski_holds_begin(&holds);
    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct ski_piece *piece = &ski_pieces_of(request)[i];
        ski_update_scattered(&holds, place->process, place->memory + piece->remote, data,
                             piece->bytes, fn, element, update.scale);
        data += piece->bytes;
    }
    ski_holds_end(&holds);
    return SKUA_OK;
}

/* A put from the request, or a get into @p data. */
static void serve_copy(struct ski_request *request, const struct ski_place *place, char *data)
{
    for (uint64_t i = 0; i < request->pieces; i++) {
        const struct ski_piece *piece  = &ski_pieces_of(request)[i];
        char                   *remote = place->memory + piece->remote;

        if (request->verb == SKI_PUT)
            memcpy(remote, data, piece->bytes);
        else
            memcpy(data, remote, piece->bytes);
        data += piece->bytes;
    }
}

/* Whether the notification that it asks for is there, before anything is done. */
static bool can_notify(const struct ski_request *request)
{
    struct ski_place place;

    if (!request->notify.region.id)
        return true;
    if (ski_locate(NULL, request->notify, 0, sizeof(skua_notify), &place) != SKUA_OK)
        return false;
    ski_place_drop(&place);
    return ski_place_direct(&place);
}

static skua_status_t serve(struct ski_request *request, ptrdiff_t lo, ptrdiff_t hi,
                           struct ski_answer *answer)
{
    struct ski_place place;
    skua_status_t    status = ski_locate(NULL, request->remote, lo, hi, &place);

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
                   request->verb == SKI_GET ? (char *)(answer + 1) : ski_data_of(request));
    ski_place_drop(&place);
    return status;
}

/* What the last packet asks for besides. */
static void serve_ends(struct ski_request *request)
{
    skua_ends ends = {.notify       = request->notify,
                      .notify_add   = request->notify_add,
                      .signal       = {request->signal},
                      .signal_data  = ski_data_of(request) + request->data_bytes,
                      .signal_bytes = request->signal_bytes};

    if (request->signal || request->notify.region.id)
        ski_ends_there(NULL, &ends, request->remote.pe, request->source);
}

/* A message for the answer, with room for @p bytes of data; NULL: there is no memory. */
static skua_msg *new_answer(const struct ski_request *request, size_t bytes)
{
    skua_msg          *msg;
    struct ski_answer *answer;

    if (bytes > PTRDIFF_MAX / 2 || skua_msg_try_alloc(sizeof *answer + bytes, &msg) != SKUA_OK)
        return NULL;
    answer       = skua_msg_data(msg);
    *answer      = (struct ski_answer){.packet = request->packet, .data_bytes = bytes};
    msg->handler = SKI_HANDLER_SERVED;
    msg->source  = ski_self->pe;
    return msg;
}

/* ---- late answers --------------------------------------------------------------- */

/* That a put is done is not urgent: what it set off here goes first, a handler that its
 * signal started, say.  Such answers to other hosts are sent a little later, those to one
 * PE together. */
struct ski_late {
    int32_t           origin;
    struct ski_answer answer;
};

/* Those from @p i on that go to the same PE, as one message; the others are moved up. */
static void send_late(struct ski_pe *self, struct ski_origin *own, uint32_t i)
{
    struct ski_answer together[LATE_MOST];
    int32_t           to = own->late[i].origin;
    uint32_t          n = 0, left = i;
    skua_msg         *msg;

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

static void add_late(struct ski_pe *self, int origin, const struct ski_answer *answer)
{
    struct ski_origin *own = ski_origin_of(self);

    if (!own->late)
        own->late = ski_malloc(LATE_MOST * sizeof *own->late);
    own->late[own->late_count++] = (struct ski_late){origin, *answer};
    ski_net_defer_ack(self, send_all_late);
    if (own->late_count == LATE_MOST)
        send_all_late(self);
}

/* Sends an answer, now or a little later. */
static void send_answer(struct ski_pe *self, const struct ski_request *request, skua_msg *reply)
{
    const struct ski_answer *answer = skua_msg_data(reply);

    if (self->net && answer->data_bytes == 0 && request->verb != SKI_ATOMIC &&
        ski_job_index(self->job, request->origin) < 0) {
        add_late(self, request->origin, answer);
        skua_msg_free(reply);
    } else {
        ski_msg_post(self, request->origin, SKI_HANDLER_SERVED, reply);
    }
}

/* ---- answers from where the data is ----------------------------------------------- */

/* A large get whose origin allows it is answered from the memory itself.  That is in the
 * arena, and so does not go away before what we have sent has left. */
struct split {
    struct ski_far_done done; /* first */
    struct ski_pe      *self;
    skua_msg           *msg; /* the answer without its data; this lies behind it */
};

static void split_over(struct ski_far_done *done, skua_status_t status)
{
    struct split *split = (struct split *)done;

    (void)status; /* who is lost is told by others */
    ski_pool_free(&split->self->pool, split->msg);
}

static bool send_split(struct ski_pe *self, const struct ski_request *request, const char *data,
                       size_t bytes)
{
    skua_msg          *msg    = new_answer(request, sizeof(struct split));
    struct ski_answer *answer = msg ? skua_msg_data(msg) : NULL;
    struct split      *split  = (struct split *)(answer + 1);

    if (!msg)
        return false;
    answer->data_bytes = bytes;
    msg->bytes         = sizeof *answer + bytes; /* on the way */
    *split             = (struct split){{split_over}, self, msg};
    if (ski_far_send_split(self, request->origin, msg, data, bytes, &split->done))
        return true;
    skua_msg_free(msg);
    return false;
}

/* Whether the answer to a get has been sent that way; if not, nothing has happened. */
static bool answered_split(struct ski_pe *self, skua_msg *msg)
{
    struct ski_request *request = skua_msg_data(msg);
    struct ski_place    place;
    size_t              total;
    ptrdiff_t           lo, hi;
    bool                sent;

    if (!request->late || request->verb != SKI_GET || request->pieces != 1 || request->signal ||
        request->notify.region.id || !self->net || !ski_far_driver()->send_split ||
        ski_job_index(self->job, request->origin) >= 0 || !is_whole(msg, request) ||
        !measure(request, &total, &lo, &hi) || !is_sound(request, total) ||
        total < SKI_SPLIT_LEAST || ski_locate(NULL, request->remote, lo, hi, &place) != SKUA_OK)
        return false;
    sent = ski_place_direct(&place) && place.process < 0 &&
           send_split(self, request, place.memory + ski_pieces_of(request)->remote, total);
    ski_place_drop(&place);
    return sent;
}

/* The origin says which call it was. */
static SKI_COLD void say_refused(const struct ski_request *request, skua_status_t status)
{
    static const char *const verbs[] = {"put", "get", "accumulate", "atomic", "look-up"};
    char                     text[SKI_REGION_TEXT];

    ski_log(SKI_LOG_ERROR, "a one-sided %s of PE %d, at offset %llu of %s on PE %d, refused: %s",
            request->verb <= SKI_DESCRIBE ? verbs[request->verb] : "request", request->source,
            (unsigned long long)request->remote.offset,
            ski_region_text(request->remote.region.id, text), request->remote.pe,
            skua_status_str(status));
}

/* The answer to a request. */
static skua_msg *answer_to(skua_msg *msg)
{
    struct ski_request *request = skua_msg_data(msg);
    size_t              total   = 0;
    ptrdiff_t           lo, hi;
    bool                sound =
        is_whole(msg, request) && measure(request, &total, &lo, &hi) && is_sound(request, total);
    skua_msg *reply =
        sound ? new_answer(request, ski_brings_data(request->verb) ? total : 0) : NULL;
    skua_status_t      status = sound ? SKUA_ERR_NOMEM : SKUA_ERR_INVAL;
    struct ski_answer *answer;

    if (reply) {
        answer = skua_msg_data(reply);
        status = answer->status = serve(request, lo, hi, answer);
        if (status == SKUA_OK) {
            serve_ends(request);
            return reply;
        }
        skua_msg_free(reply); /* nobody gets what happened to lie there */
    }
    say_refused(request, status);
    reply  = new_answer(request, 0);
    answer = reply ? skua_msg_data(reply) : NULL;
    if (answer)
        answer->status = status;
    return reply;
}

static void serve_message(skua_msg *msg)
{
    struct ski_request *request = skua_msg_data(msg);
    skua_msg           *reply;

    if (!can_be_answered(msg, request)) {
        ski_log(SKI_LOG_ERROR, "a one-sided request from PE %d that makes no sense was dropped",
                msg->source);
        skua_msg_free(msg);
        return;
    }
    if (!answered_split(ski_self, msg)) {
        reply = answer_to(msg);
        if (!reply)
            ski_fatal("no memory to answer a one-sided request; raise SKUA_ARENA_SIZE");
        send_answer(ski_self, request, reply);
    }
    skua_msg_free(msg);
}

void ski_on_request(skua_msg *msg)
{
    if (ski_job_index(ski_self->job, msg->source) < 0)
        ski_self->counted--;
    serve_message(msg);
}

/* ---- data in the network's memory ------------------------------------------------- */

/* A put of one piece, without its data. */
struct head {
    struct ski_request request;
    struct ski_piece   piece;
};

/* Brings the data to its place; false: that is for the ordinary way to find out. */
static bool place_data(struct head *head, ptrdiff_t lo, ptrdiff_t hi, const char *data)
{
    struct ski_place place;
    bool             can;

    if (ski_locate(NULL, head->request.remote, lo, hi, &place) != SKUA_OK)
        return false;
    can = ski_place_direct(&place) && can_notify(&head->request);
    if (can)
        memcpy(place.memory + head->piece.remote, data, head->piece.bytes);
    ski_place_drop(&place);
    return can;
}

/* What is left of a put whose data has been placed is a put of nothing, which is run in its
 * turn: it brings what comes with the put, and the answer. */
static skua_msg *rest_of(const skua_msg *msg, struct head *head, const char *signal)
{
    struct ski_request *request = &head->request;
    skua_msg           *left    = skua_msg_alloc(sizeof *request + request->signal_bytes);

    request->pieces = request->data_bytes = 0;
    memcpy(skua_msg_data(left), request, sizeof *request);
    if (request->signal_bytes > 0)
        memcpy(ski_data_of(skua_msg_data(left)), signal, request->signal_bytes);
    left->handler = SKI_HANDLER_PLACED;
    left->source  = msg->source;
    return left;
}

/* Whether a packet is a put of one piece that may be placed now, and which one.  Not if one of our
 * requests waits that may be of the same PE and came before: it would be overtaken.  Those of
 * which only the rest waits have been placed. */
static bool is_put(const struct ski_pe *self, const skua_msg *msg, const char *data,
                   struct head *head, ptrdiff_t *lo, ptrdiff_t *hi)
{
    size_t total;

    if (self->counted > 0 || msg->bytes < sizeof *head)
        return false;
    memcpy(head, data, sizeof *head);
    return head->request.verb == SKI_PUT && head->request.pieces == 1 &&
           can_be_answered(msg, &head->request) && is_whole(msg, &head->request) &&
           measure(&head->request, &total, lo, hi) && is_sound(&head->request, total);
}

skua_msg *ski_serve_take(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct head head;
    ptrdiff_t   lo, hi;

    if (!is_put(self, msg, data, &head, &lo, &hi) || !place_data(&head, lo, hi, data + sizeof head))
        return NULL;
    return rest_of(msg, &head, data + sizeof head + head.piece.bytes);
}

/* A region that counts its operations could not be freed before: by us, perhaps, who would wait
 * for ourselves.  Others are freed by all their PEs together, when what they put is complete. */
size_t ski_serve_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    struct head      head;
    struct ski_place place;
    ptrdiff_t        lo, hi;
    bool             can;

    _Static_assert(sizeof head <= SKI_PLACE_DATA, "all of it is there");
    if (!is_put(self, msg, data, &head, &lo, &hi) ||
        msg->bytes != sizeof head + head.piece.bytes || /* a signal is behind them */
        ski_locate(NULL, head.request.remote, lo, hi, &place) != SKUA_OK)
        return 0;
    can = ski_place_direct(&place) && !place.counted && can_notify(&head.request);
    *to = place.memory + head.piece.remote;
    ski_place_drop(&place);
    return can ? head.piece.bytes : 0;
}

skua_msg *ski_serve_placed(const skua_msg *msg, const char *data)
{
    struct head head;

    memcpy(&head, data, sizeof head);
    return rest_of(msg, &head, NULL);
}

void ski_on_placed(skua_msg *msg)
{
    serve_message(msg);
}
