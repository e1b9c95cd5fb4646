/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - collectives over all PEs and over teams.
 *
 * Collectives are asynchronous and end in a completion. Every PE calls reductions and barriers in
 * the same order; several may be in flight.
 *
 * Order. Contributions are combined in an order that depends only on the number of PEs: not on the
 * root, the count, the timing or the placement of the PEs. Floating-point sums are therefore
 * reproducible to the last bit. Neighbouring PEs are combined first (0 with 1, 2 with 3, ...), then
 * the pairs in the same way, and so on. The lower PEs are always the first operand; an unpaired
 * operand moves on to the next level. In a team, ranks take the place of PEs.
 *
 * Teams. The skua_team_...() collectives work on a team (team.h), SKUA_TEAM_ALL included, and on
 * memory of the caller. All members call the collectives of one team in the same order, with the
 * same root, sizes, operator and type; collectives of different teams may be called in any order.
 * They are called in start(), in handlers and in user threads. A call returns immediately; its
 * buffers belong to the operation until its completion, which has no result and means that the
 * caller's part is complete: its input may change, its output is available. Arrays of sizes and
 * offsets are used during the call only. Input and output do not overlap, except where a call
 * allows them to be the same. A member that makes calls faster than others does not wait: of the
 * calls of a team, as many begin as collective_window allows, and the others begin when these are
 * complete. Only in start() and in user threads, a call waits if 4096 others of its team have not
 * begun; the barrier and the allreduce of SKUA_TEAM_ALL wait as skua_barrier() and skua_allreduce()
 * do. Misuse ends the job with an error that names the call and the team: a caller that is not a
 * member, a rank that does not exist, overlapping buffers, members that make different calls or
 * pass different sizes, where a message between them shows it.
 *
 * Flow control. The setting collective_window bounds the bytes of the collectives that a PE has
 * called and that are not complete. A call beyond this bound waits for earlier ones to complete. A
 * wait in start() lets handlers run on the PE; a wait in a user thread lets other threads and
 * handlers run. In a handler a call never waits: the PE keeps its data outside the arena until
 * there is room, so a handler that calls in an endless loop is not slowed down. If a PE exceeds the
 * window in start() or in a thread, calls of other PEs must not depend on what it does afterwards.
 */
#ifndef SKUA_COLLECTIVE_H
#define SKUA_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/message.h>
#include <skua/team.h>

SKUA_BEGIN_DECLS

/** Runs @p handler on every PE, including the caller's, each with its own message that holds the
 *  data of @p msg. Takes ownership of @p msg. @p done happens when all handlers have returned.
 *  Except in a handler, the call waits while the PE's collective window is full. */
SKUA_API void skua_broadcast(skua_handler handler, skua_msg *msg, skua_completion done);

/** The types of elements that reductions and accumulates combine. Their values are not those of
 *  operators, so that a call with type and operator in the wrong order is refused. */
typedef enum {
    SKUA_INT32 = 48,
    SKUA_INT64,
    SKUA_UINT32,
    SKUA_UINT64,
    SKUA_FLOAT,
    SKUA_DOUBLE,
    SKUA_COMPLEX_FLOAT, /* float _Complex, as in C's <complex.h> */
    SKUA_COMPLEX_DOUBLE,
    SKUA_BYTE,        /* for user-defined operators */
    SKUA_INT32_INDEX, /* skua_int32_index; these four are for SKUA_MINLOC and SKUA_MAXLOC */
    SKUA_INT64_INDEX,
    SKUA_FLOAT_INDEX,
    SKUA_DOUBLE_INDEX
} skua_type;

/** An element of type SKUA_INT32_INDEX: a value and where it was found. */
typedef struct {
    int32_t value;
    int32_t unused;
    int64_t index;
} skua_int32_index;

/** An element of type SKUA_INT64_INDEX: a value and where it was found. */
typedef struct {
    int64_t value;
    int64_t index;
} skua_int64_index;

/** An element of type SKUA_FLOAT_INDEX: a value and where it was found. */
typedef struct {
    float   value;
    int32_t unused;
    int64_t index;
} skua_float_index;

/** An element of type SKUA_DOUBLE_INDEX: a value and where it was found. */
typedef struct {
    double  value;
    int64_t index;
} skua_double_index;

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

    /** The minimum or maximum of the values of the types ..._INDEX and the index that belongs to
     *  it; of equal values, the least index. */
    SKUA_MINLOC = 11,
    SKUA_MAXLOC = 12,

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
 *  skua_handler_register(). */
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

/* ---- teams --------------------------------------------------------------- */

/** What a reduction over a team combines: @p count elements of @p type, by @p op. It is a plain
 *  value: it has no `size` member and will not grow. */
