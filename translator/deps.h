/* SPDX-License-Identifier: Apache-2.0 */
/* deps.h - prints the dependencies of a translation as a make rule: `skuac --deps'. */
#ifndef DEPS_H
#define DEPS_H

#include <stdio.h>

#include "imports.h"

/** Prints `DIRECTORY/NAME.ci.c: PATH/NAME.ci ...' for the file @p path and its imports. */
void deps_print(FILE *to, const char *path, const char *directory, const struct import *imports);

#endif
