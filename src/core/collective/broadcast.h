/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast.h - messages to every PE: what goes with them, and large ones between hosts.
 *
 * A large message without priority goes to a child on another host in *segments*.  The child
 * allocates the message with the first of them, receives each segment into its place there and
 * sends it on to its own children at once: so all levels of the tree move data at the same time.
 * The last segment makes the message an ordinary broadcast, which is delivered in that segment's
 * turn: order between PEs is what it would be if the message had come whole.
 *
 * Segments are read by the network from the message itself.  Where it has not read all of them
 * when the message is to be delivered, the handler gets a copy, and the message is freed later.
 *
 * On the wire:  struct ski_segment, then its part of the data.  The sender numbers its
 * transfers, and segments of one transfer come in order.  How long segments are follows from the
 * length of the message, so a receiver knows where each begins.  It allocates nothing and lets
 * nothing be written before the head of a segment is checked, and each place is written once.
 */
#ifndef SKI_BROADCAST_H
#define SKI_BROADCAST_H

#include "core/collective/collective.h"
#include "core/data/msg.h"
#include "core/collective/tree.h"

struct ski_pe;

/* What the tree needs of a broadcast; it lies behind the data of a whole message. */
struct ski_broadcast_tail {
    int32_t  root;
    uint32_t handler;
    int32_t  parent;
    uint32_t zero;
    uint64_t above; /* the parent's name for its node; 0: the end is not asked for */
};

_Static_assert(sizeof(struct ski_broadcast_tail) == SKI_MSG_TAIL_BYTES, "has a place in messages");

struct ski_segment {
    uint64_t                  bytes;          /* of the message */
    uint64_t                  offset, length; /* of the segment in it */
    uint64_t                  number;         /* of the transfer, among the sender's */
    struct ski_broadcast_tail tail;           /* `above` in the last segment alone */
};

/* ---- segments (broadcast_segment.c) ------------------------------------------ */

/** Returns whether @p msg goes to other hosts in segments. */
bool ski_segments_used(const struct ski_pe *self, const skua_msg *msg);

/** Sends @p msg to the children of @p tree on other hosts.  Returns the message to deliver here:
 *  @p msg, or a copy of it. */
skua_msg *ski_segments_send(struct ski_pe *self, skua_msg *msg, const struct ski_tree *tree,
                            const struct ski_broadcast_tail *tail);

/** Frees the records of transfers that are in flight at the end. */
void ski_segments_destroy(struct ski_pe *self);

/** Returns how many bytes of a segment, whose packet has the header @p msg and begins with
 *  @p data, are to be received at *@p to; 0: it is to be received as any other packet. */
size_t ski_segment_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Makes the message that stands for a segment whose bytes are in their place; NULL: they are not
 *  @p whole, and may come again. */
skua_msg *ski_segment_placed(struct ski_pe *self, const skua_msg *msg, const char *data,
                             bool whole);

/* ---- trees (broadcast.c) ------------------------------------------------------- */

/** Returns whether a broadcast of @p bytes can have been sent: not back to its root, and for a
 *  handler that may have it. */
bool ski_broadcast_is_sound(const struct ski_pe *self, const struct ski_broadcast_tail *tail,
                            size_t bytes);

/** Makes the node of this PE for a broadcast whose end is asked for.  Returns its name; 0: the end
 *  is not asked for. */
uint64_t ski_broadcast_node(struct ski_pe *self, const struct ski_tree *tree,
                            const struct ski_broadcast_tail *tail);

/** Copies @p msg, with its priority and with @p tail behind it. */
skua_msg *ski_broadcast_copy(skua_msg *msg, const struct ski_broadcast_tail *tail);

/** Delivers @p msg, which has come in segments and has room for @p tail.  Children on this host
 *  get copies of it; @p tail->above is the name of this PE's own node. */
void ski_broadcast_deliver(struct ski_pe *self, skua_msg *msg, const struct ski_tree *tree,
                           const struct ski_broadcast_tail *tail);

/** Sends whole copies of @p msg to the children of @p tree; if @p near, to those on this host
 *  alone. */
void ski_broadcast_pass_whole(struct ski_pe *self, skua_msg *msg, const struct ski_tree *tree,
                              const struct ski_broadcast_tail *tail, bool near);

#endif
