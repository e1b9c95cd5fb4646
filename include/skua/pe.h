/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - the job, its PEs and processes, and per-PE data.
 *
 * A *PE* is one scheduler on one thread. A job has PEs 0 .. skua_pes()-1; each process holds one or
 * several of them.
 *
 * A program hands control to Skua with skua_main(), or it uses Skua for a *phase* between
 * skua_init() and skua_finalize(), any number of times. Each phase is a job of its own.
 */
#ifndef SKUA_PE_H
#define SKUA_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/status.h>
#include <skua/version.h>

SKUA_BEGIN_DECLS

/** The function that a program runs first on every PE. */
typedef void (*skua_start_fn)(int argc, char **argv);

/** Joins the job, runs @p start on every PE, then delivers messages until some PE calls
 *  skua_exit(). Returns the exit code of the job, or EXIT_FAILURE, with an error on stderr, if the
 *  process could not join the job. Called once, from main(), after all handlers, operators and data
 *  have been registered; the process does not use Skua afterwards. */
SKUA_API int skua_main(int argc, char **argv, skua_start_fn start);

/** The parameters of skua_init(). Members that are 0 have their defaults. */
typedef struct {
    size_t             size;  /* sizeof(skua_init_params); 0: its size in version 1.0 */
    skua_start_fn      start; /* runs first on the other PEs of the process; may be NULL */
    int                argc;  /* arguments of start */
    char             **argv;
    const char *const *settings; /* "name=value" each, up to NULL: before the environment */
} skua_init_params;

/**
 * Begins a phase: joins the job as skua_main() does and makes the calling thread the first PE of
 * this process. From here to skua_finalize() that thread may make all calls that a start function
 * may make; it delivers messages in skua_run(), skua_run_until(), skua_run_count(), skua_poll() and
 * in calls that wait. If the process has several PEs, each of the others runs params->start on a
 * thread of its own and then delivers messages until the phase ends.
 *
 * All processes of the job call it, once for each phase; the number of PEs may differ between
 * phases only without a launcher. @p params may be NULL. Settings in params->settings take
 * precedence over SKUA_* variables, are named without the prefix ("threads=4"), and apply to this
 * phase. Under skuarun the launcher determines the settings of the arena.
 *
 * Handlers, operators, classes and data are registered before the first phase, or between phases,
 * in the same order by all processes; they stay registered. Data of PEs and of processes are zeroed
 * at the beginning of every phase.
 *
 * Returns SKUA_OK; SKUA_ERR_INVAL within a phase, after skua_main() or with invalid settings;
 * SKUA_ERR_UNSUPPORTED after a phase with SKUA_MALLOC_ARENA or if @p params is of a newer version;
 * SKUA_ERR_MISMATCH if headers and library, or the programs of two processes, do not match; or the
 * reason why the process cannot join the job. Errors are reported (error.h). One thread of a
 * process calls it.
 */
SKUA_API skua_status skua_init(const skua_init_params *params);

/**
 * Ends the phase that skua_init() began, on the thread that called it. Delivers messages until all
 * processes have called it, params->start has returned on all other PEs, and nothing is left to do
 * (quiescence.h): messages that were sent have been delivered, and one-sided operations of the
 * caller have completed. Blocked user threads, timers that have not fired and idle callbacks are
 * dropped. After skua_exit() it does not wait for anything to be done.
 *
 * When it returns, nothing of the phase remains: regions, messages, objects, sockets, threads and
 * signal handlers of Skua have been freed, and the CPU affinity of the thread and the environment
 * are as before. No thread may be in a call of Skua meanwhile, nor use memory of the phase later.
 * Files and MPI that the program itself has opened stay.
 *
 * Returns the exit code of the phase: the argument of skua_exit(), or 0. Misuse ends the job: a
 * call without skua_init(), on another thread, in a handler or in a user thread.
 */
SKUA_API int skua_finalize(void);

/** Returns whether this process is between skua_init(), or the beginning of skua_main(), and
 *  skua_finalize(). Any thread may call it; a library calls it to determine whether its caller uses
 *  Skua already. */
SKUA_API bool skua_initialized(void);

/** Ends the job with @p code: every PE returns from skua_main() as soon as its running handler
 *  returns. In a phase, skua_run(), skua_run_until() and calls that wait return, and
 *  skua_finalize() returns the code. Messages that are not yet delivered are dropped. Returns
 *  immediately. Not collective: one PE calls it; of several calls the first determines the code, of
 *  which the system keeps the low eight bits; a multiple of 256 other than 0 becomes 255, with a
 *  warning. */
SKUA_API void skua_exit(int code);

/** Prints an error on stderr and ends the job immediately as a failure (SIGABRT). */
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
 *  memory is not disabled (SKUA_SHARED_MEMORY=0). Messages to it are passed as pointers, and the
 *  caller performs one-sided operations on its memory itself. */
SKUA_API bool skua_shares_memory(int pe);

/** A key to data of which every PE has its own copy. A library registers its size before
 *  skua_main() or skua_init(). On each PE the key refers to that many bytes, zeroed at start and
 *  aligned to a cache line. */
typedef struct {
    uint32_t offset;
} skua_pe_data;

/** A key to data of which every process has its own copy, zeroed at start and aligned to a cache
 *  line. */
typedef struct {
    uint32_t offset;
} skua_process_data;

/** Registers @p bytes of data for every PE, before skua_main() or skua_init(). Returns their
 *  key. */
SKUA_API skua_pe_data skua_pe_data_register(size_t bytes);

/** Registers @p bytes of data for every process, before skua_main() or skua_init(). Returns their
 *  key. */
SKUA_API skua_process_data skua_process_data_register(size_t bytes);

/** Returns the calling PE's data of a key. */
SKUA_API void *skua_pe_data_get(skua_pe_data key);

/** Returns the calling process's data of a key. The PEs of the process share them and synchronise
 *  by C11 atomics or locks. */
SKUA_API void *skua_process_data_get(skua_process_data key);

SKUA_END_DECLS

/** @cond */
/* The version of the headers reaches the library along with these calls (version.h). */
#define skua_main(argc, argv, start)                                                               \
    (skua_version_expect(SKUA_VERSION_NUMBER), skua_main(argc, argv, start))
#define skua_init(params) (skua_version_expect(SKUA_VERSION_NUMBER), skua_init(params))
/** @endcond */

#endif
