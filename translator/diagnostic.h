/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostic.h - telling people what is wrong, and where.
 *
 *     jacobi.ci:12:9: error: `whem' is not a statement
 *        12 |         whem ghost(int n)
 *           |         ^~~~
 *           = did you mean `when'?
 */
#ifndef DIAGNOSTIC_H
#define DIAGNOSTIC_H

#include <stdio.h>

#include "tree.h"

/** Messages go to @p to, NULL: nowhere, and are counted anew.  Without it: to stderr. */
void diagnostic_begin(FILE *to);

/** An error at a place; @p length: how many bytes to underline, at least 1.  Counted; after
 *  20 the rest is not shown. */
void error_at(struct place place, size_t length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The same under a name or a piece of code. */
void error_name(struct name name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** What to do about the error shown last; also: the other place that is concerned. */
void hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hint_at(struct place place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** What looks doubtful but is translated; not counted. */
void warning_at(struct place place, size_t length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

unsigned error_count(void);

/** Of @p names, ended by NULL, the one that is nearest to @p word, if one is near enough to be
 *  meant (at most a third of its letters differ); else NULL. */
const char *nearest(struct text word, const char *const *names);

#endif
