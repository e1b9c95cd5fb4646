/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - text that is written line by line, and what is moved sideways in it. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdio.h>

#include "tree.h"

struct layout {
    FILE    *to;
    unsigned column; /* bytes of this line */
    bool     begun;
};

/** A new line, indented by so many spaces; an empty line goes before it. */
void layout_line(struct layout *layout, unsigned margin, bool after_empty);

void layout_text(struct layout *layout, struct text text);
void layout_spaces(struct layout *layout, unsigned spaces);

/** A comment that began in @p column: its lines move as the first one does. */
void layout_comment(struct layout *layout, struct text text, unsigned column);

/** C, on lines of its own: those that stand furthest to the left begin at @p margin. */
void layout_block(struct layout *layout, struct text text, unsigned margin);

/** Whether C of a block needs lines of its own. */
bool layout_is_long(struct text text);

struct text layout_trimmed(struct text text);

#endif
