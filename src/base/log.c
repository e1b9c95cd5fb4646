/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - composes a line and writes it with one system call. */
#include "base/assert.h"
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
static ski_fatal_hook    fatal_hook;

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
    fatal_hook = hook;
}

static void write_line(const char *kind, const char *text)
{
    char line[SKI_LOG_LINE + 64];
    char who[32] = "";
    int  n;

    if (log_pe >= 0)
        snprintf(who, sizeof who, "PE %d: ", log_pe);
    n = snprintf(line, sizeof line, "skua: %s%s: %s\n", who, kind, text);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* there is no other place to say it */
}

void ski_log_write(enum ski_log_level level, const char *format, ...)
{
    char    text[SKI_LOG_LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_line(ski_log_names[level], text);
}

void ski_fatal_line(const char *line, const void *caller)
{
    if (!fatal_hook || !fatal_hook(line, caller))
        write_line("fatal", line);
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
