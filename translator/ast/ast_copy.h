/* SPDX-License-Identifier: Apache-2.0 */
/* ast_copy.h - copies of AST nodes: a class gets its own copy of the entries it inherits, because
 * the checker annotates them for that class. */
#ifndef AST_COPY_H
#define AST_COPY_H

#include "ast/ast.h"

/** Returns a copy of the parameter list @p list. */
struct ast_parameter *ast_copy_parameters(const struct ast_parameter *list);

/** Returns a copy of @p entry and its body, which is not linked into any list. */
struct ast_entry *ast_copy_entry(const struct ast_entry *entry);

#endif
