/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - how errors of calls are reported.
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
    size_t      size;   /* of this struct in the library: members beyond it are not there */
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

SKUA_END_DECLS

#endif
