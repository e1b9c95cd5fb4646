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
enum ski_operation_way {
    SKI_OPERATION_REQUEST,
    SKI_OPERATION_DEFERRED, /* by request: a get that may read after it was served (am_origin.c) */
    SKI_OPERATION_RMA,      /* by the driver                                                   */
};

struct ski_operation {
    struct ski_far_done     part; /* the driver's word that a part is over (rma_driver.c)         */
    struct ski_origin      *origin;
    const char             *call; /* that began it; NULL: one of the runtime's own       */
    skua_gaddr              remote;
    struct ski_region      *region; /* held until the end; NULL: of another host           */
    enum ski_operation_way  way;
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
    struct ski_afterwards  *afterwards; /* what an operation of the driver brings then   */
};

/** Begin an operation for @p t, with what its end shall bring. */
struct ski_operation *ski_operation_begin(struct ski_pe *self, const struct ski_transfer *t,
                                          const struct ski_place *place, const skua_ends *ends,
                                          enum ski_operation_way way);

/** All parts are over. */
void ski_operation_end(struct ski_pe *self, struct ski_operation *operation);

/** Wait for the end; its status, and *result of an atomic. */
skua_status_t ski_operation_wait(struct ski_pe *self, struct ski_operation *operation,
                                 uint64_t *result);

/** Wait until @p done(arg) holds, which is looked at when an operation ends.  False: the job
 *  ends. */
bool ski_operations_wait(struct ski_pe *self, bool (*done)(void *arg), void *arg);

/** Wait until nothing of the calling PE is outstanding on @p pe. */
void ski_operations_fence(int pe);

/** What is outstanding on @p pe: how many operations, of which kinds. */
static inline struct ski_outstanding ski_operations_on(const struct ski_pe *self, int pe)
{
    const struct ski_outstanding *found =
        ski_outstanding_find(&ski_origin_of(self)->outstanding, ski_outstanding_pe(pe));

    return found ? *found : (struct ski_outstanding){.all = 0};
}

#endif
