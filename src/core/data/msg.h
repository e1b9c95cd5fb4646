/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.h - the layout of a message in memory.
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
#ifndef SKI_MSG_H
#define SKI_MSG_H

#include <skua/message.h>

#include "base/inbox.h"

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

#endif
