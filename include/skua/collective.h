/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - broadcast, reduction and barrier over all PEs.
 *
 * Collectives are asynchronous and end in a completion. Every PE calls reductions and barriers in
 * the same order; several may be in flight.
 *
 * Order. Contributions are combined in an order that depends only on the number of PEs: not on the
 * root, the count, the timing or the placement of the PEs. Floating-point sums are therefore
 * reproducible to the last bit. Neighbouring PEs are combined first (0 with 1, 2 with 3, ...), then
 * the pairs in the same way, and so on. The lower PEs are always the first operand; an unpaired
 * operand moves on to the next level.
 *
 * Flow control. The setting collective_window bounds the bytes of the collectives that a PE has
 * called and that are not complete. A call beyond this bound waits for earlier ones to complete. A
 * wait in start() lets handlers run on the PE; a wait in a user thread lets other threads and
 * handlers run. In a handler a call never waits: the PE keeps its data outside the arena until
 * there is room, so a handler that calls without end is not slowed down. A program that calls more
 * than the window in start() or in a thread must not let other PEs' calls depend on what it does
 * afterwards.
 */
#ifndef SKUA_COLLECTIVE_H
#define SKUA_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/message.h>

SKUA_BEGIN_DECLS

/** Runs @p handler on every PE, including the caller's, each with its own message that holds the
 *  data of @p msg. Takes ownership of @p msg. @p done happens when all handlers have returned.
 *  Except in a handler, the call waits while the PE's collective window is full. */
SKUA_API void skua_broadcast(skua_handler handler, skua_msg *msg, skua_completion done);

/** The types of elements that reductions and accumulates combine. */
typedef enum {
    SKUA_INT32,
    SKUA_INT64,
    SKUA_UINT32,
    SKUA_UINT64,
    SKUA_FLOAT,
    SKUA_DOUBLE,
    SKUA_COMPLEX_FLOAT, /* float _Complex, as in C's <complex.h> */
    SKUA_COMPLEX_DOUBLE,
    SKUA_BYTE /* for user-defined operators */
} skua_type;

/** An operator of a reduction or of an accumulate. The predefined ones are constant expressions;
 *  skua_op_register() returns further ones. Sum and product apply to every type; minimum, maximum
 *  and the logical operators (nonzero is true) to all but the complex types; the bitwise operators
 *  to the integer types. */
typedef enum {
    SKUA_SUM         = 0,
    SKUA_PRODUCT     = 1,
    SKUA_MIN         = 2,
    SKUA_MAX         = 3,
    SKUA_LOGICAL_AND = 4,
    SKUA_LOGICAL_OR  = 5,
    SKUA_LOGICAL_XOR = 6,
    SKUA_BIT_AND     = 7,
    SKUA_BIT_OR      = 8,
    SKUA_BIT_XOR     = 9,
    SKUA_STATISTICS  = 10, /* combines skua_statistics (collection.h); SKUA_DOUBLE */

    /** Concatenates the contributions of objects (collection.h) in any order. SKUA_BYTE. */
    SKUA_CONCAT = 32,

    /** Concatenates the contributions of objects in any order, each preceded by its length;
     *  skua_set_next() reads the result. SKUA_BYTE. */
    SKUA_SET = 33,

    SKUA_OP_USER = 64,    /* the first operator of skua_op_register() */
    SKUA_OP_MAX  = 0xffff /* the largest value of an operator */
} skua_op;

/** A user-defined operator: into = into (op) from, for @p count elements of @p type. It must be
 *  associative; it need not be commutative. One call combines all elements of a contribution, so
 *  they may depend on each other. */
typedef void (*skua_op_fn)(void *into, const void *from, size_t count, skua_type type);

/** Registers a user-defined operator, before skua_main(), under the rules of
 * skua_handler_register(). */
SKUA_API skua_op skua_op_register(const char *name, skua_op_fn fn);

/** Combines @p count elements of every PE. @p done gets the result on @p root and is ignored
 *  elsewhere. @p data is copied. Except in a handler, the call waits while the PE's collective
 *  window is full. */
SKUA_API void skua_reduce(int root, skua_op op, skua_type type, const void *data, size_t count,
                          skua_completion done);

/** Combines @p count elements of every PE. The @p done of every PE gets the result. @p data is
 *  copied. Except in a handler, the call waits while the PE's collective window is full. */
SKUA_API void skua_allreduce(skua_op op, skua_type type, const void *data, size_t count,
                             skua_completion done);

/** Starts a barrier: @p done happens when every PE has called skua_barrier() as many times. A
 *  barrier does not complete one-sided operations; skua_sync() does. Except in a handler, the call
 *  waits while the PE's collective window is full. */
SKUA_API void skua_barrier(skua_completion done);

SKUA_END_DECLS

#endif
