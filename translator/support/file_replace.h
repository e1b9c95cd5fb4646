/* SPDX-License-Identifier: Apache-2.0 */
/* file_replace.h - replaces the contents of a file completely or not at all. */
#ifndef FILE_REPLACE_H
#define FILE_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

/** A replacement in progress: new contents go to a temporary file in the same folder. */
struct file_replace {
    FILE       *to; /* the temporary file, or NULL if it could not be created */
    const char *path;
    const char *temporary;
};

/** Starts to replace the file @p path, which need not exist.  If the result's `to` is NULL, errno
 *  gives the reason. */
struct file_replace file_replace_begin(const char *path);

/** Renames the temporary file over the target.  On failure removes the temporary file, leaves the
 *  target as it was, sets errno and returns false. */
bool file_replace_commit(struct file_replace *replace);

#endif
