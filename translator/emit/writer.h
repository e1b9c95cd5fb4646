/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - a growing text that becomes a generated file.
 *
 * A #line in front of the user's C code names its location in the interface file.  A placeholder
 * line follows the code.  writer_finish() replaces it by a #line of the generated file, since only
 * then its line number is known.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "support/source.h"

/** A growing text.  A zeroed writer is empty. */
struct writer {
    char  *at;
    size_t length, room;
};

/** Appends text, formatted as by printf(). */
void writer_put(struct writer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Appends the contents of @p from. */
void writer_append(struct writer *to, const struct writer *from);

/** Appends @p text on one line: a run of white space and comments becomes a single blank. */
void writer_put_flat(struct writer *to, struct text text);

/** Appends C code verbatim, on lines of its own, with a #line before and a placeholder after it.
 */
void writer_put_code(struct writer *to, struct source_code code);

/** Appends a #line for the file of @p location, with the macro @p macro as the line number. */
void writer_put_line_at(struct writer *to, const char *macro, struct source_location location);

/** Appends the placeholder for a #line that names the generated file itself. */
void writer_put_line_end(struct writer *to);

/** Appends a comment of the interface file, if there is one, indented by @p indent. */
void writer_put_comment(struct writer *to, struct text comment, int indent);

/** Returns the contents of the generated file @p name: placeholders replaced, long lines broken. */
struct writer writer_finish(const struct writer *writer, const char *name);

/** Replaces the file @p path by a finished text, completely or not at all.  With @p keep, a file
 * that has these contents keeps its modification time, so that make does not recompile its users.
 *  Returns false and sets errno on failure. */
bool writer_save(const struct writer *writer, const char *path, bool keep);

/** Releases the memory of @p writer, which is then empty. */
void writer_free(struct writer *writer);

#endif
