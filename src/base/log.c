/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - composes a line and writes it with one system call. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024

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

void ski_log_set_fatal_hook(ski_fatal_hook hook)
{
    fatal_hook = hook;
}

static void write_line(const char *kind, const char *text)
{
    char line[LINE_MAX_BYTES + 64];
    char who[32] = "";
    int  n;

    if (log_pe >= 0)
        snprintf(who, sizeof who, "PE %d: ", log_pe);
    n = snprintf(line, sizeof line, "skua: %s%s: %s\n", who, kind, text);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* nobody is left to tell */
}

void ski_log_write(enum ski_log_level level, const char *format, ...)
{
    char    text[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_line(ski_log_names[level], text);
}

void ski_fatal(const char *format, ...)
{
    char    text[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!fatal_hook || !fatal_hook(text, __builtin_return_address(0)))
        write_line("fatal", text);
    abort();
}
