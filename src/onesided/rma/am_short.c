/* SPDX-License-Identifier: Apache-2.0 */
/* am_short.c - see am_short.h. */
#include "onesided/rma/am_short.h"

#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/params.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/region/region_table.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/am_sent.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/op_params.h"
#include "onesided/rma/rma_request.h"

#define AM_SHORT_ANY_PACKET 8192 /* bytes of data that a packet of any driver has room for */

/* Returns whether @p bytes are in the piece that a PE of another host has of a common region, at an
 * offset of 32 bits. */
static bool am_short_is_in_region(skua_gaddr to, size_t bytes)
{
    const struct ski_region *region =
        ski_region_table_is_common(to.region.id) ? ski_region_table_find(to.region) : NULL;

    return region && region->kind == SKI_REGION_SYMMETRIC && !region->pieces &&
           to.offset <= UINT32_MAX && to.offset <= region->bytes &&
           bytes <= region->bytes - to.offset && ski_region_is_member(region, to.pe);
}

/* Returns whether PE @p pe is on another host, and serves requests itself. */
static bool am_short_is_far(const struct ski_pe *self, int pe)
{
    return (uint32_t)pe < (uint32_t)self->pes && ski_job_index(self->job, pe) < 0 &&
           ski_am_server(self->job, pe) == pe;
}

/* Returns the puts in flight that a put joins: they are on the same PE and region, no fence came
 * after them, and errors name the same call.  NULL: there are none. */
static struct ski_rma_request *am_short_joined(const struct ski_rma_pe *rma, const char *call,
                                               skua_gaddr to)
{
    struct ski_rma_request *req = rma->short_puts;

    return req && req->remote.pe == to.pe && req->remote.region.id == to.region.id &&
                   req->epoch == req->on_pe->epoch && req->call == call
               ? req
               : NULL;
}

/* Returns whether a put may follow all that is outstanding on its PE.  If nothing is outstanding it
 * may not: the PE may have to be asked for its region first, or the driver be fenced. */
static bool am_short_may_follow(const struct ski_rma_pe *rma, const struct ski_rma_request *joined,
                                int pe)
{
    const struct ski_outstanding *on =
        joined ? joined->on_pe : ski_outstanding_find(&rma->outstanding, ski_outstanding_pe(pe));

    return on && on->backlog == 0 && on->rma == 0 && on->deferred == 0 && on->before_rma == 0;
}

/* Begins the request of puts that follow each other. */
static struct ski_rma_request *am_short_begin(struct ski_pe *self, const char *call, skua_gaddr to)
{
    const struct ski_rma_op   op     = {.call = call, .verb = SKI_RMA_PUT, .remote = to};
    const struct ski_resolved target = {.remote_host = true};
    struct ski_rma_request   *req = ski_rma_request_begin(self, &op, &target, NULL, SKI_RMA_BY_AM);

    req->joined                         = true;
    req->sealed                         = true; /* it ends when no put of it is in flight */
    return ski_rma_pe(self)->short_puts = req;
}

/* Records the put as a part of @p req that has been sent. Returns its id. */
static uint32_t am_short_note(struct ski_pe *self, struct ski_rma_request *req, size_t bytes)
{
    struct ski_am_sent sent = {.req    = req,
                               .bytes  = sizeof(struct ski_am_head) + 2 * bytes,
                               .pool   = (uint8_t)ski_am_pool_of(SKI_RMA_PUT),
                               .server = req->remote.pe};

    req->parts++;
    return ski_am_sent_add(self, &sent);
}

bool ski_am_put_short(const char *call, skua_gaddr to, const void *from, size_t bytes)
{
    struct ski_pe          *self   = ski_self;
    size_t                  padded = (bytes + 7) & ~(size_t)7;
    struct ski_am_head      head   = {.kind   = SKI_RMA_PUT,
                                      .bytes  = (uint16_t)(sizeof head + bytes),
                                      .region = to.region.id,
                                      .offset = (uint32_t)to.offset};
    struct ski_rma_request *req;
    char                   *at;

    if (!self || !self->net || bytes == 0 || bytes > SKI_AM_SHORT_MAX ||
        bytes >= ski_config.rma_threshold || !am_short_is_far(self, to.pe) ||
        !am_short_is_in_region(to, bytes) || !ski_am_pool_has_room(self, SKI_RMA_PUT))
        return false;
    req = am_short_joined(ski_rma_pe(self), call, to);
    if (!am_short_may_follow(ski_rma_pe(self), req, to.pe))
        return false;
    at = ski_net_extend(self, to.pe, sizeof head + padded);
    if (!at)
        return false;
    head.id = am_short_note(self, req ? req : am_short_begin(self, call, to), bytes);
    memcpy(at, &head, sizeof head);
    if (bytes % 8) /* no uninitialised bytes are sent */
        memset(at + sizeof head + padded - 8, 0, 8);
    memcpy(at + sizeof head, from, bytes);
    return true;
}

/* ---- with a notification ------------------------------------------------------------------- */

/* Returns the bytes that a PE of another host has of a common region; 0: it is not known here
 * whether it has any.  The size of a varied region that this host has not asked for is checked by
 * the target alone. */
