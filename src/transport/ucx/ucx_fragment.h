/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - large packets as a row of active messages.
 *
 * An endpoint that tells of lost peers has no fast rendezvous over TCP (UCX 1.13): both
 * ends copy, in turn.  Messages that fill a segment of TCP are faster: the sender copies
 * nothing, and the receiver copies each from UCX's buffer, which is in its cache, to
 * where it belongs in the packet, while the next one is on the way.
 *
 * Each piece says what it belongs to, in the header of its active message:
 *
 *      | key (8) | pe (4) | number (4) | bytes (8) | at (8) |
 *
 * key, pe and number name the packet: a random number of the sender's port, which nobody
 * guesses who wants to meddle, its PE, and a count.  bytes is how long the packet is, at
 * is where in it the piece lies.  Pieces come exactly once, in any order.
 */
#ifndef SKI_UCX_PIECES_H
#define SKI_UCX_PIECES_H

#include <ucp/api/ucp.h>

#include "transport/driver.h"

/* Of a segment of TCP, and the most of it that is a piece: the rest is for headers. */
#define SKI_UCX_SEGMENT    "260k"
#define SKI_FRAGMENT_BYTES ((size_t)257 << 10)

struct ski_fragments_in;

/* What a port knows of pieces. */
struct ski_fragments {
    const struct ski_upcalls *up;
    void                     *owner;
    uint64_t                  key;
    int32_t                   pe;
    uint32_t                  number; /* of the next packet   */
    struct ski_fragments_in  *incoming;
    unsigned                  events; /* as in struct ski_port */
};

/** Begin, in a worker; it stays in place. */
ucs_status_t ski_fragments_open(struct ski_fragments *fragments, ucp_worker_h worker, int pe,
                                const struct ski_upcalls *up, void *owner);

/** Send a packet.  UCS_OK: its memory is free again.  UCS_INPROGRESS: sent() will say so. */
ucs_status_t ski_fragments_send(struct ski_fragments *fragments, ucp_ep_h ep, void *packet,
                                size_t bytes);

/** The rest of what @p pe has begun to send will not come; -1: nor from anybody. */
void ski_fragments_abort(struct ski_fragments *fragments, int pe);

#endif
