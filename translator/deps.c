/* SPDX-License-Identifier: Apache-2.0 */
/* deps.c - see deps.h. */
#include "deps.h"

#include <string.h>

#include "support/source.h"

/* Writes a path quoted for make. */
static void deps_put_path(FILE *to, const char *path)
{
    for (; *path; path++) {
        if (strchr(" #\\:%", *path))
            fputc('\\', to);
        if (*path == '$')
            fputc('$', to);
        fputc(*path, to);
    }
}

void deps_print(FILE *to, const char *path, const char *directory, const struct import *imports)
{
    if (strcmp(directory, ".")) {
        deps_put_path(to, directory);
        fputc('/', to);
    }
    deps_put_path(to, source_base_name(path));
    fputs(".c: ", to);
    deps_put_path(to, path);
    for (; imports; imports = imports->next) {
        fputc(' ', to);
        deps_put_path(to, imports->path);
    }
    fputc('\n', to);
}
