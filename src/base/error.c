/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - reporting of errors of calls: to the program's callback, to the log, or by ending the
 * job.
 *
 * A line begins with the name of the call ("skua_put: ..." or "skua_handler_register("x"): ..."),
 * and the name that the callback gets is taken from there.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/futex_lock.h"
#include "base/log.h"

struct error_callback {
    skua_error_fn fn;
    void         *arg;
};

static struct ski_lock       error_lock; /* guards the callback */
static struct error_callback error_callback;

static _Thread_local bool error_inside; /* this thread is in the callback */

void skua_error_set_callback(skua_error_fn fn, void *arg)
{
    ski_lock_acquire(&error_lock);
    error_callback = (struct error_callback){fn, arg};
    ski_lock_release(&error_lock);
}

static struct error_callback error_callback_now(void)
{
    struct error_callback callback;

    ski_lock_acquire(&error_lock);
    callback = error_callback;
    ski_lock_release(&error_lock);
    return callback;
}

/* Copies the name of the call at the beginning of @p line; an empty one if there is none. */
static void error_call_name(const char *line, char *name, size_t size)
{
    size_t n = 0;

    while (isalnum((unsigned char)line[n]) || line[n] == '_')
        n++;
    if (n >= size || (line[n] != ':' && line[n] != '('))
        n = 0;
    memcpy(name, line, n);
    name[n] = '\0';
}

/* Calls the program's callback.  Returns whether it handled the error, so that the line is not
 * logged. */
static bool error_notify(skua_status status, const char *line, bool fatal)
{
    struct error_callback callback = error_callback_now();
    char                  call[64];
    bool                  handled;

    if (!callback.fn || error_inside)
        return false;
    error_call_name(line, call, sizeof call);
    error_inside = true;
    handled      = callback.fn(callback.arg, &(skua_error){.size   = sizeof(skua_error),
                                                           .status = status,
                                                           .pe     = ski_log_pe(),
                                                           .fatal  = fatal,
                                                           .call   = call,
                                                           .line   = line});
    error_inside = false;
    return handled;
}

static void error_report(skua_status status, const char *line, bool fatal, const void *caller)
{
    bool handled = error_notify(status, line, fatal);

    if (fatal)
        ski_fatal_line(line, caller);
    if (!handled)
        ski_log(SKI_LOG_ERROR, "%s", line);
}

/* Formats the arguments of a variadic function after @p format into @p line. */
#define ERROR_LINE(line, format)                                                                   \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        vsnprintf(line, sizeof line, format, args);                                                \
        va_end(args);                                                                              \
    } while (0)

void ski_error_refuse(skua_status status, const char *format, ...)
{
    char line[SKI_LOG_LINE];

    ERROR_LINE(line, format);
    error_report(status, line, ski_config.errors == SKI_ERRORS_FATAL, __builtin_return_address(0));
}

void ski_error_fail(skua_status status, const char *format, ...)
{
    char line[SKI_LOG_LINE];

    ERROR_LINE(line, format);
    error_report(status, line, false, NULL);
}

void ski_misuse(const char *format, ...)
{
    char line[SKI_LOG_LINE];

    ERROR_LINE(line, format);
    error_notify(SKUA_ERR_INVAL, line, true);
    ski_fatal_line(line, __builtin_return_address(0));
}
