/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - generates C from a checked AST: NAME.ci.h and NAME.ci.c.
 *
 * docs/internals/translator.md lists the names that users define and call.  All other generated
 * names contain a double underscore, which is invalid in names of an interface file.
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdbool.h>

#include "ast/ast.h"
#include "emit/writer.h"

/** Generates the contents of both files in memory.  The caller releases each with writer_free(). */
void emit_to_memory(const struct ast_tree *tree, struct writer *header, struct writer *source);

/** Generates both files in @p directory.  Returns false after reporting a file that cannot be
 *  written. */
bool emit_save(const struct ast_tree *tree, const char *directory);

#endif
