/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - programs that begin on one PE, and read-only variables.
 *
 * skua_main() runs its function on every PE. skua_program() runs a function on PE 0 only, which
 * creates the first objects and sends the first messages. The *read-only variables* that it writes
 * are set in every process before any message that it sent is delivered. The collections that it
 * creates also exist on each PE by then, in the order of their creation.
 */
#ifndef SKUA_PROGRAM_H
#define SKUA_PROGRAM_H

#include <stddef.h>

#include <skua/api.h>
#include <skua/pe.h>

SKUA_BEGIN_DECLS

/** Declares a read-only variable, of @p bytes at @p variable: all PEs see the value that `begin` of
 *  skua_program() gave it on PE 0. Called before skua_program(), in every process, in the same
 *  order. @p name must stay valid for the life of the program and be unique; the processes compare
 *  it. Under skua_main() the declaration has no effect. */
SKUA_API void skua_readonly_register(const char *name, void *variable, size_t bytes);

/** Declares a read-only block of memory that the program allocates: `begin` of skua_program() sets
 *  *pointer and *bytes. In other processes *pointer becomes malloc() memory of *bytes bytes with
 *  the same contents, or NULL if *bytes is 0; the program owns it. The rules for calls and for
 *  @p name are those of skua_readonly_register(). */
SKUA_API void skua_readonly_block_register(const char *name, void **pointer, size_t *bytes);

/**
 * Runs a program as skua_main() does, but calls @p begin on PE 0 only. When it returns, the
 * read-only variables are sent to all processes. No PE calls a handler of the program before they
 * have arrived, whatever @p begin sent. A read-only variable that another PE writes changes at most
 * in that PE's process. Returns what skua_main() returns.
 *
 * @p begin may wait (for a future, a counter, a notification or a lock, in skua_run() and similar
 * functions). The read-only variables are then sent at its first wait, and messages are delivered
 * from then on. A later change to a read-only variable ends the job with an error that names the
 * variable. Blocking one-sided operations and skua_poll() do not send the variables.
 */
SKUA_API int skua_program(int argc, char **argv, skua_start_fn begin);

SKUA_END_DECLS

/** @cond */
/* The version of the headers reaches the library along with the call (version.h). */
#define skua_program(argc, argv, begin)                                                            \
    (skua_version_expect(SKUA_VERSION_NUMBER), skua_program(argc, argv, begin))
/** @endcond */

#endif
