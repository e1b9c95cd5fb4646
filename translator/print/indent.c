/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indent.c - see indent.h.
 *
 * Leading tabs of a reindented line advance to the next multiple of eight and become spaces.
 * Lines that begin inside a string are copied verbatim, because white space is part of the string.
 * Directives stay at the left margin.
 */
#include "print/indent.h"

#include <string.h>

#include "support/text.h"
#include "syntax/lexer.h"

#define TAB 8

void indent_put(struct indent_output *out, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        out->column = text.at[i] == '\n' ? 0 : out->column + 1;
    fwrite(text.at, 1, text.length, out->to);
    out->begun = true;
}

void indent_spaces(struct indent_output *out, unsigned spaces)
{
    fprintf(out->to, "%*s", (int)spaces, "");
    out->column += spaces;
}

void indent_new_line(struct indent_output *out, unsigned margin, bool after_empty)
{
    if (out->begun)
        fputs(after_empty ? "\n\n" : "\n", out->to);
    out->column = 0;
    indent_spaces(out, margin);
}

static unsigned indent_column_after(char c, unsigned column)
{
    return c == '\t' ? column / TAB * TAB + TAB : column + 1;
}

/* ---- lines -------------------------------------------------------------------------------- */

struct indent_line {
    struct text text;   /* without leading and trailing white space */
    unsigned    margin; /* column of the first non-blank character */
    bool        fixed;  /* begins inside a string */
    struct text whole;
};

struct indent_lines {
    const char *at, *end;
    const char *quoted; /* end of the last string or comment: quotes before it do not count */
    bool        string;
};

static struct indent_lines indent_lines_of(struct text text)
{
    return (struct indent_lines){text.at, text_end(text), text.at, false};
}

/* Skips strings and comments that begin before @p end. */
static void indent_skip_quotes(struct indent_lines *lines, const char *at, const char *end)
{
    for (at = lines->quoted > at ? lines->quoted : at; at < end; at++) {
        bool        word   = text_is_letter(*at) || text_is_digit(*at);
        const char *raw    = word ? lexer_raw_string_end(at, lines->end) : at;
        bool        string = *at == '"' || *at == '\'' || raw > at;
        const char *after  = raw > at ? raw
                             : string ? lexer_quoted_end(at, lines->end)
                                      : lexer_comment_end(at, lines->end);

        if (word && !string)
            at = lexer_word_end(at, lines->end) - 1;
        if (!after || after <= at)
            continue;
        lines->quoted = after;
        lines->string = string;
        at            = after - 1;
    }
}

static bool indent_next_line(struct indent_lines *lines, struct indent_line *line)
{
    const char *end, *at = lines->at;
    unsigned    column = 0;

    if (at >= lines->end)
        return false;
    end = memchr(at, '\n', (size_t)(lines->end - at));
    end = end ? end : lines->end;

    line->fixed = lines->string && at < lines->quoted;
    line->whole = text_between(at, end);
    indent_skip_quotes(lines, at, end);
    for (; at < end && text_is_space(*at); at++)
        column = indent_column_after(*at, column);
    line->margin = column;
    line->text   = text_trim(text_between(at, end));
    if (!(lines->string &&
          lines->quoted > end)) /* otherwise trailing white space belongs to the string */
        line->whole = text_between(line->whole.at, text_end(line->text));
    lines->at = end + 1;
    return true;
}

/* ---- comments and blocks ------------------------------------------------------------------ */

void indent_comment(struct indent_output *out, struct text text, unsigned column)
{
    struct indent_lines lines = indent_lines_of(text);
    struct indent_line  line;
    unsigned            now = out->column;

    if (!indent_next_line(&lines, &line))
        return;
    indent_put(out, line.text);
    while (indent_next_line(&lines, &line)) {
        indent_new_line(out, 0, false);
        if (!line.text.length)
            continue;
        if (line.margin + now > column)
            indent_spaces(out, line.margin + now - column);
        indent_put(out, line.text);
    }
}

bool indent_is_multiline(struct text text)
{
    return text_trim(text).length && memchr(text.at, '\n', text.length);
}

/* Returns the least margin of the lines to be reindented. */
static unsigned indent_least_margin(struct text text)
{
    struct indent_lines lines = indent_lines_of(text);
    struct indent_line  line;
    unsigned            least = (unsigned)-1;

    while (indent_next_line(&lines, &line))
        if (line.text.length && !line.fixed && *line.text.at != '#' && line.margin < least)
            least = line.margin;
    return least;
}

static void indent_put_line(struct indent_output *out, const struct indent_line *line,
                            unsigned margin)
{
    if (line->fixed) {
        indent_new_line(out, 0, false);
        indent_put(out, line->whole);
        return;
    }
    indent_new_line(out, line->text.length && *line->text.at != '#' ? margin : 0, false);
    indent_put(out, line->text);
}

/* Prints the lines after the opening brace, without empty lines at the beginning and the end. */
void indent_block(struct indent_output *out, struct text text, unsigned margin)
{
    const char *first = memchr(text.at, '\n', text.length);
    struct text head  = text_trim(text_between(text.at, first ? first : text_end(text)));
    struct text rest  = first ? text_between(first + 1, text_end(text)) : (struct text){first, 0};
    unsigned    least = indent_least_margin(rest), empty = 0;
    struct indent_lines lines = indent_lines_of(text);
    struct indent_line  line;
    bool                begun = false;

    indent_next_line(&lines, &line);
    if (head.length) {
        indent_new_line(out, *head.at != '#' ? margin : 0, false);
        indent_put(out, head);
        begun = true;
    }
    while (indent_next_line(&lines, &line)) {
        if (!line.text.length && !line.fixed) {
            empty += begun;
            continue;
        }
        for (; empty; empty--)
            indent_new_line(out, 0, false);
        indent_put_line(out, &line, margin + (line.margin > least ? line.margin - least : 0));
        begun = true;
    }
}
