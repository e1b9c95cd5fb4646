/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_request.h - operations of a PE that are in flight.
 *
 * An operation is performed by active messages (am_origin.c) or by the driver (rma_driver.c), in
 * one or several parts; it is complete at the target when all parts are.  Each origin counts its
 * requests by target and by region (outstanding.h): handles, flushes and orders read these counts,
 * so their time does not grow with the number of requests.
 *
 * Completion and order are independent.  A *flush* waits until requests are complete at the target.
 * A *fence* (skua_fence()) waits for nothing: it divides the operations on a PE into those before
 * and those after it.  What this process stored itself is ordered by a fence of the CPU, within
 * that call.  Requests that are in flight then are counted in `before`; a later operation that may
 * overtake them waits until that count is 0:
 *
 *   later operation     overtakes requests before the fence
 *   by load and store,  all of them: the fast path is closed while a request to this host is in
 *     or cma            flight (ski_fast_path_open()), so it costs nothing there
 *   am                  those of the driver; others by am are served in the order of sending
 *   driver              those by am; its own are ordered by the driver's fence, where it has one
 *
 * Gets are not ordered by a fence.  Atomics and notifications come after everything in any case.
 */
#ifndef SKI_RMA_REQUEST_H
#define SKI_RMA_REQUEST_H

#include "base/config.h"
#include "core/net/net.h"
#include "onesided/rma/rma_op.h"
#include "onesided/rma/rma_pe.h"

/* How a request is performed. */
enum ski_rma_protocol {
    SKI_RMA_BY_AM,
    SKI_RMA_BY_AM_DEFERRED, /* a get that may read after its request was served (am_origin.c) */
    SKI_RMA_BY_DRIVER,
    SKI_RMA_BY_SOURCE, /* a copy, by the PE that has its source: ordered with nothing */
};

/* An operation in flight. */
struct ski_rma_request {
    struct ski_net_done     part; /* the driver says that a part is complete (rma_driver.c)   */
    struct ski_rma_pe      *rma;  /* of the origin                                            */
    const char             *call; /* the function that began it; NULL: the runtime            */
    skua_gaddr              remote;
    struct ski_region      *region; /* retained until the end; NULL: of another host          */
    enum ski_rma_protocol   protocol;
    bool                    on_host; /* counted in ski_regions.busy                           */
    uint32_t                parts;   /* sent and not complete                                 */
    bool                    sealed;  /* the last part has been sent                           */
    bool                    staged;  /* counted so in `on_pe`                                 */
    bool                    joined;  /* short puts, of which `remote` is the first (am_short.c) */
    bool                    waited;  /* a caller waits and will free it                       */
    bool                    done;
    skua_status             status;
    void                   *waiters;           /* threads that wait for its end */
    struct ski_outstanding *on_pe, *in_region; /* where it is counted           */
    uint32_t                epoch;             /* of `on_pe` when it began      */
    skua_handle            *handle;
    skua_completion         local, remote_done;
    uint64_t                result; /* of an atomic                                           */
    void                   *old;    /* where that goes at the end, if not NULL                */
    struct ski_rma_atomic  *atomic; /* of the driver (rma_driver.c), else NULL                */
    uint32_t                old_bytes;
    size_t                  resume; /* bytes that have been sent, of one that waits for room  */
    skua_status            *failed; /* of the operation: NULL, or is set if the request fails */
    struct ski_rma_after   *after;  /* what happens at the target after the driver is done    */
};

/** Begins a request for @p op; @p params say what follows its end. */
struct ski_rma_request *ski_rma_request_begin(struct ski_pe *self, const struct ski_rma_op *op,
                                              const struct ski_resolved *target,
                                              const skua_rma_params     *params,
                                              enum ski_rma_protocol      protocol);

/** Ends a request: all parts are complete. */
void ski_rma_request_end(struct ski_pe *self, struct ski_rma_request *req);

/** Counts a request of the driver as one of several steps: a notification that follows the data,
 *  an atomic in its turn.  The fence of the driver does not order what the driver has not been
 * given yet. */
void ski_rma_request_set_staged(struct ski_rma_request *req);

/** Changes the protocol of a request that has not been issued. */
void ski_rma_request_set_protocol(struct ski_rma_request *req, enum ski_rma_protocol protocol);

/** Waits for the end of a request and frees it.  Returns its status; sets *@p result to the result
 *  of an atomic. */
skua_status ski_rma_request_wait(struct ski_pe *self, struct ski_rma_request *req,
                                 uint64_t *result);

/** Waits until @p done(arg) holds, which is evaluated whenever a request ends.  Returns false if
 * the job ends. */
bool ski_rma_wait(struct ski_pe *self, bool (*done)(void *arg), void *arg);

/** Records that the PE has waited for requests, for @p ticks; 0: the wait begins. */
void ski_rma_note_wait(struct ski_rma_pe *rma, uint64_t ticks);

/** Returns whether a put with a notification, which no call waits for, is relaxed (rma_pe.h): the
 * PE has not waited lately, nor is it about to wait for room in its pool. */
static inline bool ski_rma_is_relaxed(struct ski_rma_pe *rma)
{
    bool relaxed = rma->waits.puts == rma->waits.needed && rma->waits.needed != UINT32_MAX &&
                   rma->am_bytes[SKI_AM_POOL_PUT] < ski_config.request_window / 4;

    rma->waits.puts += rma->waits.puts < rma->waits.needed;
    rma->waits.relaxed |= relaxed;
    return relaxed;
}

/** Waits until no request of the calling PE on @p pe is in flight. */
void ski_rma_flush(int pe);

/** Waits until no request of the calling PE on @p pe that was begun before the last fence is in
 *  flight; with @p driver_only, no such request by the driver or in the backlog. */
void ski_rma_flush_before_fence(int pe, bool driver_only);

/** Waits for requests in flight to @p pe, if @p order requires that before @p verb, and executes a
 *  memory fence. */
void ski_rma_order_before(skua_order order, enum ski_rma_verb verb, int pe);

/** Returns whether requests of the calling PE on @p pe are in flight; in a thread that is not a PE,
 *  whether requests of such threads are in flight to any PE. */
bool ski_rma_outstanding(int pe);

/** Returns the numbers of requests of @p self on @p pe that are in flight. */
static inline struct ski_outstanding ski_rma_outstanding_on(const struct ski_pe *self, int pe)
{
    const struct ski_outstanding *found =
        ski_outstanding_find(&ski_rma_pe(self)->outstanding, ski_outstanding_pe(pe));

    return found ? *found : (struct ski_outstanding){.all = 0};
}

#endif
