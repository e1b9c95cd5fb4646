/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostic.c - see diagnostic.h.
 *
 * The line is shown as it is, with its tabs, and the caret's line repeats them: so both line
 * up wherever the tabs stop.  Of a long line, a window around the place is shown.  Bytes that
 * a terminal should not get are shown as `?'.
 */
#include "diagnostic.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source.h"

#define SHOWN  20  /* errors */
#define WINDOW 160 /* bytes of a line */

static FILE    *output;
static bool     begun, coloured;
static unsigned errors;
static bool     mute; /* the error shown last was not */

void diagnostic_begin(FILE *to)
{
    output   = to;
    begun    = true;
    errors   = 0;
    mute     = !to;
    coloured = to && isatty(fileno(to)) && !getenv("NO_COLOR");
}

static void begin_once(void)
{
    if (!begun)
        diagnostic_begin(stderr);
}

static void colour(const char *code)
{
    if (coloured)
        fprintf(output, "\033[%sm", code);
}

/* ---- the line, and what is under it ------------------------------------------------------ */

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Bytes of the character at @p at; 0: it is none that can be shown. */
static size_t character(const char *at, const char *end)
{
    unsigned char c      = (unsigned char)*at;
    size_t        length = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

    if (c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xc2) || c > 0xf4 || length > (size_t)(end - at))
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!continues(at[i]))
            return 0;
    return length == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0 ? 0 : length;
}

/* The characters from @p at to @p end, or as much of @p instead for each. */
static void show(const char *at, const char *end, char instead)
{
    while (at < end) {
        size_t length = character(at, end);

        if (*at == '\t')
            fputc('\t', output);
        else if (instead || !length)
            fputc(instead ? instead : '?', output);
        else
            fwrite(at, 1, length, output);
        at += length ? length : 1;
    }
}

static void underline(const char *from, const char *at, const char *end)
{
    fputs("      | ", output);
    show(from, at, ' ');
    colour("1;32");
    fputc('^', output);
    if (end > at + 1)
        show(at + (character(at, end) > 1 ? character(at, end) : 1), end, '~');
    colour("0");
    fputc('\n', output);
}

static void show_line(struct place place, size_t length)
{
    struct text line = source_line(place.source, place.line);
    const char *from = line.at, *end = line.at + line.length;
    const char *at = line.at + (place.column - 1 < line.length ? place.column - 1 : line.length);
    const char *to = length < (size_t)(end - at) ? at + length : end;

    if (at - from > WINDOW / 2 && line.length > WINDOW)
        for (from = at - WINDOW / 2; from < at && continues(*from);)
            from++;
    if (end - from > WINDOW)
        end = from + WINDOW;
    fprintf(output, "%5u | ", place.line);
    show(from, end, 0);
    fputc('\n', output);
    underline(from, at, to < end ? to : end);
}

/* A line of text, which may quote the source. */
static void show_text(const char *format, va_list args)
{
    char *text;
    int   length = vasprintf(&text, format, args);

    if (length >= 0) {
        show(text, text + length, 0);
        free(text);
    }
    fputc('\n', output);
}

/* ---- messages ---------------------------------------------------------------------------- */

static void message(struct place place, size_t length, const char *hue, const char *kind,
                    const char *format, va_list args)
{
    assert(place.source);
    colour("1");
    fprintf(output, "%s:%u:%u: ", place.source->path, place.line, place.column);
    colour(hue);
    fprintf(output, "%s: ", kind);
    colour("0");
    show_text(format, args);
    show_line(place, length);
}

static void error_args(struct place place, size_t length, const char *format, va_list args)
{
    begin_once();
    errors++;
    mute = !output || errors > SHOWN;
    if (!mute)
        message(place, length, "1;31", "error", format, args);
    else if (output && errors == SHOWN + 1)
        fprintf(output, "skuac: these are %d errors; more are not shown\n", SHOWN);
}

void error_at(struct place place, size_t length, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_args(place, length, format, args);
    va_end(args);
}

void error_name(struct name name, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_args(name.place, name.text.length, format, args);
    va_end(args);
}

void warning_at(struct place place, size_t length, const char *format, ...)
{
    va_list args;

    begin_once();
    mute = !output || errors >= SHOWN;
    if (mute)
        return;
    va_start(args, format);
    message(place, length, "1;35", "warning", format, args);
    va_end(args);
}

void hint(const char *format, ...)
{
    va_list args;

    begin_once();
    if (mute)
        return;
    fputs("      = ", output);
    va_start(args, format);
    show_text(format, args);
    va_end(args);
}

void hint_at(struct place place, const char *format, ...)
{
    va_list args;

    begin_once();
    if (mute)
        return;
    va_start(args, format);
    message(place, 1, "1;36", "note", format, args);
    va_end(args);
}

unsigned error_count(void)
{
    return errors;
}

/* ---- what was meant ----------------------------------------------------------------------- */

#define LONGEST 64 /* letters of a word that may be a misspelt one */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters to add, drop, change or swap with their neighbours (optimal string
 * alignment): row by row of the table, of which the last three are kept. */
static unsigned distance(struct text a, const char *b, unsigned length)
{
    unsigned rows[3][LONGEST + 1] = {{0}};

    for (unsigned j = 0; j <= length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];

        row[0] = i;
        for (unsigned j = 1; j <= length; j++) {
            row[j] =
                least(least(row[j - 1], above[j]) + 1, above[j - 1] + (a.at[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a.at[i - 1] == b[j - 2] && a.at[i - 2] == b[j - 1])
                row[j] = least(row[j], two[j - 2] + 1);
        }
    }
    return rows[a.length % 3][length];
}

const char *nearest(struct text word, const char *const *names)
{
    const char *best = NULL;
    unsigned    few  = (unsigned)-1;

    if (word.length > LONGEST)
        return NULL;
    for (; *names; names++) {
        size_t   length = strlen(*names);
        unsigned much;

        if (length > LONGEST)
            continue;
        much = distance(word, *names, (unsigned)length);
        if (much < few && 3 * much <= length) {
            best = *names;
            few  = much;
        }
    }
    return best;
}
