/* SPDX-License-Identifier: Apache-2.0 */
/* rma_pe.h - the state of the operations of a PE in flight: its own, and requests of others. */
#ifndef SKI_RMA_PE_H
#define SKI_RMA_PE_H

#include "onesided/pe/onesided_pe.h"
#include "onesided/rma/outstanding.h"

/* Each kind of requests has a pool of its own: gets continue while the pool of puts is full. */
enum ski_am_pool { SKI_AM_POOL_PUT, SKI_AM_POOL_GET, SKI_AM_POOL_ACCUMULATE, SKI_AM_POOLS };

/* The size of the piece of a region on a PE of another host (am_short.c); region 0: none. */
struct ski_am_piece {
    int32_t  pe;
    uint32_t region;
    uint64_t bytes;
};

/* Whether the PE is expected to wait for the ends of its requests.  It is not after `needed` puts
 * with a notification in a row between which it has not waited.  Such puts are relaxed: their
 * target keeps the acknowledgements until it next sends or is idle.  After a wait that relaxed puts
 * may have prolonged, `needed` becomes the number of puts that save, at a system call each, as much
 * time as the PE waited (ack_policy.h). */
struct ski_rma_waits {
    uint32_t puts, needed; /* since the last wait                       */
    bool     relaxed;      /* some of the puts since then were relaxed  */
};

/* The state of the operations of a PE. */
struct ski_rma_pe {
    struct ski_outstanding_table  outstanding; /* by target PE and by region              */
    uint32_t                      at_driver;   /* uses of memory of callers by the driver */
    size_t                        am_bytes[SKI_AM_POOLS]; /* of requests without a reply  */
    struct ski_outstanding       *wanting_room; /* whose backlogs wait for one of these   */
    struct ski_rma_rkey_query    *query;        /* of the driver's, in flight; or NULL     */
    struct ski_rma_waits          waits;
    void                         *waiters; /* threads that wait for any of them       */
    struct ski_am_sent           *sent;    /* these requests (am_sent.h)              */
    uint32_t                      sent_room, sent_free;
    struct ski_rma_request       *short_puts; /* in flight, which the next one may join; or NULL */
    struct ski_am_piece           last_piece; /* that a put with a notification went to      */
    struct ski_am_deferred_reply *deferred;   /* replies of this PE to be sent (am_target.c) */
    uint32_t                      deferred_count;
    uint32_t                      placed; /* puts in the queue whose data are in place       */
    bool                          deferred_urgent; /* one of them must not wait              */
};

/** Returns the state of @p self in this sub-folder. */
static inline struct ski_rma_pe *ski_rma_pe(const struct ski_pe *self)
{
    return ski_onesided_pe(self)->rma;
}

#endif
