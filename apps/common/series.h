/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - results as lines of JSON, for `skua bench`, and progress on a terminal. */
#ifndef SERIES_H
#define SERIES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/** The labels of a result. */
struct series {
    const char *bench, *name; /* an empty name: the result is not printed */
    const char *variant;      /* the series is NAME-VARIANT, or NAME */
    int64_t     size;         /* problem size, or bytes */
    int         pes;          /* 0: the metric is not named by the number of PEs */
};

/** Prints a result: the metric is METRIC-Npe on N PEs. */
static inline void series_print(const struct series *series, const char *metric, double value)
{
    char pes[16] = "";

    if (!series->name[0])
        return;
    if (series->pes > 0)
        snprintf(pes, sizeof pes, "-%dpe", series->pes);
    printf("{\"bench\":\"%s\",\"series\":\"%s%s%s\",\"bytes\":%lld,\"metric\":\"%s%s\","
           "\"value\":%.6g}\n",
           series->bench, series->name, series->variant ? "-" : "",
           series->variant ? series->variant : "", (long long)series->size, metric, pes, value);
}

/** Replaces the line of progress on a terminal; an empty text clears it. */
__attribute__((format(printf, 1, 2))) static inline void progress_show(const char *format, ...)
{
    va_list list;

    if (!isatty(STDERR_FILENO))
        return;
    va_start(list, format);
    fprintf(stderr, "\r%40s\r", "");
    vfprintf(stderr, format, list);
    va_end(list);
}

/** Returns true once a second: *@p shown is the time of the last output, 0 at first, and @p now the
 *  time in seconds. */
static inline bool progress_due(double *shown, double now)
{
    if (now - *shown < 1)
        return false;
    *shown = now;
    return true;
}

/** Clears the line of progress. */
static inline void progress_clear(void)
{
    progress_show("%s", "");
}

#endif
