/* SPDX-License-Identifier: Apache-2.0 */
/* indent.h - writes text line by line and reindents comments and C code. */
#ifndef INDENT_H
#define INDENT_H

#include <stdio.h>

#include "support/text.h"

/** An output stream that tracks its column. */
struct indent_output {
    FILE    *to;
    unsigned column; /* bytes written to the current line */
    bool     begun;  /* anything has been written         */
};

/** Begins a new line with @p margin spaces, after an empty line if @p after_empty. */
void indent_new_line(struct indent_output *out, unsigned margin, bool after_empty);

/** Writes @p text. */
void indent_put(struct indent_output *out, struct text text);

/** Writes @p spaces spaces. */
void indent_spaces(struct indent_output *out, unsigned spaces);

/** Writes a comment that began in @p column of its source: all its lines move as the first does. */
void indent_comment(struct indent_output *out, struct text text, unsigned column);

/** Writes C code on lines of its own: the least indented of them begin at @p margin. */
void indent_block(struct indent_output *out, struct text text, unsigned margin);

/** Returns whether the C code of a block spans several lines. */
bool indent_is_multiline(struct text text);

#endif
