/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - text that grows, is put together from parts, and becomes a file.
 *
 * C code of the user's is preceded by a #line that names where it stands in the interface
 * file.  After it a mark is left, which becomes a #line of the file that is written once it
 * is known on which line it ends up.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "tree.h"

struct writer {
    char  *at;
    size_t length, room;
};

/** Add text, by printf(). */
void put(struct writer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Add all of another. */
void put_all(struct writer *to, const struct writer *from);

/** Add a text on one line: comments, and white space more than one blank, are left out. */
void put_flat(struct writer *to, struct text text);

/** Add C code on lines of its own, as it was written, with #line before and after. */
void put_code(struct writer *to, struct code code);

/** Add a #line that names @p place, at the line that @p macro stands for when it is compiled; and
 *  one that goes back to the file itself. */
void put_line_at(struct writer *to, const char *macro, struct place place);
void put_line_end(struct writer *to);

/** Add a comment of the interface file, if there is one, indented. */
void put_comment(struct writer *to, struct text comment, int indent);

/** The text as it stands in the file @p name: marks are replaced, long lines are broken. */
struct writer writer_finish(const struct writer *writer, const char *name);

/** Write a finished text to a file, whole or not at all; false: errno says why not.  With @p keep a
 * file that has these contents already is left alone, so that what includes it is not compiled
 * again. */
bool writer_save(const struct writer *writer, const char *path, bool keep);

void writer_free(struct writer *writer);

#endif
