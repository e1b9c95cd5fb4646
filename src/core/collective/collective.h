/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - what a PE remembers of the collectives in flight, and their flow control.
 *
 * Reductions are numbered by each PE in the order of its calls, which is the same everywhere
 * (reduction.h).  Broadcasts need no table: a node of one that is to be acknowledged lives as
 * long as its children work (broadcast.c).
 *
 * Flow control (collective_window.c).  What a PE has called and what is not over yet occupies
 * memory: on this PE, and on those that its contributions and messages wait at.  It is counted in
 * bytes, and a call that finds the *window* full does not begin: in start() and in a user thread
 * the call waits; in a handler, which must not be interrupted by other handlers, the call returns
 * and what it was given is kept aside, outside of the arena, until there is room.
 *
 * A call leaves the count
 *      allreduce, barrier      when its result is here
 *      reduce, at the root     when its result is here
 *      reduce, elsewhere       when the next PE towards the root has combined it and said so: a
 *                              *credit*.  Credits are gathered up to an eighth of a window,
 *                              unless a contribution asks: once a quarter of the window is used
 *      broadcast               when all handlers have returned, which is asked for once in an
 *                              eighth of a window; it tells of those before it as well
 *
 * So at most a window and one call more per PE is in flight.  Calls that wait begin when half of
 * the window is free.  That comes: less than a quarter did not ask for credits, less than an eighth
 * are broadcasts whose end was not asked for, and the rest is answered as soon as it is over.
 * Calls begin in the order in which they were made: of the reductions that are not over, the one
 * with the least number has begun wherever it was called, and so will be over.
 */
#ifndef SKI_COLLECTIVE_H
#define SKI_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/collective.h>

#include "core/data/msg_list.h"
#include "core/data/slot_table.h"

struct ski_pe;
struct ski_reduction;
struct ski_split;
struct ski_deferred;
struct ski_reduction_board;
struct ski_board_peer;
struct ski_transfer;

#define SKI_CREDITORS    64  /* PEs whose credits a PE gathers; a power of two */
#define SKI_CREDIT_LEAST 8   /* of a credit on the wire */
#define SKI_CALL_COST    256 /* what a call occupies beside its data */

/* Credits that a PE has for another one and has not sent. */
struct ski_creditor {
    int32_t  pe;
    uint64_t bytes;
};

struct ski_collectives {
    /* reductions */
    uint64_t               next;   /* number of the next one                        */
    uint64_t               calls;  /* reductions and barriers this PE has called    */
    struct ski_reduction **slot;   /* those in flight: n is in slot n modulo slots  */
    size_t                 slots;  /* a power of two, or 0                          */
    int                    levels; /* rounds of a reduction (reduction_order.h)              */
    struct ski_reduction  *spare;  /* records to be used again                      */
    struct ski_split      *splits; /* large calls in flight                         */

    /* small reductions (reduction_slot.h) */
    uint64_t                    small_calls;        /* that this PE has made                   */
    uint64_t                    small_begun;        /* those among them that have begun        */
    uint64_t                    published_low;      /* in our board                            */
    struct ski_reduction       *small, **small_end; /* those in flight, in their order    */
    struct ski_reduction_board *board;              /* ours, or NULL                           */
    struct ski_board_peer      *peers;              /* by index on the host                    */
    /* broadcasts */
    struct ski_slots     broadcasts;     /* nodes of those that are waited for        */
    struct ski_transfer *transfers;      /* broadcasts in segments that are in flight */
    uint64_t             transfers_sent; /* ever */

    /* flow control */
    uint64_t             window;                   /* bytes */
    uint64_t             in_flight;                /* bytes */
    bool                 draining;                 /* deferred calls are being begun */
    struct ski_deferred *deferred, **deferred_end; /* calls that found it full, in their order */
    uint64_t             untold;                   /* bytes of broadcasts that asked for no end */
    struct ski_creditor  creditor[SKI_CREDITORS];
};

/** Allocates the state of collectives of a PE, and frees it. */
void ski_collectives_init(struct ski_pe *self);
void ski_collectives_destroy(struct ski_collectives *collectives);

/** The records and large calls of reductions that are in flight at the end. */
void ski_reductions_destroy(struct ski_collectives *collectives);

/* ---- flow control ---------------------------------------------------------- */

/** Whether a call must not begin now: there is no room, or others wait for it. */
static inline bool ski_window_full(const struct ski_collectives *c)
{
    return c->in_flight >= c->window || c->deferred;
}

/** Whether a contribution asks for its credit at once. */
static inline bool ski_window_asks(const struct ski_collectives *c)
{
    return c->in_flight >= c->window / 4;
}

/** A call that found the window full.  What it consists of, behind this, is the caller's. */
struct ski_deferred {
    struct ski_deferred *next;
    void (*begin)(struct ski_pe *self, struct ski_deferred *call);
    bool  waits, begun;
    void *waiters;
};

/** Whether the caller is one that waits: start(), or a user thread.  Handlers do not. */
bool ski_window_waits(const struct ski_pe *self);

/** Wait until @p call, which may lie on the stack, has begun, or the job ends.  It is begun by
 *  whatever makes room, not by the caller: handlers that wait for a later call may lie above the
 *  caller on the PE's stack. */
void ski_window_wait(struct ski_pe *self, struct ski_deferred *call);

/** Keep @p call, of ski_malloc(), until there is room; it is freed when it has begun. */
void ski_window_defer(struct ski_pe *self, struct ski_deferred *call);

static inline uint64_t ski_call_cost(size_t bytes)
{
    return bytes + SKI_CALL_COST;
}

/** Something of @p cost bytes is over; ski_window_open() follows once the PE's state is
 *  consistent, for it begins calls. */
void ski_window_release(struct ski_pe *self, uint64_t cost, const char *what, int source);
void ski_window_open(struct ski_pe *self);

/** A contribution of @p pe was combined here; @p now: it asked to be told at once. */
void ski_window_credit(struct ski_pe *self, int pe, uint64_t cost, bool now);

/* ---- broadcasts (broadcast.c) ------------------------------------------------ */

/** The handler that a message of SKI_HANDLER_BROADCAST runs on each PE. */
uint32_t ski_broadcast_handler(skua_msg *msg);

/** skua_broadcast() of the runtime's own, which is not counted and never waits. */
void ski_broadcast(struct ski_pe *self, uint32_t handler, skua_msg *msg);

/* ---- operators (reduction_op.c) ------------------------------------------------------ */

/** The function of an operator, or NULL if @p op is none for @p type. */
skua_op_fn ski_op_function(skua_op op, skua_type type);

/** Make a contribution what the operator works on: truth values are 0 or 1. */
void ski_op_prepare(skua_op op, void *data, size_t count, skua_type type);

/** Whether elements may be combined piece by piece: not those of registered operators, which
 *  may belong together. */
bool ski_op_splits(skua_op op);

const char *ski_op_name(skua_op op);
const char *ski_type_name(skua_type type);

/** Return the binary logarithm of the bytes of an element of @p type, which exists: dividing by
 *  its size is a shift. */
static inline unsigned ski_type_shift(skua_type type)
{
    static const uint8_t shifts[] = {2, 3, 3, 2, 3, 3, 4, 0};
    return shifts[type];
}

/** Return the bytes of an element; 0: there is no such type. */
static inline size_t ski_type_size(skua_type type)
{
    return (unsigned)type <= SKUA_BYTE ? (size_t)1 << ski_type_shift(type) : 0;
}

#endif
