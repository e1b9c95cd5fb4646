/* SPDX-License-Identifier: Apache-2.0 */
/* writer.c - see writer.h. */
#include "emit/writer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file_replace.h"
#include "support/source.h"
#include "syntax/lexer.h"

#define PLACEHOLDER "\001skuac\n" /* placeholder for a #line of the generated file */
#define WIDTH       100           /* columns; longer lines are broken at a comma if possible */

static void writer_reserve(struct writer *to, size_t bytes)
{
    if (to->length + bytes <= to->room)
        return;
    to->room = 2 * (to->length + bytes);
    to->at   = realloc(to->at, to->room);
    if (!to->at) {
        fprintf(stderr, "skuac: no memory left\n");
        exit(2);
    }
}

static void writer_put_bytes(struct writer *to, const char *at, size_t length)
{
    writer_reserve(to, length);
    if (length)
        memcpy(to->at + to->length, at, length);
    to->length += length;
}

/* Formats into the free memory.  Returns the length of the whole text. */
static size_t writer_print_into(struct writer *to, const char *format, va_list list)
{
    int length = vsnprintf(to->at + to->length, to->room - to->length, format, list);

    assert(length >= 0);
    return (size_t)length;
}

void writer_put(struct writer *to, const char *format, ...)
{
    va_list list, again;
    size_t  length;

    writer_reserve(to, 128);
    va_start(list, format);
    va_copy(again, list);
    length = writer_print_into(to, format, list);
    if (length >= to->room - to->length) {
        writer_reserve(to, length + 1);
        writer_print_into(to, format, again);
    }
    va_end(again);
    va_end(list);
    to->length += length;
    assert(to->length < to->room);
}

void writer_append(struct writer *to, const struct writer *from)
{
    writer_put_bytes(to, from->at, from->length);
}

/* Returns the end of the comment that begins at @p at. */
static const char *writer_skip_comment(const char *at, const char *end)
{
    bool line = at[1] == '/';

    for (at += 2; at < end; at++) {
        if (line && *at == '\n')
            return at;
        if (!line && at + 1 < end && at[0] == '*' && at[1] == '/')
            return at + 2;
    }
    return end;
}

