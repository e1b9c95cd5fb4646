/* SPDX-License-Identifier: Apache-2.0 */
/* deps.c - see deps.h. */
#include "deps.h"

#include <string.h>

#include "text.h"

/* A path as make reads it. */
static void put_path(FILE *to, struct text path)
{
    for (size_t i = 0; i < path.length; i++) {
        if (strchr(" #\\:%", path.at[i]))
            fputc('\\', to);
        if (path.at[i] == '$')
            fputc('$', to);
        fputc(path.at[i], to);
    }
}

static void put_output(FILE *to, const char *directory, struct text name, const char *suffix)
{
    if (strcmp(directory, ".")) {
        put_path(to, (struct text){directory, strlen(directory)});
        fputc('/', to);
    }
    put_path(to, name);
    fputs(suffix, to);
}

void deps(FILE *to, const char *path, const char *directory, const struct needed *needed)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t      length = strlen(name);

    if (length > 3 && !strcmp(name + length - 3, ".ci"))
        length -= 3;
    put_output(to, directory, (struct text){name, length}, ".ci.h ");
    put_output(to, directory, (struct text){name, length}, ".ci.c: ");
    put_path(to, (struct text){path, strlen(path)});
    for (; needed; needed = needed->next) {
        fputc(' ', to);
        put_path(to, (struct text){needed->path, strlen(needed->path)});
    }
    fputc('\n', to);
}
