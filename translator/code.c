/* SPDX-License-Identifier: Apache-2.0 */
/* code.c - see code.h.  One pass over the bytes, with the brackets that are open on a stack. */
#include "code.h"

#include <string.h>

#include "arena.h"
#include "diagnostic.h"
#include "source.h"
#include "text.h"

struct scan {
    struct parser *parser;
    const char    *at, *end;
    const char    *open[NESTING]; /* brackets */
    unsigned       depth, braces;
    const char    *first, *last; /* of what is neither space nor comment: at, and behind */
    unsigned       questions;    /* whose `:' is still to come */
    unsigned       stops;
    char           closer; /* of a block; 0: of an expression any */
    bool           quiet, wrong;
    bool           line_begins;
    bool           odd; /* quotes on this line may be alone: #error don't */
};

static void scan_complain(struct scan *scan, const char *at, const char *what)
{
    if (!scan->quiet)
        complain_at(scan->parser, at, 1, "%s", what);
    scan->wrong = true;
}

static char closer_of(char open)
{
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

static void not_closed(struct scan *scan, const char *open, const char *where)
{
    if (!scan->quiet && complain_at(scan->parser, open, 1, "this `%c' is not closed", *open))
        if (where < scan->end)
            hint_at(place_of(scan->parser, where), "expected `%c' before this", closer_of(*open));
    scan->wrong = true;
}

static void opened(struct scan *scan)
{
    if (scan->depth == NESTING) {
        scan_complain(scan, scan->at, "more than 200 brackets in each other");
        scan->at = scan->end;
        give_up(scan->parser);
        return;
    }
    scan->braces += *scan->at == '{';
    scan->open[scan->depth++] = scan->at++;
}

static const char *pop(struct scan *scan)
{
    const char *open = scan->open[--scan->depth];

    scan->braces -= *open == '{';
    return open;
}

static bool is_open(const struct scan *scan, char closer)
{
    for (unsigned i = scan->depth; i > 0; i--)
        if (closer_of(*scan->open[i - 1]) == closer)
            return true;
    return false;
}

/* The code ends here, whatever is open. */
static bool leave(struct scan *scan)
{
    if (scan->depth)
        not_closed(scan, scan->open[scan->depth - 1], scan->at);
    return true;
}

/* In an expression a brace never follows a word: the bracket before it was forgotten. */
static bool opens_block(const struct scan *scan)
{
    return !scan->closer && !scan->braces && *scan->at == '{' && scan->last &&
           (is_letter(scan->last[-1]) || is_digit(scan->last[-1]));
}

/* A bracket that closes.  True: it does not close one of those in here. */
static bool closed(struct scan *scan)
{
    char closer = *scan->at;

    if (is_open(scan, closer)) {
        const char *open;

        while (closer_of(*(open = pop(scan))) != closer)
            not_closed(scan, open, scan->at);
        scan->at++;
        return false;
    }
    if (scan->closer && closer != scan->closer && closer != '}') {
        scan_complain(scan, scan->at++, "this closes nothing");
        return false;
    }
    return leave(scan);
}

/* A semicolon ends an expression even in brackets: they were forgotten. */
static bool semicolon(struct scan *scan)
{
    if (scan->closer || scan->braces || (scan->depth == 0 && !(scan->stops & STOP_SEMICOLON)))
        return !scan->closer && !scan->braces;
    return leave(scan);
}

static bool colon(struct scan *scan)
{
    if (scan->depth || scan->closer)
        return false;
    if (scan->questions) {
        scan->questions--;
        return false;
    }
    return scan->stops & STOP_COLON;
}

/* A mark.  True: it ends the code. */
static bool scan_mark(struct scan *scan)
{
    bool over = false;

    switch (*scan->at) {
    case '(':
    case '[':
    case '{':
        if (opens_block(scan))
            return leave(scan);
        opened(scan);
        return false;
    case ')':
    case ']':
    case '}': return closed(scan);
    case ';': over = semicolon(scan); break;
    case ',': over = !scan->depth && (scan->stops & STOP_COMMA); break;
    case ':': over = colon(scan); break;
    case '?': scan->questions += !scan->depth; break;
    default: break;
    }
    scan->at += !over;
    return over;
}

/* A quote that stands alone is passed over, and so are others on its line. */
static void scan_quoted(struct scan *scan)
{
    const char *after = quoted_end(scan->at, scan->end);

    if (!after && !scan->odd)
        scan_complain(scan, scan->at,
                      *scan->at == '"' ? "this string does not end on its line"
                                       : "this character does not end on its line");
    scan->odd = scan->odd || !after;
    scan->at  = after ? after : scan->at + 1;
}

/* Whether a word that begins a line begins a statement, too: a keyword does, and whatever
 * follows a name, a number or a bracket without anything between them. */
static bool begins_next(const struct scan *scan, struct text word)
{
    char before = scan->last ? scan->last[-1] : '=';

    if (text_is(word, "entry") || text_among(word, statement_words) >= 0)
        return true;
    return !scan->depth && (scan->stops & STOP_SEMICOLON) &&
           (is_letter(before) || is_digit(before) || strchr(")]}", before));
}

/* A word or a number.  True: it begins the next statement. */
static bool scan_word(struct scan *scan)
{
    const char *from = scan->at;

    while (scan->at < scan->end && (is_letter(*scan->at) || is_digit(*scan->at)))
        scan->at++;
    if (scan->closer || scan->braces || !scan->line_begins || is_digit(*from) ||
        !begins_next(scan, text_between(from, scan->at)))
        return false;
    scan->at = from;
    return leave(scan);
}

/* Space and comments.  True: there were some. */
static bool scan_between(struct scan *scan)
{
    const char *after;

    if (is_space(*scan->at)) {
        if (*scan->at++ == '\n') {
            scan->line_begins = true;
            scan->odd         = false;
        }
        return true;
    }
    after = comment_end(scan->at, scan->end);
    if (after == scan->at)
        return false;
    if (after) {
        scan->at = after;
        return true;
    }
    scan_complain(scan, scan->at, "this comment does not end");
    scan->at = scan->end;
    give_up(scan->parser);
    return true;
}

/* One piece.  True: it ends the code, and was not taken. */
static bool scan_one(struct scan *scan)
{
    const char *from = scan->at;
    bool        over = false;

    if (scan_between(scan))
        return false;
    scan->odd = scan->odd || (*from == '#' && scan->line_begins);
    if (*from == '"' || *from == '\'')
        scan_quoted(scan);
    else if (is_letter(*from) || is_digit(*from))
        over = scan_word(scan);
    else
        over = scan_mark(scan);
    scan->line_begins = false;
    if (over)
        return true;
    scan->first = scan->first ? scan->first : from;
    scan->last  = scan->at;
    return false;
}

/* From behind the last token to what ends the code; returns false at the end of the source. */
static bool scan_code(struct scan *scan)
{
    struct parser *parser = scan->parser;

    scan->at  = parser->behind;
    scan->end = parser->lost ? parser->behind : text_end(parser->source->text);
    while (scan->at < scan->end)
        if (scan_one(scan))
            return true;
    return false;
}

/* The next token is read from here. */
static void go_on_at(struct parser *parser, const char *at)
{
    parser->lexer.at = parser->behind = at;
    parser->looked = parser->broken = false;
}

void add_piece(struct parser *parser, struct text text, bool block)
{
    struct piece *piece = ARENA_NEW(struct piece);

    *piece          = (struct piece){.text = text, .block = block};
    *parser->pieces = piece;
    parser->pieces  = &piece->next;
}

bool take_code(struct parser *parser, unsigned stops, struct code *code)
{
    struct scan scan = {.parser = parser, .stops = stops};

    *code = (struct code){0};
    scan_code(&scan);
    if (scan.at == scan.end && scan.depth)
        not_closed(&scan, scan.open[0], scan.end);
    if (scan.first) {
        code->text  = text_between(scan.first, scan.last);
        code->place = place_of(parser, scan.first);
        add_piece(parser, code->text, false);
    }
    if (!parser->lost) /* what lies between is read again, with the token */
        go_on_at(parser, scan.last ? scan.last : parser->behind);
    return !scan.wrong;
}

bool take_block(struct parser *parser, struct code *code)
{
    const char *open = parser->behind - 1;
    struct scan scan = {.parser = parser, .closer = '}'};

    if (!scan_code(&scan)) {
        if (!scan.wrong)
            not_closed(&scan, open, scan.end);
        go_on_at(parser, scan.end);
        give_up(parser); /* nothing is left for the brackets around it */
        return false;
    }
    note_closed(parser, open, scan.at);
    code->text  = text_between(open + 1, scan.at);
    code->place = place_of(parser, open + 1);
    add_piece(parser, code->text, true);
    go_on_at(parser, scan.at + 1);
    return true;
}

void skip_closed(struct parser *parser, char closer)
{
    struct scan scan  = {.parser = parser, .closer = closer, .quiet = true};
    bool        ended = scan_code(&scan);

    go_on_at(parser, ended && *scan.at == closer ? scan.at + 1 : scan.at);
}

void skip_brackets(struct parser *parser)
{
    skip_closed(parser, closer_of(parser->behind[-1]));
}
