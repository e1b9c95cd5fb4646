/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h - what `extern module M;' brings in: module M of the same file, or the file M.ci
 * beside it or in one of the folders that were given. */
#ifndef MODULES_H
#define MODULES_H

#include "tree.h"

/* A file that another one names. */
struct needed {
    struct needed *next;
    const char    *path;
};

/** Read the files that a tree names, and those that they name, and put their modules in front
 *  of its own, each once and behind those that it names itself.  What is missing, and files
 *  that name each other, are errors.  Returns the files, in the order of reading. */
struct needed *modules_load(struct tree *tree, char *const *folders);

/** Put the modules of another file in front of those of @p tree, as if it named them. */
void modules_add(struct tree *tree, const struct tree *other);

#endif