static const char *writer_skip_quoted(const char *at, const char *end)
{
    char quote = *at;

    for (at++; at < end && *at != quote; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

/* Returns the end of a word, a number, or a raw string of C++. */
static const char *writer_skip_word(const char *at, const char *end)
{
    const char *raw = lexer_raw_string_end(at, end);

    return raw > at ? raw : lexer_word_end(at, end);
}

static bool writer_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

void writer_put_flat(struct writer *to, struct text text)
{
    const char *at = text.at, *end = text.at + text.length, *next;
    bool        gap = false, first = true;

    while (at < end) {
        next = at + 1;
        if (at + 1 < end && at[0] == '/' && (at[1] == '/' || at[1] == '*')) {
            at  = writer_skip_comment(at, end);
            gap = true;
            continue;
        }
        if (writer_is_blank(*at)) {
            gap = true;
        } else {
            if (gap && !first)
                writer_put_bytes(to, " ", 1);
            gap = first = false;
            if (*at == '"' || *at == '\'')
                next = writer_skip_quoted(at, end);
            else if (text_is_letter(*at) || text_is_digit(*at))
                next = writer_skip_word(at, end);
            writer_put_bytes(to, at, (size_t)(next - at));
        }
        at = next;
    }
}

/* Writes a path quoted for a #line. */
static void writer_put_path(struct writer *to, const char *path)
{
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            writer_put_bytes(to, "\\", 1);
        writer_put_bytes(to, path, 1);
    }
}

/* Returns code without leading empty lines and trailing white space. */
static struct source_code writer_trim_code(struct source_code code)
{
    const char *at = code.text.at, *end = at + code.text.length;

    while (end > at && writer_is_blank(end[-1]))
        end--;
    for (const char *c = at; c < end && writer_is_blank(*c); c++)
        if (*c == '\n') {
            at = c + 1;
            code.location.line++;
            code.location.column = 1;
        }
    code.text = (struct text){at, (size_t)(end - at)};
    return code;
}

void writer_put_line_at(struct writer *to, const char *macro, struct source_location location)
{
    writer_put(to, "#line %s \"", macro);
    writer_put_path(to, location.source->path);
    writer_put(to, "\"\n");
}

void writer_put_line_end(struct writer *to)
{
    writer_put(to, PLACEHOLDER);
}

void writer_put_code(struct writer *to, struct source_code code)
{
    assert(code.text.at && code.location.source);
    code = writer_trim_code(code);
    writer_put(to, "#line %u \"", code.location.line);
    writer_put_path(to, code.location.source->path);
    writer_put(to, "\"\n%*s", (int)code.location.column - 1, "");
    writer_put_bytes(to, code.text.at, code.text.length);
    writer_put(to, "\n" PLACEHOLDER);
}

void writer_put_comment(struct writer *to, struct text comment, int indent)
{
    const char *at = comment.at, *end = at ? at + comment.length : NULL;

    while (at < end) {
        const char *line   = memchr(at, '\n', (size_t)(end - at));
        size_t      length = (size_t)((line ? line : end) - at);

        writer_put(to, "%*s%.*s\n", indent, "", (int)length, at);
        at = line ? line + 1 : end;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (line && at < end && *at == '*')
            writer_put(to, " ");
    }
}

/* ---- files -------------------------------------------------------------------------------- */

/* Returns the offset after the last comma that fits into a line, outside of strings; 0 if none. */
static size_t writer_break_column(const char *at, size_t length)
{
    size_t found = 0;
    char   quote = 0;

    if (length <= WIDTH)
        return 0;
    for (size_t i = 0; i < WIDTH; i++) {
        if (quote && at[i] == '\\')
            i++;
        else if (quote)
            quote = at[i] == quote ? 0 : quote;
        else if (at[i] == '"' || at[i] == '\'')
            quote = at[i];
        else if (at[i] == '/' && at[i + 1] == '/')
            return 0;
        else if (at[i] == ',' && at[i + 1] == ' ')
            found = i + 1;
    }
    return found;
}

/* Writes a generated line on as many lines as it needs.  Returns their number. */
static unsigned writer_put_wrapped(struct writer *to, const char *at, size_t length)
{
    unsigned lines  = 1;
    int      indent = (int)strspn(at, " ") + 4;

    for (size_t here; (here = writer_break_column(at, length)) > 0; lines++) {
        writer_put_bytes(to, at, here);
        writer_put(to, "\n%*s", indent, "");
        at += here + 1;
        length -= here + 1;
    }
    writer_put_bytes(to, at, length);
    return lines;
}

/* Replaces placeholders and breaks long lines, except for user code, which follows a #line, and
 * directives. */
struct writer writer_finish(const struct writer *writer, const char *name)
{
    struct writer result = {NULL, 0, 0};
    const char   *at = writer->at, *end = at + writer->length;
    unsigned      line  = 1;
    bool          users = false, macro = false;

    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));

        next  = next ? next + 1 : end;
        users = users || strncmp(at, "#line ", 6) == 0;
        macro = macro || *at == '#';
        if (next - at == strlen(PLACEHOLDER) && !memcmp(at, PLACEHOLDER, strlen(PLACEHOLDER))) {
            writer_put(&result, "#line %u \"", ++line);
            writer_put_path(&result, name);
            writer_put(&result, "\"\n");
            users = false;
        } else if (users || macro) {
            writer_put_bytes(&result, at, (size_t)(next - at));
            line++;
        } else {
            line += writer_put_wrapped(&result, at, (size_t)(next - at));
        }
        macro = macro && next - at > 1 && next[-2] == '\\';
        at    = next;
    }
    return result;
}

static bool writer_is_unchanged(const struct writer *writer, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *have;
    bool  same;

    if (!file)
        return false;
    have = malloc(writer->length + 1);
    same = have && fread(have, 1, writer->length + 1, file) == writer->length &&
           memcmp(have, writer->at, writer->length) == 0;
    free(have);
    fclose(file);
    return same;
}

bool writer_save(const struct writer *writer, const char *path, bool keep)
{
    struct file_replace replace;

    if (keep && writer_is_unchanged(writer, path))
        return true;
    replace = file_replace_begin(path);
    if (!replace.to)
        return false;
    fwrite(writer->at, 1, writer->length, replace.to); /* file_replace_commit() reports a failure */
    return file_replace_commit(&replace);
}

void writer_free(struct writer *writer)
{
    free(writer->at);
    *writer = (struct writer){NULL, 0, 0};
}
