/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostic.h - errors, warnings and hints that show the source line they are about.
 *
 *     jacobi.ci:12:9: error: `whem' is not a statement
 *        12 |         whem ghost(int n)
 *           |         ^~~~
 *           = did you mean `when'?
 */
#ifndef DIAGNOSTIC_H
#define DIAGNOSTIC_H

#include <stdio.h>

#include "support/source.h"

/** Sends diagnostics to @p to from now on and resets the error count.  NULL discards them.  Until
 *  the first call diagnostics go to stderr. */
void diagnostic_begin(FILE *to);

/** Reports and counts an error; underlines @p length bytes, at least 1, at @p location.  After 20
 *  errors the rest are counted but not shown. */
void diagnostic_error_at(struct source_location location, size_t length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Reports and counts an error; underlines @p name. */
void diagnostic_error_name(struct source_name name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Adds advice to the diagnostic shown last.  Omitted if that one was not shown. */
void diagnostic_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Adds a note about a second location to the diagnostic shown last.  Omitted if that one was not
 *  shown. */
void diagnostic_note_at(struct source_location location, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Reports a doubtful construct that is translated nevertheless.  Warnings are not counted. */
void diagnostic_warning_at(struct source_location location, size_t length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Returns the number of errors since diagnostic_begin(). */
unsigned diagnostic_error_count(void);

/** Returns the name in the NULL-terminated list @p names that is closest to @p word, or NULL if
 * none is close: at most a third of a name's letters may differ. */
const char *diagnostic_nearest(struct text word, const char *const *names);

#endif
