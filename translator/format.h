/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - `skuac --format': the same file, laid out as all are. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdio.h>

#include "tree.h"

/**
 * Write the file of a tree, in which no errors were found: four spaces a level, a line for
 * each declaration and statement, at most one empty line, spaces as they should be.  Comments
 * stay; C stays as it is, moved sideways.  Lines that were broken between brackets, or before
 * the statement of an `if' or a `when', stay so.  Doing it twice changes nothing more.
 */
void format(FILE *to, const struct tree *tree);

#endif
