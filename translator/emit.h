/* SPDX-License-Identifier: Apache-2.0 */
/* emit.h - C from a tree that was checked. */
#ifndef EMIT_H
#define EMIT_H

#include "tree.h"

/** Write DIRECTORY/NAME.ci.h and DIRECTORY/NAME.ci.c, completely or not at all.  False: they
 *  could not be written; a message has said why. */
bool emit(const struct tree *tree, const char *directory);

#endif
