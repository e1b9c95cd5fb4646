/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - the log of the runtime: whole lines on stderr.
 *
 * Kinds of failure (docs/decisions/0006-failures.md):
 *   the environment fails   ski_fail(): the function that detects it logs a line and returns a
 *                           status;
 *   the program errs        ski_refuse() in calls that return a status: a line and the status, or
 *                           the end of the job with SKUA_ERRORS=fatal; ski_misuse() in all others:
 *                           a line, then abort();
 *   Skua has a bug          ski_assert(), or ski_fatal() where a release must check, too.
 * A line about a call begins with the name of the call.  All but ski_fatal() first invoke the
 * callback of skua_error_set_callback().
 */
#ifndef SKI_LOG_H
#define SKI_LOG_H

#include <stddef.h>

#include <skua/error.h>

#include "base/arch.h"

/* The levels of the setting log_level, most severe first. */
enum ski_log_level {
    SKI_LOG_FATAL,
    SKI_LOG_ERROR,
    SKI_LOG_WARN,
    SKI_LOG_INFO,
    SKI_LOG_DEBUG,
    SKI_LOG_TRACE,
    SKI_LOG_LEVELS
};

/** The words of the setting for the levels. */
extern const char *const ski_log_names[SKI_LOG_LEVELS];

/** The least severe level that is logged. */
extern enum ski_log_level ski_log_level;

/** Sets the PE that the lines of this thread name, or -1 for none. */
void ski_log_set_pe(int pe);

/** Returns the PE that ski_log_set_pe() set for this thread, or -1. */
int ski_log_pe(void);

/** Logs a line if its level is enabled. */
#define ski_log(level, ...)                                                                        \
    do {                                                                                           \
        if (SKI_UNLIKELY((level) <= ski_log_level))                                                \
            ski_log_write((level), __VA_ARGS__);                                                   \
    } while (0)

/** Reports misuse by the program and evaluates to @p status, for `return
 *  ski_refuse(SKUA_ERR_INVAL, ...)`.  With SKUA_ERRORS=fatal it ends the job. */
#define ski_refuse(status, ...) (ski_error_refuse((status), __VA_ARGS__), (status))

/** Reports a failure of the environment and evaluates to @p status.  It never ends the job. */
#define ski_fail(status, ...) (ski_error_fail((status), __VA_ARGS__), (status))

/** Reports misuse: the function behind ski_refuse(). */
SKI_COLD void ski_error_refuse(skua_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Reports a failure of the environment: the function behind ski_fail(). */
SKI_COLD void ski_error_fail(skua_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Writes a line if its level is enabled, or hands it to the callback of skua_log_set_callback():
 * the function behind ski_log(), which does not evaluate its arguments otherwise. */
SKI_COLD void ski_log_write(enum ski_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Logs a line and calls abort(); the launcher then ends the job. */
SKI_COLD _Noreturn void ski_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Reports misuse by the program in a call that returns no status, and calls abort(). */
SKI_COLD _Noreturn void ski_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Ends the process as ski_fatal() does, on behalf of the code at @p caller. */
SKI_COLD _Noreturn void ski_fatal_line(const char *line, const void *caller);

/** The size of the longest line, with its terminating 0. */
#define SKI_LOG_LINE 1024

/** A function that is called with the line of ski_fatal() and its return address.  It returns
 *  whether it handled the line, which is then not printed. */
typedef _Bool (*ski_fatal_hook)(const char *line, const void *caller);

/** Sets the hook of ski_fatal(). */
void ski_log_set_fatal_hook(ski_fatal_hook hook);

#endif
