/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - how errors of calls and other lines of the runtime are reported.
 *
 * A call that rejects its arguments, or in which a system call fails, reports an error: one line on
 * stderr, and a negative status if the call returns one. A call that returns no status ends the job
 * after the line, because the program could not notice the mistake.
 *
 * With SKUA_ERRORS=fatal, misuse also ends the job in calls that return a status, with a backtrace.
 * Failures of the environment (no memory, a failed system call) never do.
 */
#ifndef SKUA_ERROR_H
#define SKUA_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/api.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** An error reported by a call. The strings are valid until the callback returns. */
typedef struct {
    size_t      size;   /* of this struct in the library: members beyond it do not exist */
    skua_status status; /* what the call returns; SKUA_ERR_INVAL if it returns none */
    int         pe;     /* the calling PE; -1 in a thread that is not a PE */
    bool        fatal;  /* the job ends when the callback returns */
    const char *call;   /* name of the call; "" if the error names none */
    const char *line;   /* the text that is logged, without the PE */
} skua_error;

/** An error callback. Returns true to suppress the log line. */
typedef bool (*skua_error_fn)(void *arg, const skua_error *error);

/** Installs a callback for every error that a call in this process reports; NULL removes it. The
 *  callback runs on the thread of the call, before the line is logged. It may be installed before
 *  skua_main(). The runtime may hold locks meanwhile, so the callback may call only skua_pe() and
 *  skua_abort() of Skua. If `fatal` is set, the job ends whatever the callback returns. */
SKUA_API void skua_error_set_callback(skua_error_fn fn, void *arg);

/** How severe a line of the log is, most severe first, as in SKUA_LOG_LEVEL. */
typedef enum {
    SKUA_LOG_FATAL, /* the job ends */
    SKUA_LOG_ERROR, /* a call failed */
    SKUA_LOG_WARN,  /* something is probably not as intended */
    SKUA_LOG_INFO,  /* a choice that the runtime made */
    SKUA_LOG_DEBUG, /* an event of interest to developers of Skua */
    SKUA_LOG_TRACE  /* a frequent event */
} skua_log_level;

/** A line of the log. The text is valid until the callback returns. Later versions may add members
 *  at the end. */
typedef struct {
    skua_log_level level;
    int            pe;   /* the PE of the calling thread; -1 in a thread that is not a PE */
    const char    *text; /* the line, without "skua:", PE and level */
} skua_log_line;

/** A log callback. The runtime may hold locks, so it may call only skua_pe() of Skua. */
typedef void (*skua_log_fn)(void *arg, const skua_log_line *line);

/** Installs a callback that gets every line that the runtime logs in this process, in place of
 *  stderr; NULL restores stderr. The setting log_level selects the lines. The callback runs on the
 *  thread that logs; several threads may run it concurrently. An error that a call reports goes to
 *  the error callback first, and is logged unless that suppresses it. A fatal line goes to the
 *  callback and is then reported by the launcher as well. It may be installed before skua_main(),
 *  and stays from one skua_init() to the next. */
SKUA_API void skua_log_set_callback(skua_log_fn fn, void *arg);

SKUA_END_DECLS

#endif
