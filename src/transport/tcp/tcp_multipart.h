/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_multipart.h - receiving a packet whose parts arrive on several connections, the rails of a
 * peer (tcp_rail.c).
 *
 *      first part   | head: MULTIPART, bytes of the packet | id (8) | bytes here (8) | bytes |
 *      other parts  | head: PART, bytes of the part      | id (8) | offset (8)     | bytes |
 *
 * The first part travels on the connection of all other packets, and has at least the
 * SKI_DIRECT_HEAD bytes that the runtime needs to say where the rest belongs.  All parts are then
 * received there; the packet is delivered when the last of them is complete.  A part whose packet
 * has not begun yet, an *early* one, is received in memory of its own, and is copied or continued
 * in its place when the first part begins.
 *
 * The id numbers the divided packets of a sender.  Values from the network are checked here: each
 * part is within the packet, all parts together have as many bytes as it has, and none is
 * received in bytes that recv_direct() has left to the driver.  Whether parts overlap is not
 * checked: a packet of such parts is delivered with bytes that were not received.
 */
#ifndef SKI_TCP_MULTIPART_H
#define SKI_TCP_MULTIPART_H

#include "transport/tcp/tcp_framing.h"

/* A part that is arriving, or has arrived, before the first part of its packet has begun. */
struct ski_early_part {
    struct ski_early_part *next;
    struct ski_framing    *stream; /* NULL: the part is complete */
    size_t                 offset, bytes;
    char                   data[];
};

/* A packet that arrives in parts. */
struct ski_multipart {
    struct ski_multipart  *next;
    int                    from; /* PE of the sender */
    uint64_t               id;
    bool                   known;       /* its first part has begun                            */
    struct ski_framing    *streams;     /* that receive a part of it                            */
    size_t                 bytes, left; /* of the packet; those not received yet            */
    size_t                 unclaimed;   /* those of which no part has begun                 */
    size_t                 kept;        /* bytes in `begin`; 0: all are in `room`            */
    char                  *room;        /* NULL: the packet is skipped                       */
    struct ski_framing    *first;       /* the stream of the first part; NULL: it is closed  */
    struct ski_early_part *early;
    unsigned char          begin[SKI_DIRECT_HEAD];
};

/* The packets of a port that arrive in parts. */
struct ski_multiparts {
    struct ski_multipart     *list;
    const struct ski_upcalls *up;    /* of the streams ... */
    void                     *owner; /* ... and their owner */
    /** Called when a stream begins or ends a part, or continues after its packet is complete or
     *  aborted.  May call ski_multiparts_abort() if the stream is paused. */
    void (*changed)(struct ski_framing *stream);
};

/** The functions that a stream calls. */
extern const struct ski_multipart_calls ski_multipart_calls;

/** Returns whether a packet of the sender @p from has begun of which a part has not. */
bool ski_multiparts_expect(const struct ski_multiparts *multiparts, int from);

/** Aborts the packets of the sender @p from that are not complete: none of its streams brings
 *  another part.  A stream that receives a part of one skips the rest of that part. */
void ski_multiparts_abort(struct ski_multiparts *multiparts, int from);

/** Frees the packets that are not complete, when all streams of a port are closed. */
void ski_multiparts_free(struct ski_multiparts *multiparts);

#endif
