/* SPDX-License-Identifier: Apache-2.0 */
/* c_code.c - see c_code.h.  A single pass over the bytes, with a stack of the open brackets. */
#include "syntax/c_code.h"

#include <assert.h>
#include <string.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "syntax/grammar.h"

struct c_code_scan {
    struct parser *parser;
    const char    *at, *end;
    const char    *open[PARSER_NESTING_MAX]; /* open brackets, innermost last */
    unsigned       depth, braces;
    const char    *first, *last; /* extent without surrounding white space and comments */
    unsigned       questions;    /* `?' whose `:' has not been seen */
    unsigned       stops;
    char           closer; /* closing brace of a block; 0: an expression */
    bool           quiet, wrong;
    bool           line_begins;
    bool odd_quotes; /* a directive or a bad quote: unbalanced quotes on this line are not an error,
                 as in #error don't */
};

static void c_code_error(struct c_code_scan *scan, const char *at, const char *what)
{
    if (!scan->quiet)
        parser_error_at(scan->parser, at, 1, "%s", what);
    scan->wrong = true;
}

static void c_code_not_closed(struct c_code_scan *scan, const char *open, const char *where)
{
    if (!scan->quiet && parser_error_at(scan->parser, open, 1, "this `%c' is not closed", *open))
        if (where < scan->end)
            diagnostic_note_at(parser_locate(scan->parser, where), "expected `%c' before this",
                               parser_closer_of(*open));
    scan->wrong = true;
}

static void c_code_open(struct c_code_scan *scan)
{
    if (scan->depth == PARSER_NESTING_MAX) {
        c_code_error(scan, scan->at, "more than 200 nested brackets");
        scan->at = scan->end;
        parser_give_up(scan->parser);
        return;
    }
    scan->braces += *scan->at == '{';
    scan->open[scan->depth++] = scan->at++;
}

static const char *c_code_pop(struct c_code_scan *scan)
{
    const char *open;

    assert(scan->depth > 0);
    open = scan->open[--scan->depth];
    scan->braces -= *open == '{';
    return open;
}

static bool c_code_is_open(const struct c_code_scan *scan, char closer)
{
    for (unsigned i = scan->depth; i > 0; i--)
        if (parser_closer_of(*scan->open[i - 1]) == closer)
            return true;
    return false;
}

/* Ends the code here; an open bracket is an error. */
static bool c_code_leave(struct c_code_scan *scan)
{
    if (scan->depth)
        c_code_not_closed(scan, scan->open[scan->depth - 1], scan->at);
    return true;
}

/* In an expression no brace can follow a word, so a closing bracket is missing before it. */
static bool c_code_opens_block(const struct c_code_scan *scan)
{
    return !scan->closer && !scan->braces && *scan->at == '{' && scan->last &&
           (text_is_letter(scan->last[-1]) || text_is_digit(scan->last[-1]));
}

/* Handles a closing bracket.  Returns true if it closes none of the brackets of this code, and so
 * ends the code. */
static bool c_code_close(struct c_code_scan *scan)
{
    char closer = *scan->at;

    if (c_code_is_open(scan, closer)) {
        const char *open;

        while (parser_closer_of(*(open = c_code_pop(scan))) != closer)
            c_code_not_closed(scan, open, scan->at);
        scan->at++;
        return false;
    }
    if (scan->closer && closer != scan->closer && closer != '}') {
        c_code_error(scan, scan->at++, "unmatched closing bracket");
        return false;
    }
    return c_code_leave(scan);
}

/* A semicolon ends an expression even inside brackets: the closing bracket is missing. */
static bool c_code_at_semicolon(struct c_code_scan *scan)
{
    if (scan->closer || scan->braces ||
        (scan->depth == 0 && !(scan->stops & C_CODE_STOP_SEMICOLON)))
        return !scan->closer && !scan->braces;
    return c_code_leave(scan);
}

static bool c_code_at_colon(struct c_code_scan *scan)
{
    if (scan->depth || scan->closer)
        return false;
    if (scan->questions) {
        scan->questions--;
        return false;
    }
    return scan->stops & C_CODE_STOP_COLON;
}

/* Handles a punctuator.  Returns whether it ends the code. */
static bool c_code_punctuator(struct c_code_scan *scan)
{
    bool ends = false;

    switch (*scan->at) {
    case '(':
    case '[':
    case '{':
        if (c_code_opens_block(scan))
            return c_code_leave(scan);
        c_code_open(scan);
        return false;
    case ')':
    case ']':
    case '}': return c_code_close(scan);
    case ';': ends = c_code_at_semicolon(scan); break;
    case ',': ends = !scan->depth && (scan->stops & C_CODE_STOP_COMMA); break;
    case ':': ends = c_code_at_colon(scan); break;
    case '?': scan->questions += !scan->depth; break;
    default: break;
    }
    scan->at += !ends;
    return ends;
}

/* Skips a string or character constant.  Only the first unbalanced quote of a line is an error. */
static void c_code_quoted(struct c_code_scan *scan)
{
    const char *after = lexer_quoted_end(scan->at, scan->end);

    if (!after && !scan->odd_quotes)
        c_code_error(scan, scan->at,
                     *scan->at == '"' ? "unterminated string" : "unterminated character constant");
    scan->odd_quotes = scan->odd_quotes || !after;
    scan->at         = after ? after : scan->at + 1;
}

