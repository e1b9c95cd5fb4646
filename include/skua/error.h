/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - errors that calls report, and what becomes of them.
 *
 * A call that refuses its arguments, or that the system fails, reports an error: one line
 * on stderr, and a negative status where the call returns one.  Calls that return no
 * status end the job after the line, since nothing would notice the mistake.
 *
 * With SKUA_ERRORS=fatal misuse ends the job in calls that return a status as well, with a
 * backtrace.  Failures of the environment (no memory, a refused system call) never do.
 */
#ifndef SKUA_ERROR_H
#define SKUA_ERROR_H

#include <stdbool.h>

#include <skua/api.h>
#include <skua/status.h>

SKUA_BEGIN_DECLS

/** An error that a call reports.  The texts live until the callback returns. */
typedef struct {
    skua_status_t status; /* what the call returns; SKUA_ERR_INVAL if it returns none */
    int           pe;     /* the PE that made the call, or -1 outside of PEs          */
    bool          fatal;  /* the job ends when the callback returns                   */
    const char   *call;   /* the name of the call, or "" if the line names none       */
    const char   *line;   /* what is logged, without the PE                           */
} skua_error;

/** Handles an error.  Returns true if the line need not be logged. */
typedef bool (*skua_error_fn)(void *arg, const skua_error *error);

/**
 * Have @p fn called for each error that a call in this process reports, on the thread of
 * the call and before the line is logged; NULL: none.  It may be set before skua_main().
 * The runtime may hold locks meanwhile: of Skua's calls the callback makes only skua_pe()
 * and skua_abort().  When `fatal` is set, the job ends whatever the callback returns.
 */
SKUA_API void skua_on_error(skua_error_fn fn, void *arg);

SKUA_END_DECLS

#endif
