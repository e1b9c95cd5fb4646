/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h - a tree as text, for people and for tests: `skuac --tree'.
 *
 * A line for each node, indented; ` @LINE:COLUMN' at the end of those that have a place.  C is
 * shown line by line behind `|', without the space around each line, comments likewise, so
 * that laying a file out anew (format.h) changes places only.
 */
#ifndef DUMP_H
#define DUMP_H

#include <stdio.h>

#include "tree.h"

/** The modules of the file, and the names of those of others. */
void dump(FILE *to, const struct tree *tree);

#endif
