/* SPDX-License-Identifier: Apache-2.0 */
/* deps.h - `skuac --deps': a rule for make. */
#ifndef DEPS_H
#define DEPS_H

#include <stdio.h>

#include "modules.h"

/** `DIRECTORY/NAME.ci.c: PATH/NAME.ci ...'. */
void deps(FILE *to, const char *path, const char *directory, const struct needed *needed);

#endif
