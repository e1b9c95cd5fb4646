/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - the state of the collectives of a PE, and their flow control.
 *
 * Each PE numbers its reductions in the order of its calls, which is the same on all PEs
 * (reduction.h).  Broadcasts have no numbers: a broadcast whose end is awaited has a node on each
 * PE, which lives until the PE's children have finished (broadcast.c).
 *
 * Flow control (collective_window.c).  A call in flight occupies memory: on the PE that made it and
 * on the PEs where its contributions and messages wait.  Each PE counts the bytes of its calls in
 * flight.  A call that finds the *window* full does not begin.  In start() and in a user thread the
 * call waits.  A handler must not be interrupted by other handlers, so a call in a handler returns
 * immediately; its arguments are kept, outside of the arena, until there is room.
 *
 * The bytes of a call leave the count
 *      allreduce, barrier      when its result has arrived
 *      reduce, at the root     when its result has arrived
 *      reduce, elsewhere       when the next PE towards the root has combined the contribution and
 *                              has sent a *credit*.  A PE accumulates the credits for another PE up
 *                              to an eighth of its own window.  Once a quarter of the sender's
 *                              window is used, its contributions request credits: immediately, or,
 *                              from the PE of its last contribution before that, which usually is
 *                              the only one, as soon as they are an eighth of the sender's window
 *      broadcast               when all handlers have returned.  An acknowledgement is requested
 *                              once for every eighth of a window; it covers the broadcasts before
 *
 * So each PE has at most a window and one more call in flight.  Deferred calls begin when half of
 * the window is free.  This always happens: less than a quarter of the window are contributions
 * that did not request credits because little of it was used, less than an eighth are credits that
 * one PE accumulates, less than an eighth are broadcasts without an acknowledgement, and all other
 * calls leave the count as soon as they are over.  The windows of hosts may differ, and
 * contributions may be combined in another order than they were sent in: a request says how much of
 * the sender's window may wait, and the receiver compares it, with each contribution that carries
 * one, with all credits that it has accumulated.  Of these contributions, the one that is combined
 * last therefore leaves less than that behind.  Calls begin in the order in which they were made,
 * so of the reductions in flight the one with the least number has begun on every PE that has
 * called it, and completes once all PEs have called it.
 */
#ifndef SKI_COLLECTIVE_H
#define SKI_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/collective.h>

#include "core/data/msg_list.h"
#include "core/data/number_table.h"
#include "core/data/slot_table.h"

struct ski_pe;
struct ski_reduction;
struct ski_split;
struct ski_deferred;
struct ski_reduction_board;
struct ski_board_peer;
struct ski_transfer;

#define SKI_CREDITORS  64  /* PEs for which a PE accumulates credits; a power of two */
#define SKI_CREDIT_MIN 8   /* bytes of a credit on the wire */
#define SKI_CREDIT_NOW 1   /* request: the credit must not be delayed */
#define SKI_CALL_COST  256 /* bytes that a call occupies beside its data */

/* The flow control of calls that begin in the order in which they are made: those over all PEs, or
 * those of a team. */
struct ski_window {
    uint64_t              bytes;     /* bytes that may be in flight */
    uint64_t              in_flight; /* bytes of calls in flight */
    int32_t               credit_pe; /* this PE may accumulate credits while the window is used */
    uint32_t              draining;  /* calls of ski_window_open() that begin deferred calls */
    struct skua_thread   *drainer;   /* the thread of the last one, or NULL ... */
    uint32_t              depth;     /* ... and its depth of handlers */
    struct ski_deferred  *deferred;  /* calls that found the window full, in their order */
    struct ski_deferred **deferred_end;
};

/* The credits that a PE has accumulated for another PE and not sent yet. */
struct ski_creditor {
    int32_t  pe;
    uint64_t bytes;
};

/* The collectives of a PE. */
struct ski_collectives {
    /* reductions */
    uint64_t                next;         /* number of the next reduction                     */
    uint64_t                calls;        /* reductions and barriers that this PE has called  */
    struct ski_number_table table;        /* in flight, by number */
    int                     levels;       /* rounds of a reduction (reduction_order.h)        */
    struct ski_reduction   *free_records; /* records that can be reused                       */
    struct ski_split       *splits;       /* split calls in flight                            */
    uint32_t                awaited;      /* calls to other roots that wait for contributions */
    uint32_t                halved;       /* calls to a root by halving that exchange         */
    struct ski_reduction   *halved_next;  /* ... the first that waits for them, or NULL ...   */
    struct ski_reduction  **halved_end;   /* ... and the pointer after the last one           */

