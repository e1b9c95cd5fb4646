/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_slot.h - small contributions to reductions inside a host: the receiver polls memory
 * that the sender writes, and no message is made.
 *
 * Each PE has a *board* in the arena: for each round of a reduction SKI_SLOT_DEPTH slots.  Small
 * calls (SKI_SLOT_BYTES) are counted by each PE in the order of its calls, which is the same
 * everywhere.  In a round a PE receives from exactly one PE (reduction_order.h), so the slot of a
 * round and a call has one writer:
 *
 *      sender      fills slot [round][call % depth]; exchanges the stamp for that of the call
 *      receiver    polls the stamp once it has made the call itself; combines in place
 *
 * Reuse.  A receiver publishes `low`: it has finished every small call below.  A sender writes the
 * slot of a call only if the call is below low + depth as far as it knows; otherwise it sends a
 * message, which is always possible, so nothing waits for a slot.  The release of `low` pairs with
 * the acquire of the sender that finds its copy too old: the receiver has read the slot before.
 *
 * Sleep.  A receiver that is about to sleep sets the lowest bit of the stamps that it waits for.
 * All changes of a stamp are totally ordered: either the receiver finds the slot filled, or the
 * sender finds the bit and sends a wakeup, which the inbox holds.
 *
 * Quiescence.  A receiver that reads a contribution counts a message that it sent to itself and ran
 * (msg_counts.h).  One that it does not read, since it has not made the call, is counted nowhere:
 * nothing will come of it.  That is enough for termination detection: a PE polls before it runs the
 * message of a wave, so of two waves that count the same the second found no slot to read.
 */
#ifndef SKI_REDUCTION_SLOT_H
#define SKI_REDUCTION_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct ski_collectives;
struct ski_pe;

#define SKI_SLOT_BYTES 208 /* elements of a small call, at most */
#define SKI_SLOT_DEPTH 8   /* calls that may be in the slots of a round; a power of two */

/* What every contribution and result begins with, in a slot and on the wire. */
struct ski_reduction_head {
    uint64_t number;
    uint64_t count; /* elements of the call */
    int32_t  root;
    uint32_t call; /* its place in the order of calls, modulo 2^32 */
    uint16_t op;
    uint8_t  type, way;
    uint8_t  all;   /* PEs get the result   */
    uint8_t  round; /* of this message      */
    uint8_t  ask;   /* for a credit at once */
    uint8_t  barrier;
};

struct ski_reduction_slot {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t stamp; /* (call + 1) * 2, and 1: the owner sleeps */
    _Alignas(16) struct ski_reduction_head head;
    char elements[SKI_SLOT_BYTES]; /* aligned to 16 */
};

struct ski_reduction_board {
    _Alignas(SKI_CACHE_LINE) _Atomic uint64_t low;
    struct ski_reduction_slot slot[]; /* [round][SKI_SLOT_DEPTH] */
};

/* What a PE knows of the board of another one. */
struct ski_board_peer {
    struct ski_reduction_board *board; /* NULL until it is found */
    uint64_t                    low;   /* at least that          */
};

/** Make the board of @p self, if other PEs of its host may use it.  There is none, and messages are
 *  sent, if the arena has no room. */
void ski_board_open(struct ski_pe *self);

/** Free what a PE knows of the boards of others.  Its own board goes with the arena. */
void ski_board_close(struct ski_collectives *collectives);

/** Return the slot of PE @p pe for a round of a small call, whose head and elements the caller
 *  writes before it calls ski_board_publish().  NULL: the contribution must be a message. */
struct ski_reduction_slot *ski_board_reserve(struct ski_pe *self, int pe, uint32_t round,
                                             uint64_t small_call);

/** Let @p pe have its slot, which is filled. */
void ski_board_publish(struct ski_pe *self, int pe, struct ski_reduction_slot *slot,
                       uint64_t small_call);

/** Return the slot of this PE for a round of a small call, if it is filled, or NULL. */
const struct ski_reduction_slot *ski_board_find(const struct ski_pe *self, uint32_t round,
                                                uint64_t small_call);

/** Count a contribution that was read as a message of this PE to itself. */
void ski_board_count(struct ski_pe *self);

/** Publish that all small calls below @p low are finished, if senders gain from it. */
void ski_board_finish(struct ski_pe *self, uint64_t low);

/** Ask for a wakeup when that slot is filled.  False: it is filled. */
bool ski_board_doze(struct ski_pe *self, uint32_t round, uint64_t small_call);

#endif
