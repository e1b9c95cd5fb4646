/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_request.h - operations that are on their way from a PE.
 *
 * An operation goes by request (am_origin.c) or is done by the driver (rma_driver.c), in one or
 * several parts; it is over at the target when all parts are.  Each origin counts those that
 * are not, by target and by region (outstanding.h): handles, fences and order ask these counts,
 * so none of them takes longer the more is outstanding.
 */
#ifndef SKI_RMA_REQUEST_H
#define SKI_RMA_REQUEST_H

#include "core/net/net.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/transfer.h"

/* How an operation is done. */
enum ski_rma_protocol {
    SKI_RMA_BY_AM,
    SKI_RMA_BY_AM_DEFERRED, /* by request: a get that may read after it was served (am_origin.c) */
    SKI_RMA_BY_DRIVER,      /* by the driver                                                   */
};

struct ski_rma_request {
    struct ski_far_done     part; /* the driver's word that a part is over (rma_driver.c)         */
    struct ski_rma_pe      *origin;
    const char             *call; /* that began it; NULL: one of the runtime's own       */
    skua_gaddr              remote;
    struct ski_region      *region; /* held until the end; NULL: of another host           */
    enum ski_rma_protocol   way;
    bool                    near;   /* counted in ski_regions.busy                          */
    uint32_t                parts;  /* sent and not yet over                                */
    bool                    sealed; /* the last one has been sent                          */
    bool                    waited; /* a caller waits and will free it                     */
    bool                    done;
    skua_status_t           status;
    void                   *waiters; /* for its end                                        */
    struct ski_outstanding *on_pe, *in_region; /* where it is counted                     */
    skua_handle            *handle;
    skua_completion         local, remote_done;
    uint64_t                result;     /* of an atomic                                      */
    struct ski_rma_after   *afterwards; /* what an operation of the driver brings then   */
};

/** Begin an operation for @p t, with what its end shall bring. */
struct ski_rma_request *ski_rma_request_begin(struct ski_pe *self, const struct ski_rma_op *t,
                                              const struct ski_resolved *place,
                                              const skua_ends *ends, enum ski_rma_protocol way);

/** All parts are over. */
void ski_rma_request_end(struct ski_pe *self, struct ski_rma_request *operation);

/** Wait for the end; its status, and *result of an atomic. */
skua_status_t ski_rma_request_wait(struct ski_pe *self, struct ski_rma_request *operation,
                                   uint64_t *result);

/** Wait until @p done(arg) holds, which is looked at when an operation ends.  False: the job
 *  ends. */
bool ski_rma_wait(struct ski_pe *self, bool (*done)(void *arg), void *arg);

/** Wait until nothing of the calling PE is outstanding on @p pe. */
void ski_rma_fence(int pe);

/** What is outstanding on @p pe: how many operations, of which kinds. */
static inline struct ski_outstanding ski_rma_outstanding_on(const struct ski_pe *self, int pe)
{
    const struct ski_outstanding *found =
        ski_outstanding_find(&ski_rma_pe_of(self)->outstanding, ski_outstanding_pe(pe));

    return found ? *found : (struct ski_outstanding){.all = 0};
}

#endif
