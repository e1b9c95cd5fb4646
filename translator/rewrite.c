/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c - see rewrite.h: a temporary file in the same folder, then rename(). */
#include "rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"

/* The permissions of the file that it replaces, or those of any new one. */
static mode_t mode_for(const char *path)
{
    struct stat info;
    mode_t      mask;

    if (!stat(path, &info))
        return info.st_mode & 0777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

struct rewrite rewrite_begin(const char *path)
{
    char          *temporary = arena_print("%s.XXXXXX", path);
    struct rewrite rewrite   = {NULL, path, temporary};
    int            fd        = mkstemp(temporary);

    if (fd < 0)
        return rewrite;
    if (fchmod(fd, mode_for(path)) == 0)
        rewrite.to = fdopen(fd, "w");
    if (!rewrite.to) {
        unlink(temporary);
        close(fd);
    }
    return rewrite;
}

_Bool rewrite_end(struct rewrite *rewrite)
{
    _Bool wrong = ferror(rewrite->to) != 0;
    int   why;

    wrong = fclose(rewrite->to) || wrong;
    if (!wrong && !rename(rewrite->temporary, rewrite->path))
        return 1;
    why = errno;
    unlink(rewrite->temporary);
    errno = why;
    return 0;
}
