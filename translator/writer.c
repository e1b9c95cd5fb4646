/* SPDX-License-Identifier: Apache-2.0 */
/* writer.c - see writer.h. */
#include "writer.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "source.h"

#define MARK  "\001skuac\n" /* a line that becomes a #line of the file itself */
#define WIDTH 100           /* columns of a line, about                        */

static void reserve(struct writer *to, size_t bytes)
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

static void append(struct writer *to, const char *at, size_t length)
{
    reserve(to, length);
    if (length)
        memcpy(to->at + to->length, at, length);
    to->length += length;
}

/* Prints into the room there is; returns how many bytes the text has. */
static size_t print_into(struct writer *to, const char *format, va_list list)
{
    int length = vsnprintf(to->at + to->length, to->room - to->length, format, list);

    assert(length >= 0);
    return (size_t)length;
}

void put(struct writer *to, const char *format, ...)
{
    va_list list, again;
    size_t  length;

    reserve(to, 128);
    va_start(list, format);
    va_copy(again, list);
    length = print_into(to, format, list);
    if (length >= to->room - to->length) {
        reserve(to, length + 1);
        print_into(to, format, again);
    }
    va_end(again);
    va_end(list);
    to->length += length;
}

void put_all(struct writer *to, const struct writer *from)
{
    append(to, from->at, from->length);
}

/* The end of a comment that begins at @p at. */
static const char *skip_comment(const char *at, const char *end)
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

static const char *skip_quoted(const char *at, const char *end)
{
    char quote = *at;

    for (at++; at < end && *at != quote; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

void put_flat(struct writer *to, struct text text)
{
    const char *at = text.at, *end = text.at + text.length, *next;
    bool        gap = false, first = true;

    while (at < end) {
        next = at + 1;
        if (at + 1 < end && at[0] == '/' && (at[1] == '/' || at[1] == '*')) {
            at  = skip_comment(at, end);
            gap = true;
            continue;
        }
        if (is_blank(*at)) {
            gap = true;
        } else {
            if (gap && !first)
                append(to, " ", 1);
            gap = first = false;
            if (*at == '"' || *at == '\'')
                next = skip_quoted(at, end);
            append(to, at, (size_t)(next - at));
        }
        at = next;
    }
}

/* A path as it stands in a #line. */
static void put_path(struct writer *to, const char *path)
{
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            append(to, "\\", 1);
        append(to, path, 1);
    }
}

/* Code without the empty lines before it and the white space behind it. */
static struct code trimmed(struct code code)
{
    const char *at = code.text.at, *end = at + code.text.length;

    while (end > at && is_blank(end[-1]))
        end--;
    for (const char *c = at; c < end && is_blank(*c); c++)
        if (*c == '\n') {
            at = c + 1;
            code.place.line++;
            code.place.column = 1;
        }
    code.text = (struct text){at, (size_t)(end - at)};
    return code;
}

void put_line_at(struct writer *to, const char *macro, struct place place)
{
    put(to, "#line %s \"", macro);
    put_path(to, place.source->path);
    put(to, "\"\n");
}

void put_line_end(struct writer *to)
{
    put(to, MARK);
}

void put_code(struct writer *to, struct code code)
{
    code = trimmed(code);
    put(to, "#line %u \"", code.place.line);
    put_path(to, code.place.source->path);
    put(to, "\"\n%*s", (int)code.place.column - 1, "");
    append(to, code.text.at, code.text.length);
    put(to, "\n" MARK);
}

void put_comment(struct writer *to, struct text comment, int indent)
{
    const char *at = comment.at, *end = at ? at + comment.length : NULL;

    while (at < end) {
        const char *line   = memchr(at, '\n', (size_t)(end - at));
        size_t      length = (size_t)((line ? line : end) - at);

        put(to, "%*s%.*s\n", indent, "", (int)length, at);
        at = line ? line + 1 : end;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (line && at < end && *at == '*')
            put(to, " ");
    }
}

/* ---- files ------------------------------------------------------------------------------ */

/* Where to break a line that is too long: behind the last comma that fits, outside of strings.
 * 0: nowhere. */
static size_t break_of(const char *at, size_t length)
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

/* A line of our own, on as many as it needs: how many. */
static unsigned put_wrapped(struct writer *to, const char *at, size_t length)
{
    unsigned lines  = 1;
    int      indent = (int)strspn(at, " ") + 4;

    for (size_t here; (here = break_of(at, length)) > 0; lines++) {
        append(to, at, here);
        put(to, "\n%*s", indent, "");
        at += here + 1;
        length -= here + 1;
    }
    append(to, at, length);
    return lines;
}

/* With the marks replaced, and long lines broken: but not those of the user's, which follow a
 * #line or belong to a # line. */
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
        if (next - at == strlen(MARK) && !memcmp(at, MARK, strlen(MARK))) {
            put(&result, "#line %u \"", ++line);
            put_path(&result, name);
            put(&result, "\"\n");
            users = false;
        } else if (users || macro) {
            append(&result, at, (size_t)(next - at));
            line++;
        } else {
            line += put_wrapped(&result, at, (size_t)(next - at));
        }
        macro = macro && next - at > 1 && next[-2] == '\\';
        at    = next;
    }
    return result;
}

static bool is_there(const struct writer *writer, const char *path)
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

static bool write_file(const struct writer *writer, const char *path)
{
    FILE *file = fopen(path, "wb");
    bool  good;

    if (!file)
        return false;
    good = fwrite(writer->at, 1, writer->length, file) == writer->length;
    return fclose(file) == 0 && good;
}

bool writer_save(const struct writer *writer, const char *path, bool keep)
{
    char *temporary = arena_print("%s.%ld.part", path, (long)getpid());
    bool  good      = keep && is_there(writer, path);

    if (!good) {
        good = write_file(writer, temporary) && rename(temporary, path) == 0;
        if (!good) {
            int error = errno;

            unlink(temporary);
            errno = error;
        }
    }
    return good;
}

void writer_free(struct writer *writer)
{
    free(writer->at);
    *writer = (struct writer){NULL, 0, 0};
}
