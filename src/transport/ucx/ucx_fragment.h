/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucx_fragment.h - large packets as a sequence of active messages, *fragments*.
 *
 * An endpoint that reports lost peers has no fast rendezvous over TCP (UCX 1.13): both ends copy,
 * in turn.  Messages that fill a segment of TCP are faster: the sender copies nothing, and the
 * receiver copies each fragment from the buffer of UCX, which is in its cache, to its place in the
 * packet while the next one arrives.
 *
 * The header of the active message tells what a fragment belongs to:
 *
 *      | key (8) | pe (4) | number (4) | bytes (8) | at (8) |
 *
 * key, pe and number identify the packet: a random number of the sender's port, which an attacker
 * cannot guess, its PE, and a count.  bytes is the length of the packet, at the offset of the
 * fragment in it.  Fragments arrive exactly once, in any order.
 */
#ifndef SKI_UCX_FRAGMENT_H
#define SKI_UCX_FRAGMENT_H

#include <assert.h>
#include <ucp/api/ucp.h>

#include "transport/driver.h"

/* The size of a TCP segment, and the most of it that is a fragment; the rest is for headers. */
#define SKI_UCX_SEGMENT    "260k"
#define SKI_FRAGMENT_BYTES ((size_t)257 << 10)

struct ski_fragments_in;

/* The packets to a peer that UCX holds, whole or in fragments. */
struct ski_ucx_held {
    unsigned packets;
    size_t   bytes;
};

static inline void ski_ucx_held_add(struct ski_ucx_held *held, size_t bytes)
{
    held->packets++;
    held->bytes += bytes;
}

static inline void ski_ucx_held_remove(struct ski_ucx_held *held, size_t bytes)
{
    assert(held->packets > 0 && held->bytes >= bytes);
    held->packets--;
    held->bytes -= bytes;
}

/* The fragments that a port sends and receives. */
struct ski_fragments {
    const struct ski_upcalls *up;
    void                     *owner;
    uint64_t                  key;
    int32_t                   pe;
    uint32_t                  number; /* the number of the next packet */
    struct ski_fragments_in  *incoming;
    unsigned                  events; /* upcalls, as in struct ski_port */
};

/** Registers the handler of fragments with a worker; @p fragments stays in place. */
ucs_status_t ski_fragments_open(struct ski_fragments *fragments, ucp_worker_h worker, int pe,
                                const struct ski_upcalls *up, void *owner);

/** Sends a packet.  UCS_OK: its memory may be reused.  UCS_INPROGRESS: sent() will tell when, and
 *  until then @p held, which stays in place, counts the packet.  An error: nothing was sent.  If
 *  only some fragments could be sent, *@p broken is set to the error: the peer waits for the others
 *  and must be given up. */
ucs_status_t ski_fragments_send(struct ski_fragments *fragments, ucp_ep_h ep,
                                struct ski_ucx_held *held, void *packet, size_t bytes,
                                ucs_status_t *broken);

/** Aborts the packets that @p pe, or any peer if it is -1, has begun to send. */
void ski_fragments_abort(struct ski_fragments *fragments, int pe);

#endif
