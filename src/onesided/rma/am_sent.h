/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_sent.h - the table of the requests of a PE in flight, which have no reply yet (am_origin.h).
 *
 * The id on the wire is a slot of the table and a count of its uses, so a duplicate reply, or one
 * from a PE that the request was not sent to, matches no slot.  The reply repeats the id, and
 * nothing else of it is trusted: the slot has the destination of the data.
 */
#ifndef SKI_AM_SENT_H
#define SKI_AM_SENT_H

#include "base/config.h"
#include "onesided/rma/rma_op.h"
#include "onesided/rma/rma_pe.h"

struct ski_rma_request;

/** Blocks of one size that are at constant strides on both sides. */
struct ski_am_local_run {
    char     *local;
    ptrdiff_t remote; /* relative to the global address */
    size_t    bytes, count;
    ptrdiff_t local_stride, remote_stride;
};

/** A request that has no reply yet. */
struct ski_am_sent {
    struct ski_rma_request  *req;   /* NULL: free                            */
    struct ski_am_local_run *runs;  /* of a get, or NULL                     */
    size_t                   bytes; /* counted in am_bytes                   */
    size_t                   data_bytes;
    uint32_t                 run_count;
    uint32_t                 next_free;
    uint8_t                  turn;    /* changes with each use                 */
    uint8_t                  pool;    /* enum ski_am_pool                      */
    bool                     filling; /* the driver receives into its memory   */
    int32_t                  server;  /* the PE that it was sent to            */
};

/** Returns the pool that counts the requests of a verb. */
static inline enum ski_am_pool ski_am_pool_of(enum ski_rma_verb verb)
{
    static const enum ski_am_pool pools[] = {[SKI_RMA_PUT]        = SKI_AM_POOL_PUT,
                                             [SKI_RMA_GET]        = SKI_AM_POOL_GET,
                                             [SKI_RMA_ACCUMULATE] = SKI_AM_POOL_ACCUMULATE,
                                             [SKI_RMA_ATOMIC]     = SKI_AM_POOL_ACCUMULATE,
                                             [SKI_RMA_RKEY_QUERY] = SKI_AM_POOL_GET};

    return pools[verb];
}

/** Returns whether requests in flight leave room in the pool of @p verb, which has the size of the
 *  setting `request_window`. */
static inline bool ski_am_pool_has_room(const struct ski_pe *self, enum ski_rma_verb verb)
{
    return ski_rma_pe(self)->am_bytes[ski_am_pool_of(verb)] < ski_config.request_window;
}

/** Records a request that is about to be sent: its operation, pool and bytes, and the destination
 *  of the data of its reply; the runs are copied.  The bytes count in the pool until the reply.
 *  Returns the id of the request. */
uint32_t ski_am_sent_add(struct ski_pe *self, const struct ski_am_sent *request);

/** Returns the request of an id that was sent to PE @p server; NULL: there is none, the id comes
 * from another host. */
struct ski_am_sent *ski_am_sent_find(const struct ski_rma_pe *rma, int server, uint32_t id);

/** Ends one request, whose reply has been applied. */
void ski_am_sent_end(struct ski_pe *self, struct ski_am_sent *sent);

/** Ends the request of @p id, which PE @p server has acknowledged.  Returns false if there is none
 *  that an acknowledgement without data from that PE fits: the id comes from another host. */
bool ski_am_sent_ack(struct ski_pe *self, int server, uint32_t id);

/** Returns whether ski_am_sent_ack() of @p id would run nothing, send nothing and wake no thread:
 *  it may be called within the driver. */
bool ski_am_sent_acks_quietly(const struct ski_rma_pe *rma, int server, uint32_t id);

/** Frees the table of a PE that ends. */
void ski_am_sent_free(struct ski_rma_pe *rma);

#endif
