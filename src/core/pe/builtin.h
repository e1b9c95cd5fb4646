/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h - the properties of the runtime's own handlers: the columns of handler_defs.h. */
#ifndef SKI_BUILTIN_H
#define SKI_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/message.h>

/* Properties of a handler. */
enum {
    SKI_HANDLES_OBJECT       = 1,  /* its messages name an object (SKI_MSG_OBJECT); others do not */
    SKI_HANDLES_EITHER       = 2,  /* its messages may name an object                             */
    SKI_HANDLES_PROGRAM      = 4,  /* runs code of the program: an operator, a constructor ...    */
    SKI_HANDLES_NO_BROADCAST = 8,  /* is never the handler of a broadcast                         */
    SKI_HANDLES_HIDDEN       = 16, /* progress threads and external threads take its packets      */
    SKI_HANDLES_COUNTED      = 32, /* packets in the queue are counted (struct ski_pe: counted)   */
};

/* A handler of the runtime. */
struct ski_builtin {
    const char     *name;
    skua_handler_fn fn;
    size_t          least; /* bytes of a message from another host; SKI_NEVER_REMOTE: none comes */
    unsigned        flags; /* SKI_HANDLES_* */
};

#define SKI_NEVER_REMOTE SIZE_MAX
#define SKI_COMPLETE_MIN 32 /* the completion (completion.c)      */
#define SKI_SEGMENT_MIN  57 /* the head and a byte (broadcast.h)  */
#define SKI_REDUCE_MIN   32 /* the head (reduction.c)             */

/** The kind of a completion that invokes an object (completion.c). */
#define SKI_DONE_OBJECT 6

/** The runtime's own handlers, by their numbers. */
extern const struct ski_builtin ski_builtin[];

/** Returns whether a broadcast of @p bytes may be for @p handler: a handler of the program, or one
 *  of the runtime that would accept such a message from another host. */
bool ski_builtin_accepts(uint32_t handler, size_t bytes);

/** Handlers that run code of the program.  Their messages wait until the program has begun
 *  (objects/services/program.h). */
extern const bool ski_builtin_runs_program[];

#endif
