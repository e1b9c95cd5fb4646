/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - programs that begin on one PE, and variables that they only read afterwards.
 *
 * skua_main() runs its function on every PE.  skua_program() runs one on PE 0 alone, which
 * creates the first objects and sends the first messages.  What it writes to *read-only
 * variables* is there in every process before anything that it sent is delivered; and so are,
 * on each PE, the objects of the collections that it creates, in the order of creation.
 */
#ifndef SKUA_PROGRAM_H
#define SKUA_PROGRAM_H

#include <stddef.h>

#include <skua/api.h>
#include <skua/pe.h>

SKUA_BEGIN_DECLS

/**
 * Declare a variable, of @p bytes at @p variable, that all PEs see as `begin` of
 * skua_program() left it on PE 0.  Before skua_program(), in every process, in the same
 * order.  @p name must live as long as the program, is compared between the processes,
 * and belongs to one variable alone.  Under skua_main() nothing happens to it.
 */
SKUA_API void skua_readonly(const char *name, void *variable, size_t bytes);

/**
 * The same for memory that the program allocates: `begin` sets *pointer and *bytes.  In
 * other processes *pointer becomes memory from malloc(), of *bytes bytes, with the same
 * contents; NULL if there are none.  It is the program's from then on.
 */
SKUA_API void skua_readonly_block(const char *name, void **pointer, size_t *bytes);

/**
 * As skua_main(), but @p begin runs on PE 0 only.  When it returns, the read-only
 * variables travel to all processes; on no PE is a handler of the program called before
 * they are there, whatever was sent in @p begin, to whomever.  Whatever another PE writes to a
 * read-only variable is seen by the PEs of its process, if at all.
 *
 * @p begin may wait (for a future, a counter, a notification, a lock, in skua_run() and the
 * like): then the read-only variables travel when it first does, and messages are delivered
 * from then on.  A variable that it changes after that ends the job with a line that names
 * the variable.  One-sided operations that block, and skua_poll(), leave the variables alone.
 */
SKUA_API int skua_program(int argc, char **argv, skua_start_fn begin);

SKUA_END_DECLS

#endif
