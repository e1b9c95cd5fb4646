/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_gather.h - collecting the blocks of an operation by active message into requests.
 *
 * A request holds as many blocks as fit into a packet.  A full request is sent, and the next one
 * needs room in the pool of its verb: a blocking call waits for room, a non-blocking one is
 * suspended and continues when there is room.
 */
#ifndef SKI_AM_GATHER_H
#define SKI_AM_GATHER_H

#include "onesided/rma/am_request.h"

/** Returns whether the pool has room for the next request of @p arg, a struct ski_am_gather. */
static inline bool ski_am_gather_has_room(void *arg)
{
    const struct ski_am_gather *g = arg;

    return ski_am_pool_has_room(g->self, g->op->verb);
}

/** Returns whether the operation is locally complete as soon as all its requests are sent. */
static inline bool ski_am_gather_copies(const struct ski_am_gather *g)
{
    return !ski_am_reply_has_data(g->op->verb) && !g->zcopy;
}

/** Prepares to send an operation that has begun. */
void ski_am_gather_prepare(struct ski_am_gather *g, const skua_rma_params *params);

/** Sends all requests of an operation, which may be complete before this returns.  Returns false if
 * the job ends, or there is no room and the caller must not wait. */
bool ski_am_gather_send_all(struct ski_am_gather *g, const skua_rma_params *params);

#endif
