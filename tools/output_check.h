/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_check.h - a tool whose output is lost fails.
 *
 * The C library writes the last output in exit(), and drops an error then: a report redirected to a
 * full file system would be cut short without notice.
 */
#ifndef TOOLS_OUTPUT_CHECK_H
#define TOOLS_OUTPUT_CHECK_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *output_check_tool;

/* Runs in exit(), which must not be called again. */
static void output_check(void)
{
    bool failed = ferror(stdout);

    errno = 0; /* that of an earlier error is not known any more */
    if (fflush(stdout) == 0 && !failed)
        return;
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", output_check_tool,
            errno ? ": " : "", errno ? strerror(errno) : "");
    _exit(1);
}

/** Makes exit() fail with code 1 and an error of @p tool if not all of stdout was written. */
static inline void output_check_at_exit(const char *tool)
{
    output_check_tool = tool;
    atexit(output_check);
}

#endif
