/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - operations that are on their way from a PE.
 *
 * An operation goes by request (request.c) or is done by the driver (rma.c), in one or
 * several parts; it is over at the target when all parts are.  Each origin has a list of
 * those that are not: handles, fences and order look there.
 */
#ifndef SKI_OPERATION_H
#define SKI_OPERATION_H

#include "core/far.h"
#include "onesided/origin.h"
#include "onesided/transfer.h"

struct ski_operation {
    struct ski_far_done    part;         /* the driver's word that a part is over (rma.c) */
    struct ski_operation  *next, **link; /* in the list of its origin                     */
    int32_t                pe;
    struct ski_region     *region; /* held until the end; NULL: of another host         */
    uint32_t               region_id;
    uint32_t               at_driver; /* of the parts, in the hands of the driver            */
    uint32_t               parts;     /* sent and not yet over                             */
    bool                   sealed;    /* the last one has been sent                        */
    bool                   waited;    /* a caller waits and will free it                   */
    bool                   done;
    bool                   rma;  /* by the driver                                     */
    bool                   late; /* a get that reads after it was served (request.c)  */
    skua_status_t          status;
    skua_handle           *handle;
    skua_completion        local, remote;
    uint64_t               result;     /* of an atomic                                      */
    struct ski_afterwards *afterwards; /* what an operation of the driver brings then   */
};

/** Begin an operation for @p t, with what its end shall bring. */
struct ski_operation *ski_operation_begin(struct ski_pe *self, const struct ski_transfer *t,
                                          const struct ski_place *place, const skua_ends *ends);

/** All parts are over. */
void ski_operation_end(struct ski_pe *self, struct ski_operation *operation);

/** Wait for the end; its status, and *result of an atomic. */
skua_status_t ski_operation_wait(struct ski_pe *self, struct ski_operation *operation,
                                 uint64_t *result);

/** Wait until @p done(arg) holds, which is looked at when an operation ends.  False: the job
 *  ends. */
bool ski_operations_wait(struct ski_pe *self, bool (*done)(void *arg), void *arg);

/** Whether there are any on the way to @p pe, by the driver or by request. */
bool ski_operations_any(const struct ski_pe *self, int pe, bool rma);

/** Whether there are gets on the way to @p pe that may still read when what comes behind them
 *  is served. */
bool ski_operations_late(const struct ski_pe *self, int pe);

#endif
