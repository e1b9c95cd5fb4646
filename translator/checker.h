/* SPDX-License-Identifier: Apache-2.0 */
/* checker.h - completes a tree, and refuses what cannot be translated. */
#ifndef CHECKER_H
#define CHECKER_H

#include "tree.h"

/**
 * Find what names mean, fill in what tree.h calls the checker's, and report what is wrong.
 * Modules of other files are in the tree already.  True: the tree may be emitted.
 */
bool check(struct tree *tree);

#endif
