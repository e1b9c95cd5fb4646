/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostic.c - see diagnostic.h.
 *
 * The source line is printed verbatim; the line with the caret repeats its tabs, so that both
 * align whatever the tab stops.  Of a long line a window around the location is shown.  Control
 * characters and invalid UTF-8 are replaced by `?', so that the source cannot control a terminal.
 */
#include "support/diagnostic.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/source.h"

#define SHOWN_MAX 20  /* errors that are shown */
#define WINDOW    160 /* bytes shown of a long line */

static FILE    *output;
static bool     begun, coloured;
static unsigned errors;
static bool     muted; /* the last diagnostic was not shown, so its hints are not either */

void diagnostic_begin(FILE *to)
{
    output   = to;
    begun    = true;
    errors   = 0;
    muted    = !to;
    coloured = to && isatty(fileno(to)) && !getenv("NO_COLOR");
}

static void diagnostic_begin_once(void)
{
    if (!begun)
        diagnostic_begin(stderr);
}

static void diagnostic_colour(const char *code)
{
    if (coloured)
        fprintf(output, "\033[%sm", code);
}

/* ---- the source line and its underline ---------------------------------------------------- */

static bool diagnostic_is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Returns the length of the UTF-8 character at @p at, or 0 if it must not be printed. */
static size_t diagnostic_character_length(const char *at, const char *end)
{
    unsigned char c      = (unsigned char)*at;
    size_t        length = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

    if (c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xc2) || c > 0xf4 || length > (size_t)(end - at))
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!diagnostic_is_continuation(at[i]))
            return 0;
    return length == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0 ? 0 : length;
}

/* Prints the characters from @p at to @p end, each replaced by @p instead unless that is 0. */
static void diagnostic_show(const char *at, const char *end, char instead)
{
    while (at < end) {
        size_t length = diagnostic_character_length(at, end);

        if (*at == '\t')
            fputc('\t', output);
        else if (instead || !length)
            fputc(instead ? instead : '?', output);
        else
            fwrite(at, 1, length, output);
        at += length ? length : 1;
    }
}

static void diagnostic_underline(const char *from, const char *at, const char *end)
{
    size_t first = at < end ? diagnostic_character_length(at, end) : 0;

    fputs("      | ", output);
    diagnostic_show(from, at, ' ');
    diagnostic_colour("1;32");
    fputc('^', output);
    if (end > at + 1)
        diagnostic_show(at + (first > 1 ? first : 1), end, '~');
    diagnostic_colour("0");
    fputc('\n', output);
}

static void diagnostic_show_line(struct source_location location, size_t length)
{
    struct text line = source_line(location.source, location.line);
    const char *from = line.at, *end = line.at + line.length;
    const char *at =
        line.at + (location.column - 1 < line.length ? location.column - 1 : line.length);
    const char *to = length < (size_t)(end - at) ? at + length : end;

    if (at - from > WINDOW / 2 && line.length > WINDOW)
        for (from = at - WINDOW / 2; from < at && diagnostic_is_continuation(*from);)
            from++;
    if (end - from > WINDOW)
        end = from + WINDOW;
    fprintf(output, "%5u | ", location.line);
    diagnostic_show(from, end, 0);
    fputc('\n', output);
    diagnostic_underline(from, at, to < end ? to : end);
}

/* Prints a line of text, which may quote the source. */
static void diagnostic_show_text(const char *format, va_list args)
{
    char *text;
    int   length = vasprintf(&text, format, args);

    if (length >= 0) {
        diagnostic_show(text, text + length, 0);
        free(text);
    }
    fputc('\n', output);
}

/* ---- messages ----------------------------------------------------------------------------- */

static void diagnostic_print(struct source_location location, size_t length, const char *colour,
                             const char *kind, const char *format, va_list args)
{
    assert(location.source);
    diagnostic_colour("1");
    fprintf(output, "%s:%u:%u: ", location.source->path, location.line, location.column);
    diagnostic_colour(colour);
    fprintf(output, "%s: ", kind);
    diagnostic_colour("0");
    diagnostic_show_text(format, args);
    diagnostic_show_line(location, length);
}

static void diagnostic_error_args(struct source_location location, size_t length,
                                  const char *format, va_list args)
{
    diagnostic_begin_once();
    errors++;
    muted = !output || errors > SHOWN_MAX;
    if (!muted)
        diagnostic_print(location, length, "1;31", "error", format, args);
    else if (output && errors == SHOWN_MAX + 1)
        fprintf(output, "skuac: more than %d errors; the rest are not shown\n", SHOWN_MAX);
}

void diagnostic_error_at(struct source_location location, size_t length, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diagnostic_error_args(location, length, format, args);
    va_end(args);
}

void diagnostic_error_name(struct source_name name, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diagnostic_error_args(name.location, name.text.length, format, args);
    va_end(args);
}

void diagnostic_warning_at(struct source_location location, size_t length, const char *format, ...)
{
    va_list args;

    diagnostic_begin_once();
    muted = !output || errors >= SHOWN_MAX;
    if (muted)
        return;
    va_start(args, format);
    diagnostic_print(location, length, "1;35", "warning", format, args);
    va_end(args);
}

void diagnostic_hint(const char *format, ...)
{
    va_list args;

    diagnostic_begin_once();
    if (muted)
        return;
    fputs("      = ", output);
    va_start(args, format);
    diagnostic_show_text(format, args);
    va_end(args);
}

void diagnostic_note_at(struct source_location location, const char *format, ...)
{
    va_list args;

    diagnostic_begin_once();
    if (muted)
        return;
    va_start(args, format);
    diagnostic_print(location, 1, "1;36", "note", format, args);
    va_end(args);
}

unsigned diagnostic_error_count(void)
{
    return errors;
}

/* ---- suggestions -------------------------------------------------------------------------- */

#define WORD_MAX 64 /* letters; longer words get no suggestion */

static unsigned diagnostic_min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn
 * @p a into @p b (optimal string alignment distance).  Only the last three rows of the table are
 * kept. */
static unsigned diagnostic_distance(struct text a, const char *b, unsigned length)
{
    unsigned rows[3][WORD_MAX + 1] = {{0}};

    for (unsigned j = 0; j <= length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];

        row[0] = i;
        for (unsigned j = 1; j <= length; j++) {
            row[j] = diagnostic_min(diagnostic_min(row[j - 1], above[j]) + 1,
                                    above[j - 1] + (a.at[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a.at[i - 1] == b[j - 2] && a.at[i - 2] == b[j - 1])
                row[j] = diagnostic_min(row[j], two[j - 2] + 1);
        }
    }
    return rows[a.length % 3][length];
}

const char *diagnostic_nearest(struct text word, const char *const *names)
{
    const char *best  = NULL;
    unsigned    least = (unsigned)-1;

    if (word.length > WORD_MAX)
        return NULL;
    for (; *names; names++) {
        size_t   length = strlen(*names);
        unsigned distance;

        if (length > WORD_MAX)
            continue;
        distance = diagnostic_distance(word, *names, (unsigned)length);
        if (distance < least && 3 * distance <= length) {
            best  = *names;
            least = distance;
        }
    }
    return best;
}
