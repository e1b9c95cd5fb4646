/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - what a message is in memory, and how it gets into an inbox.
 *
 *      0         8        16        24        32        40         64
 *      | bytes   | handler, flags,  | link    | target  | index    | data ...  | priority words
 *      |         | source, priority |         |         |          |           | (if room was
 * asked)
 *
 * A message is a block of the pool (base/pool.h): its address is a multiple of
 * 64, the header one cache line, and the block belongs to its owner alone.  The
 * second half of the header is used by messages to objects (SKI_MSG_OBJECT) and
 * means nothing in others.  `handler`, `source` and the flags are
 * written by the sender; a cell that carries the address also carries what the
 * receiver needs to queue it without touching it.
 */
#ifndef SKI_MESSAGE_H
#define SKI_MESSAGE_H

#include <skua/message.h>

#include "base/inbox.h"

struct ski_pe;

#define SKI_MSG_INDEX_BYTES 24

struct skua_msg {
    size_t   bytes;   /* of data */
    uint16_t handler; /* from here to source as in a cell                   */
    uint8_t  flags;
    uint8_t  cell_bytes; /* not used here                                      */
    int32_t  source;
    int32_t  priority;  /* integer priority, 0 unless SKI_MSG_INT             */
    uint16_t bit_words; /* words of a bit-string priority, if SKI_MSG_BITS    */
    uint16_t bit_room;  /* words reserved for one behind the data             */
    union {
        struct skua_msg *link; /* the holder's, to chain messages up                   */
        struct {
            uint32_t token, sequence;
        } stamp; /* on its way between hosts (packet.h) */
    };
    uint64_t target; /* object: what it belongs to << 8, bytes of index */
    union {
        unsigned char index[SKI_MSG_INDEX_BYTES]; /* object: its index, the rest is in the tail */
        struct {
            void (*method)(void *self, const void *data, size_t bytes);
            struct ski_magazine *magazine;
        } here; /* SKI_MSG_HERE: what to call, or NULL; where the message is given back, or NULL */
        struct {
            struct skua_msg *previous, *same;
            uint32_t         trigger;
        } kept; /* by an object, until a strand asks for it: flow/trigger.h */
    };
};

/* Bytes of the header that a cell has in the same order. */
#define SKI_MSG_IN_CELL 8

_Static_assert(sizeof(struct skua_msg) == SKUA_MSG_HEADER, "the header is part of the interface");

enum {
    SKI_MSG_INT       = 1,
    SKI_MSG_BITS      = 2,
    SKI_MSG_EXPEDITED = 4,
    SKI_MSG_SPECIAL   = SKI_MSG_INT | SKI_MSG_BITS | SKI_MSG_EXPEDITED,
    SKI_MSG_POINTER   = 8,  /* a cell that carries an address                      */
    SKI_MSG_POKE      = 16, /* a cell that is no message: look at the exit flag; with a
                               handler, a doorbell that self->ring() answers       */
    SKI_MSG_TAIL   = 32,    /* SKI_MSG_TAIL_BYTES behind data and priority words   */
    SKI_MSG_OBJECT = 64,    /* it goes to an object: `target` and `index` are set  */
    SKI_MSG_HERE   = 128,   /* ... of this PE: `target` is its address             */
};

#define SKI_MSG_TAIL_BYTES 24 /* what a broadcast needs (broadcast.c), or a long index */

/** Bytes of the index in a target, and how many of them can lie in the header. */
static inline size_t ski_target_bytes(uint64_t target)
{
    return target & 0xff;
}

/** Whether a message to an object has its index in two pieces. */
static inline bool ski_target_long(uint64_t target)
{
    return ski_target_bytes(target) > SKI_MSG_INDEX_BYTES;
}

static inline uint32_t *ski_msg_words(struct skua_msg *msg)
{
    return (uint32_t *)(void *)((char *)(msg + 1) + ((msg->bytes + 3) & ~(size_t)3));
}

/** Where the tail of a message begins: behind its data and the room for priority
 *  words; and where it ends, which is all there is of it. */
static inline size_t ski_msg_tail_offset(const struct skua_msg *msg)
{
    size_t words = ((msg->bytes + 3) & ~(size_t)3) + 4 * (size_t)msg->bit_room;
    return (words + 7) & ~(size_t)7;
}

static inline size_t ski_msg_extent(const struct skua_msg *msg)
{
    if (msg->flags & SKI_MSG_TAIL)
        return sizeof *msg + ski_msg_tail_offset(msg) + SKI_MSG_TAIL_BYTES;
    if (msg->bit_room)
        return sizeof *msg + ((msg->bytes + 3) & ~(size_t)3) + 4 * (size_t)msg->bit_room;
    return sizeof *msg + msg->bytes;
}

/** A message with a copy of @p bytes at @p data; its header is ready to send. */
struct skua_msg *ski_msg_copy(struct ski_pe *self, uint32_t handler, const void *data,
                              size_t bytes);

/** Try once to put @p msg into the inbox of another PE; false if it is full.
 *  @p handler is the one in its header, which need not be waited for. */
bool ski_msg_try_push(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg);

/** Send up to SKI_CELL_DATA bytes in a cell, as of a message with @p flags; false if that
 *  cannot be done now, or not to that PE. */
bool ski_msg_try_small(struct ski_pe *self, int pe, uint32_t handler, unsigned flags,
                       const void *data, size_t bytes);

/** Send a copy of @p msg, with SKI_MSG_TAIL_BYTES of @p tail behind its data, in a cell.  False: it
 *  does not fit, has a priority, or cannot be sent now, or not to that PE. */
bool ski_msg_try_tailed(struct ski_pe *self, int pe, uint32_t handler, const struct skua_msg *msg,
                        const void *tail);

/** Make @p pe look up, and not fall asleep soon, if its inbox has room; if not, it is about to
 *  anyway. */
void ski_msg_poke(struct ski_pe *self, int pe);

/** Move what has arrived, at most @p limit cells, into the queue of @p self, up to the next
 *  doorbell. */
void ski_msg_arrivals(struct ski_pe *self, unsigned limit);

/** The one message that has arrived, past the queue, without looking at its
 *  memory; it is no poke. */
struct skua_msg *ski_msg_arrival(struct ski_pe *self);

/** Answer the poke that has arrived. */
void ski_msg_poked(struct ski_pe *self);

/** Whether what has arrived next is a doorbell. */
bool ski_msg_bell_next(struct ski_pe *self);

#endif
