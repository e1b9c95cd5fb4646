/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - reformats an interface file: `skuac --format'. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdio.h>

#include "ast/ast.h"

/**
 * Prints the file of @p tree, which must have been parsed without errors, in the standard format:
 * four spaces per level, one line for each declaration and statement, at most one empty line in
 * sequence.  Comments stay; C code is only indented.  Line breaks between brackets, and before the
 * statement of an `if' or a `when', stay.  Formatting is idempotent.
 */
void format_print(FILE *to, const struct ast_tree *tree);

#endif
