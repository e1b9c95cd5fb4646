/* SPDX-License-Identifier: Apache-2.0 */
/* checker.h - semantic analysis: resolves names, completes the AST, rejects invalid programs. */
#ifndef CHECKER_H
#define CHECKER_H

#include "ast/ast.h"

/** Checks @p tree, which includes the imported modules, and fills in the members that ast.h marks
 *  "checker".  Reports errors; returns whether there are none, so that code can be generated. */
bool check_tree(struct ast_tree *tree);

#endif