/* Returns whether a word at the beginning of a line begins a statement: a keyword does, and so does
 * any word after an operand, since no operator is between them. */
static bool c_code_begins_statement(const struct c_code_scan *scan, struct text word)
{
    char before = scan->last ? scan->last[-1] : '=';

    if (text_is(word, "entry") || text_index_in(word, parse_statement_keywords) >= 0)
        return true;
    return !scan->depth && (scan->stops & C_CODE_STOP_SEMICOLON) &&
           (text_is_letter(before) || text_is_digit(before) || strchr(")]}", before));
}

/* Handles a word or a number.  Returns whether it begins the next statement. */
static bool c_code_word(struct c_code_scan *scan)
{
    const char *from = scan->at;

    scan->at = lexer_raw_string_end(from, scan->end);
    if (scan->at > from)
        return false;
    scan->at = lexer_word_end(from, scan->end);
    if (scan->closer || scan->braces || !scan->line_begins || text_is_digit(*from) ||
        !c_code_begins_statement(scan, text_between(from, scan->at)))
        return false;
    scan->at = from;
    return c_code_leave(scan);
}

/* Skips a white-space character or a comment.  Returns whether there was one. */
static bool c_code_gap(struct c_code_scan *scan)
{
    const char *after;

    if (text_is_space(*scan->at)) {
        if (*scan->at++ == '\n') {
            scan->line_begins = true;
            scan->odd_quotes  = false;
        }
        return true;
    }
    after = lexer_comment_end(scan->at, scan->end);
    if (after == scan->at)
        return false;
    if (after) {
        scan->at = after;
        return true;
    }
    c_code_error(scan, scan->at, "unterminated comment");
    scan->at = scan->end;
    parser_give_up(scan->parser);
    return true;
}

/* Handles one lexical element.  Returns true if it ends the code; it is not consumed then. */
static bool c_code_step(struct c_code_scan *scan)
{
    const char *from = scan->at;
    bool        ends = false;

    if (c_code_gap(scan))
        return false;
    scan->odd_quotes = scan->odd_quotes || (*from == '#' && scan->line_begins);
    if (*from == '"' || *from == '\'')
        c_code_quoted(scan);
    else if (text_is_letter(*from) || text_is_digit(*from))
        ends = c_code_word(scan);
    else
        ends = c_code_punctuator(scan);
    scan->line_begins = false;
    if (ends)
        return true;
    scan->first = scan->first ? scan->first : from;
    scan->last  = scan->at;
    return false;
}

/* Scans from the end of the last token to the end of the code.  Returns false at the end of the
 * source. */
static bool c_code_run(struct c_code_scan *scan)
{
    struct parser *parser = scan->parser;

    scan->at  = parser->last_end;
    scan->end = parser->gave_up ? parser->last_end : text_end(parser->source->text);
    while (scan->at < scan->end)
        if (c_code_step(scan))
            return true;
    return false;
}

void c_code_add_span(struct parser *parser, struct text text, bool block)
{
    struct ast_code_span *piece = BUMP_NEW(struct ast_code_span);

    *piece              = (struct ast_code_span){.text = text, .block = block};
    *parser->code_spans = piece;
    parser->code_spans  = &piece->next;
}

bool c_code_expression(struct parser *parser, unsigned stops, struct source_code *code)
{
    struct c_code_scan scan = {.parser = parser, .stops = stops};

    *code = (struct source_code){0};
    c_code_run(&scan);
    if (scan.at == scan.end && scan.depth)
        c_code_not_closed(&scan, scan.open[0], scan.end);
    if (scan.first) {
        code->text     = text_between(scan.first, scan.last);
        code->location = parser_locate(parser, scan.first);
        c_code_add_span(parser, code->text, false);
    }
    if (!parser->gave_up) /* white space and comments after the code belong to the next token */
        parser_resume_at(parser, scan.last ? scan.last : parser->last_end);
    return !scan.wrong;
}

bool c_code_block(struct parser *parser, struct source_code *code)
{
    const char        *open = parser->last_end - 1;
    struct c_code_scan scan = {.parser = parser, .closer = '}'};

    assert(*open == '{');
    if (!c_code_run(&scan)) {
        if (!scan.wrong)
            c_code_not_closed(&scan, open, scan.end);
        parser_resume_at(parser, scan.end);
        parser_give_up(
            parser); /* the enclosing brackets are not closed either: one error is enough */
        return false;
    }
    parser_note_closer(parser, open, scan.at);
    code->text     = text_between(open + 1, scan.at);
    code->location = parser_locate(parser, open + 1);
    c_code_add_span(parser, code->text, true);
    parser_resume_at(parser, scan.at + 1);
    return true;
}

void c_code_skip_to_closer(struct parser *parser, char closer)
{
    struct c_code_scan scan  = {.parser = parser, .closer = closer, .quiet = true};
    bool               ended = c_code_run(&scan);

    parser_resume_at(parser, ended && *scan.at == closer ? scan.at + 1 : scan.at);
}

void c_code_skip_brackets(struct parser *parser)
{
    c_code_skip_to_closer(parser, parser_closer_of(parser->last_end[-1]));
}
