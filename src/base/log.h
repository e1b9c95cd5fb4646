/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - what the runtime says to people, on stderr, one whole line a call.
 *
 * Three kinds of trouble (docs/decisions/0006-failures.md):
 *   the environment fails   a status, and one ski_log() by the first to decide;
 *   the user errs           ski_misuse(): a line that names it, then abort();
 *   Skua has a bug          assert(), or ski_fatal() where a release must check.
 */
#ifndef SKI_LOG_H
#define SKI_LOG_H

#include <stddef.h>

#include "base/arch.h"

enum ski_log_level {
    SKI_LOG_FATAL,
    SKI_LOG_ERROR,
    SKI_LOG_WARN,
    SKI_LOG_INFO,
    SKI_LOG_DEBUG,
    SKI_LOG_TRACE,
    SKI_LOG_LEVELS
};

extern const char *const  ski_log_names[SKI_LOG_LEVELS];
extern enum ski_log_level ski_log_level;

/** Name the speaker of this thread's lines: a PE, or -1 for none. */
void ski_log_set_pe(int pe);

#define ski_log(level, ...)                                                                        \
    do {                                                                                           \
        if (SKI_UNLIKELY((level) <= ski_log_level))                                                \
            ski_log_write((level), __VA_ARGS__);                                                   \
    } while (0)

/** Log an error and be @p status: for `return ski_refuse(SKUA_ERR_INVAL, ...)`. */
#define ski_refuse(status, ...)                                                                    \
    (ski_log_level >= SKI_LOG_ERROR ? ski_log_write(SKI_LOG_ERROR, __VA_ARGS__) : (void)0, (status))

SKI_COLD void ski_log_write(enum ski_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Say why and abort() the process; the launcher then ends the job. */
SKI_COLD _Noreturn void ski_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same, where the program that uses Skua is to blame. */
#define ski_misuse ski_fatal

/** Called with the line of ski_fatal() and the address it returns to; true:
 *  somebody else will print the line. */
typedef _Bool (*ski_fatal_hook)(const char *line, const void *caller);
void ski_log_set_fatal_hook(ski_fatal_hook hook);

#endif
