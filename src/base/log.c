/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - formats a line and hands it to the program's callback, or writes it with one system call,
 * so lines of processes do not mix.
 */
#include "base/assert.h"
#include "base/futex_lock.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *const ski_log_names[SKI_LOG_LEVELS] = {
    "fatal", "error", "warn", "info", "debug", "trace",
};

enum ski_log_level ski_log_level = SKI_LOG_WARN;

static _Thread_local int log_pe = -1;
static ski_fatal_hook    log_fatal_hook;

/* The callback of skua_log_set_callback(), which the lock guards. */
static struct ski_lock log_lock;
static struct log_callback {
    skua_log_fn fn;
    void       *arg;
} log_callback;

static _Thread_local bool log_inside; /* this thread is in the callback */

void ski_log_set_pe(int pe)
{
    log_pe = pe;
}

int ski_log_pe(void)
{
    return log_pe;
}

void ski_log_set_fatal_hook(ski_fatal_hook hook)
{
    log_fatal_hook = hook;
}

void skua_log_set_callback(skua_log_fn fn, void *arg)
{
    ski_lock_acquire(&log_lock);
    log_callback = (struct log_callback){fn, arg};
    ski_lock_release(&log_lock);
}

/* Hands a line to the program's callback.  Returns false if there is none, or if the callback
 * itself has caused the line. */
static bool log_notify(enum ski_log_level level, const char *text)
{
    struct log_callback callback;

    ski_lock_acquire(&log_lock);
    callback = log_callback;
    ski_lock_release(&log_lock);
    if (!callback.fn || log_inside)
        return false;
    log_inside = true;
    callback.fn(callback.arg, &(skua_log_line){(skua_log_level)level, log_pe, text});
    log_inside = false;
    return true;
}

static void log_write_stderr(const char *kind, const char *text)
{
    char line[SKI_LOG_LINE + 64];
    char speaker[32] = "";
    int  n;

    if (log_pe >= 0)
        snprintf(speaker, sizeof speaker, "PE %d: ", log_pe);
    n = snprintf(line, sizeof line, "skua: %s%s: %s\n", speaker, kind, text);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* there is no other place to report it */
}

void ski_log_write(enum ski_log_level level, const char *format, ...)
{
    char    text[SKI_LOG_LINE];
    va_list args;

    if (level > ski_log_level)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!log_notify(level, text))
        log_write_stderr(ski_log_names[level], text);
}

void ski_fatal_line(const char *line, const void *caller)
{
    bool told = log_notify(SKI_LOG_FATAL, line);

    if ((!log_fatal_hook || !log_fatal_hook(line, caller)) && !told)
        log_write_stderr(ski_log_names[SKI_LOG_FATAL], line);
    abort();
}

void ski_fatal(const char *format, ...)
{
    char    text[SKI_LOG_LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ski_fatal_line(text, __builtin_return_address(0));
}

void ski_assert_failed(const char *file, int line, const char *function, const char *condition)
{
    ski_fatal("bug in Skua: %s:%d: %s: `%s' does not hold; please report this line", file, line,
              function, condition);
}
