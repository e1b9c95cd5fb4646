/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_file.h - parses an interface file into an AST.
 *
 * The parser is a recursive-descent parser with one function for each rule of the grammar
 * (docs/internals/translator.md).  After an error it continues with the next statement, member or
 * declaration, so that one run reports several errors.
 */
#ifndef PARSE_FILE_H
#define PARSE_FILE_H

#include "ast/ast.h"

/** Parses @p source and reports errors (diagnostic.h).  Always returns an AST: of the parts that
 *  could be parsed. */
struct ast_tree *parse_file(struct source *source);

#endif
