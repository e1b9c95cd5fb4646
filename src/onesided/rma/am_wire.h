/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_wire.h - requests and answers as they travel (am_origin.h): a request is its head, its
 * pieces, its data and the data of its signal, one behind another; an answer is its head
 * and the data.
 */
#ifndef SKI_AM_WIRE_H
#define SKI_AM_WIRE_H

#include "onesided/rma/transfer.h"

#define SKI_RUNS        128   /* most pieces of a packet */
#define SKI_SPLIT_LEAST 32768 /* bytes of data that are not copied to be sent to another host */

/* Where data goes or comes from at the target, in bytes from the address. */
struct ski_piece {
    int64_t  remote;
    uint64_t bytes;
};

struct ski_request {
    uint32_t          verb;   /* enum ski_verb                                  */
    int32_t           origin; /* where it goes back to: a PE, or a hidden one   */
    int32_t           source; /* in whose name a signal comes                   */
    uint32_t          signal;
    uint64_t          packet; /* the origin's name for it                       */
    skua_gaddr        remote;
    uint64_t          pieces, data_bytes, signal_bytes;
    uint32_t          op, type, scaled; /* of an update                         */
    uint32_t          late;             /* a get: its memory may be read after it was served    */
    uint64_t          scale[2];
    struct ski_atomic atomic;
    skua_gaddr        notify; /* of the last packet                             */
    uint64_t          notify_add;
};

struct ski_answer {
    uint64_t packet;
    int32_t  status; /* a skua_status_t */
    uint32_t unused;
    uint64_t value; /* of an atomic, before */
    uint64_t data_bytes;
};

/* Whether the answer brings the data. */
static inline bool ski_brings_data(uint32_t verb)
{
    return verb == SKI_GET || verb == SKI_DESCRIBE;
}

static inline struct ski_piece *ski_pieces_of(struct ski_request *request)
{
    return (struct ski_piece *)(request + 1);
}

static inline char *ski_data_of(struct ski_request *request)
{
    return (char *)(ski_pieces_of(request) + request->pieces);
}

#endif
