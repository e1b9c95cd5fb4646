/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - an interface file in memory, and locations in it. */
#ifndef SOURCE_H
#define SOURCE_H

#include "support/text.h"

/** An interface file, with an index of its lines. */
struct source {
    const char  *path; /* as given on the command line, or as found in an include folder */
    struct text  text; /* followed by a NUL byte                                         */
    const char **line; /* line[i] is where line i + 1 begins                             */
    unsigned     lines;
};

/** A location in a source.  Lines and columns count from 1; a column is a byte. */
struct source_location {
    const struct source *source;
    unsigned             line, column;
};

/** An identifier and its location. */
struct source_name {
    struct text            text;
    struct source_location location;
};

/** C code kept verbatim, without the braces or brackets around it.  text.at is NULL if absent. */
struct source_code {
    struct text            text;
    struct source_location location;
};

/** Returns the name of the file @p path without its folder. */
const char *source_base_name(const char *path);

/** Reads the file @p path.  Returns NULL and sets errno on failure. */
struct source *source_read(const char *path);

/** Returns a source of @p length bytes at @p text, which the caller owns and which are followed by
 * a NUL byte. */
struct source *source_from_memory(const char *path, const char *text, size_t length);

/** Returns the location of the byte @p at, which is in @p source or directly after its end. */
struct source_location source_locate(const struct source *source, const char *at);

/** Returns line number @p line of @p source, without its line terminator. */
struct text source_line(const struct source *source, unsigned line);

#endif
