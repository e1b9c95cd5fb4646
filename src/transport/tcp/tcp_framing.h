/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_framing.h - finding packets in a stream of bytes that arrives in pieces of any length.
 *
 *      | head (8): kind (8 bits), target (16 bits), bytes (40 bits) | packet | head | packet ...
 *
 * in the byte order of the machine.  On a connection that several ports share (tcp_hub.h) the
 * target is the number of the receiving port plus one; on any other it is 0.  A packet that is
 * complete in one piece is offered to the runtime there.  The missing bytes of any other packet can
 * be received straight into the memory that was allocated for it, or where the runtime wants its
 * data.  So after a large packet only the beginning of the next one is received at first, which is
 * likely to be as large: the runtime then says where the rest belongs (ski_framing_lead()).  If the
 * runtime has no place for several of them, only packets of SKI_FRAMING_MESSAGE bytes or more are
 * received so, the rest of which goes straight to their message.
 * Nothing follows a head of the kind END, with which the port ends, or MOVED, with which only this
 * stream ends (tcp_settle.c).  Both have no bytes.
 */
#ifndef SKI_TCP_FRAMING_H
#define SKI_TCP_FRAMING_H

#include <string.h>

#include "transport/driver.h"

#define SKI_FRAME_HEAD sizeof(uint64_t)

enum ski_frame_kind {
    SKI_FRAME_PACKET    = 0x53,
    SKI_FRAME_END       = 0x45,
    SKI_FRAME_MOVED     = 0x4d,
    SKI_FRAME_MULTIPART = 0x54, /* the first part of a packet, as in tcp_multipart.h */
    SKI_FRAME_PART      = 0x50, /* another part of it                             */
};

/* What follows the head of a part of a packet: its id; bytes or offset; and the beginning of the
 * packet, in its first part. */
struct ski_multipart_lead {
    uint64_t      id, at;
    unsigned char begin[SKI_DIRECT_HEAD];
};

#define SKI_MULTIPART_HEAD (2 * sizeof(uint64_t)) /* bytes of id, and bytes or offset */

struct ski_framing;
struct ski_multipart;
struct ski_multiparts;
struct ski_early_part;

/* How packets in parts are received (tcp_multipart.h). */
struct ski_multipart_calls {
    /** Handles the head and the beginning of a part, which are in stream->lead.  Returns false if
     *  they are invalid. */
    bool (*begin)(struct ski_framing *stream);
    /** Handles the end of a part. */
    void (*end)(struct ski_framing *stream);
    /** Asks the runtime whether the target of the packet of a part is still there, and where. */
    void (*check_target)(struct ski_framing *stream);
    /** Takes a stream that is closed from the packets that it receives parts of.  If it was cut
     *  off, these and all others of its sender are aborted. */
    void (*close)(struct ski_framing *stream);
};

/** Returns the head of a frame. */
static inline uint64_t ski_frame_head(enum ski_frame_kind kind, size_t bytes)
{
    return (uint64_t)kind << 56 | bytes;
}

#define SKI_FRAME_TARGET_SHIFT 40

/** Returns what is added to the head of a frame for the port with the number @p number of a shared
 *  connection. */
static inline uint64_t ski_frame_target(unsigned number)
{
    return (uint64_t)(number + 1) << SKI_FRAME_TARGET_SHIFT;
}

struct ski_framing {
    const struct ski_upcalls *up;
    void         *owner;  /* owner of the packet that is arriving, if the stream is shared */
    void *const  *owners; /* by the number of the port; NULL: the stream is not shared */
    size_t        owner_count;
    unsigned char head[SKI_FRAME_HEAD]; /* the first head_got bytes of the head that is arriving */
    size_t        head_got;
    char         *room;       /* memory for the packet that is arriving; NULL: it is skipped */
    size_t        bytes, got; /* size of the packet, 0: none is arriving; bytes received */
    size_t        kept; /* bytes of the packet in `begin`: the rest is received at its target */
    unsigned char begin[SKI_DIRECT_HEAD];
    bool          ended, moved; /* the stream has ended; the peer continues on another one */
    bool          invalid;      /* it ended since something was wrong in it                 */
    size_t        last;         /* bytes of the last packet                                 */
    bool          placed;       /* the runtime had a place for the last one it was asked for */
    unsigned      plain;        /* large packets to come before the runtime is asked again  */
    unsigned      exact;        /* ... whose following bytes are not received with them     */

