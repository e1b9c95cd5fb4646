/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - packets in a stream of bytes, as it comes in pieces of any length.
 *
 *      | head (8): kind (8 bits), bytes (56 bits) | packet | head | packet ...
 *
 * in the byte order of the machine.  A packet that lies in a piece whole is offered to the
 * runtime there.  Of any other, the bytes that are missing can be received straight into the
 * room that was made for it, or to where the runtime says that its data belongs.  After a head of
 * the kind END, of no bytes, nothing follows.
 */
#ifndef SKI_TCP_STREAM_H
#define SKI_TCP_STREAM_H

#include <string.h>

#include "transport/driver.h"

#define SKI_FRAME_HEAD sizeof(uint64_t)

enum ski_frame_kind { SKI_FRAME_PACKET = 0x53, SKI_FRAME_END = 0x45 };

static inline uint64_t ski_frame_head(enum ski_frame_kind kind, size_t bytes)
{
    return (uint64_t)kind << 56 | bytes;
}

struct ski_framing {
    const struct ski_upcalls *up;
    void                     *owner;
    unsigned char             head[SKI_FRAME_HEAD]; /* as much as has come of it ... */
    size_t                    head_got;
    char                     *room;       /* of the packet that is coming; NULL: it is dropped */
    size_t                    bytes, got; /* of it; 0: none is coming                          */
    size_t                    kept;       /* of them, here, as the rest has its place          */
    unsigned char             begin[SKI_DIRECT_HEAD];
    bool                      ended;
};

/** Where the next bytes belong, and how many; 0: take them to memory of one's own. */
static inline size_t ski_framing_target(const struct ski_framing *s, void **to)
{
    *to = s->room ? s->room + s->got - s->kept : NULL;
    return s->room ? s->bytes - s->got : 0;
}

/** So many of them are there. */
void ski_framing_received(struct ski_framing *s, size_t bytes);

/** Take the next @p bytes.  False: they make no sense, and nothing that follows will. */
bool ski_framing_feed(struct ski_framing *s, const char *data, size_t bytes);

/** No more will come. */
void ski_framing_close(struct ski_framing *s);

#endif
