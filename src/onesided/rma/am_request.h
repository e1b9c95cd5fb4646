/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_request.h - sending one request of an operation by active message (am_wire.h).
 *
 * A request is sent in a message of its own, appended to a batch that waits for the network, or, if
 * the driver can, sent without a copy of its data.
 */
#ifndef SKI_AM_REQUEST_H
#define SKI_AM_REQUEST_H

#include "onesided/rma/am_sent.h"
#include "onesided/rma/am_wire.h"
#include "onesided/rma/rma_op.h"
#include "onesided/rma/rma_request.h"

/** Runs that are collected for the next request of an operation. */
struct ski_am_gather {
    struct ski_pe           *self;
    const struct ski_rma_op *op;
    struct ski_rma_request  *req;
    size_t                   bytes, limit;
    uint32_t                 run_count;
    bool                     zcopy;      /* zero-copy: the data must not change until the end */
    bool                     deferrable; /* a get: the target may do so                           */
    bool                     nowait;     /* without room in the pool the rest goes to the backlog */
    size_t                   skip;       /* bytes at the beginning that have been sent before     */
    size_t                   sent;       /* bytes that have been sent                             */
    uint32_t                 runs_max;   /* of `runs`                                             */
    struct ski_am_local_run *runs;       /* `few`, or memory for a long list                      */
    struct ski_am_local_run  few[SKI_AM_RUNS_FEW];
};

/** Begins a gather; `few` is not initialised, since most operations use one run. */
static inline void ski_am_gather_begin(struct ski_am_gather *g, struct ski_pe *self,
                                       const struct ski_rma_op *op, struct ski_rma_request *req)
{
    g->self      = self;
    g->op        = op;
    g->req       = req;
    g->bytes     = 0;
    g->limit     = SIZE_MAX;
    g->run_count = 0;
    g->runs_max  = SKI_AM_RUNS_FEW;
    g->runs      = g->few;
    g->zcopy = g->deferrable = g->nowait = false;
    g->skip = g->sent = req ? req->resume : 0;
}

/** Sends the blocks that @p g has gathered; @p params is NULL unless this is the last request of
 *  the operation. */
void ski_am_request_send(struct ski_am_gather *g, const skua_rma_params *params);

#endif
