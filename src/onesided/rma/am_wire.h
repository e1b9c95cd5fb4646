/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_wire.h - requests and replies of one-sided operations by active message (am_origin.h), as they
 * travel:
 *
 *     | struct ski_am_request | segment: remote, bytes ... | data ... | data of the signal |
 *     | struct ski_am_reply | data ... |          or several replies without data
 */
#ifndef SKI_AM_WIRE_H
#define SKI_AM_WIRE_H

#include "onesided/rma/rma_op.h"

#define SKI_AM_SEGMENTS_MAX  128   /* of a request                                            */
#define SKI_ZCOPY_SEND_LEAST 32768 /* bytes of data from which on they are sent without a copy */

/* Where data are written or read at the target, in bytes from the global address. */
struct ski_am_segment {
    int64_t  remote;
    uint64_t bytes;
};

struct ski_am_request {
    uint32_t          verb;   /* enum ski_rma_verb                                            */
    int32_t           origin; /* the PE, perhaps a hidden one, that sent it and gets the reply */
    int32_t           source; /* in whose name a signal is sent                               */
    uint32_t          signal;
    uint64_t          id; /* the origin's, which the reply repeats                        */
    skua_gaddr        remote;
    uint64_t          segments, data_bytes, signal_bytes;
    uint32_t          op, type, scaled; /* of an accumulate                                   */
    uint32_t          deferrable;       /* a get: its memory may be read after the handler    */
    uint64_t          scale[2];
    struct ski_atomic atomic;
    skua_gaddr        notify; /* with the last request of an operation                        */
    uint64_t          notify_add;
};

struct ski_am_reply {
    uint64_t id;
    int32_t  status; /* a skua_status */
    uint32_t unused;
    uint64_t value; /* before the atomic */
    uint64_t data_bytes;
};

/** Returns whether the reply to @p verb carries data. */
static inline bool ski_am_reply_has_data(uint32_t verb)
{
    return verb == SKI_RMA_GET || verb == SKI_RMA_RKEY_QUERY;
}

/** Returns the segments of a request. */
static inline struct ski_am_segment *ski_am_segments(struct ski_am_request *request)
{
    return (struct ski_am_segment *)(request + 1);
}

/** Returns the data of a request, behind its segments. */
static inline char *ski_am_data(struct ski_am_request *request)
{
    return (char *)(ski_am_segments(request) + request->segments);
}

#endif
