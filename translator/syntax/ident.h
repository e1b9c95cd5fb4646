/* SPDX-License-Identifier: Apache-2.0 */
/* ident.h - finds the identifiers in a piece of C. */
#ifndef IDENT_H
#define IDENT_H

#include "support/source.h"

/**
 * Calls @p fn for each identifier and keyword of @p code, in order.  Skips numbers, strings,
 * character constants, comments, # lines, and member names, which follow a `.` or a `->`.  The
 * text passed to @p fn points into the code: source_locate() gives its location.
 */
void ident_for_each(struct source_code code, void (*fn)(struct text word, void *arg), void *arg);

/** Returns whether @p name is among the identifiers of @p code. */
bool ident_is_mentioned(struct source_code code, struct text name);

/** Returns whether @p word, an identifier or a keyword of @p code, is in the body of a lambda of
 * C++. */
bool ident_is_in_lambda(struct source_code code, struct text word);

/** Returns whether @p word is a keyword or a standard name of C's types, and therefore not a name
 *  of the user. */
bool ident_is_type_keyword(struct text word);

#endif
