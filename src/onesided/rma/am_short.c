/* SPDX-License-Identifier: Apache-2.0 */
/* am_short.c - see am_short.h. */
#include "onesided/rma/am_short.h"

#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "core/net/net.h"
#include "onesided/region/region_table.h"
#include "onesided/rma/am_sent.h"
#include "onesided/rma/am_target.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/rma_request.h"

/* Returns whether @p bytes lie in the piece that a PE of another host has of a common region, at an
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
    struct ski_am_sent sent = {.req   = req,
                               .bytes = sizeof(struct ski_am_head) + 2 * bytes,
                               .pool  = (uint8_t)ski_am_pool_of(SKI_RMA_PUT)};

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

    if (!self || !self->net || bytes == 0 || bytes > SKI_AM_SHORT_MOST ||
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
