/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that lives until the program ends: trees, names, sources. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

#include "tree.h"

/** Zeroed memory.  Never NULL: without memory the program ends with a line that says so. */
void *arena_alloc(size_t bytes);

#define ARENA_NEW(type) ((type *)arena_alloc(sizeof(type)))

/** A string of its own, by printf(). */
char *arena_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A text as a string. */
char *arena_string(struct text text);

/** Give all of it back. */
void arena_free(void);

#endif
