/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - see layout.h.
 *
 * Tabs before the first word of a line that is moved count to the next multiple of eight, and
 * become spaces.  Not moved are lines that begin inside of a string, which would become
 * another one, and # lines, which begin at the left.
 */
#include "layout.h"

#include <string.h>

#include "lexer.h"
#include "text.h"

#define TAB 8

void layout_text(struct layout *layout, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        layout->column = text.at[i] == '\n' ? 0 : layout->column + 1;
    fwrite(text.at, 1, text.length, layout->to);
    layout->begun = true;
}

void layout_spaces(struct layout *layout, unsigned spaces)
{
    fprintf(layout->to, "%*s", (int)spaces, "");
    layout->column += spaces;
}

void layout_line(struct layout *layout, unsigned margin, bool after_empty)
{
    if (layout->begun)
        fputs(after_empty ? "\n\n" : "\n", layout->to);
    layout->column = 0;
    layout_spaces(layout, margin);
}

struct text layout_trimmed(struct text text)
{
    for (; text.length && is_space(*text.at); text.length--)
        text.at++;
    while (text.length && is_space(text.at[text.length - 1]))
        text.length--;
    return text;
}

static unsigned column_after(char c, unsigned column)
{
    return c == '\t' ? column / TAB * TAB + TAB : column + 1;
}

/* ---- lines of a text ------------------------------------------------------------------------ */

struct line {
    struct text text;   /* without the space before and after it */
    unsigned    margin; /* columns of the space before it */
    bool        fixed;  /* begins inside of a string */
    struct text whole;
};

struct lines {
    const char *at, *end;
    const char *quoted; /* end of the string or comment that was last: to there nothing counts */
    bool        string;
};

static struct lines lines_of(struct text text)
{
    return (struct lines){text.at, text_end(text), text.at, false};
}

/* Past strings and comments that begin before @p end. */
static void pass_quotes(struct lines *lines, const char *at, const char *end)
{
    for (at = lines->quoted > at ? lines->quoted : at; at < end; at++) {
        bool        string = *at == '"' || *at == '\'';
        const char *after  = string ? quoted_end(at, lines->end) : comment_end(at, lines->end);

        if (!after || after == at)
            continue;
        lines->quoted = after;
        lines->string = string;
        at            = after - 1;
    }
}

static bool next_line(struct lines *lines, struct line *line)
{
    const char *end, *at = lines->at;
    unsigned    column = 0;

    if (at >= lines->end)
        return false;
    end = memchr(at, '\n', (size_t)(lines->end - at));
    end = end ? end : lines->end;

    line->fixed = lines->string && at < lines->quoted;
    line->whole = text_between(at, end);
    pass_quotes(lines, at, end);
    for (; at < end && is_space(*at); at++)
        column = column_after(*at, column);
    line->margin = column;
    line->text   = layout_trimmed(text_between(at, end));
    if (!(lines->string && lines->quoted > end)) /* else space at its end is the string's */
        line->whole = text_between(line->whole.at, text_end(line->text));
    lines->at = end + 1;
    return true;
}

/* ---- comments and blocks -------------------------------------------------------------------- */

void layout_comment(struct layout *layout, struct text text, unsigned column)
{
    struct lines lines = lines_of(text);
    struct line  line;
    unsigned     now = layout->column;

    if (!next_line(&lines, &line))
        return;
    layout_text(layout, line.text);
    while (next_line(&lines, &line)) {
        layout_line(layout, 0, false);
        if (!line.text.length)
            continue;
        if (line.margin + now > column)
            layout_spaces(layout, line.margin + now - column);
        layout_text(layout, line.text);
    }
}

bool layout_is_long(struct text text)
{
    return layout_trimmed(text).length && memchr(text.at, '\n', text.length);
}

/* The least margin of the lines that are moved. */
static unsigned least_margin(struct text text)
{
    struct lines lines = lines_of(text);
    struct line  line;
    unsigned     least = (unsigned)-1;

    while (next_line(&lines, &line))
        if (line.text.length && !line.fixed && *line.text.at != '#' && line.margin < least)
            least = line.margin;
    return least;
}

static void put_line(struct layout *layout, const struct line *line, unsigned margin)
{
    if (line->fixed) {
        layout_line(layout, 0, false);
        layout_text(layout, line->whole);
        return;
    }
    layout_line(layout, line->text.length && *line->text.at != '#' ? margin : 0, false);
    layout_text(layout, line->text);
}

/* The lines from behind the brace to the end, but not the empty ones before and after. */
void layout_block(struct layout *layout, struct text text, unsigned margin)
{
    const char  *first = memchr(text.at, '\n', text.length);
    struct text  head  = layout_trimmed(text_between(text.at, first ? first : text_end(text)));
    struct text  rest  = first ? text_between(first + 1, text_end(text)) : (struct text){first, 0};
    unsigned     least = least_margin(rest), empty = 0;
    struct lines lines = lines_of(text);
    struct line  line;
    bool         begun = false;

    next_line(&lines, &line);
    if (head.length) {
        layout_line(layout, *head.at != '#' ? margin : 0, false);
        layout_text(layout, head);
        begun = true;
    }
    while (next_line(&lines, &line)) {
        if (!line.text.length && !line.fixed) {
            empty += begun;
            continue;
        }
        for (; empty; empty--)
            layout_line(layout, 0, false);
        put_line(layout, &line, margin + (line.margin > least ? line.margin - least : 0));
        begun = true;
    }
}
