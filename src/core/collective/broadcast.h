/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast.h - broadcasts: the tail of their messages, and segments of large ones between hosts.
 *
 * A large message without priority goes to a child on another host in *segments*.  The child
 * allocates the message when the first segment arrives, receives each segment in place and
 * forwards it to its own children immediately, so that all levels of the tree transfer data at the
 * same time.  When the last segment has arrived, the message is delivered as an ordinary broadcast,
 * at the position of that segment in the order of messages between the two PEs.
 *
 * The network reads segments from the message itself, so the message is delivered, to a handler
 * that then owns it, only after the last read.  At the root the broadcasts that follow are
 * delivered after it.
 *
 * Inside a host of several PEs the root *lends* a large message without priority to all other PEs.
 * Its address travels down the tree, so the order of broadcasts is that of the tree; each PE, the
 * root among them, forwards the address and then makes its copy.  The last PE frees the message.
 *
 * On the wire:  struct ski_segment, then the data of the segment.  The sender numbers its
 * transfers, and the segments of a transfer arrive in order.  The length of segments follows from
 * the length of the message, so a receiver knows where each segment begins.  A receiver checks the
 * head of a segment before it allocates or writes anything, and writes each segment once.
 */
#ifndef SKI_BROADCAST_H
#define SKI_BROADCAST_H

#include "core/collective/collective.h"
#include "core/collective/broadcast_tree.h"
#include "base/config.h"
#include "core/data/msg.h"
#include "core/pe/pe.h"

/* The routing data of a broadcast, after the data of a whole message. */
struct ski_broadcast_tail {
    int32_t  root;
    uint16_t handler;
    uint16_t arity; /* of the tree, chosen by the root */
    int32_t  parent;
    uint32_t number;      /* of the root's ordered broadcasts; 0: it is not ordered */
    uint64_t parent_node; /* handle of the parent's node; 0: the end is not awaited */
};

_Static_assert(sizeof(struct ski_broadcast_tail) == SKI_MSG_TAIL_BYTES,
               "a tail fits after a message");

/** Returns the tail of @p msg, of SKI_HANDLER_BROADCAST. */
static inline struct ski_broadcast_tail *ski_broadcast_tail_of(skua_msg *msg)
{
    return (struct ski_broadcast_tail *)(void *)((char *)skua_msg_data(msg) +
                                                 ski_msg_tail_offset(msg));
}

/* The head of a segment on the wire. */
struct ski_segment {
    uint64_t                  bytes;          /* of the whole message */
    uint64_t                  offset, length; /* of the segment in the message */
    uint64_t                  number;         /* of the transfer, given by the sender */
    struct ski_broadcast_tail tail;           /* `parent_node` is set in the last segment only */
};

/* ---- segments (broadcast_segment.c) ------------------------------------------ */

/** Returns whether @p msg is sent to other hosts in segments. */
bool ski_segments_used(const struct ski_pe *self, const skua_msg *msg);

/** Sends @p msg to the children of @p tree on other hosts.  Returns NULL if the network has read
 *  all of it; else the transfer, which the caller passes to ski_segments_await(). */
struct ski_transfer *ski_segments_send(struct ski_pe *self, skua_msg *msg,
                                       const struct ski_broadcast_tree *tree,
                                       const struct ski_broadcast_tail *tail);

/** Ends @p transfer as soon as the network has read its message.  At the root this posts @p local,
 *  which ski_broadcast_post_local() keeps; at another PE it delivers the message. */
void ski_segments_await(struct ski_transfer *transfer, skua_msg *local);

/** Returns whether the network still reads the message that @p local delivers at the root. */
bool ski_segments_read(const struct ski_pe *self, const skua_msg *local);

/** Frees the transfers that are in flight when the job ends. */
void ski_segments_destroy(struct ski_pe *self);

/** Returns how many bytes of a segment, whose packet has the header @p msg and begins with
 *  @p data, are received in place, at *@p to.  0: the packet is received like any other. */
size_t ski_segment_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Returns a message that represents a segment received in place.  NULL: the segment was not
 *  received @p whole; its sender may repeat it. */
skua_msg *ski_segment_placed(struct ski_pe *self, const skua_msg *msg, const char *data,
                             bool whole);

/** Returns the arity of the tree for @p msg, which this PE, the root, sends to all PEs. */
int ski_segments_arity(const struct ski_pe *self, const skua_msg *msg);

/* ---- loans (broadcast_loan.c) ----------------------------------------------------- */

/** Returns whether @p msg, which this PE is about to send to all PEs, is lent to them. */
bool ski_broadcast_lends(const struct ski_pe *self, const skua_msg *msg);

/** Takes ownership of @p msg and lends it to the children of @p tree.  Returns a copy for this PE,
 * the root. */
skua_msg *ski_broadcast_lend(struct ski_pe *self, skua_msg *msg,
                             const struct ski_broadcast_tree *tree,
                             const struct ski_broadcast_tail *tail);

/* ---- order (broadcast_order.c) -------------------------------------------------- */

/** Returns the number of a new broadcast of this PE, or 0 if it needs no number. */
uint32_t ski_broadcast_number(struct ski_pe *self, const skua_msg *msg);

/** Returns whether the broadcast with @p tail is the next one of its root to be delivered.  If
 *  earlier ones are missing, @p msg is kept until they have been delivered; if it has been
 *  delivered before, @p msg is dropped. */
bool ski_broadcast_in_turn(struct ski_pe *self, skua_msg *msg,
                           const struct ski_broadcast_tail *tail);

/** Posts @p msg, which has its handler and delivers a broadcast at its root, this PE, or keeps it
 *  while an earlier one is kept or the network reads its message. */
void ski_broadcast_post_local(struct ski_pe *self, skua_msg *msg);

/** Posts the messages that ski_broadcast_post_local() has kept and that no longer have to wait. */
void ski_broadcast_release_local(struct ski_pe *self);

/* ---- trees (broadcast.c) ------------------------------------------------------- */

/** Returns whether a broadcast of @p bytes with @p tail is valid: its root and its parent exist, it
 *  does not return to its root, and its handler accepts it. */
bool ski_broadcast_is_valid(const struct ski_pe *self, const struct ski_broadcast_tail *tail,
                            size_t bytes);

/** Returns the position of this PE in the tree of @p root. */
static inline struct ski_broadcast_tree ski_broadcast_tree_of(const struct ski_pe *self, int root,
                                                              int arity)
{
    return ski_broadcast_tree_at(self->job, self->pe, root, arity, (int)ski_config.tree_arity);
}

/** Adds the node of this PE for a broadcast whose end is awaited.  Returns its handle, or 0 if the
 *  end is not awaited. */
uint64_t ski_broadcast_node(struct ski_pe *self, const struct ski_broadcast_tree *tree,
                            const struct ski_broadcast_tail *tail);

/** Returns a copy of @p msg with its priority and with @p tail after its data. */
skua_msg *ski_broadcast_copy(skua_msg *msg, const struct ski_broadcast_tail *tail);

/** Prepares @p msg, which has arrived in segments and has room for @p tail, for its delivery, and
 *  sends copies to the children on this host.  @p tail->parent_node is the handle of this PE's own
 *  node. */
void ski_broadcast_prepare(struct ski_pe *self, skua_msg *msg,
                           const struct ski_broadcast_tree *tree,
                           const struct ski_broadcast_tail *tail);

/** Delivers @p msg, which has been prepared, in its turn. */
void ski_broadcast_deliver(struct ski_pe *self, skua_msg *msg);

#endif
