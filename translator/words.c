/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - the identifiers in a piece of C.
 *
 * A scanner that knows just enough of C to tell identifiers from what only looks like them.
 * Two bits of memory are enough: whether the line has had anything but white space (a # is a
 * directive only then), and whether the last thing was a `.` or a `->`.  Comments and white
 * space leave both alone; everything else sets them.
 */
#include "words.h"

struct scan {
    const char *at, *end;
    bool        line_begins;
    bool        member; /* a `.` or `->` came last */
};

/* Letters of other alphabets too: as bytes, whatever they mean. */
static bool begins_word(char c)
{
    return is_letter(c) || (unsigned char)c >= 128;
}

static char peek(const struct scan *scan, size_t ahead)
{
    return (size_t)(scan->end - scan->at) > ahead ? scan->at[ahead] : '\0';
}

/* To the end of the line, or of the last of those that a backslash continues. */
static void skip_line(struct scan *scan)
{
    while (scan->at < scan->end && *scan->at != '\n')
        scan->at += *scan->at == '\\' && peek(scan, 1) ? 2 : 1;
}

static void skip_comment(struct scan *scan)
{
    for (scan->at += 2; scan->at < scan->end; scan->at++)
        if (*scan->at == '*' && peek(scan, 1) == '/') {
            scan->at += 2;
            return;
        }
}

/* A string or a character constant; at the end of the line if it is not closed. */
static void skip_quoted(struct scan *scan)
{
    char quote = *scan->at++;

    while (scan->at < scan->end && *scan->at != quote && *scan->at != '\n')
        scan->at += *scan->at == '\\' && peek(scan, 1) ? 2 : 1;
    if (peek(scan, 0) == quote)
        scan->at++;
}

/* As the preprocessor sees numbers: 1e+3 and 0x1.8p-2L are one. */
static void skip_number(struct scan *scan)
{
    while (is_digit(peek(scan, 0)) || begins_word(peek(scan, 0)) || peek(scan, 0) == '.') {
        bool exponent = memchr("eEpP", *scan->at, 4);

        scan->at++;
        if (exponent && (peek(scan, 0) == '+' || peek(scan, 0) == '-'))
            scan->at++;
    }
}

static struct text take_word(struct scan *scan)
{
    struct text word = {scan->at, 0};

    while (begins_word(peek(scan, 0)) || is_digit(peek(scan, 0)))
        scan->at++;
    word.length = (size_t)(scan->at - word.at);
    return word;
}

static void take_sign(struct scan *scan)
{
    size_t length = 1;

    scan->member = false;
    if (*scan->at == '-' && peek(scan, 1) == '>') {
        length       = 2;
        scan->member = true;
    } else if (*scan->at == '.') {
        while (peek(scan, length) == '.')
            length++;
        scan->member = length == 1; /* `...` is none */
    }
    scan->at += length;
}

/* White space, comments, # lines: true if there was one. */
static bool skip_blank(struct scan *scan)
{
    char c = *scan->at;

    if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        scan->line_begins |= c == '\n';
        scan->at++;
    } else if (c == '/' && peek(scan, 1) == '*') {
        skip_comment(scan);
    } else if ((c == '/' && peek(scan, 1) == '/') || (c == '#' && scan->line_begins)) {
        skip_line(scan);
    } else {
        return false;
    }
    return true;
}

static bool is_prefix(struct text word, char next)
{
    return (next == '"' || next == '\'') &&
           (text_is(word, "L") || text_is(word, "u") || text_is(word, "U") || text_is(word, "u8"));
}

/* The next word; at NULL: there is none. */
static struct text next_word(struct scan *scan)
{
    while (scan->at < scan->end) {
        if (skip_blank(scan))
            continue;
        char c            = *scan->at;
        scan->line_begins = false;
        if (begins_word(c)) {
            bool        member = scan->member;
            struct text word   = take_word(scan);

            scan->member = false;
            if (!member && !is_prefix(word, peek(scan, 0)))
                return word;
        } else if (is_digit(c) || (c == '.' && is_digit(peek(scan, 1)))) {
            skip_number(scan);
            scan->member = false;
        } else if (c == '"' || c == '\'') {
            skip_quoted(scan);
            scan->member = false;
        } else {
            take_sign(scan);
        }
    }
    return (struct text){0};
}

static struct scan scan_of(struct code code)
{
    return (struct scan){.at          = code.text.at,
                         .end         = code.text.at ? code.text.at + code.text.length : NULL,
                         .line_begins = true};
}

void for_each_word(struct code code, void (*fn)(struct text word, void *arg), void *arg)
{
    struct scan scan = scan_of(code);

    for (struct text word = next_word(&scan); word.at; word = next_word(&scan))
        fn(word, arg);
}

bool mentions(struct code code, struct text name)
{
    struct scan scan = scan_of(code);

    for (struct text word = next_word(&scan); word.at; word = next_word(&scan))
        if (text_equal(word, name))
            return true;
    return false;
}