    /* small reductions (reduction_slot.h) */
    uint64_t                    small_calls;        /* number of the next small call */
    uint64_t                    small_begun;        /* number of the next small call that begins */
    uint64_t                    published_low;      /* the `low` of this PE's board */
    struct ski_reduction       *small, **small_end; /* small calls in flight, in their order */
    struct ski_reduction_board *board;              /* of this PE, or NULL */
    struct ski_board_peer      *peers;              /* boards of other PEs, by index on the host */

    /* broadcasts */
    struct ski_slots     broadcasts;     /* nodes of broadcasts whose end is awaited */
    struct ski_transfer *transfers;      /* segmented broadcasts in flight */
    uint64_t             transfers_sent; /* number of the next transfer */
    uint32_t  broadcasts_sent; /* number of this PE's last ordered broadcast (broadcast_order.c) */
    uint32_t *delivered;       /* by root: number of the last one delivered; NULL: none was */
    struct ski_list early;     /* broadcasts that wait for those before them */
    struct ski_list local;     /* deliveries of this PE's own broadcasts that wait */

    /* flow control */
    struct ski_window   window;
    uint64_t            unacknowledged; /* bytes of broadcasts since the last acknowledged one */
    struct ski_creditor creditor[SKI_CREDITORS];
};

/** Allocates the collectives of @p self. */
void ski_collectives_init(struct ski_pe *self);

/** Frees the collectives of a PE, with all calls in flight. */
void ski_collectives_destroy(struct ski_collectives *collectives);

/** Frees the records of reductions that are in flight when the job ends. */
void ski_reductions_destroy(struct ski_collectives *collectives);

/* ---- flow control ---------------------------------------------------------- */

/** Makes @p window empty, with the size that the settings and the arena allow a PE. */
void ski_window_init(const struct ski_pe *self, struct ski_window *window);

/** Frees the deferred calls of @p window when the job ends. */
void ski_window_destroy(struct ski_window *window);

/** Returns whether a call must wait: the window is full, or earlier calls wait for room. */
static inline bool ski_window_full(const struct ski_window *window)
{
    return window->in_flight >= window->bytes || window->deferred;
}

/** Returns whether so much of the window is used that credits are requested. */
static inline bool ski_window_is_used(const struct ski_window *window)
{
    return window->in_flight >= window->bytes / 4;
}

/** Returns the credit request that a contribution to @p pe, which is counted in the window,
 *  carries: 0 (none), SKI_CREDIT_NOW, or n: send credits once they amount to 2^(n-1) bytes. */
uint8_t ski_window_request(struct ski_window *window, int pe);

/** Returns how many accumulated bytes make a PE with a window of @p bytes send its credits, after
 *  it has combined a contribution with @p request.  Any @p request is safe: a wrong one delays
 *  credits by at most an eighth of the PE's own window. */
static inline uint64_t ski_credit_least(uint64_t bytes, uint8_t request)
{
    uint64_t least = request ? UINT64_C(1) << ((request - 1) & 63) : UINT64_MAX;

    return least < bytes / 8 ? least : bytes / 8;
}

/** A call that found the window full.  It is the first member of a structure of its kind. */
struct ski_deferred {
    struct ski_deferred *next;
    void (*begin)(struct ski_pe *self, struct ski_deferred *call);
    bool  waits;   /* its caller waits and owns its memory */
    bool  begun;   /* `begin` has returned                 */
    void *waiters; /* the caller, for ski_wait_on()        */
};

/** Returns whether the caller may wait for room: it is start() or a user thread, not a handler. */
bool ski_window_waits(const struct ski_pe *self);

/** Waits until @p call, which may be on the stack, has begun, or the job ends.  ski_window_open()
 *  begins it, not the caller: handlers that wait for a later call may be above the caller on the
 *  PE's stack. */
