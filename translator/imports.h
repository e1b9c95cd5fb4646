/* SPDX-License-Identifier: Apache-2.0 */
/* imports.h - resolves `extern module M;': module M of the same file, or of the file M.ci in the
 * same folder or in one of the include folders. */
#ifndef IMPORTS_H
#define IMPORTS_H

#include "ast/ast.h"

/** A file that was read because of an `extern module`. */
struct import {
    struct import *next;
    const char    *path;
};

/** Reads the files that @p tree imports, directly or indirectly, and puts their modules in front of
 *  its own, each once and after those that it imports itself.  Reports missing modules and import
 *  cycles as errors.  Returns the files in the order of reading. */
struct import *imports_load(struct ast_tree *tree, char *const *folders);

/** Puts the modules of @p other in front of those of @p tree, as if @p tree imported them. */
void imports_add(struct ast_tree *tree, const struct ast_tree *other);

#endif
