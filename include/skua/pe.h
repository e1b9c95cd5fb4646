/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - the job, its PEs and processes, and data that belongs to them.
 *
 * A *PE* is one scheduler on one thread.  A job has PEs 0 .. skua_pes()-1;
 * each process holds one or several of them.
 */
#ifndef SKUA_PE_H
#define SKUA_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** What a program runs first on every PE. */
typedef void (*skua_start_fn)(int argc, char **argv);

/**
 * Join the job, run @p start on every PE, then deliver messages until some PE
 * calls skua_exit().  Returns that code, or EXIT_FAILURE when the job could
 * not be joined (which has been said on stderr).  Call it once, from main(),
 * after all handlers, operators and data have been registered.
 */
SKUA_API int skua_main(int argc, char **argv, skua_start_fn start);

/** End the job, everywhere, with @p code: every PE returns from skua_main() as
 *  soon as the handler it is in returns.  Messages not yet delivered are
 *  dropped.  Returns at once.  The first call decides; any PE. */
SKUA_API void skua_exit(int code);

/** Say why on stderr and end the job at once, as a failure (SIGABRT). */
SKUA_API void skua_abort(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** The PE that is calling, 0 .. skua_pes()-1. */
SKUA_API int skua_pe(void);

/** PEs in the job. */
SKUA_API int skua_pes(void);

/** The process that is calling, 0 .. skua_processes()-1. */
SKUA_API int skua_process(void);

/** Processes in the job. */
SKUA_API int skua_processes(void);

/** The process that holds a PE. */
SKUA_API int skua_process_of(int pe);

/** The first PE of a process, and how many PEs it has. */
SKUA_API int skua_process_first(int process);
SKUA_API int skua_process_pes(int process);

/** Whether a PE shares memory with this one: it is on the same host, and was not told
 *  to keep apart.  Messages to it move as pointers, one-sided operations are done by
 *  the caller. */
SKUA_API bool skua_near(int pe);

/**
 * Data of one's own for every PE, or for every process.
 *
 * A library registers how many bytes it wants before skua_main() and gets a
 * key; on each PE (in each process) the key leads to that many bytes, zeroed
 * at start, aligned to a cache line.  Process data is shared by the PEs of the
 * process: they guard it with C's atomics or a lock.
 */
typedef struct {
    uint32_t offset;
} skua_pe_data;

typedef struct {
    uint32_t offset;
} skua_process_data;

SKUA_API skua_pe_data      skua_pe_data_register(size_t bytes);
SKUA_API skua_process_data skua_process_data_register(size_t bytes);
SKUA_API void             *skua_pe_data_get(skua_pe_data key);
SKUA_API void             *skua_process_data_get(skua_process_data key);

SKUA_END_DECLS

#endif