void ski_window_wait(struct ski_pe *self, struct ski_window *window, struct ski_deferred *call);

/** Queues @p call, which was allocated by ski_malloc(), until there is room; frees it when it has
 *  begun. */
void ski_window_defer(struct ski_window *window, struct ski_deferred *call);

/** Returns the bytes of the window that a call with @p bytes of data takes. */
static inline uint64_t ski_call_cost(size_t bytes)
{
    return bytes + SKI_CALL_COST;
}

/** Returns @p cost bytes to @p window after the end of a call.  @p what and @p source, for errors,
 *  are the kind of the packet that reports the end and the PE that sent it.  If another host has
 *  sent excess credits, fewer bytes than @p cost are in use, and the window becomes empty.  The
 *  caller calls ski_window_open() once the state of the PE is consistent. */
void ski_window_release(struct ski_window *window, uint64_t cost, const char *what, int source);

/** Begins deferred calls if at least half of the window is free. */
void ski_window_open(struct ski_pe *self, struct ski_window *window);

/** Grants @p pe a credit of @p cost bytes for a contribution with @p request that was combined.
 *  Credits accumulate up to ski_credit_least() bytes. */
void ski_window_credit(struct ski_pe *self, int pe, uint64_t cost, uint8_t request);

/* ---- broadcasts (broadcast.c) ------------------------------------------------ */

/** Returns the handler that @p msg, of SKI_HANDLER_BROADCAST, is delivered to on each PE. */
uint32_t ski_broadcast_handler(skua_msg *msg);

/** Forwards @p msg, of SKI_HANDLER_BROADCAST, unless that has been done.  Returns the message if it
 *  may be delivered now, by ski_on_broadcast(); NULL: it is kept until its turn, or was dropped. */
skua_msg *ski_broadcast_admit(struct ski_pe *self, skua_msg *msg);

/** Broadcasts @p msg of the runtime itself, which bypasses flow control and never waits. */
void ski_broadcast(struct ski_pe *self, uint32_t handler, skua_msg *msg);

/* ---- operators (reduction_op.c) ------------------------------------------------------ */

/** Returns the function of operator @p op, or NULL if it is not defined for @p type. */
skua_op_fn ski_op_function(skua_op op, skua_type type);

/** Converts a contribution to what operator @p op works on: logical operators need 0 or 1. */
void ski_op_prepare(skua_op op, void *data, size_t count, skua_type type);

/** Returns whether ski_op_prepare() changes contributions to @p op. */
bool ski_op_prepares(skua_op op);

/** Returns whether @p op combines each element independently, so that an array may be combined in
 *  pieces.  Registered operators do not: they may combine elements of an array with each other. */
bool ski_op_splits(skua_op op);

/** Returns whether @p op gives the same bits with its operands exchanged, for all types. */
bool ski_op_commutes(skua_op op);

/** Returns the name of @p op for errors; @p op need not exist. */
const char *ski_op_name(skua_op op);

/** Returns the name of @p type for errors; @p type need not exist. */
const char *ski_type_name(skua_type type);

#define SKI_TYPES   (SKUA_DOUBLE_INDEX - SKUA_INT32 + 1)
#define SKI_NUMBERS (SKUA_BYTE - SKUA_INT32) /* types of numbers, which come first */

/** Returns the index of @p type in tables; for other values, SKI_TYPES or more. */
static inline unsigned ski_type_index(skua_type type)
{
    return (unsigned)type - (unsigned)SKUA_INT32;
}

/** Returns the binary logarithm of the bytes of an element of @p type, which must exist: dividing
 * by the size is a shift. */
static inline unsigned ski_type_shift(skua_type type)
{
    static const uint8_t shifts[SKI_TYPES] = {2, 3, 2, 3, 2, 3, 3, 4, 0, 4, 4, 4, 4};
    return shifts[ski_type_index(type)];
}

/** Returns whether @p type is one of skua_type. */
static inline bool ski_type_exists(skua_type type)
{
    return ski_type_index(type) < SKI_TYPES;
}

/** Returns the bytes of an element of @p type, or 0 if there is no such type. */
static inline size_t ski_type_size(skua_type type)
{
    return ski_type_exists(type) ? (size_t)1 << ski_type_shift(type) : 0;
}

#endif
