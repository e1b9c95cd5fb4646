/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - the identifiers in a piece of C. */
#ifndef WORDS_H
#define WORDS_H

#include "text.h"
#include "tree.h"

/**
 * Call @p fn for each identifier and keyword of @p code, in its order.  Passed over are
 * numbers, strings, character constants, comments, # lines, and the names of members: what
 * follows a `.` or a `->`.  A word points into the code: source_place() finds its place.
 */
void for_each_word(struct code code, void (*fn)(struct text word, void *arg), void *arg);

/** Whether @p name is one of these words. */
bool mentions(struct code code, struct text name);

#endif