typedef struct {
    skua_op   op;
    skua_type type;
    size_t    count;
} skua_reduction;

/** A block of memory for each member of a team, of any size: block r has bytes[r] bytes and begins
 *  offsets[r] bytes after @p data. Without @p offsets (NULL) the blocks follow each other. It is a
 *  plain value: it has no `size` member and will not grow. */
typedef struct {
    void         *data;
    const size_t *bytes;
    const size_t *offsets;
} skua_team_blocks;

/** Starts a barrier of @p team: @p done happens when every member has made the call. */
SKUA_API void skua_team_barrier(skua_team team, skua_completion done);

/** Copies @p bytes at @p data of the member with rank @p root to @p data of all others. @p done
 *  happens on each member when its part is over. */
SKUA_API void skua_team_broadcast(skua_team team, int root, void *data, size_t bytes,
                                  skua_completion done);

/** Combines the elements at @p from of all members; the result is stored at @p to of the member
 *  with rank @p root, which may be @p from. @p to is not used elsewhere. @p done happens on each
 *  member when its part is over. */
SKUA_API void skua_team_reduce(skua_team team, int root, const skua_reduction *reduction,
                               const void *from, void *to, skua_completion done);

/** Combines the elements at @p from of all members; the result is stored at @p to of every member,
 *  which may be @p from. */
SKUA_API void skua_team_allreduce(skua_team team, const skua_reduction *reduction, const void *from,
                                  void *to, skua_completion done);

/** Combines, for each member, the elements at @p from of the members up to its own rank, its own
 *  included, in the order of ranks; the result is stored at @p to, which may be @p from. */
SKUA_API void skua_team_scan(skua_team team, const skua_reduction *reduction, const void *from,
                             void *to, skua_completion done);

/** Combines, for each member, the elements at @p from of the members below its own rank, in the
 *  order of ranks; the result is stored at @p to, which may be @p from. Rank 0 has no result: its
 *  @p to is not written. */
SKUA_API void skua_team_exscan(skua_team team, const skua_reduction *reduction, const void *from,
                               void *to, skua_completion done);

/** Stores @p bytes at @p from of every member at @p to of the member with rank @p root, in the
 *  order of ranks. @p to is not used elsewhere. At the root @p from may be its own block of
 *  @p to. */
SKUA_API void skua_team_gather(skua_team team, int root, const void *from, size_t bytes, void *to,
                               skua_completion done);

/** Stores @p bytes, which may differ, at @p from of every member in its block of @p to on the
 *  member with rank @p root. @p to is not used elsewhere and may be NULL there. At the root @p from
 *  may be its own block. */
SKUA_API void skua_team_gatherv(skua_team team, int root, const void *from, size_t bytes,
                                const skua_team_blocks *to, skua_completion done);

/** Stores the blocks of @p bytes at @p from of the member with rank @p root at @p to of the
 *  members, in the order of ranks. @p from is not used elsewhere. At the root @p to may be its own
 *  block of @p from. */
SKUA_API void skua_team_scatter(skua_team team, int root, const void *from, void *to, size_t bytes,
                                skua_completion done);

/** Stores the blocks of @p from on the member with rank @p root at @p to of the members; @p bytes
 *  is the size of the caller's block. @p from is not used elsewhere and may be NULL there. At the
 *  root @p to may be its own block. */
SKUA_API void skua_team_scatterv(skua_team team, int root, const skua_team_blocks *from, void *to,
                                 size_t bytes, skua_completion done);

/** Stores @p bytes at @p from of every member at @p to of every member, in the order of ranks.
 *  @p from may be the caller's own block of @p to. */
SKUA_API void skua_team_allgather(skua_team team, const void *from, size_t bytes, void *to,
                                  skua_completion done);

/** Stores @p bytes, which may differ, at @p from of every member in its block of @p to on every
 *  member. @p from may be the caller's own block of @p to. */
SKUA_API void skua_team_allgatherv(skua_team team, const void *from, size_t bytes,
                                   const skua_team_blocks *to, skua_completion done);

/** Sends a block of @p bytes from every member to every member: block j at @p from of rank i
 *  becomes block i at @p to of rank j. */
SKUA_API void skua_team_alltoall(skua_team team, const void *from, void *to, size_t bytes,
                                 skua_completion done);

/** Sends a block from every member to every member: block j of @p from on rank i becomes block i of
 *  @p to on rank j, which has the same size. Blocks of size 0 cost nothing. */
SKUA_API void skua_team_alltoallv(skua_team team, const skua_team_blocks *from,
                                  const skua_team_blocks *to, skua_completion done);

SKUA_END_DECLS

#endif
