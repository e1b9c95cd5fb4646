/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - the job, its PEs and processes, and per-PE data.
 *
 * A *PE* is one scheduler on one thread. A job has PEs 0 .. skua_pes()-1; each process holds one or
 * several of them.
 */
#ifndef SKUA_PE_H
#define SKUA_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** The function that a program runs first on every PE. */
typedef void (*skua_start_fn)(int argc, char **argv);

/** Joins the job, runs @p start on every PE, then delivers messages until some PE calls
 *  skua_exit(). Returns the exit code of the job, or EXIT_FAILURE, with an error on stderr, if the
 *  process could not join the job. Called once, from main(), after all handlers, operators and data
 *  have been registered. */
SKUA_API int skua_main(int argc, char **argv, skua_start_fn start);

/** Ends the job with @p code: every PE returns from skua_main() as soon as its running handler
 *  returns. Messages that are not yet delivered are dropped. Returns at once. Any PE may call it;
 *  the first call determines the code. */
SKUA_API void skua_exit(int code);

/** Prints an error on stderr and ends the job at once as a failure (SIGABRT). */
SKUA_API void skua_abort(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** Returns the number of the calling PE, 0 .. skua_pes()-1. */
SKUA_API int skua_pe(void);

/** Returns the number of PEs in the job. */
SKUA_API int skua_pes(void);

/** Returns the number of the calling process, 0 .. skua_processes()-1. */
SKUA_API int skua_process(void);

/** Returns the number of processes in the job. */
SKUA_API int skua_processes(void);

/** Returns the process that holds a PE. */
SKUA_API int skua_process_of(int pe);

/** Returns the first PE of a process. */
SKUA_API int skua_process_first(int process);

/** Returns the number of PEs of a process. */
SKUA_API int skua_process_pes(int process);

/** Returns true if a PE shares memory with the calling PE: it is on the same host, and shared
 *  memory is not disabled (SKUA_SHARED_MEMORY=0). Messages to it travel as pointers, and the caller
 *  performs one-sided operations on its memory itself. */
SKUA_API bool skua_shares_memory(int pe);

/** A key to data of which every PE has its own copy. A library registers its size before
 *  skua_main(). On each PE the key leads to that many bytes, zeroed at start and aligned to a cache
 *  line. */
typedef struct {
    uint32_t offset;
} skua_pe_data;

/** A key to data of which every process has its own copy, zeroed at start and aligned to a cache
 * line. */
typedef struct {
    uint32_t offset;
} skua_process_data;

/** Registers @p bytes of data for every PE, before skua_main(). Returns their key. */
SKUA_API skua_pe_data skua_pe_data_register(size_t bytes);

/** Registers @p bytes of data for every process, before skua_main(). Returns their key. */
SKUA_API skua_process_data skua_process_data_register(size_t bytes);

/** Returns the calling PE's data of a key. */
SKUA_API void *skua_pe_data_get(skua_pe_data key);

/** Returns the calling process's data of a key. The PEs of the process share them and synchronise
 *  by C11 atomics or locks. */
SKUA_API void *skua_process_data_get(skua_process_data key);

SKUA_END_DECLS

#endif
