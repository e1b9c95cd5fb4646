/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - from a checked tree to C: NAME.ci.h and NAME.ci.c.
 *
 * The names that users write and call are in docs/internals/translator.md.  All others have a
 * double underscore in them, which no name of an interface file may have.
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdbool.h>

#include "tree.h"
#include "writer.h"

/** Translate into memory: the texts of both files, each to be freed by writer_free(). */
void emit_text(const struct tree *tree, struct writer *header, struct writer *source);

/** Write both files into @p directory; false: it could not be done, which has been said. */
bool emit(const struct tree *tree, const char *directory);

#endif