    /* Packets in parts. */
    struct ski_multiparts *multiparts; /* of the port; NULL: there are none on this stream     */
    const struct ski_multipart_calls *calls; /* if there are any */
    int                       from;       /* PE of the sender                                     */
    unsigned char             leading;    /* enum ski_frame_kind, while `lead` arrives; else 0    */
    bool                      paused;     /* the rest of its last packet arrives on other streams */
    size_t                    lead_bytes; /* the bytes in the head                             */
    size_t                    part_bytes; /* bytes of the part that is arriving                */
    struct ski_multipart     *packet;     /* the packet of the part that is arriving, or NULL  */
    struct ski_framing       *next_of_packet; /* another stream that receives a part of it     */
    struct ski_early_part    *early; /* that part, if its packet has not begun; or NULL   */
    struct ski_multipart_lead lead;
};

#define SKI_FRAMING_LARGE                                                                          \
    18432 /* bytes from which on a packet is large: a copy costs more than a call */
#define SKI_FRAMING_PLAINS 64 /* large packets after which a decision is made again */
#define SKI_FRAMING_MESSAGE                                                                        \
    65536 /* bytes from which on that holds for a packet that becomes a message, too: a smaller    \
             one may have its short form, which is copied in any case */

/** Returns how many bytes are to be received next, at most, if the next packet is likely to be a
 *  large one that the runtime has a place for, or whose rest is received in its message; 0: as many
 *  as there is room for. */
static inline size_t ski_framing_lead(const struct ski_framing *s)
{
    return s->last >= (s->plain == 0 ? SKI_FRAMING_LARGE : SKI_FRAMING_MESSAGE) && s->bytes == 0
               ? SKI_FRAME_HEAD + sizeof(struct ski_multipart_lead)
               : 0;
}

/** Returns whether nothing behind the packet that is arriving is to be received with it.  The
 *  runtime may have a place for the next packet only when it has handled this one: a member of a
 *  collective that is ahead sends data of a call that this PE makes then. */
static inline bool ski_framing_is_exact(const struct ski_framing *s)
{
    return s->exact > 0 && s->kept > 0;
}

/** Returns how many of the next bytes may be received straight at *@p to; 0: they are to be
 * received into other memory and fed. */
static inline size_t ski_framing_target(const struct ski_framing *s, void **to)
{
    *to = s->room ? s->room + s->got - s->kept : NULL;
    return s->room ? s->bytes - s->got : 0;
}

/** Returns whether the rest of a whole packet is received where the runtime wants its data, or in
 *  its message. */
static inline bool ski_framing_is_direct(const struct ski_framing *s)
{
    return s->room && s->bytes > 0 && !s->packet && !s->leading;
}

/** Asks the runtime for ski_framing_check_target(). */
void ski_framing_ask_target(struct ski_framing *s);

/** Asks the runtime whether the target of the next bytes is still there, and where, before they are
 *  received in a later call of progress().  If it is not, the other bytes of the packet are fed and
 * skipped. */
static inline void ski_framing_check_target(struct ski_framing *s)
{
    if (s->kept > 0 && s->room && s->up->recv_direct_continues)
        ski_framing_ask_target(s);
}

/** Records that @p bytes were received at the target. */
void ski_framing_received(struct ski_framing *s, size_t bytes);

/** Consumes the next @p bytes of the stream.  Returns false if they are invalid; the stream is then
 *  useless. */
bool ski_framing_feed(struct ski_framing *s, const char *data, size_t bytes);

/** Ends the stream: a packet that is not complete is aborted. */
void ski_framing_close(struct ski_framing *s);

#endif
