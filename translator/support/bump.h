/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bump.h - a bump allocator: memory that is released as a whole.
 *
 * ASTs, names and sources live until the program ends, so nothing is freed one by one.
 */
#ifndef BUMP_H
#define BUMP_H

#include <stddef.h>

#include "support/text.h"

/** Returns @p bytes of zeroed memory.  Never NULL: the program exits with code 2 and an error if
 *  memory runs out. */
void *bump_alloc(size_t bytes);

/** Returns a zeroed object of @p type. */
#define BUMP_NEW(type) ((type *)bump_alloc(sizeof(type)))

/** Returns a new string, formatted as by printf(). */
char *bump_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Returns a NUL-terminated copy of @p text. */
char *bump_string(struct text text);

/** Releases all memory that has been allocated so far. */
void bump_free_all(void);

#endif
