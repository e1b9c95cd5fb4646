/* SPDX-License-Identifier: Apache-2.0 */
/* file_replace.c - see file_replace.h: writes a temporary file in the same folder, then calls
 * rename(). */
#include "support/file_replace.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/bump.h"

/* Returns the permissions of the file to be replaced, or the default ones of a new file. */
static mode_t file_replace_mode(const char *path)
{
    struct stat info;
    mode_t      mask;

    if (!stat(path, &info))
        return info.st_mode & 0777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

struct file_replace file_replace_begin(const char *path)
{
    char               *temporary = bump_printf("%s.XXXXXX", path);
    struct file_replace replace   = {NULL, path, temporary};
    int                 fd        = mkstemp(temporary);

    if (fd < 0)
        return replace;
    if (fchmod(fd, file_replace_mode(path)) == 0)
        replace.to = fdopen(fd, "w");
    if (!replace.to) {
        unlink(temporary);
        close(fd);
    }
    return replace;
}

bool file_replace_commit(struct file_replace *replace)
{
    bool failed = ferror(replace->to) != 0;
    int  error;

    assert(replace->to);
    failed = fclose(replace->to) || failed;
    if (!failed && !rename(replace->temporary, replace->path))
        return true;
    error = errno;
    unlink(replace->temporary);
    errno = error;
    return false;
}
