/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - broadcast, reduction and barrier over all PEs.
 *
 * They are asynchronous and end in a completion.  Reductions and barriers are
 * called by every PE, in the same order; several may be in flight.
 *
 * Order.  Contributions are combined in an order that depends only on the number
 * of PEs, not on the root, the count, the time or where the PEs are, so that sums
 * of floating-point numbers repeat to the last bit.  PEs are combined as neighbours:
 * 0 with 1, 2 with 3, ...; then those pairs in the same way, and so on, the lower
 * PEs always as the first operand; what has no neighbour is carried along.
 *
 * Flow control.  What a PE has called and what is not over yet is bounded, by the
 * setting collective_window (bytes): a call beyond that waits until earlier ones are
 * over.  While it waits in start(), handlers run on the PE; in a user thread, other
 * threads and handlers.  In a handler a call never waits: its data is kept by the PE,
 * outside of the arena, until there is room, and so a handler that calls without end is
 * not held back.  A program that calls more than the window in start() or in a thread must
 * not make the calls of other PEs depend on what it does afterwards.
 */
#ifndef SKUA_COLLECTIVE_H
#define SKUA_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/message.h>

SKUA_BEGIN_DECLS

/** Run @p handler on every PE, the caller's included, each with a message of
 *  its own that holds the data of @p msg, which is given away.  @p done happens
 *  when all of them have returned.  Waits, except in a handler, while the PE has a
 *  window of collectives in flight. */
SKUA_API void skua_broadcast(skua_handler handler, skua_msg *msg, skua_completion done);

typedef enum {
    SKUA_INT32,
    SKUA_INT64,
    SKUA_UINT64,
    SKUA_FLOAT,
    SKUA_DOUBLE,
    SKUA_COMPLEX_FLOAT, /* float _Complex, as in C's <complex.h> */
    SKUA_COMPLEX_DOUBLE,
    SKUA_BYTE /* for operators of one's own */
} skua_type;

/** An operator of a reduction. */
typedef struct {
    uint32_t id;
} skua_op;

/* Sum, product: every type.  Minimum, maximum, logical (nonzero is true): all
 * but the complex types.  Bitwise: the integer types. */
static const skua_op SKUA_SUM         = {0};
static const skua_op SKUA_PRODUCT     = {1};
static const skua_op SKUA_MIN         = {2};
static const skua_op SKUA_MAX         = {3};
static const skua_op SKUA_LOGICAL_AND = {4};
static const skua_op SKUA_LOGICAL_OR  = {5};
static const skua_op SKUA_LOGICAL_XOR = {6};
static const skua_op SKUA_BIT_AND     = {7};
static const skua_op SKUA_BIT_OR      = {8};
static const skua_op SKUA_BIT_XOR     = {9};

/** into = into (op) from, for @p count elements of @p type.  Associative; it need not be
 *  commutative.  It gets all elements of a call at once: they may belong together. */
typedef void (*skua_op_fn)(void *into, const void *from, size_t count, skua_type type);

/** Register an operator, before skua_main(), as with skua_register(). */
SKUA_API skua_op skua_op_register(const char *name, skua_op_fn fn);

/** Combine @p count elements of every PE; @p done gets the result on @p root
 *  and is ignored elsewhere.  @p data is copied.  Waits, except in a handler, while the
 *  PE has a window of collectives in flight. */
SKUA_API void skua_reduce(int root, skua_op op, skua_type type, const void *data, size_t count,
                          skua_completion done);

/** Combine @p count elements of every PE; the @p done of every PE gets the result.
 *  @p data is copied.  Waits, except in a handler, while the PE has a window of collectives
 *  in flight. */
SKUA_API void skua_allreduce(skua_op op, skua_type type, const void *data, size_t count,
                             skua_completion done);

/** @p done happens when every PE has called skua_barrier() as often.  It tells nothing of
 *  one-sided operations: skua_sync() completes those as well.  Waits, except in a handler,
 *  while the PE has a window of collectives in flight. */
SKUA_API void skua_barrier(skua_completion done);

SKUA_END_DECLS

#endif
