/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ast_dump.h - prints an AST as text: `skuac --tree'.
 *
 * One line for each node, indented; ` @LINE:COLUMN' ends the lines of nodes that have a location.
 * C code and comments are printed line by line after `|', without the white space around each
 * line, so that reformatting a file (format.h) changes nothing but locations.
 */
#ifndef AST_DUMP_H
#define AST_DUMP_H

#include <stdio.h>

#include "ast/ast.h"

/** Prints the modules of the file, and the names of the imported ones. */
void ast_dump(FILE *to, const struct ast_tree *tree);

#endif
