/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - what the runtime says to people, on stderr, one whole line a call.
 *
 * Kinds of trouble (docs/decisions/0006-failures.md):
 *   the environment fails   ski_fail(): a line by the first to decide, and a status;
 *   the program errs        ski_refuse() in calls that return a status: a line and the
 *                           status, or the end of the job with SKUA_ERRORS=fatal;
 *                           ski_misuse() in all others: a line, then abort();
 *   Skua has a bug          ski_assert(), or ski_fatal() where a release must check.
 * A line about a call begins with the name of the call.  All but ski_fatal() tell the
 * callback of skua_on_error() first.
 */
#ifndef SKI_LOG_H
#define SKI_LOG_H

#include <stddef.h>

#include <skua/error.h>

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

/** The PE that ski_log_set_pe() named for this thread, or -1. */
int ski_log_pe(void);

#define ski_log(level, ...)                                                                        \
    do {                                                                                           \
        if (SKI_UNLIKELY((level) <= ski_log_level))                                                \
            ski_log_write((level), __VA_ARGS__);                                                   \
    } while (0)

/** Report misuse by the program and be @p status: for `return ski_refuse(SKUA_ERR_INVAL,
 *  ...)`.  Does not return with SKUA_ERRORS=fatal. */
#define ski_refuse(status, ...) (ski_error_refuse((status), __VA_ARGS__), (status))

/** Report a failure of the environment and be @p status, which never ends the job. */
#define ski_fail(status, ...) (ski_error_fail((status), __VA_ARGS__), (status))

SKI_COLD void ski_error_refuse(skua_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
SKI_COLD void ski_error_fail(skua_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

SKI_COLD void ski_log_write(enum ski_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Say why and abort() the process; the launcher then ends the job. */
SKI_COLD _Noreturn void ski_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Report misuse by the program in a call that returns no status, and abort(). */
SKI_COLD _Noreturn void ski_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** End the process as ski_fatal() does, on behalf of the code at @p caller. */
SKI_COLD _Noreturn void ski_fatal_line(const char *line, const void *caller);

/** The longest line, with its zero. */
#define SKI_LOG_LINE 1024

/** Called with the line of ski_fatal() and the address it returns to; true: the line
 *  need not be printed. */
typedef _Bool (*ski_fatal_hook)(const char *line, const void *caller);
void ski_log_set_fatal_hook(ski_fatal_hook hook);

#endif
