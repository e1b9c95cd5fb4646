/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.h - the layout of a message in memory.
 *
 *      0       8                 24      32       40      64
 *      | bytes | handler, flags, | link  | target | index | data ... | priority words | tail
 *      |       | source,priority |       |        |       |          | (optional)     | (optional)
 *
 * A message is a block of the pool (base/pool.h): its address is a multiple of 64, its header is
 * one cache line, and the block belongs to its owner alone, or to its holders (msg_share.h).
 * Messages to objects (SKI_MSG_OBJECT), those that an object buffers (flow/when_entry.h) and those
 * with holders use the second half of the header.  The sender writes `handler`, `source` and
 * the flags; a cell of an inbox that carries the address also carries what the receiver needs to
 * queue the message without reading it.
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
    uint8_t  announced; /* by ski_net_announce_zcopy(), or 0; a cell has its bytes here */
    int32_t  source;
    int32_t  priority;  /* integer priority, 0 unless SKI_MSG_INT             */
    uint16_t bit_words; /* words of a bit-string priority, if SKI_MSG_BITS    */
    uint16_t bit_room;  /* words reserved for one after the data             */
    union {
        struct skua_msg *link; /* of the list that the message is in                   */
        struct {
            uint32_t token, sequence;
        } stamp; /* while in flight between hosts (packet.h) */
    };
    uint64_t target; /* object: its collection << 8, SKI_TARGET_FORWARDED, bytes of its index */
    union {
        unsigned char
            index[SKI_MSG_INDEX_BYTES]; /* object: its index; a long one ends in the tail */
        struct {
            void (*method)(void *self, const void *data, size_t bytes);
            struct ski_magazine *magazine;
        } here; /* SKI_MSG_HERE: the method, or NULL; the magazine that the block goes back to, or
                   NULL */
        struct {
            struct skua_msg *previous, *same;
            uint32_t         when;
        } kept; /* by an object, until its SDAG code asks for it (flow/when_entry.h) */
    };
};

/* Bytes of the header, from `handler` on, that a cell has in the same order. */
#define SKI_MSG_IN_CELL 8

_Static_assert(sizeof(struct skua_msg) == SKUA_MSG_HEADER, "the header is part of the interface");

enum {
    SKI_MSG_INT       = 1,
    SKI_MSG_BITS      = 2,
    SKI_MSG_EXPEDITED = 4,
    SKI_MSG_SPECIAL   = SKI_MSG_INT | SKI_MSG_BITS | SKI_MSG_EXPEDITED,
    SKI_MSG_POINTER   = 8, /* a cell that carries an address                      */
    SKI_MSG_WAKEUP = 16, /* a cell that is no message: a wake-up, which checks the exit flag; with a
                          handler, a doorbell, which self->on_doorbell() answers     */
    SKI_MSG_SHARED = 16, /* a message in memory, not in a cell: it has holders (msg_share.h) */
    SKI_MSG_TAIL   = 32, /* SKI_MSG_TAIL_BYTES after data and priority words   */
    SKI_MSG_OBJECT = 64, /* to an object: `target` and `index` are set          */
    SKI_MSG_HERE   = 128, /* to an object of this PE: `target` is its address; never in a cell,
                             where this is SKI_CELL_PACKED                        */
};

_Static_assert(SKI_MSG_WAKEUP == SKI_CELL_EMPTY,
               "the rest of a line is a wake-up, which does nothing");

#define SKI_MSG_TAIL_BYTES 24 /* what a broadcast needs (broadcast.c), or a long index */

/* In `target`: the home of the object has sent the message on (objects/location/forward_window.h).
 */
#define SKI_TARGET_FORWARDED UINT64_C(0x80)

/** Returns the bytes of the index of the object that @p target names. */
static inline size_t ski_target_bytes(uint64_t target)
{
    return target & 0x7f;
}

/** Returns whether the index is too long for the header, and ends in the tail. */
static inline bool ski_target_long(uint64_t target)
{
    return ski_target_bytes(target) > SKI_MSG_INDEX_BYTES;
}

/** Returns the words of a bit-string priority, after the data. */
static inline uint32_t *ski_msg_words(struct skua_msg *msg)
{
    return (uint32_t *)(void *)((char *)(msg + 1) + ((msg->bytes + 3) & ~(size_t)3));
}

/** Returns where the tail of a message begins: after its data and the room for priority words. */
static inline size_t ski_msg_tail_offset(const struct skua_msg *msg)
{
    size_t words = ((msg->bytes + 3) & ~(size_t)3) + 4 * (size_t)msg->bit_room;
    return (words + 7) & ~(size_t)7;
}

/** Returns the bytes of a message, its header included. */
static inline size_t ski_msg_extent(const struct skua_msg *msg)
{
    if (msg->flags & SKI_MSG_TAIL)
        return sizeof *msg + ski_msg_tail_offset(msg) + SKI_MSG_TAIL_BYTES;
    if (msg->bit_room)
        return sizeof *msg + ((msg->bytes + 3) & ~(size_t)3) + 4 * (size_t)msg->bit_room;
    return sizeof *msg + msg->bytes;
}

#endif
