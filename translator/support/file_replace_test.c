/* SPDX-License-Identifier: Apache-2.0 */
/* file_replace_test.c - a file is replaced completely or not at all. */
#include "support/file_replace.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/bump.h"
#include "support/source.h"
#include "tests/tap.h"

static bool file_replace_test_contains(const char *path, const char *text)
{
    struct source *source = source_read(path);

    return source && text_is(source->text, text);
}

static bool file_replace_test_write(const char *path, const char *text)
{
    struct file_replace replace = file_replace_begin(path);

    if (!replace.to)
        return false;
    fputs(text, replace.to);
    return file_replace_commit(&replace);
}

int main(void)
{
    char                folder[] = "/tmp/file_replace_test.XXXXXX";
    const char         *path;
    struct file_replace replace;
    struct stat         info;

    OK(mkdtemp(folder), "a folder");
    path = bump_printf("%s/a", folder);
    OK(file_replace_test_write(path, "one") && file_replace_test_contains(path, "one"),
       "a new file");
    chmod(path, 0640);
    replace = file_replace_begin(path);
    fputs("two", replace.to);
    fflush(replace.to);
    OK(file_replace_test_contains(path, "one"), "the old contents stay until the commit");
    OK(file_replace_commit(&replace) && file_replace_test_contains(path, "two"),
       "the commit installs the new contents");
    OK(!stat(path, &info) && (info.st_mode & 0777) == 0640, "with the permissions of the old file");
    OK(access(replace.temporary, F_OK) && errno == ENOENT, "and no temporary file");
    OK(!file_replace_test_write(bump_printf("%s/none/a", folder), "x") && errno == ENOENT,
       "a folder that does not exist is an error");
    unlink(path);
    OK(!rmdir(folder), "nothing remains after a failure");
    bump_free_all();
    return tap_end();
}
