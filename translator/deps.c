/* SPDX-License-Identifier: Apache-2.0 */
/* deps.c - see deps.h. */
#include "deps.h"

#include <string.h>

/* A path as make reads it. */
static void put_path(FILE *to, const char *path)
{
    for (; *path; path++) {
        if (strchr(" #\\:%", *path))
            fputc('\\', to);
        if (*path == '$')
            fputc('$', to);
        fputc(*path, to);
    }
}

void deps(FILE *to, const char *path, const char *directory, const struct needed *needed)
{
    const char *slash = strrchr(path, '/');

    if (strcmp(directory, ".")) {
        put_path(to, directory);
        fputc('/', to);
    }
    put_path(to, slash ? slash + 1 : path);
    fputs(".c: ", to);
    put_path(to, path);
    for (; needed; needed = needed->next) {
        fputc(' ', to);
        put_path(to, needed->path);
    }
    fputc('\n', to);
}