static uint64_t am_short_query_bytes(struct ski_pe *self, skua_gaddr at)
{
    const struct ski_region *region =
        ski_region_table_is_common(at.region.id) ? ski_region_table_find(at.region) : NULL;
    const struct ski_rkey *rkey;

    if (!region || region->kind != SKI_REGION_SYMMETRIC || !ski_region_is_member(region, at.pe))
        return 0;
    if (!region->pieces)
        return region->bytes;
    rkey = ski_rkey_find(self, at);
    return rkey ? rkey->bytes : UINT64_MAX;
}

/* Returns whether @p bytes are in the piece that a PE of another host has of a common region, at an
 * offset of 32 bits.  The size of the last piece is kept: an id is not used again soon. */
static bool am_short_is_in_piece(struct ski_pe *self, skua_gaddr at, size_t bytes)
{
    struct ski_am_piece *last = &ski_rma_pe(self)->last_piece;

    if (last->pe != at.pe || last->region != at.region.id || !ski_region_table_find(at.region))
        *last = (struct ski_am_piece){at.pe, at.region.id, am_short_query_bytes(self, at)};
    return last->bytes > 0 && at.offset <= UINT32_MAX && at.offset <= last->bytes &&
           bytes <= last->bytes - at.offset;
}

/* Returns whether parameters ask for a notification on @p pe, in a common region, and for nothing
 * else. */
static bool am_short_only_notifies(struct ski_pe *self, const skua_rma_params *params, int pe)
{
    return !params->handle && !(params->local.kind | params->remote.kind) && !params->signal.id &&
           !params->signal_bytes && params->notify.pe == pe &&
           params->notify.offset % sizeof(skua_notify) == 0 &&
           am_short_is_in_piece(self, params->notify, sizeof(skua_notify));
}

/* Returns whether @p bytes of data of a put with a notification go in one packet, copied: more are
 * sent without a copy. */
static bool am_short_fits_packet(size_t bytes)
{
    _Static_assert(SKI_AM_NOTIFY_MAX < SKI_ZCOPY_SEND_MIN, "which is faster");
    return bytes <= AM_SHORT_ANY_PACKET ||
           (bytes <= SKI_AM_NOTIFY_MAX && bytes <= ski_net_packet_bytes() - SKI_AM_HEAD_MAX);
}

/* Returns whether a put with a notification may follow what is outstanding on its PE.  It may also
 * be the first, unless the driver puts and gets as well and has to be fenced. */
static bool am_short_may_notify(const struct ski_rma_pe *rma, const struct ski_rma_request *joined,
                                int pe)
{
    if (joined || ski_outstanding_find(&rma->outstanding, ski_outstanding_pe(pe)))
        return am_short_may_follow(rma, joined, pe);
    return !ski_rma_driver_enabled(ski_net_driver());
}

/* Makes the message of a put with a notification, and with the acknowledgements that wait for its
 * target. */
static skua_msg *am_short_message(struct ski_pe *self, struct ski_am_request *request,
                                  const void *from)
{
    struct ski_am_encoded e;
    skua_msg             *msg;
    char                 *at;
    size_t                head;

    if (ski_rma_pe(self)->deferred_count > 0)
        request->ack_count = ski_am_target_take_acks(self, request->remote.pe, request->ack);
    ski_am_encode(request, self->pe, request->remote.pe, &e);
    head         = ski_am_encoded_bytes(&e);
    msg          = skua_msg_alloc(head + request->data_bytes);
    msg->handler = SKI_HANDLER_AM_REQUEST;
    msg->source  = self->pe;
    at           = skua_msg_data(msg);
    memcpy(at, &e.head, sizeof e.head);
    memcpy(at + sizeof e.head, e.word, head - sizeof e.head);
    if (request->data_bytes > 0)
        memcpy(at + head, from, request->data_bytes);
    return msg;
}

bool ski_am_put_notify(const char *call, skua_gaddr to, const void *from, size_t bytes,
                       const skua_rma_params *params)
{
    struct ski_pe          *self = ski_self;
    struct ski_am_request   request;
    struct ski_rma_request *req;

    if (!ski_params_known(params->size, sizeof *params) || !params->notify.region.id || !self ||
        !self->net || !am_short_fits_packet(bytes) || bytes >= ski_config.rma_threshold ||
        ski_config.packet_size_net || !am_short_is_far(self, to.pe) ||
        !am_short_only_notifies(self, params, to.pe) || !am_short_is_in_piece(self, to, bytes) ||
        !ski_am_pool_has_room(self, SKI_RMA_PUT))
        return false;
    req = am_short_joined(ski_rma_pe(self), call, to);
    if (!am_short_may_notify(ski_rma_pe(self), req, to.pe))
        return false;
    request.verb       = SKI_RMA_PUT;
    request.source     = self->pe;
    request.remote     = to;
    request.deferrable = false;
    request.notify     = params->notify;
    request.notify_add = ski_op_params_notify_by(params);
    request.signal     = 0;
    request.data_bytes = bytes;
    request.blocks     = 0;
    request.ack_count  = 0;
    request.relaxed    = ski_rma_is_relaxed(ski_rma_pe(self));
    request.id         = am_short_note(self, req ? req : am_short_begin(self, call, to), bytes);
    ski_msg_send_remote(self, to.pe, SKI_HANDLER_AM_REQUEST,
                        am_short_message(self, &request, from));
    return true;
}
