/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_slot.h - slots in shared memory for small contributions to reductions inside a host:
 * the sender writes a slot, the receiver polls it, and no message is allocated.
 *
 * Each PE has a *board* in the arena: an array of SKI_SLOT_DEPTH slots for each round of a
 * reduction.  A call of at most SKI_SLOT_BYTES is small.  All PEs make the same small calls in the
 * same order, and each PE numbers them in that order.  In a round a PE receives from exactly one
 * PE (reduction_order.h), so each pair of a round and a call has one writer:
 *
 *      sender      fills slot [round][call % depth], then sets its stamp to the stamp of the call
 *      receiver    polls the stamp once it has made the call itself, then combines from the slot
 *
 * Reuse.  A receiver publishes `low`, the number of its oldest small call in flight.  A sender
 * writes the slot of a call only if the call is below low + depth; otherwise it sends a message, so
 * no sender waits for a slot.  Senders cache `low` and read it again when the cached value leaves
 * no room.  The receiver's release store of `low` pairs with the sender's acquire load: the
 * receiver has read a slot before a sender writes it again.
 *
 * Sleep.  A receiver that is about to sleep sets the lowest bit of each stamp that it waits for.
 * All modifications of a stamp are atomic and totally ordered: either the receiver finds the slot
 * filled, or the sender finds the bit set and sends a wakeup to the receiver's inbox.
 *
 * Quiescence.  A receiver that reads a contribution counts a message that it sent to itself and ran
 * (msg_counts.h).  A contribution to a call that the receiver has not made is not read and not
 * counted: it causes no message.  That is enough for termination detection: a PE polls before it
 * runs the message of a wave, so of two waves that count the same the second found no slot to read.
 */
#ifndef SKI_REDUCTION_SLOT_H
#define SKI_REDUCTION_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct ski_collectives;
struct ski_pe;

#define SKI_SLOT_BYTES 208 /* most bytes of elements of a small call */
#define SKI_SLOT_DEPTH 8   /* slots of a round; a power of two */

/* The header of every contribution and result, in a slot and on the wire. */
struct ski_reduction_head {
    uint64_t number; /* of the reduction */
    uint64_t count;  /* elements of the call */
    int32_t  root;
    uint32_t call; /* number of the call, modulo 2^32 */
    uint16_t op;
    uint8_t  type;
    uint8_t  algorithm;   /* SKI_REDUCTION_*: see reduction.h          */
    uint8_t  all;         /* 1: all PEs get the result                 */
    uint8_t  round;       /* of this message                           */
    uint8_t  want_credit; /* see ski_window_request()                  */
    uint8_t  barrier;     /* 1: the call is skua_barrier()             */
};

/* A contribution to one round of one small call. */
struct ski_reduction_slot {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t stamp; /* (call + 1) * 2; bit 0: receiver sleeps */
    char spare; /* written to prefetch the line for writing, never read   */
    _Alignas(16) struct ski_reduction_head head;
    char elements[SKI_SLOT_BYTES]; /* aligned to 16 */
};

/* The slots of a PE, which other PEs of its host write. */
struct ski_reduction_board {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t low; /* number of the oldest small call in flight */
    struct ski_reduction_slot slot[];              /* [round][SKI_SLOT_DEPTH] */
};

/* The cached state of the board of another PE. */
struct ski_board_peer {
    struct ski_reduction_board *board; /* NULL until it is found         */
    uint64_t                    low;   /* a lower bound of its `low`     */
};

/** Allocates the board of @p self if the host has other PEs.  If the arena has no room, the PE has
 *  no board and receives contributions as messages. */
void ski_board_open(struct ski_pe *self);

/** Frees what a PE has cached of the boards of other PEs.  Its own board is in the arena and goes
 *  with it. */
void ski_board_close(struct ski_collectives *collectives);

/** Returns the slot of PE @p pe for a round of a small call.  The caller writes its head and
 *  elements, then calls ski_board_publish().  NULL: the contribution must be sent as a message. */
struct ski_reduction_slot *ski_board_reserve(struct ski_pe *self, int pe, uint32_t round,
                                             uint64_t small_call);

/** Publishes a filled slot to its receiver, PE @p pe, and wakes the receiver if it sleeps. */
void ski_board_publish(struct ski_pe *self, int pe, struct ski_reduction_slot *slot,
                       uint64_t small_call);

/** Returns the slot of this PE for a round of a small call if it is filled, else NULL. */
const struct ski_reduction_slot *ski_board_find(const struct ski_pe *self, uint32_t round,
                                                uint64_t small_call);

/** Counts a contribution that was read from a slot as a message of this PE to itself. */
void ski_board_count(struct ski_pe *self);

/** Publishes to senders that all small calls below @p low are finished.  The update may be
 *  postponed until half of the slots can be reused. */
void ski_board_finish(struct ski_pe *self, uint64_t low);

/** Requests a wakeup for when the slot of a round of a small call is filled.  Returns false if it
 * is filled already. */
bool ski_board_arm(struct ski_pe *self, uint32_t round, uint64_t small_call);

#endif
