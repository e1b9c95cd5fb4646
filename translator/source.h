/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - a file that is translated, in memory, with its lines. */
#ifndef SOURCE_H
#define SOURCE_H

#include "tree.h"

struct source {
    const char  *path; /* as the user named it, or as it was found */
    struct text  text; /* followed by a NUL byte                   */
    const char **line; /* where each begins; line[0] is line 1     */
    unsigned     lines;
};

/** Read a file; NULL: errno says why not. */
struct source *source_read(const char *path);

/** One that is in memory, which stays the caller's, followed by a NUL byte. */
struct source *source_of(const char *path, const char *text, size_t length);

/** The place of a byte of it. */
struct place source_place(const struct source *source, const char *at);

/** A line, without its end. */
struct text source_line(const struct source *source, unsigned line);

#endif
